"""What strength tests say by the speed of the machines: counted, made anew, told apart."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from arena.competitions.strength_reports import reports
from arena.competitions.strength_speeds import odd_speeds, speed_differences, speeds_of
from arena.competitions.strength_tallies import outcomes_in, tallies_of
from arena.competitions.strength_tests import StrengthTests
from arena.ground.db import Database
from arena.models import Match, PlayedGame, SpeedTally
from tests.arena.competitions.strength_simulation import StrengthSimulation
from tests.arena.simulator import CALM


def test_every_match_is_in_its_class(sqlite_database: Database) -> None:
    """As they come they are counted; and made anew of the games, whose speeds are kept."""
    arena = StrengthSimulation(sqlite_database, CALM, "clobber", size="4x3")
    number = arena.create(seed=1)
    arena.alive()
    arena.tick()
    arena.run(8)
    with sqlite_database.begin() as session:
        test = arena.test(session, number)
        (unknown,) = speeds_of(session, [test])[number]
        by_worker = tallies_of(session, [test])[number]
        assert unknown.speeds == ""
        assert list(unknown.counts) == [
            sum(cell) for cell in zip(*(one.counts for one in by_worker), strict=True)
        ]
        assert StrengthTests().recount(session, test, write=False) == []
        # As if half of the matches had been played by a slow machine, the others by a fast one.
        numbers = list(session.scalars(sa.select(Match.id).where(Match.seq.is_not(None))))
        slow = numbers[: len(numbers) // 2]
        for some, speed in ((slow, 0.5), (numbers[len(slow) :], 1.2)):
            these = PlayedGame.match_id.in_(some)
            session.execute(sa.update(PlayedGame).where(these).values(speed=speed))
        lines = StrengthTests().recount(session, test, write=True)
        assert [line.partition(": ")[0] for line in lines] == [
            f"test-{number}, unknown speeds",
            f"test-{number}, speeds of 0.5-0.71",
            f"test-{number}, speeds of 1-1.4",
        ]
        session.flush()
        found = {one.speeds: sum(one.counts) for one in speeds_of(session, [test])[number]}
        assert found == {"0.5-0.71": len(slow), "1-1.4": len(numbers) - len(slow)}
        assert list(found) == ["0.5-0.71", "1-1.4"]
        matches = ((match.id, its) for match, its in outcomes_in(session, test))
        assert speed_differences(session, test, matches, write=False) == []
        (report,) = reports(session, [test])
        assert [one["speeds"] for one in report.to_json()["speeds"]] == list(found)


@pytest.mark.parametrize(
    ("each", "odd"),
    [
        ({"0.5-0.71": [10, 20, 10], "1-1.4": [11, 19, 10]}, set()),
        # Of two the one with fewer matches is marked, where 200 to 0 is no chance.
        ({"0.5-0.71": [90, 10, 0], "1-1.4": [0, 10, 100]}, {"0.5-0.71"}),
        ({"": [100, 0, 0]}, set()),
    ],
)
def test_a_class_that_differs_is_marked(each: dict[str, list[int]], odd: set[str]) -> None:
    """The test marks it by which workers are."""
    tallies = [
        SpeedTally(speeds=speeds, counts=counts, wins=0, draws=0, losses=0, faults=0)
        for speeds, counts in each.items()
    ]
    assert set(odd_speeds(tallies, 2)) == odd
