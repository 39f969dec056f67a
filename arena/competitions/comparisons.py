"""What strength tests, tunings and gauntlets have in common: they compare versions by games.

Whoever may use a version may compare it, by a ladder's rules; the workers' time that it takes is
bounded by a weight, and where a ladder says so by a second person's approval. One that waits for
that is paused. Who has their own have more than was approved asks for it anew; another organiser
who does so approves by that.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import audit
from arena.audit import Actor
from arena.competitions.founding import TEST, TUNING, come_back, find_named
from arena.competitions.kind import CompetitionKind
from arena.competitions.organised import OrganisedDeed
from arena.competitions.players import NamedPlayer, named_players
from arena.competitions.rules import CreateByRules, Rules
from arena.competitions.strength_plans import MOST_WEIGHT, openings_on
from arena.competitions.strength_tallies import result_of_two
from arena.deeds import LONGEST_NAME, By, Done, asked
from arena.ground.locks import lock
from arena.ground.refusals import NotAllowed, Refusal
from arena.models import (
    HOUSE,
    Approval,
    BotVersion,
    Comparison,
    Competition,
    CompetitionState,
    Ladder,
    OpeningPolicy,
    Scope,
    User,
)
from arena.ratings.result import GameResult
from arena.strength.outcomes import seatings
from engine.game import Variant
from engine.translation import N_, gettext

C = TypeVar("C", bound=Comparison)

SEED_BITS = 48
MOST_OF_ANYBODY = 1.0
"""The largest weight of the tests of people who are no organisers."""


# What is said of a bot, by what it is for.
_NOT_YOURS = {
    TEST: N_("the bot %(name)s is not for you to test"),
    TUNING: N_("the bot %(name)s is not for you to tune"),
}


def may_test(by: By, version: BotVersion) -> bool:
    """Whether a checked version is somebody's to test."""
    bot = version.bot
    is_open = bot.open_source or bot.owner.name == HOUSE
    return is_open or by.owns(bot) or by.may(Scope.ORGANISE)


def may_change(by: By, competition: Competition) -> bool:
    """Whether a comparison is somebody's to stop, and to have more of."""
    mine = by.may(Scope.SUBMIT) and competition.creator_id == by.actor.id
    return mine or by.organises(competition)


def most_weight(by: By) -> float:
    """The largest weight that somebody may choose."""
    return MOST_WEIGHT if by.may(Scope.ORGANISE) else MOST_OF_ANYBODY


def usable_players(
    session: Session, by: By, names: Sequence[str], use: str = TEST
) -> list[NamedPlayer]:
    """The players of some names, whose versions somebody may use.

    Args:
        use: what they are for: a test, as a gauntlet is one, or a tuning.

    Raises:
        Refusal: there is no such player.
        NotAllowed: a version is not for them to use.
    """
    players = named_players(session, names, by)
    for player in players:
        if not may_test(by, player.version):
            raise NotAllowed(gettext(_NOT_YOURS[use], name=player.version.bot.name))
    return players


def any_seed() -> int:
    """A seed that nobody chose."""
    return secrets.randbits(SEED_BITS)


@dataclass(frozen=True, kw_only=True)
class CreateComparison(CreateByRules):
    """Makes a competition that compares versions, from openings that one may choose."""

    openings: str = asked(
        "random: balanced ones; or the name of a book; by default the ladder's book, if it has one",
        label="Openings",
        default="",
        most=LONGEST_NAME,
    )
    seed: int | None = asked(
        "Of openings and dice; by default any",
        label="Seed",
        default=None,
        least=0,
        most=2**SEED_BITS - 1,
    )

    def demand_some_openings(self, words: str) -> None:
        """Refuses empty openings.

        Args:
            words: that there are none, and why, and what to do.

        Raises:
            Refusal: they were asked for.
        """
        if self.openings == OpeningPolicy.EMPTY:
            raise Refusal(words)

    def chosen_openings(self, ladder: Ladder | None) -> str:
        """Random, or the name of a book: what was asked for, else as on a ladder.

        Args:
            ladder: by whose rules and on whose board alone it is played, if there is one.
        """
        return self.openings or (openings_on(ladder) if ladder else "random")

    def chosen_seed(self) -> int:
        """The seed that was asked for, else any."""
        return any_seed() if self.seed is None else self.seed


