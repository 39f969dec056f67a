"""What the owner of a bot can change: where it plays, who shares it, who reads its code."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import Session, joinedload

from arena import audit, naming
from arena.bots import entries, sharing
from arena.bots.bars import demand_not_barred
from arena.bots.first_tests import answer
from arena.bots.ladder_quotas import demand_room
from arena.bots.notifications import tell_shared
from arena.bots.submissions import (
    active_on,
    add_check,
    demand_admission,
    enter,
    is_under_way,
    try_passed,
)
from arena.competitions.dates import demand_in_time
from arena.competitions.founding import find_named
from arena.competitions.masks import demand_no_mask, entered_as
from arena.deeds import LONGEST_NAME, By, Deed, Done, asked
from arena.ground import locks
from arena.ground.db import LARGEST_ID, LOOKED_UP
from arena.ground.guesses import meant
from arena.ground.refusals import NotAllowed, NotThere, Refusal
from arena.models import (
    Bot,
    BotVersion,
    Check,
    CoOwner,
    Entrant,
    EntrantState,
    JobStatus,
    Ladder,
    Scope,
    VersionStatus,
)
from arena.people import accounts
from engine.plurals import counted
from engine.translation import gettext, ngettext


class EntryMade(NamedTuple):
    """What became of an entry."""

    active: Annotated[bool, "Whether it is on the ladder already"]
    check: Annotated[Check | None, "The check that it is to pass before"]


class LaddersLeft(NamedTuple):
    """How many ladders a bot left."""

    left: int


def find_bot(session: Session, name: str) -> Bot:
    """The bot of a name, in whatever letters' size.

    Raises:
        NotThere: there is none.
    """
    query = sa.select(Bot).where(Bot.named(name)).options(joinedload(Bot.owner))
    found = session.scalar(query, execution_options=LOOKED_UP)
    if found is None:
        raise NotThere(
            gettext(
                "there is no bot %(name)r%(meant)s",
                name=name[:60],
                meant=meant(session, Bot.name, name),
            )
        )
    naming.note(name, found)
    return found


def own_bot(session: Session, by: By, name: str) -> Bot:
    """The bot of a name, if it is somebody's own.

    Raises:
        NotThere: there is none.
        NotAllowed: it is another's.
    """
    bot = find_bot(session, name)
    if not by.owns(bot):
        raise NotAllowed(gettext("the bot %(bot)s is not yours", bot=bot.name))
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
    had, held less firmly. One that passed its check when it was tried there enters at once, too;
    another is checked first.
    """

    address = "POST /bots/<name>/enter"
    answers = EntryMade

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
            raise NotThere(
                gettext(
                    "there is no version %(version)s of the bot %(bot)s",
                    version=self.version,
                    bot=bot.name,
                )
            )
        ladder = find_named(session, Ladder, self.ladder)
        if ladder.id != bot.masked_in:
            demand_no_mask(bot)
        before = active_on(session, ladder, bot.real.id)
        check, said = self._enter(session, by, version, ladder)
        undo: tuple[Deed, ...] = ()
        if check is None and before is None and not entries.ending(session, bot, ladder):
            undo = (RetireBot(bot.name, ladder.name, version.number),)
        elif check is None and before is not None and before.version.real is not version.real:
            undo = (EnterBot(before.version.bot.name, ladder.name, before.version.number),)
        return Done(said, EntryMade(check is None, check), undo)

    def _enter(
        self, session: Session, by: By, version: BotVersion, ladder: Ladder
    ) -> tuple[Check | None, str]:
        """Enters it; gives the check that it takes first, if one is needed, and what is said."""
        demand_admission(ladder, at_home=version.is_at_home)
        if version.status is VersionStatus.REFUSED:
            raise Refusal(
                gettext(
                    "the version %(version)s was refused by its check: submit a mended version",
                    version=version.label,
                )
            )
        whose, version = version.bot.real, version.real
        demand_not_barred(session, ladder, version)
        demand_room(session, ladder, whose.person_id, whose.id, by.now, uploads=False)
        its = {"bot": version.label, "ladder": ladder.name}
        there = (
            Entrant.competition_id == ladder.id,
            Entrant.version_id == entered_as(session, ladder, version).id,
        )
        entrant = session.scalar(sa.select(Entrant).where(*there))
        # What was suspended is fielded still: nothing is changed when it comes back.
        if entrant is None or entrant.state is EntrantState.RETIRED:
            demand_in_time(session, ladder, by.now, whose.id)
        words = entries.version_on(version, ladder)
        audit.note(session, by.actor, "enter", f"bot {version.bot.name}", words, now=by.now)
        if entrant is not None and not entrant.is_tried:
            enter(session, ladder, version, by.now)
            return None, gettext(
                "the bot %(bot)s is active on %(ladder)s, with the rating that it had, held less "
                "firmly",
                **its,
            )
        asked_for = sa.select(Check).where(is_under_way(version.id), Check.ladder_id == ladder.id)
        under_way = session.scalars(locks.locking(asked_for, Check, anew=True)).all()
        # One that asks for a test first is not answered by what passed without one.
        check = next((one for one in under_way if one.test_first is None), None)
        if check is None and under_way:
            return under_way[0], gettext(
                "the bot %(bot)s enters %(ladder)s when it has passed its check and its test", **its
            )
        check = check or add_check(session, version, ladder, by.now)
        passed = try_passed(session, version, ladder)
        if passed is not None and check.status is JobStatus.OPEN:
            answer(session, check, passed, by.now)
            if not check.problem:
                return None, gettext(
                    "the bot %(bot)s enters %(ladder)s: it passed its check when it was tried",
                    **its,
                )
            return check, gettext(
                "the bot %(bot)s does not enter %(ladder)s: %(problem)s",
                **its,
                problem=check.problem,
            )
        return check, gettext("the bot %(bot)s enters %(ladder)s when its check has passed", **its)


