"""A worker's games are left out of a strength test, and counted again."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from arena.competitions import strength_tallies, strength_tests
from arena.competitions.strength_deeds import ExtendTest
from arena.competitions.strength_exclusions import ExcludeWorker, IncludeWorker, exclusion
from arena.competitions.strength_reports import reports
from arena.ground.refusals import Refusal
from arena.models import AuditEntry, CompetitionState, TestVerdict
from arena.recorder.rebuild import rebuild
from arena.strength.exclusion import OF_WORKERS, odds
from tests.arena.competitions.strength_simulation import OWNER, StrengthSimulation
from tests.arena.doing import do
from tests.arena.web.test_strength_pages import count, end

# Of a test of 100 Elo against 0 with bounds of ln 19: LLR from fishtest's formulas for these
# counts is far beyond the one or the other.
GOOD, BAD, EVEN = [0, 5, 20, 40, 15], [30, 30, 15, 5, 0], [5, 10, 20, 10, 5]


@pytest.mark.parametrize(
    ("verdict", "counts", "turned"),
    [
        # (of the worker left out, of the other)
        (TestVerdict.PASSED, (EVEN, GOOD), TestVerdict.PASSED),
        (TestVerdict.PASSED, (GOOD, EVEN), TestVerdict.UNDECIDED),
        (TestVerdict.PASSED, (GOOD, BAD), TestVerdict.UNDECIDED),
        (TestVerdict.FAILED, (BAD, GOOD), TestVerdict.UNDECIDED),
        (TestVerdict.FAILED, (GOOD, BAD), TestVerdict.FAILED),
        # What was not decided is not decided by it.
        (TestVerdict.UNDECIDED, (BAD, GOOD), TestVerdict.UNDECIDED),
        (TestVerdict.STOPPED, (BAD, GOOD), TestVerdict.STOPPED),
        (TestVerdict.RUNNING, (BAD, GOOD), TestVerdict.RUNNING),
    ],
)
def test_a_verdict_stands_or_is_withdrawn_and_comes_back(
    arena: StrengthSimulation,
    verdict: TestVerdict,
    counts: tuple[list[int], list[int]],
    turned: TestVerdict,
) -> None:
    """It never becomes another verdict; one note says what was done, and with both numbers."""
    number = arena.create()
    for worker, its in zip(("odd", "fine"), counts, strict=True):
        count(arena, number, worker, its)
    if verdict is not TestVerdict.RUNNING:
        end(arena, number, verdict)
    with arena.database.begin() as session:
        test = arena.test(session, number)
        shown = exclusion(session, test, "odd")
        assert (shown.counted.counts, shown.without.counts) == (
            tuple(map(sum, zip(*counts, strict=True))),
            tuple(counts[1]),
        )
        assert (shown.verdict, shown.turned) == (verdict, turned)
        do(session, ExcludeWorker(number, "odd", "no fan"), arena.now)
        assert test.verdict is turned
        assert strength_tests.standing_of(session, test) == shown.without
        note = session.scalars(sa.select(AuditEntry).order_by(AuditEntry.id.desc())).first()
        assert note is not None
        assert (note.action, note.subject) == ("exclude worker", f"test {number}")
        for words in ("no fan", shown.words, f"{2 * sum(counts[0])} games of odd"):
            assert words in note.detail
        (found,) = reports(session, [test])
        assert found.verdict.endswith(f"without {2 * sum(counts[0])} games of odd")
        assert (f"it had {verdict}" in found.verdict) is (turned is not verdict)
        told = found.to_json()
        assert told["withdrawn"] == (verdict if turned is not verdict else None)
        assert [one["excluded"] for one in told["workers"]] == [None, "no fan"]
        if verdict is not TestVerdict.RUNNING and turned is not verdict:
            with pytest.raises(Refusal, match="is decided"):
                do(session, ExtendTest(number, 40_000), arena.now)
        do(session, IncludeWorker(number, "odd"), arena.now)
        assert (test.verdict, test.withdrawn, test.excluded) == (verdict, None, {})
        assert strength_tests.standing_of(session, test) == shown.counted


def test_what_was_decided_comes_back_though_late_matches_changed_the_numbers(
    arena: StrengthSimulation,
) -> None:
    """All of it bears the verdict that it had, whatever it says by now."""
    number = arena.create()
    count(arena, number, "odd", EVEN)
    count(arena, number, "fine", EVEN)
    end(arena, number, TestVerdict.PASSED)
    with arena.database.begin() as session:
        test = arena.test(session, number)
        do(session, ExcludeWorker(number, "odd", "x"), arena.now)
        assert test.verdict is TestVerdict.UNDECIDED
        do(session, IncludeWorker(number, "odd"), arena.now)
        assert test.verdict is TestVerdict.PASSED


@pytest.mark.parametrize(
    ("deed", "words"),
    [
        ((ExcludeWorker, "nobody", "x"), "'nobody' has played no match of test 2; who has: a, b"),
        ((ExcludeWorker, "a", "x"), "the games of a in test 2 are left out already"),
        ((ExcludeWorker, "b", "x"), "nothing would be left"),
        ((IncludeWorker, "b"), "the games of b in test 2 are not left out"),
    ],
)
def test_what_is_refused(arena: StrengthSimulation, deed: tuple[Any, ...], words: str) -> None:
    """It is refused in a sentence, and nothing is changed."""
    number = arena.create()
    for worker in "ab":
        count(arena, number, worker, EVEN)
    kind, *values = deed
    with arena.database.begin() as session:
        do(session, ExcludeWorker(number, "a", "x"), arena.now)
        with pytest.raises(Refusal, match=words):
            do(session, kind(number, *values), arena.now)
        assert arena.test(session, number).excluded == {"a": "x"}


@pytest.mark.long
def test_a_test_goes_on_without_a_worker(arena: StrengthSimulation) -> None:
    """What it plays on counts for nothing, and is no more than the limit allows; the next match
    decides; to make all anew leaves the decision as it is."""
    number = arena.create(max_games=40, elo0=-1.0, elo1=1.0)
    arena.alive()
    arena.tick()
    while True:
        arena.run(1)
        with arena.database.begin() as session:
            test = arena.test(session, number)
            tallies = strength_tallies.tallies_of(session, [test])[number]
            if len(tallies) == 2:
                do(session, ExcludeWorker(number, "one", "x"), arena.now, OWNER)
                break
    assert arena.play_out(number) is TestVerdict.UNDECIDED
    with arena.database.begin() as session:
        test = arena.test(session, number)
        one, two = strength_tallies.tallies_of(session, [test])[number]
        assert 2 * (sum(one.counts) + sum(two.counts)) >= 40
        standing = strength_tests.standing_of(session, test)
        assert standing.counts == tuple(two.counts)
        assert test.state is CompetitionState.CLOSED
        assert test.reason == "the limit of 40 games is reached"
        assert rebuild(session, test, write=False).equal
        two.wins += 1
        session.flush()
        assert not rebuild(session, test, write=True).equal
        assert strength_tests.standing_of(session, test) == standing


@pytest.mark.parametrize(
    ("left_out", "turned"), [("odd", TestVerdict.PASSED), ("fine", TestVerdict.UNDECIDED)]
)
def test_of_a_fixed_number_the_interval_of_what_is_left_bears_the_verdict(
    arena: StrengthSimulation, left_out: str, turned: TestVerdict
) -> None:
    number = arena.create(games=320)
    for worker, its in (("odd", EVEN), ("fine", GOOD)):
        count(arena, number, worker, its)
    end(arena, number, TestVerdict.PASSED)
    with arena.database.begin() as session:
        assert exclusion(session, arena.test(session, number), left_out).turned is turned


def test_a_fixed_number_ends_by_what_is_left(arena: StrengthSimulation) -> None:
    """The match decides that was the last; no interval is said to hold zero which does not."""
    number = arena.create(games=322)
    for worker, its in (("odd", EVEN), ("fine", GOOD)):
        count(arena, number, worker, its)
    with arena.database.begin() as session:
        arena.test(session, number).excluded = {"odd": "x"}
    assert arena.play_out(number) is TestVerdict.PASSED
    with arena.database.begin() as session:
        assert arena.test(session, number).reason == ""


def test_the_price_of_a_choice_is_told_for_every_number_of_workers() -> None:
    """No choice where there is one worker; a number between two counts as the larger."""
    assert odds(1) is None
    known = sorted(OF_WORKERS)
    assert known == list(OF_WORKERS)
    assert [odds(workers) for workers in known] == list(OF_WORKERS.values())
    assert odds(known[-1] + 1) == OF_WORKERS[known[-1]]
    assert odds(5) == OF_WORKERS[8]
    assert "one of 5 workers" in OF_WORKERS[8].words(5)
