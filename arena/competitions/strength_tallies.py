"""The counts of strength tests, kept by worker, and what they say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import groupby
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, joinedload

from arena.competitions.players import NamedPlayer, player_of
from arena.competitions.strength_plans import plan_of
from arena.models import (
    BotVersion,
    Competition,
    Entrant,
    GameSeat,
    JobStatus,
    Match,
    PlayedGame,
    StrengthTest,
    TestTally,
)
from arena.ratings.result import GameResult
from arena.strength import outcomes, sequential
from arena.strength.outcomes import BASELINE, CANDIDATE, Outcome
from arena.strength.sequential import OnBoard, on_board
from engine.game import Termination, Variant
from engine.record import Fault


def empty_tally(test: StrengthTest, worker: str) -> TestTally:
    """A worker's counts of a test before its first match."""
    none = (0,) * outcomes.cells(test.variant)
    return TestTally(
        test_id=test.id,
        worker=worker,
        counts=list(none),
        wins=0,
        draws=0,
        losses=0,
        candidate_faults={},
        baseline_faults={},
        boards=[OnBoard(none).to_json() for _ in test.variants] if test.boards else [],
    )


def add(tally: TestTally, outcome: Outcome, leg: int = 1) -> None:
    """Adds a match to a worker's counts.

    Args:
        leg: on which board it was, from 1.
    """
    if tally.boards:
        boards = list(tally.boards)
        boards[leg - 1] = on_board(boards[leg - 1]).add(outcome).to_json()
        tally.boards = boards
    counts = list(tally.counts)
    counts[outcome.half_points] += 1
    tally.counts = counts
    tally.wins += outcome.wins
    tally.draws += outcome.draws
    tally.losses += outcome.losses
    mine, theirs = outcome.faults[CANDIDATE], outcome.faults[BASELINE]
    tally.candidate_faults = dict(Counter(tally.candidate_faults) + Counter(mine))
    tally.baseline_faults = dict(Counter(tally.baseline_faults) + Counter(theirs))


def tallies_of(session: Session, tests: Iterable[StrengthTest]) -> dict[int, list[TestTally]]:
    """The counts of some tests by worker, in one statement."""
    found: dict[int, list[TestTally]] = {test.id: [] for test in tests}
    query = sa.select(TestTally).where(TestTally.test_id.in_(found)).order_by(TestTally.worker)
    for tally in session.scalars(query):
        found[tally.test_id].append(tally)
    return found


def sides_of(session: Session, tests: Iterable[StrengthTest]) -> dict[int, list[NamedPlayer]]:
    """Candidate and baseline of some tests, in one statement."""
    found: dict[int, list[NamedPlayer]] = {test.id: [] for test in tests}
    query = (
        sa.select(Entrant)
        .where(Entrant.competition_id.in_(found))
        .order_by(Entrant.competition_id, Entrant.number)
        .options(joinedload(Entrant.version).joinedload(BotVersion.bot))
    )
    for entrant in session.scalars(query):
        found[entrant.competition_id].append(player_of(entrant))
    return found


def counted_in(test: StrengthTest, tallies: Iterable[TestTally]) -> list[TestTally]:
    """The counts that make up a test's numbers: those of all workers but the excluded ones."""
    return [tally for tally in tallies if tally.worker not in test.excluded]


def standing_of(session: Session, test: StrengthTest) -> sequential.SequentialTest:
    """A test as it stands, from what is kept."""
    tallies = counted_in(test, tallies_of(session, [test])[test.id])
    return standing(test, sides_of(session, [test])[test.id], tallies)


def standing(
    test: StrengthTest, sides: Sequence[NamedPlayer], tallies: Sequence[TestTally]
) -> sequential.SequentialTest:
    """A test by the counts of some workers.

    Args:
        sides: candidate and baseline.
    """
    candidate, baseline = sides
    begun = sequential.SequentialTest.begin(plan_of(test).settings(candidate, baseline))
    rows = [begun.counts, *(tally.counts for tally in tallies)]
    return sequential.SequentialTest(
        begun.settings,
        tuple(map(sum, zip(*rows, strict=True))),
        sum(tally.wins for tally in tallies),
        sum(tally.draws for tally in tallies),
        sum(tally.losses for tally in tallies),
        (
            _faults(tally.candidate_faults for tally in tallies),
            _faults(tally.baseline_faults for tally in tallies),
        ),
        on_boards=tuple(
            reduce(OnBoard.plus, (on_board(tally.boards[turn]) for tally in tallies), none)
            for turn, none in enumerate(begun.on_boards)
        ),
    )


