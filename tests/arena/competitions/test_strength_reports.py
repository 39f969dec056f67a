"""What is said of strength tests: the verdict in words, and which workers are odd."""

from __future__ import annotations

import pytest

from arena.competitions import strength_tests
from arena.competitions.strength_reports import reports
from arena.models import TestVerdict
from tests.arena.competitions.strength_simulation import StrengthSimulation
from tests.arena.web.test_strength_pages import count


@pytest.mark.parametrize(
    ("verdict", "model", "reason", "words"),
    [
        (TestVerdict.PASSED, "normalized", "", "passed: stronger"),
        (TestVerdict.FAILED, "normalized", "", "failed: not 100 normalized Elo stronger"),
        (TestVerdict.PASSED, "logistic", "", "passed: stronger"),
        (
            TestVerdict.PASSED,
            "normalized",
            "it entered clobber",
            "passed: stronger; it entered clobber",
        ),
        (TestVerdict.STOPPED, "normalized", "by ada", "stopped: by ada"),
        (TestVerdict.STOPPED, "normalized", "", "stopped"),
    ],
)
def test_a_verdict_in_words(
    arena: StrengthSimulation, verdict: TestVerdict, model: str, reason: str, words: str
) -> None:
    """What was decided, by which Elo, and why it ended."""
    number = arena.create(elo0=0.0, elo1=100.0, model=model)
    with arena.database.begin() as session:
        test = arena.test(session, number)
        strength_tests.end(session, test, verdict, reason, arena.now)
        (found,) = reports(session, [test])
        assert found.verdict == words


@pytest.mark.parametrize(
    ("one", "other", "is_odd"),
    [
        # Faults of candidate and baseline, in the 200 games of each worker.
        ((60, 0), (0, 0), True),
        ((0, 60), (0, 0), True),
        ((60, 0), (0, 60), False),
        ((150, 0), (110, 0), True),
        # Of both in every game, which are no more than the games.
        ((200, 200), (0, 0), True),
    ],
)
def test_a_worker_is_odd_by_how_many_games_have_a_fault(
    arena: StrengthSimulation, one: tuple[int, int], other: tuple[int, int], is_odd: bool
) -> None:
    """Whosever fault counts, where the results are the same."""
    number = arena.create()
    for worker, (mine, theirs) in {"one": one, "other": other}.items():
        faults = {"candidate_faults": {"crash": mine}, "baseline_faults": {"crash": theirs}}
        count(arena, number, worker, [10, 20, 40, 20, 10], **faults)
    with arena.database.read() as session:
        (found,) = reports(session, [arena.test(session, number)])
        assert bool(found.odd) is is_odd
