"""What the owner of a bot can change: where it plays, who shares it, who reads its code."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import Session, joinedload

from arena import audit
from arena.bots import entries, sharing
from arena.bots.first_tests import answer
from arena.bots.submissions import (
    active_on,
    add_check,
    demand_admission,
    enter,
    is_under_way,
    try_passed,
)
from arena.competitions.founding import find_named
from arena.deeds import LONGEST_NAME, By, Deed, Done, asked
from arena.ground import locks
from arena.ground.db import LARGEST_ID
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
    query = sa.select(Bot).where(Bot.lower_name == name.lower()).options(joinedload(Bot.owner))
    found = session.scalar(query)
    if found is None:
        raise NotThere(f"there is no bot {name[:60]!r}{meant(session, Bot.name, name)}")
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
            raise NotThere(f"there is no version {self.version} of the bot {bot.name}")
        ladder = find_named(session, Ladder, self.ladder)
        before = active_on(session, ladder, bot.id)
        check, what = self._enter(session, by, version, ladder)
        undo: tuple[Deed, ...] = ()
        if check is None and before is None and not entries.ending(session, bot, ladder):
            undo = (RetireBot(bot.name, ladder.name, version.number),)
        elif check is None and before is not None and before.version_id != version.id:
            undo = (EnterBot(bot.name, ladder.name, before.version.number),)
        return Done(f"the bot {version.label} {what}", EntryMade(check is None, check), undo)

    def _enter(
        self, session: Session, by: By, version: BotVersion, ladder: Ladder
    ) -> tuple[Check | None, str]:
        """Enters it; gives the check that it takes first, if one is needed, and what is said."""
        demand_admission(ladder, at_home=version.is_at_home)
        if version.status is VersionStatus.REFUSED:
            raise Refusal(
                f"the version {version.label} was refused by its check: submit a mended version"
            )
        words = entries.version_on(version, ladder)
        audit.note(session, by.actor, "enter", f"bot {version.bot.name}", words, now=by.now)
        there = Entrant.competition_id == ladder.id, Entrant.version_id == version.id
        entrant = session.scalar(sa.select(Entrant).where(*there))
        if entrant is not None and not entrant.is_tried:
            enter(session, ladder, version, by.now)
            with_it = "with the rating that it had, held less firmly"
            return None, f"is active on {ladder.name}, {with_it}"
        asked_for = sa.select(Check).where(is_under_way(version.id), Check.ladder_id == ladder.id)
        under_way = session.scalars(locks.locking(asked_for, Check, anew=True)).all()
        # One that asks for a test first is not answered by what passed without one.
        check = next((one for one in under_way if one.test_first is None), None)
        if check is None and under_way:
            return under_way[0], f"enters {ladder.name} when it has passed its check and its test"
        check = check or add_check(session, version, ladder, by.now)
        passed = try_passed(session, version, ladder)
        if passed is not None and check.status is JobStatus.OPEN:
            answer(session, check, passed, by.now)
            if not check.problem:
                return None, f"enters {ladder.name}: it passed its check when it was tried"
            return check, f"does not enter {ladder.name}: {check.problem}"
        return check, f"enters {ladder.name} when its check has passed"


@dataclass(frozen=True)
class RetireBot(BotDeed):
    """Take a bot of one's own off a ladder; it keeps its rating for when it comes back."""

    address = "POST /bots/<name>/retire"
    answers = Entrant

    ladder: str = asked("Which ladder", label="Ladder", most=LONGEST_NAME)
    version: int | None = _number("whichever is there")

    def asks(self, session: Session, by: By) -> str:
        bot = own_bot(session, by, self.name)
        return _what_ends(session, bot, find_named(session, Ladder, self.ladder))

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
            raise Refusal(f"the bot {bot.name} is not on the ladder {ladder.name}")
        undo = _what_comes_back(there)
        for entrant in there:
            entries.retire(session, by.actor, entrant, by.now)
        label = there[0].version.label
        said = f"the bot {label} is retired, and plays no more on {ladder.name}"
        return Done(said, there[0], undo)


@dataclass(frozen=True)
class WithdrawBot(BotDeed):
    """Take a bot of one's own off every ladder."""

    address = "POST /bots/<name>/withdraw"
    command = "bot withdraw NAME"
    example = "mybot"
    answers = LaddersLeft

    def asks(self, session: Session, by: By) -> str:
        return _what_ends(session, own_bot(session, by, self.name))

    def do(self, session: Session, by: By) -> Done:
        bot = own_bot(session, by, self.name)
        undo = _what_comes_back(session.scalars(entries.on_ladders(bot)).all())
        left = entries.withdraw(session, by.actor, bot, by.now)
        words = f"the bot {bot.name} is withdrawn: it left {counted(left, 'ladder')}"
        return Done(words, LaddersLeft(left), undo)