@dataclass(frozen=True)
class RetireBot(BotDeed):
    """Take a bot of one's own off a ladder; it keeps its rating for when it comes back."""

    address = "POST /bots/<name>/retire"
    answers = Entrant

    ladder: str = asked("Which ladder", label="Ladder", most=LONGEST_NAME)
    version: int | None = _number("whichever is there")

    def asks(self, session: Session, by: By) -> str:
        bot = own_bot(session, by, self.name)
        return _what_ends(session, bot, by, find_named(session, Ladder, self.ladder))

    def do(self, session: Session, by: By) -> Done:
        bot = own_bot(session, by, self.name)
        ladder = find_named(session, Ladder, self.ladder)
        its = (
            sa.select(Entrant)
            .join(Entrant.version)
            .where(
                BotVersion.is_of(bot.id),
                Entrant.competition_id == ladder.id,
                Entrant.state != EntrantState.RETIRED,
            )
            .order_by(Entrant.state, Entrant.id)
        )
        if self.version is not None:
            its = its.where(BotVersion.number == self.version)
        there = session.scalars(its).all()
        if not there:
            raise Refusal(
                gettext(
                    "the bot %(bot)s is not on the ladder %(ladder)s",
                    bot=bot.name,
                    ladder=ladder.name,
                )
            )
        undo = _what_comes_back(there)
        for entrant in there:
            entries.retire(session, by.actor, entrant, by.now)
        label = there[0].version.label
        said = gettext(
            "the bot %(bot)s is retired, and plays no more on %(ladder)s",
            bot=label,
            ladder=ladder.name,
        )
        return Done(said, there[0], undo)


@dataclass(frozen=True)
class WithdrawBot(BotDeed):
    """Take a bot of one's own off every ladder."""

    address = "POST /bots/<name>/withdraw"
    command = "bot withdraw NAME"
    example = "mybot"
    answers = LaddersLeft

    def asks(self, session: Session, by: By) -> str:
        return _what_ends(session, own_bot(session, by, self.name), by)

    def do(self, session: Session, by: By) -> Done:
        bot = own_bot(session, by, self.name)
        undo = _what_comes_back(session.scalars(entries.on_ladders(bot, by.now)).all())
        left = entries.withdraw(session, by.actor, bot, by.now)
        words = gettext(
            "the bot %(bot)s is withdrawn: it left %(ladders)s",
            bot=bot.name,
            ladders=counted(left, "ladder"),
        )
        return Done(words, LaddersLeft(left), undo)