def _faults(sides: Iterable[dict[str, int]]) -> dict[Termination, int]:
    total: Counter[str] = Counter()
    for side in sides:
        total.update(side)
    return {Termination(key): number for key, number in sorted(total.items())}


def result_of_two(
    entrants: Sequence[int], sides: Sequence[int], ranks: Sequence[int]
) -> GameResult[int]:
    """The result of a game between two who may hold several seats, by who won more meetings.

    Args:
        entrants, sides, ranks: of each seat.
    """
    first, second = dict.fromkeys(entrants)
    seats = list(zip(entrants, sides, ranks, strict=True))
    ahead = sum(
        (rank < other) - (rank > other)
        for entrant, side, rank in seats
        for rival, its_side, other in seats
        if (entrant, rival) == (first, second) and side != its_side
    )
    return GameResult((first, second), (0, 1), (1 + (ahead < 0), 1 + (ahead > 0)))


# Made anew from the games.


@dataclass(frozen=True, slots=True)
class _Game:
    """What is stored of a game that a score can be made of."""

    ranks: tuple[int, ...]
    faults: tuple[Fault, ...]
    its_digest: str

    def digest(self) -> str:
        return self.its_digest


def outcomes_in(
    session: Session,
    competition: Competition,
    *which: sa.ColumnElement[bool],
    boards: Sequence[Variant] = (),
    order: Sequence[sa.ColumnExpressionArgument[Any]] = (Match.id,),
) -> Iterator[tuple[Any, Outcome]]:
    """What each match that counts says, made from its games.

    Args:
        which: of which matches, by what is there of them; by default of all.
        boards: on which they were by their legs, if they were not all on one.
        order: of the matches; by default that of their numbers.

    Yields:
        With each what is there of its match: id, seq, played_by, round, leg.
    """
    its = (Match.id, Match.seq, Match.played_by, Match.round, Match.leg)
    query = (
        sa.select(
            *its,
            PlayedGame.number,
            PlayedGame.digest,
            GameSeat.seat,
            GameSeat.rank,
            GameSeat.fault,
        )
        .join(PlayedGame, PlayedGame.match_id == Match.id)
        .join(GameSeat, GameSeat.game_id == PlayedGame.id)
        .where(Match.competition_id == competition.id, Match.status == JobStatus.FIXED, *which)
        .order_by(*order, PlayedGame.number, GameSeat.seat)
        .execution_options(yield_per=2000)
    )
    variant = competition.variant
    for _, rows in groupby(session.execute(query), key=lambda row: row.id):
        seated = list(rows)
        board = boards[seated[0].leg - 1] if boards else variant
        yield seated[0], outcomes.outcome(board, list(_stored_games(seated)))


def recounted(session: Session, test: StrengthTest) -> dict[str, TestTally]:
    """The counts of a test by worker, made anew from all games that count."""
    found: dict[str, TestTally] = {}
    for match, outcome in outcomes_in(session, test, boards=test.variants):
        if match.played_by not in found:
            found[match.played_by] = empty_tally(test, match.played_by)
        add(found[match.played_by], outcome, match.leg)
    return found


def _stored_games(rows: Iterable[Any]) -> Iterator[_Game]:
    """The games of a match, of which each row is a seat, in their order."""
    for _, seats in groupby(rows, key=lambda row: row.number):
        seated = list(seats)
        yield _Game(
            tuple(row.rank for row in seated),
            tuple(Fault(row.seat, 0, row.fault, "") for row in seated if row.fault is not None),
            seated[0].digest,
        )


def differences(session: Session, test: StrengthTest, *, write: bool) -> list[str]:
    """How the counts that are kept differ from those made anew, a line for each worker.

    Args:
        write: keeps those made anew.
    """
    made = recounted(session, test)
    kept = {tally.worker: tally for tally in tallies_of(session, [test])[test.id]}
    lines = []
    for worker in sorted(made.keys() | kept.keys()):
        was, now = _values(kept.get(worker)), _values(made.get(worker))
        if was == now:
            continue
        lines.append(f"{test.name}, {worker}: {was} is stored, {now} came out")
        if write:
            if worker in kept:
                session.delete(kept[worker])
            if worker in made:
                session.add(made[worker])
    return lines


def _values(tally: TestTally | None) -> Mapping[str, Any] | None:
    if tally is None:
        return None
    return {
        "counts": list(tally.counts),
        "W-D-L": f"{tally.wins}-{tally.draws}-{tally.losses}",
        "faults": [dict(tally.candidate_faults), dict(tally.baseline_faults)],
        "boards": list(tally.boards),
    }