def needs_approval(session: Session, rules: Rules, others: Sequence[Ladder] = ()) -> bool:
    """Whether a second person has to approve a comparison by some rules, on the boards of other
    ladders, too; of those of a game alone, wherever a ladder of it asks for that, or they would be
    a way around."""
    if rules.ladder is not None:
        return any(one.asks_approval for one in (rules.ladder, *others))
    asking = sa.select(Ladder.id).where(
        Ladder.game == rules.variant.game, Ladder.approval == Approval.NEEDED
    )
    return session.scalar(asking.limit(1)) is not None


def boards_ask_approval(session: Session, boards: Sequence[Variant]) -> bool:
    """Whether a ladder of one of some boards of a game asks for approval by now, so that more of
    what was made before, whose ladder isn't known any more, needs it too."""
    asking = sa.select(Ladder).where(
        Ladder.game == boards[0].game, Ladder.approval == Approval.NEEDED
    )
    return any(ladder.variant in boards for ladder in session.scalars(asking))


def hold(session: Session, comparison: Comparison, actor: Actor, *, asks: bool) -> None:
    """Has an open comparison wait if it needs an approval that it has not, as it was just made or
    is to have more or to go on; unless who has it do so is another than who made it, and approves.

    Args:
        asks: whether what it is to have now is to be approved anew.
    """
    waited = comparison.waits
    if asks:
        comparison.approval, comparison.approver_id = Approval.NEEDED, None
    if comparison.approval is not Approval.NEEDED:
        return
    if actor.id == comparison.creator_id:
        comparison.state = CompetitionState.PAUSED
        return
    comparison.approval, comparison.approver_id = Approval.GIVEN, actor.id
    if waited:
        comparison.state = CompetitionState.OPEN
        come_back(session, comparison)


def approve(session: Session, comparison: Comparison, now: datetime, actor: Actor) -> None:
    """Lets a comparison, which is locked, begin or go on that waits for somebody to approve it.

    Raises:
        Refusal: it does not wait.
        NotAllowed: it was made by who approves.
    """
    name = comparison.name
    if not comparison.waits:
        raise Refusal(gettext("%(name)s does not wait for approval", name=name))
    if actor.id == comparison.creator_id:
        raise NotAllowed(
            gettext(
                "%(name)s is of your making, and a second person has to approve it: ask another "
                "organiser",
                name=name,
            )
        )
    hold(session, comparison, actor, asks=False)
    action, title = f"approve {comparison.kind}", comparison.title
    audit.note(session, actor, action, comparison.noted_as, title, now=now)


@dataclass(frozen=True)
class ApproveComparison(OrganisedDeed):
    """Approve a strength test, a tuning or a gauntlet that waits for it; whoever made it can't."""

    kind = Comparison
    address = "POST /competitions/<name>/approve"
    command = "competition approve NAME"
    example = "test-17"
    subject = "competitions"
    answers = Comparison
    adds = True

    name: str = asked("What it is called, as test-17", most=LONGEST_NAME)

    def do(self, session: Session, by: By) -> Done:
        found = find_named(session, Comparison, self.name)
        lock(session, found)  # the recorder may just be ending it
        approve(session, found, by.now, by.actor)
        said = gettext("%(name)s, %(title)s, is approved", name=found.name, title=found.title)
        return Done(said, found)


@dataclass(frozen=True, slots=True)
class Approved:
    """How a comparison stands with approval, to who looks at it."""

    by: str | None
    """Who gave it."""
    may_give: bool
    """Whether it waits for somebody who may be them."""


def approval_of(session: Session, comparison: Comparison, by: By | None) -> Approved:
    """Whether somebody may approve a comparison, and who has.

    Args:
        by: who looks at it; None for who is not signed in.
    """
    may = by is not None and by.organises(comparison) and by.actor.id != comparison.creator_id
    approver = comparison.approver_id and session.get(User, comparison.approver_id)
    return Approved(approver.name if approver else None, may and comparison.waits)


class ComparisonKind(CompetitionKind[C]):
    """A kind of competition in whose matches two sides meet, who may hold several seats."""

    def why_idle(
        self, session: Session, competition: C, now: datetime, trickle_seconds: float
    ) -> str | None:
        if competition.waits:
            return gettext("It waits for approval: no matches are made for now.")
        return super().why_idle(session, competition, now, trickle_seconds)

    def seatings(self, variant: Variant) -> tuple[tuple[int, ...], ...]:
        return seatings(variant)

    def result(
        self, entrants: Sequence[int], sides: Sequence[int], ranks: Sequence[int]
    ) -> GameResult[int]:
        return result_of_two(entrants, sides, ranks)