def _what_ends(session: Session, bot: Bot, by: By, ladder: Ladder | None = None) -> str:
    """What of a bot does not come back when it has left a ladder, or all; empty if all does."""
    ends = entries.ending(session, bot, ladder)
    there = session.scalars(entries.on_ladders(bot, by.now)).all()
    shut = [one.competition.name for one in there if not one.competition.takes_bots]
    told = []
    if ends:
        told.append(
            ngettext(
                "With that %(number)s check or test ends after which a version of %(bot)s was to "
                "enter; that can't be undone.",
                "With that %(number)s checks and tests end after which a version of %(bot)s was to "
                "enter; that can't be undone.",
                ends,
                number=ends,
                bot=bot.name,
            )
        )
    if ladder is None and shut:
        names = ", ".join(shut)
        told.append(
            gettext("It can't come back while they take no bots: %(ladders)s.", ladders=names)
        )
    elif ladder is not None and ladder.name in shut:
        told.append(
            gettext(
                "It can't come back while the ladder %(ladder)s takes no bots.", ladder=ladder.name
            )
        )
    if told and ladder is None:
        told.insert(0, gettext("The bot %(bot)s leaves every ladder.", bot=bot.name))
    elif told and ladder is not None:
        its = {"bot": bot.name, "ladder": ladder.name}
        told.insert(0, gettext("The bot %(bot)s leaves the ladder %(ladder)s.", **its))
    return " ".join(told)


def _what_comes_back(entrants: Iterable[Entrant]) -> tuple[EnterBot, ...]:
    """What lets entrants play again that are about to be taken off; suspended ones stay so."""
    return tuple(
        EnterBot(one.version.bot.name, one.competition.name, one.version.number)
        for one in entrants
        if one.state is EntrantState.ACTIVE and one.competition.takes_bots
    )


@dataclass(frozen=True)
class ChangeBot(BotDeed):
    """Open or close the code and the logs of a bot of one's own."""

    address = "PATCH /bots/<name>"
    command = "bot change NAME"
    example = "mybot --open-source"

    open_source: bool = asked("Whether everybody may read its code and its logs")

    def do(self, session: Session, by: By) -> Done:
        bot = own_bot(session, by, self.name)
        demand_no_mask(bot)
        undo: tuple[Deed, ...] = ()
        if bot.open_source is not self.open_source:
            undo = (ChangeBot(self.name, bot.open_source),)
            bot.open_source = self.open_source
            action = "open code" if self.open_source else "close code"
            audit.note(session, by.actor, action, f"bot {bot.name}", now=by.now)
        if self.open_source:
            said = gettext("code and logs of %(bot)s are for everybody now", bot=bot.name)
        else:
            said = gettext("code and logs of %(bot)s are for its owners alone now", bot=bot.name)
        return Done(said, bot, undo)


@dataclass(frozen=True)
class ShareBot(BotDeed):
    """Make another user a co-owner of a bot of one's own, who may do whatever one may.

    A team's captain can do so with the team's bots.
    """

    address = "POST /bots/<name>/share"
    command = "bot share NAME USER"
    example = "mybot ada"

    user: str = asked("The other's name", label="Share it with", most=LONGEST_NAME)

    def do(self, session: Session, by: By) -> Done:
        bot = find_bot(session, self.name)
        if not by.heads(bot):
            raise NotAllowed(
                gettext("only %(owner)s can share %(bot)s", owner=bot.owner.name, bot=bot.name)
            )
        demand_no_mask(bot)
        mate = accounts.get(session, self.user.strip())
        # Who shares it with another at the same moment waits, and sees how many it has then.
        locks.lock(session, bot)
        there = sharing.co_owners(session, bot)
        if mate.id in sharing.owners(session, bot):
            raise Refusal(
                gettext("the bot %(bot)s is %(user)s's already", bot=bot.name, user=mate.name)
            )
        if len(there) >= sharing.MOST_CO_OWNERS:
            raise Refusal(
                gettext(
                    "the bot %(bot)s has %(number)s co-owners, and no more can be",
                    bot=bot.name,
                    number=len(there),
                )
            )
        session.add(CoOwner(bot_id=bot.id, user_id=mate.id))
        audit.note(session, by.actor, "share", f"bot {bot.name}", f"with {mate.name}", now=by.now)
        tell_shared(session, bot, by.actor.name, mate, by.now)
        undo = (UnshareBot(bot.name, mate.name),)
        return Done(
            gettext("the bot %(bot)s is %(user)s's as well now", bot=bot.name, user=mate.name),
            bot,
            undo,
        )


