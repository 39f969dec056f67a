"""How a bot at home is taken in: it has no files, so its owner says when it is another program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import audit, naming
from arena.bots import quota
from arena.bots.bars import demand_not_barred
from arena.bots.bot_deeds import own_bot
from arena.bots.entries import version_on
from arena.bots.ladder_quotas import demand_room
from arena.bots.submissions import (
    LONGEST_NOTE,
    SubmissionError,
    add_check,
    demand_admission,
    enter,
    free_of_refused,
    is_under_way,
)
from arena.competitions.dates import demand_in_time
from arena.competitions.founding import find_named
from arena.competitions.masks import demand_no_mask
from arena.deeds import LONGEST_NAME, By, Deed, Done, asked
from arena.ground import bot_names, texts
from arena.ground.locks import lock
from arena.ground.refusals import Refusal
from arena.models import (
    AT_HOME,
    Bot,
    BotVersion,
    Check,
    Entrant,
    EntrantState,
    Ladder,
    Scope,
    VersionStatus,
)
from arena.people import accounts
from engine.translation import gettext


class HomeEntry(NamedTuple):
    """A bot at home as it may be connected."""

    version: Annotated[int, "By which the connection is asked for"]
    label: Annotated[str, "The bot with its version"]
    ladder: Annotated[str, "The ladder that it plays on"]
    active: Annotated[bool, "Whether it is on the ladder already, or is checked first"]


@dataclass(frozen=True)
class ConnectBot(Deed):
    """Have a bot that stays on one's own machine play on a ladder while it is connected.

    It plays as the version that it was, unless it is said to be a new one. One that the ladder does
    not know is checked first, over the connection.
    """

    scope = Scope.CONNECT
    address = "POST /home"
    subject = "bots"
    answers = HomeEntry
    adds = True

    name: str = asked("The bot's name", most=LONGEST_NAME)
    ladder: str = asked("Which ladder", most=LONGEST_NAME)
    new_version: str | None = asked(
        "What is new, if it is another program than before",
        default=None,
        most=LONGEST_NOTE,
    )

    def do(self, session: Session, by: By) -> Done:
        if words := bot_names.refusal(self.name):
            raise SubmissionError(words)
        ladder = find_named(session, Ladder, self.ladder)
        demand_admission(ladder, at_home=True)
        bot = self._bot(session, by)
        version = self._version(session, bot, by)
        active = self._enter(session, by, version, ladder)
        its = {"bot": version.label, "ladder": ladder.name}
        if active:
            said = gettext("the bot %(bot)s plays on %(ladder)s, while it is connected", **its)
        else:
            said = gettext(
                "the bot %(bot)s enters when its check has passed: %(ladder)s, while it is "
                "connected",
                **its,
            )
        return Done(said, HomeEntry(version.id, version.label, ladder.name, active))

    def _bot(self, session: Session, by: By) -> Bot:
        """The bot of the name, a new one if there is none."""
        owner = accounts.find(session, by.actor.name)
        if owner is None:
            raise Refusal(
                gettext(
                    "a bot at home is somebody's, and there is no user %(user)s", user=by.actor.name
                )
            )
        # Two of one person at the same moment wait for each other here.
        lock(session, owner)
        if free_of_refused(session, owner.id, self.name, by.now) is None:
            quota.demand_fewer_bots(session, owner, by.bots_a_person)
            new = Bot(name=self.name, owner=owner, created=by.now)
            session.add(new)
            naming.demand_never(session, new)
        bot = own_bot(session, by, self.name)
        demand_no_mask(bot)
        return bot

    def _version(self, session: Session, bot: Bot, by: By) -> BotVersion:
        """The version that is connected: the last one, unless that is another program."""
        its = sa.select(BotVersion).where(BotVersion.bot_id == bot.id)
        last = session.scalar(its.order_by(BotVersion.number.desc()).limit(1))
        is_known = last is not None and last.is_at_home and last.status is not VersionStatus.REFUSED
        if last is not None and is_known and self.new_version is None:
            return last
        note = texts.typed(self.new_version or "", LONGEST_NOTE, refusal=SubmissionError)
        version = BotVersion(
            bot=bot,
            number=last.number + 1 if last else 1,
            digest="",
            size=0,
            language=AT_HOME,
            note=note,
            status=VersionStatus.CHECKING,
            created=by.now,
        )
        session.add(version)
        session.flush()
        return version

    def _enter(self, session: Session, by: By, version: BotVersion, ladder: Ladder) -> bool:
        """Enters it, or has it checked before; whether it is on the ladder by now."""
        there = session.scalar(
            sa.select(Entrant).where(
                Entrant.competition_id == ladder.id, Entrant.version_id == version.id
            )
        )
        if there is not None and there.state is EntrantState.ACTIVE:
            return True
        if there is None or there.state is EntrantState.RETIRED:
            demand_in_time(session, ladder, by.now, version.bot_id)
        bot = version.bot
        demand_not_barred(session, ladder, version)
        demand_room(session, ladder, bot.person_id, bot.id, by.now, version_id=version.id)
        words = version_on(version, ladder)
        audit.note(session, by.actor, "connect", f"bot {version.bot.name}", words, now=by.now)
        if there is not None:
            enter(session, ladder, version, by.now)
            return True
        under_way = sa.select(Check.id).where(
            is_under_way(version.id), Check.ladder_id == ladder.id
        )
        if session.scalar(under_way.limit(1)) is None:
            add_check(session, version, ladder, by.now)
        return False
