"""What the owner of a bot can change: where it plays, who shares it, who reads its code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import Session, joinedload

from arena import audit
from arena.bots import entries, sharing
from arena.bots.submissions import SubmissionError
from arena.competitions.founding import find_named
from arena.deeds import LONGEST_NAME, By, Deed, Done, asked
from arena.ground import locks
from arena.ground.db import LARGEST_ID
from arena.ground.refusals import NotAllowed, NotThere
from arena.models import Bot, BotVersion, Check, Entrant, EntrantState, Ladder, Scope
from engine.plurals import counted


class EntryAsked(NamedTuple):
    """Which ladder a bot is to enter, and what that takes first."""

    ladder: Ladder
    check: Check | None
    """The one that it takes before; None if it is entered."""


class BotWithdrawn(NamedTuple):
    """How many ladders a bot left."""

    left: int


def find_bot(session: Session, name: str) -> Bot:
    """The bot of a name, in whatever letters' size.

    Raises:
        NotThere: there is none.
    """
    query = sa.select(Bot).where(Bot.lower_name == name.lower()).options(joinedload(Bot.owner))
    found = session.scalar(query)
    if found is None:
        raise NotThere(f"there is no bot {name[:60]!r}")
    return found


def own_bot(session: Session, by: By, name: str) -> Bot:
    """The bot of a name, if it is somebody's own.

    Raises:
        NotThere: there is none.
        NotAllowed: it is another's.
    """
    bot = find_bot(session, name)
    if not by.owns(bot):
        raise NotAllowed(f"the bot {bot.name} is not yours")
    return bot


def _number(words: str) -> int | None:
    """The field of a version's number."""
    found: int | None = asked(
        f"A version's number; by default {words}",
        label="Version",
        default=None,
        least=1,
        most=LARGEST_ID,
    )
    return found


@dataclass(frozen=True)
class BotDeed(Deed):
    """Changes something about a bot; answers it if nothing else is said."""

    scope = Scope.SUBMIT
    subject = "bots"
    answers: ClassVar[type | None] = Bot

    name: str = asked("The bot's name")


@dataclass(frozen=True)
class EnterBot(BotDeed):
    """Put a version of a bot of one's own on a ladder.

    One that was there before, suspended ones too, comes back at once with the rating that it
    had, held less firmly; another is checked first.
    """

    address = "POST /bots/<name>/enter"
    answers = EntryAsked

    ladder: str = asked("Which ladder", label="Ladder", most=LONGEST_NAME)
    version: int | None = _number("the newest")

    def do(self, session: Session, by: By) -> Done:
        bot = own_bot(session, by, self.name)
        wanted = sa.select(BotVersion).where(BotVersion.bot_id == bot.id)
        if self.version is not None:
            wanted = wanted.where(BotVersion.number == self.version)
        wanted = wanted.options(joinedload(BotVersion.bot))
        version = session.scalar(wanted.order_by(BotVersion.number.desc()).limit(1))
        if version is None:
            raise NotThere(f"there is no version {self.version} of the bot {bot.name}")
        ladder = find_named(session, Ladder, self.ladder)
        check = entries.ask_entry(session, by.actor, version, ladder, by.now)
        what = f"is active on {ladder.name}, with the rating that it had, held less firmly"
        if check is not None:
            what = f"enters {ladder.name} when its check has passed"
        return Done(f"the bot {version.label} {what}", EntryAsked(ladder, check))


@dataclass(frozen=True)
class RetireBot(BotDeed):
    """Take a bot of one's own off a ladder; it keeps its rating for when it comes back."""

    address = "POST /bots/<name>/retire"
    answers = Entrant

    ladder: str = asked("Which ladder", label="Ladder", most=LONGEST_NAME)
    version: int | None = _number("whichever is there")

    def do(self, session: Session, by: By) -> Done:
        bot = own_bot(session, by, self.name)
        ladder = find_named(session, Ladder, self.ladder)
        its = (
            sa.select(Entrant)
            .join(Entrant.version)
            .where(
                BotVersion.bot_id == bot.id,
                Entrant.competition_id == ladder.id,
                Entrant.state != EntrantState.RETIRED,
            )
            .order_by(Entrant.state, Entrant.id)
        )
        if self.version is not None:
            its = its.where(BotVersion.number == self.version)
        there = session.scalars(its).all()
        if not there:
            raise SubmissionError(f"the bot {bot.name} is not on the ladder {ladder.name}")
        for entrant in there:
            entries.retire(session, by.actor, entrant, by.now)
        label = there[0].version.label
        return Done(f"the bot {label} is retired, and plays no more on {ladder.name}", there[0])