@dataclass(frozen=True)
class UnshareBot(BotDeed):
    """Make a user a co-owner of a bot no more; co-owners can do so for themselves."""

    address = "POST /bots/<name>/unshare"
    command = "bot unshare NAME USER"
    example = "mybot ada"

    user: str = asked("The co-owner's name", most=LONGEST_NAME)

    def asks(self, session: Session, by: By) -> str:
        if self.user.strip().lower() != by.actor.name.lower():
            return ""
        return gettext(
            "You leave the bot %(bot)s; only its owner can share it with you again.", bot=self.name
        )

    def do(self, session: Session, by: By) -> Done:
        bot, user = find_bot(session, self.name), self.user.strip()
        themselves = user.lower() == by.actor.name.lower()
        if not (by.heads(bot) or themselves):
            raise NotAllowed(
                gettext(
                    "only %(owner)s can end what others share of %(bot)s",
                    owner=bot.owner.name,
                    bot=bot.name,
                )
            )
        mate = accounts.get(session, user)
        # Who ends it at the same moment, too, waits, and is told that it is ended.
        locks.lock(session, bot)
        found = session.get(CoOwner, (bot.id, mate.id))
        if found is None:
            raise Refusal(
                gettext("%(user)s is no co-owner of the bot %(bot)s", user=mate.name, bot=bot.name)
            )
        session.delete(found)
        audit.note(session, by.actor, "unshare", f"bot {bot.name}", f"with {mate.name}", now=by.now)
        undo = () if themselves else (ShareBot(bot.name, mate.name),)
        return Done(
            gettext("the bot %(bot)s is not %(user)s's any more", bot=bot.name, user=mate.name),
            bot,
            undo,
        )


@dataclass(frozen=True)
class CancelCheck(Deed):
    """Cancel the check of a bot of one's own: nothing is entered by it.

    What a worker has already begun it plays to its end.
    """

    scope = Scope.SUBMIT
    address = "POST /checks/<int:number>/cancel"
    subject = "submissions"
    answers = Check
    lasting = (
        "Nothing is entered by this check. To be checked after all, the version has to be entered "
        "or submitted again, and waits for its turn anew."
    )

    number: int = asked("The check's number")

    def do(self, session: Session, by: By) -> Done:
        check = locks.find(session, Check, self.number)
        if check is None or not by.owns(check.version.bot):
            raise NotThere(
                gettext("there is no check %(number)s of a bot of yours", number=self.number)
            )
        locks.lock(session, check)
        if check.status not in entries.UNDECIDED:
            raise Refusal(gettext("check %(number)s is over", number=check.id))
        if check.cancelled:
            raise Refusal(
                gettext(
                    "check %(number)s was cancelled already: %(reason)s",
                    number=check.id,
                    reason=check.cancelled,
                )
            )
        entries.cancel(check, f"{by.actor.name} cancelled it")
        words = f"check {check.id}, {entries.version_on(check.version, check.ladder)}"
        subject = f"bot {check.version.bot.name}"
        audit.note(session, by.actor, "cancel check", subject, words, now=by.now)
        said = gettext(
            "check %(number)s of %(bot)s for %(ladder)s is cancelled",
            number=check.id,
            bot=check.version.label,
            ladder=check.ladder.name,
        )
        return Done(said, check)
