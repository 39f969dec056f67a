"""Gauntlets on the site: candidate and baseline against the same field, by the arena's workers.

Theory of operation. The numbers are those of `arena.strength.gauntlet`. A round is two matches of
the same opening and dice against the same opponent: the candidate's is its first leg, the
baseline's its second, and whichever worker is free plays either. A round is counted when both are
there; what was counted stands in the row's settings, and is made anew from the games by a rebuild.
The opponents take turns from round to round, so that each is met equally often.

It plays so many games and decides by the interval at their end, or before if faults have spoilt
it. A match that is made void is due again, whatever was said by then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import product
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, Session, mapped_column

from arena import audit
from arena.audit import ARENA, Actor
from arena.competitions.books import demand_fitting, policy_of
from arena.competitions.comparisons import ComparisonKind, hold
from arena.competitions.fields import demand_field, enter_field, entrants_of
from arena.competitions.founding import add_named, demand_few, fair_start, free_name, set_over
from arena.competitions.kind import Conclusion, Moment
from arena.competitions.pairings import Pairing, under_way
from arena.competitions.players import NamedPlayer, player_of
from arena.competitions.rules import Rules
from arena.competitions.strength_tallies import outcomes_in
from arena.competitions.visibility import put_within
from arena.ground.db import count_rows
from arena.ground.texts import cut
from arena.models import (
    Comparison,
    CompetitionState,
    Entrant,
    JobStatus,
    Match,
)
from arena.models.base import Words
from arena.models.competitions import LONGEST_TITLE
from arena.ratings.sprt import Decision
from arena.strength.gauntlet import GauntletTest
from arena.strength.outcomes import Outcome
from arena.strength.sequential import StrengthError
from arena.strength.words import conditions_row, gauntlet_rows
from engine.record import GameRecord
from engine.translation import ENGLISH, N_, gettext, pgettext, speaking

LEGS = (1, 2)
"""The legs of a round: the candidate's match, and the baseline's."""
MOST_ASIDE = 3
"""How many matches that wait for the operator keep more from being made."""


class Gauntlet(Comparison):
    """Candidate and baseline against the same bots; its entrants are numbered in that order."""

    __mapper_args__ = {"polymorphic_identity": "gauntlet"}  # noqa: RUF012

    settings: Mapped[dict[str, Any]] = mapped_column(nullable=True, use_existing_column=True)
    """How many games it has, whether it decides whatever share of them faults ended, and what was
    counted (`GauntletTest.counts_json`)."""
    reason: Mapped[str] = mapped_column(Words, nullable=True, use_existing_column=True)
    """Who stopped it, for people; None if nobody did."""


@dataclass(frozen=True, slots=True)
class GauntletPlan:
    """The rules by which a gauntlet is to be played, and how much."""

    rules: Rules
    games: int
    """How many both bots play together; whole turns of the field are played, so it can be a few
    more."""
    seed: int
    openings: str = "random"
    """Random, or the name of a book."""
    allow_faults: bool = False
    note: str = ""
    needs_approval: bool = False
    """Whether a second person has to approve before it begins."""


def create(
    session: Session, plan: GauntletPlan, players: Sequence[NamedPlayer], now: datetime, by: Actor
) -> Gauntlet:
    """Makes a gauntlet, which runs at once, or as soon as somebody has approved it.

    Args:
        players: candidate, baseline, and the opponents.

    Raises:
        StrengthError: it can't be played so, or too many of this person's are running.
        Refusal: one stands in it twice, or has passed no check of the game; or the book is
            of another.
    """
    rules, opponents = plan.rules, len(players) - 2
    # Refuses what is none.
    begun = GauntletTest.begin(rules.variant, plan.games, opponents)
    demand_field(session, rules.variant, players)
    policy = policy_of(plan.openings)
    demand_fitting(session, policy["book_name"], rules.variant)
    demand_few(session, Gauntlet, by.id)
    candidate, baseline = players[:2]
    others = f"{opponents} other{'' if opponents == 1 else 's'}"  # it is kept: in English
    gauntlet = Gauntlet(
        name=free_name(session, "gauntlet"),
        title=cut(f"{candidate.label} and {baseline.label} against {others}", LONGEST_TITLE),
        note=plan.note,
        creator_id=by.id,
        variant=rules.variant,
        **policy,
        time=rules.time,
        limits=rules.limits,
        state=CompetitionState.OPEN,
        seed=plan.seed,
        weight=1.0,
        head_start=fair_start(session, 1.0),
        created=now,
        settings={
            "games": plan.games,
            "allow_faults": plan.allow_faults,
            "opponents": opponents,
            "counted": begun.counts_json(),
        },
    )
    add_named(session, gauntlet)
    hold(session, gauntlet, by, asks=plan.needs_approval)
    put_within(session, gauntlet, [player.version for player in players], now)
    enter_field(session, gauntlet, players, now)
    audit.note(session, by, "create gauntlet", gauntlet.name, gauntlet.title, now=now)
    return gauntlet


def stop(session: Session, gauntlet: Gauntlet, now: datetime, by: Actor) -> None:
    """Ends a gauntlet, which is locked, for good; matches under way are played and counted.

    Raises:
        StrengthError: it is over.
    """
    if gauntlet.state is CompetitionState.CLOSED:
        raise StrengthError(gettext("the gauntlet %(name)s is over", name=gauntlet.name))
    gauntlet.reason = f"stopped by {by.name}"
    set_over(session, gauntlet, over=True, now=now)
    audit.note(session, by, "stop gauntlet", gauntlet.name, now=now)


def begun(gauntlet: Gauntlet) -> GauntletTest:
    """A gauntlet before its first round."""
    its = gauntlet.settings
    return GauntletTest.begin(
        gauntlet.variant, its["games"], its["opponents"], allow_faults=its["allow_faults"]
    )


def standing(gauntlet: Gauntlet) -> GauntletTest:
    """A gauntlet as it stands, from what is kept."""
    return begun(gauntlet).with_counts(gauntlet.settings["counted"])


def recounted(session: Session, gauntlet: Gauntlet) -> GauntletTest:
    """A gauntlet as it stands, made anew from all games that count."""
    found = begun(gauntlet)
    halves: dict[int, dict[int, Outcome]] = {}
    for match, outcome in outcomes_in(session, gauntlet):
        halves.setdefault(match.round, {})[match.leg] = outcome
    for number in sorted(halves):
        found = _with_round(found, number, halves[number])
    return found


def _with_round(found: GauntletTest, number: int, halves: dict[int, Outcome]) -> GauntletTest:
    """A gauntlet with a round, if both its matches were played."""
    if halves.keys() != {*LEGS}:
        return found
    mine, theirs = (halves[leg] for leg in LEGS)
    return found.counting(mine, theirs, (number - 1) % len(found.opponents))


def names_in(session: Session, gauntlet: Gauntlet) -> list[str]:
    """What candidate, baseline and opponents are called."""
    return [player_of(entrant).label for entrant in entrants_of(session, gauntlet)]


def verdict(session: Session, gauntlet: Gauntlet) -> str:
    """How a gauntlet stands or ended, in words."""
    found, names = standing(gauntlet), names_in(session, gauntlet)
    if gauntlet.reason:
        return gauntlet.reason
    if gauntlet.waits:
        return pgettext("a gauntlet", "waits for approval")
    if found.decision is Decision.CONTINUE:
        return gettext("running")
    return found.verdict(names)


def told(session: Session, gauntlet: Gauntlet) -> list[tuple[str, str]]:
    """What is known of it, as names and texts."""
    (_, game), *rest = gauntlet_rows(standing(gauntlet), names_in(session, gauntlet))
    rows = [conditions_row(game, gauntlet.time, gauntlet.seed)]
    if gauntlet.book_name:
        rows.append((gettext("book"), gauntlet.book_name))
    return rows + rest


class Gauntlets(ComparisonKind[Gauntlet]):
    """Two bots against the same field, so many rounds."""

    model, word = Gauntlet, N_("gauntlet")
    suspends = False  # who it is about is said from the start

    def next_pairing(self, competition: Gauntlet, moment: Moment) -> Pairing | None:
        """The first match that was not made, or is void."""
        session, gauntlet = moment.session, competition
        due = moment.due_of(gauntlet)
        if len(due) - under_way(due) >= MOST_ASIDE:
            return None
        rounds, opponents = begun(gauntlet).rounds, gauntlet.settings["opponents"]
        found = self._next(session, gauntlet, rounds)
        if found is None:
            return None
        number, leg = found
        of_it = Entrant.competition_id == gauntlet.id
        ids = session.scalars(sa.select(Entrant.id).where(of_it).order_by(Entrant.number)).all()
        rival = ids[2 + (number - 1) % opponents]
        return Pairing((ids[leg - 1], rival), round=number, leg=leg, key=("round", number))

    def _next(self, session: Session, gauntlet: Gauntlet, rounds: int) -> tuple[int, int] | None:
        there = Match.competition_id == gauntlet.id, Match.status != JobStatus.VOID
        made = count_rows(session, Match, *there)
        if made == gauntlet.matches_made:
            # None is void, so they are the first ones.
            return (made // 2 + 1, made % 2 + 1) if made < 2 * rounds else None
        known = set(session.execute(sa.select(Match.round, Match.leg).where(*there)))
        each = product(range(1, rounds + 1), LEGS)
        return next((one for one in each if one not in known), None)

    def follow_up(
        self, session: Session, match: Match, games: Sequence[GameRecord], now: datetime
    ) -> None:
        """Counts the round if it is whole, and ends the gauntlet if that was the last."""
        gauntlet = self._own(match)
        assert match.round is not None
        both = {
            one.leg: outcome
            for one, outcome in outcomes_in(session, gauntlet, Match.round == match.round)
        }
        _keep(gauntlet, _with_round(standing(gauntlet), match.round, both))
        self.end_or_reopen(session, gauntlet, now)

    def end_or_reopen(self, session: Session, competition: Gauntlet, now: datetime) -> None:
        if competition.reason:
            return
        # A match that was just made void is in what is kept until that is made anew.
        is_stale = competition.rebuild_due
        found = recounted(session, competition) if is_stale else standing(competition)
        over = found.decision is not Decision.CONTINUE
        set_over(session, competition, over, now)

    def withdraw(
        self, session: Session, competition: Gauntlet, entrant: Entrant, why: str, now: datetime
    ) -> None:
        stop(session, competition, now, ARENA)

    def recount(self, session: Session, competition: Gauntlet, *, write: bool) -> list[str]:
        was, now = standing(competition), recounted(session, competition)
        if was == now:
            return []
        if write:
            _keep(competition, now)
        counts = f"{was.counts_json()} is stored, {now.counts_json()} came out"
        return [f"{competition.name}: {counts}"]

    def stands(self, session: Session, competition: Gauntlet) -> Mapping[str, str]:
        with speaking(ENGLISH):
            found, names = recounted(session, competition), names_in(session, competition)
            return {competition.title: found.verdict(names)}

    def conclusion(self, session: Session, competition: Gauntlet) -> Conclusion:
        return Conclusion(
            N_("Gauntlet over: %(title)s"),
            {"title": competition.title},
            verdict(session, competition),
        )


def _keep(gauntlet: Gauntlet, found: GauntletTest) -> None:
    gauntlet.settings = {**gauntlet.settings, "counted": found.counts_json()}
