"""The counts of strength tests: how they are added up, and how they are made anew."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.competitions.strength_tallies import (
    add,
    differences,
    empty_tally,
    result_of_two,
    sides_of,
    standing,
    tallies_of,
)
from arena.ground.db import Database
from arena.models import JobStatus, Match, TestTally
from arena.ratings.result import GameResult
from arena.strength.outcomes import Outcome
from engine.game import Termination
from tests.arena.competitions.strength_simulation import StrengthSimulation
from tests.arena.simulator import CALM

CRASH, ILLEGAL = Termination.CRASH, Termination.ILLEGAL


@pytest.fixture
def arena(sqlite_database: Database) -> StrengthSimulation:
    """A ladder of two bots, of which the second crashes now and then."""
    villainy = dataclasses.replace(CALM, faulty_bots=True)
    return StrengthSimulation(sqlite_database, villainy, "clobber", size="4x4")


def test_matches_add_up_by_worker_and_over_all(arena: StrengthSimulation) -> None:
    """Two matches of one worker and one of another were counted by hand."""
    number = arena.create(1, 0)
    with arena.database.read() as session:
        test = arena.test(session, number)
        sides = sides_of(session, [test])[number]
        assert [side.label for side in sides] == ["bot-1 v1", "bot-0 v1"]
        one, other = empty_tally(test, "one"), empty_tally(test, "other")
        nothing = standing(test, sides, [])
        assert (nothing.counts, nothing.games) == ((0, 0, 0, 0, 0), 0)
        add(one, Outcome(3, 1, 1, 0, ({ILLEGAL: 1, CRASH: 1}, {CRASH: 1}), ""))
        add(one, Outcome(0, 0, 0, 2, ({CRASH: 1}, {CRASH: 1}), ""))
        add(other, Outcome(4, 2, 0, 0, ({CRASH: 1}, {}), ""))
        assert one.counts == [1, 0, 0, 1, 0]
        assert (one.wins, one.draws, one.losses) == (1, 1, 2)
        assert one.candidate_faults == {"crash": 2, "illegal": 1}
        assert one.baseline_faults == {"crash": 2}
        found = standing(test, sides, [one, other])
        assert found.counts == (1, 0, 0, 1, 1)
        assert (found.wins, found.draws, found.losses) == (3, 1, 2)
        assert found.faults == ({CRASH: 3, ILLEGAL: 1}, {CRASH: 2})
        assert list(found.faults[0]) == [CRASH, ILLEGAL]


DUELS: list[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, int]]] = [
    ((7, 9), (0, 1), (1, 2), (1, 2)),
    ((7, 9), (0, 1), (2, 1), (2, 1)),
    ((7, 9), (0, 1), (1, 1), (1, 1)),
    # One between two of the other: behind one and before one, or level with one.
    ((7, 9, 9), (0, 1, 2), (2, 1, 3), (1, 1)),
    ((7, 9, 9), (0, 1, 2), (1, 1, 3), (1, 2)),
    ((7, 9, 9), (0, 1, 2), (2, 1, 2), (2, 1)),
    # Of two sides with a seat of each: one meeting is won and one is lost.
    ((7, 9, 7, 9), (0, 0, 1, 1), (1, 1, 2, 2), (1, 1)),
]


@pytest.mark.parametrize(("entrants", "sides", "ranks", "wanted"), DUELS)
def test_who_won_more_meetings_won_the_game(
    entrants: tuple[int, ...],
    sides: tuple[int, ...],
    ranks: tuple[int, ...],
    wanted: tuple[int, int],
) -> None:
    """Whoever sat first is named first."""
    assert result_of_two(entrants, sides, ranks) == GameResult((7, 9), (0, 1), wanted)
    swapped = [{7: 9, 9: 7}[one] for one in entrants]
    assert result_of_two(swapped, sides, ranks) == GameResult((9, 7), (0, 1), wanted)


def played(arena: StrengthSimulation) -> int:
    """The number of a test of which both workers have played some matches, beside another one."""
    number = arena.create(seed=1)
    arena.create(seed=2)
    arena.alive()
    arena.tick()
    arena.run(12)
    return number


def kept(session: Session, number: int) -> dict[str, TestTally]:
    """The counts of a test by worker."""
    query = sa.select(TestTally).where(TestTally.test_id == number)
    return {tally.worker: tally for tally in session.scalars(query)}


def test_counts_that_were_spoilt_are_told_and_mended(arena: StrengthSimulation) -> None:
    """Whichever of a worker's it was; only told unless they are to be written."""
    number = played(arena)
    with arena.database.begin() as session:
        test = arena.test(session, number)
        assert sum(kept(session, number)["one"].baseline_faults.values()) > 0
        assert differences(session, test, write=False) == []
        shown = {"wins": "'99-", "draws": "-98-", "losses": "-97'"}
        spoilt: dict[str, Any] = {
            "counts": [99, 0, 0, 0, 0], "wins": 99, "draws": 98, "losses": 97,
            "candidate_faults": {"crash": 99}, "baseline_faults": {"crash": 99},
        }  # fmt: skip
        for name, wrong in spoilt.items():
            tally = kept(session, number)["one"]
            right = getattr(tally, name)
            setattr(tally, name, wrong)
            session.flush()
            (line,) = differences(session, test, write=False)
            stored, _, came_out = line.partition(" is stored, ")
            assert stored.startswith(f"test-{number}, one: {{")
            words = shown.get(name, str(wrong))
            assert (words in stored, words in came_out) == (True, False), name
            assert getattr(kept(session, number)["one"], name) == wrong
            assert differences(session, test, write=True) == [line]
            assert getattr(kept(session, number)["one"], name) == right
            assert differences(session, test, write=True) == []


def test_workers_too_few_or_too_many_are_told_and_mended(arena: StrengthSimulation) -> None:
    """One whose counts are lost, and one that never played."""
    number = played(arena)
    with arena.database.begin() as session:
        test = arena.test(session, number)
        before = kept(session, number)
        assert set(before) == {"one", "two"}
        session.delete(before["two"])
        session.add(empty_tally(test, "nobody"))
        session.flush()
        nobody, two = differences(session, test, write=True)
        assert nobody.startswith(f"test-{number}, nobody: {{")
        assert nobody.endswith("is stored, None came out")
        assert two.startswith(f"test-{number}, two: None is stored, {{")
        assert [one.worker for one in tallies_of(session, [test])[number]] == ["one", "two"]
        assert differences(session, test, write=True) == []


def test_a_void_match_counts_for_nothing(arena: StrengthSimulation) -> None:
    """Though its games are still there."""
    number = played(arena)
    with arena.database.begin() as session:
        fixed = sa.select(Match).where(
            Match.competition_id == number, Match.status == JobStatus.FIXED
        )
        match = session.scalars(fixed.order_by(Match.id)).first()
        assert match is not None
        match.status = JobStatus.VOID
        (line,) = differences(session, arena.test(session, number), write=True)
        assert line.startswith(f"test-{number}, {match.played_by}: ")
        total = sum(sum(tally.counts) for tally in kept(session, number).values())
        assert total == len(session.scalars(fixed).all())