@dataclass(frozen=True)
class WithdrawBot(BotDeed):
    """Take a bot of one's own off every ladder."""

    address = "POST /bots/<name>/withdraw"
    command = "bot withdraw NAME"
    example = "mybot"
    answers = BotWithdrawn

    def do(self, session: Session, by: By) -> Done:
        bot = own_bot(session, by, self.name)
        left = entries.withdraw(session, by.actor, bot, by.now)
        words = f"the bot {bot.name} is withdrawn: it left {counted(left, 'ladder')}"
        return Done(words, BotWithdrawn(left))


@dataclass(frozen=True)
class ChangeBot(BotDeed):
    """Open or close the code and the logs of a bot of one's own."""

    address = "PATCH /bots/<name>"
    command = "bot change NAME"
    example = "mybot --open-source"

    open_source: bool = asked("Whether everybody may read its code and its logs")

    def do(self, session: Session, by: By) -> Done:
        bot = own_bot(session, by, self.name)
        if bot.open_source is not self.open_source:
            bot.open_source = self.open_source
            action = "open code" if self.open_source else "close code"
            audit.note(session, by.actor, action, f"bot {bot.name}", now=by.now)
        who = "everybody" if self.open_source else "its owners alone"
        return Done(f"code and logs of {bot.name} are for {who} now", bot)


@dataclass(frozen=True)
class ShareBot(BotDeed):
    """Make another user a co-owner of a bot of one's own, who may do whatever one may, as in a
    team.
    """

    address = "POST /bots/<name>/share"
    command = "bot share NAME USER"
    example = "mybot ada"

    user: str = asked("The other's name", label="Share it with", most=LONGEST_NAME)

    def do(self, session: Session, by: By) -> Done:
        bot = find_bot(session, self.name)
        if not (by.at_machine or bot.owner_id == by.actor.id):
            raise NotAllowed(f"only {bot.owner.name} can share {bot.name}")
        mate = sharing.share(session, by.actor, bot, self.user.strip(), by.now)
        return Done(f"the bot {bot.name} is {mate.name}'s as well now", bot)


@dataclass(frozen=True)
class UnshareBot(BotDeed):
    """Make a user a co-owner of a bot no more; co-owners can do so for themselves."""

    address = "POST /bots/<name>/unshare"
    command = "bot unshare NAME USER"
    example = "mybot ada"

    user: str = asked("The co-owner's name", most=LONGEST_NAME)

    def do(self, session: Session, by: By) -> Done:
        bot, user = find_bot(session, self.name), self.user.strip()
        themselves = user.lower() == by.actor.name.lower()
        if not (by.at_machine or bot.owner_id == by.actor.id or themselves):
            raise NotAllowed(f"only {bot.owner.name} can end what others share of {bot.name}")
        mate = sharing.unshare(session, by.actor, bot, user, by.now)
        return Done(f"the bot {bot.name} is not {mate.name}'s any more", bot)


@dataclass(frozen=True)
class CancelCheck(Deed):
    """Cancel the check of a bot of one's own: nothing is entered by it.

    What a worker has already begun it plays to its end.
    """

    scope = Scope.SUBMIT
    address = "POST /checks/<int:number>/cancel"
    subject = "submissions"
    answers = Check

    number: int = asked("The check's number")

    def do(self, session: Session, by: By) -> Done:
        check = locks.find(session, Check, self.number)
        if check is None or not by.owns(check.version.bot):
            raise NotThere(f"there is no check {self.number} of a bot of yours")
        entries.cancel(session, by.actor, check, by.now)
        what = f"check {check.id} of {check.version.label} for {check.ladder.name}"
        return Done(f"{what} is cancelled", check)