def _what_ends(session: Session, bot: Bot, ladder: Ladder | None = None) -> str:
    """What of a bot does not come back when it has left a ladder, or all; empty if all does."""
    ends = entries.ending(session, bot, ladder)
    there = session.scalars(entries.on_ladders(bot)).all()
    shut = [one.competition.name for one in there if not one.competition.takes_bots]
    words = ""
    if ends:
        words += (
            f"With that {counted(ends, 'check or test ends', 'checks and tests end')} after which "
            f"a version of {bot.name} was to enter; that can't be undone. "
        )
    if ladder is None and shut:
        words += f"It can't come back while they take no bots: {', '.join(shut)}. "
    elif ladder is not None and ladder.name in shut:
        words += f"It can't come back while the ladder {ladder.name} takes no bots. "
    if words and ladder is None:
        words = f"The bot {bot.name} leaves every ladder. {words}"
    elif words and ladder is not None:
        words = f"The bot {bot.name} leaves the ladder {ladder.name}. {words}"
    return words.strip()


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
        undo: tuple[Deed, ...] = ()
        if bot.open_source is not self.open_source:
            undo = (ChangeBot(self.name, bot.open_source),)
            bot.open_source = self.open_source
            action = "open code" if self.open_source else "close code"
            audit.note(session, by.actor, action, f"bot {bot.name}", now=by.now)
        who = "everybody" if self.open_source else "its owners alone"
        return Done(f"code and logs of {bot.name} are for {who} now", bot, undo)


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
        mate = accounts.get(session, self.user.strip())
        # Who shares it with another at the same moment waits, and sees how many it has then.
        locks.lock(session, bot)
        there = sharing.co_owners(session, bot)
        if mate.id == bot.owner_id or mate in there:
            raise Refusal(f"the bot {bot.name} is {mate.name}'s already")
        if len(there) >= sharing.MOST_CO_OWNERS:
            raise Refusal(f"the bot {bot.name} has {len(there)} co-owners, and no more can be")
        session.add(CoOwner(bot_id=bot.id, user_id=mate.id))
        audit.note(session, by.actor, "share", f"bot {bot.name}", f"with {mate.name}", now=by.now)
        undo = (UnshareBot(bot.name, mate.name),)
        return Done(f"the bot {bot.name} is {mate.name}'s as well now", bot, undo)


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
        return f"You leave the bot {self.name}; only its owner can share it with you again."

    def do(self, session: Session, by: By) -> Done:
        bot, user = find_bot(session, self.name), self.user.strip()
        themselves = user.lower() == by.actor.name.lower()
        if not (by.at_machine or bot.owner_id == by.actor.id or themselves):
            raise NotAllowed(f"only {bot.owner.name} can end what others share of {bot.name}")
        mate = accounts.get(session, user)
        # Who ends it at the same moment, too, waits, and is told that it is ended.
        locks.lock(session, bot)
        found = session.get(CoOwner, (bot.id, mate.id))
        if found is None:
            raise Refusal(f"{mate.name} is no co-owner of the bot {bot.name}")
        session.delete(found)
        audit.note(session, by.actor, "unshare", f"bot {bot.name}", f"with {mate.name}", now=by.now)
        undo = () if themselves else (ShareBot(bot.name, mate.name),)
        return Done(f"the bot {bot.name} is not {mate.name}'s any more", bot, undo)


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
            raise NotThere(f"there is no check {self.number} of a bot of yours")
        locks.lock(session, check)
        if check.status not in entries.UNDECIDED:
            raise Refusal(f"check {check.id} is over")
        if check.cancelled:
            raise Refusal(f"check {check.id} was cancelled already: {check.cancelled}")
        entries.cancel(check, f"{by.actor.name} cancelled it")
        words = f"check {check.id}, {entries.version_on(check.version, check.ladder)}"
        subject = f"bot {check.version.bot.name}"
        audit.note(session, by.actor, "cancel check", subject, words, now=by.now)
        what = f"check {check.id} of {check.version.label} for {check.ladder.name}"
        return Done(f"{what} is cancelled", check)
