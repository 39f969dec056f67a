"""How fast machines are, and what the reference machine's clock grants on them."""

from __future__ import annotations

import re
from dataclasses import replace
from math import inf, nan
from typing import Any

import pytest

from engine.clock import LONGEST_MS, TimeControl
from engine.game import GameError
from engine.games import GAMES
from engine.match import race_ranks
from engine.measure import Measure, MeasureError, mean_speed, speed_class, stretch_of, unfit
from engine.record import GameRecord, RecordError, demand_in_time
from engine.referee import play_game
from tests.engine.players import FirstMove, Scripted

CALM = Measure(1.0, 1.0, spread=0.02, share=0.99, ply_us=40, slow_ply_us=90)
SMALL = GAMES["clobber"].variant(size="4x3")
PUZZLE = GAMES["puzzle"].variant(task="tetrominoes")
REFERENCE = TimeControl(move_ms=100, reference=True)


@pytest.mark.parametrize(
    ("speed", "stretch"),
    [(1.0, 1.0), (0.5, 2.0), (2.0, 0.5), (3.0, 0.333), (0.25, 4.0), (0.2, 4.0), (8.0, 0.25)],
)
def test_half_the_speed_has_twice_the_time(speed: float, stretch: float) -> None:
    """And never more than four times, or less than a fourth."""
    assert stretch_of(speed) == stretch


@pytest.mark.parametrize(
    ("time", "stretch", "granted"),
    [
        (REFERENCE, 2.0, TimeControl(move_ms=200)),
        (REFERENCE, 1.0, TimeControl(move_ms=100)),
        (TimeControl(move_ms=100), 1.0, TimeControl(move_ms=100)),
        (TimeControl(move_ms=1, reference=True), 0.25, TimeControl(move_ms=1)),
        (
            TimeControl(time_ms=10_000, inc_ms=100, reference=True),
            0.333,
            TimeControl(time_ms=3330, inc_ms=33),
        ),
        (TimeControl(time_ms=10_000, reference=True), 1.5, TimeControl(time_ms=15_000)),
        (TimeControl(move_ms=LONGEST_MS, reference=True), 4.0, TimeControl(move_ms=LONGEST_MS)),
    ],
    ids=str,
)
def test_what_is_granted_is_in_the_machines_own_milliseconds(
    time: TimeControl, stretch: float, granted: TimeControl
) -> None:
    """Nothing that a bot is told is by another machine's clock."""
    assert time.stretched(stretch) == granted
    assert not granted.reference


def test_wall_time_is_nobodys_speed() -> None:
    """What a bot sleeps takes as long on every machine."""
    with pytest.raises(GameError, match="CPU time"):
        TimeControl(move_ms=100, charge="wall", reference=True)


@pytest.mark.parametrize(
    ("changes", "slots", "cores", "words"),
    [
        ({}, 2, 2, None),
        ({"interpreted": 0.25, "compiled": 4.0}, 2, 2, None),
        ({"interpreted": 0.24}, 2, 2, "its interpreted programs run at 0.24 times .* too slow"),
        ({"compiled": 4.1}, 2, 2, "compiled .* too fast"),
        ({}, 3, 2, "3 matches at a time on 2 cores"),
        ({}, 1, None, "does not say"),
        ({"spread": 0.3}, 1, 2, "by 30%"),
        ({"share": 0.5}, 1, 2, "get 50% of a core"),
        ({"slow_ply_us": 12_000}, 1, 2, "takes 12 ms to answer"),
        ({"share": 0.5, "spread": 0.3}, 3, 2, "on 2 cores.*; .*50%.*; .*30%"),
    ],
)
def test_not_every_machine_has_such_matches(
    changes: dict[str, Any], slots: int, cores: int | None, words: str | None
) -> None:
    """Why not is said, all of it."""
    said = unfit(replace(CALM, **changes), slots, cores)
    assert re.fullmatch(f".*{words}.*" if words else "", said)


def test_who_says_nothing_is_not_fit() -> None:
    """As a worker of a release before."""
    assert unfit(None, 1, 2) == "it does not say how fast it is"


@pytest.mark.parametrize(
    ("speed", "name"),
    # Steps of the square root of two: 0.7071, 1.4142, 2.8284.
    [
        (None, ""),
        (1.0, "1-1.4"),
        (1.41, "1-1.4"),
        (1.42, "1.4-2"),
        (0.99, "0.71-1"),
        (0.5, "0.5-0.71"),
    ],
)
def test_speeds_are_told_apart_by_half_octaves(speed: float | None, name: str) -> None:
    """As a test's residuals have them."""
    assert speed_class(speed) == name


def test_the_speed_of_a_game_is_a_mean() -> None:
    """It is 1 of a machine that is half as fast for one bot and twice for the other."""
    assert mean_speed([0.5, 2.0]) == 1.0
    assert mean_speed([0.8, 0.8, 0.8]) == 0.8


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {},
        CALM.to_json() | {"interpreted": 0},
        CALM.to_json() | {"compiled": -1.0},
        CALM.to_json() | {"compiled": nan},
        CALM.to_json() | {"interpreted": inf},
        CALM.to_json() | {"interpreted": True},
        CALM.to_json() | {"interpreted": "1"},
        CALM.to_json() | {"spread": -0.1},
        CALM.to_json() | {"share": 1e9},
        CALM.to_json() | {"ply_us": 1.5},
        CALM.to_json() | {"slow_ply_us": 10**12},
    ],
    ids=str,
)
def test_a_measure_of_no_machine_is_refused(data: Any) -> None:
    """A worker may be anybody."""
    assert Measure.from_json(CALM.to_json()) == CALM
    with pytest.raises(MeasureError, match="no measure of a worker"):
        Measure.from_json(data)


def game(time: TimeControl, speeds: tuple[float, ...], cpu_us: int = 0) -> GameRecord:
    """A game of two who each take so long for a move."""
    players = [FirstMove(cpu_us=cpu_us), FirstMove(cpu_us=cpu_us)]
    record = play_game(SMALL, players, time=time, speeds=speeds)
    for seat, player in enumerate(players):
        (setup,) = player.setups
        assert setup.time == record.granted[seat]
        assert player.turns[0].clock.control == setup.time
    return record


def test_each_seat_has_the_clock_of_its_own_speed() -> None:
    """As an interpreter may be slow on a fast machine; and the record says so, and proves it."""
    record = game(REFERENCE, (0.5, 1.25))
    assert record.time == REFERENCE
    assert record.granted == (TimeControl(move_ms=200), TimeControl(move_ms=80))
    told = record.to_json()
    assert told["time"] == {"charge": "cpu", "move_ms": 100, "reference": True}
    assert (told["run"]["speeds"], told["run"]["stretch"]) == ([0.5, 1.25], [2.0, 0.8])
    assert GameRecord.from_json(told) == record
    # Whatever machine plays the same moves, it is the same game.
    assert record.digest() == game(REFERENCE, (1.0, 1.0)).digest()
    demand_in_time(record)


def test_a_machines_own_clock_is_not_stretched() -> None:
    """Its speed stands in the record all the same."""
    record = game(TimeControl(move_ms=100), (0.5, 0.5))
    assert record.granted == (TimeControl(move_ms=100),) * 2
    told = record.to_json()
    assert "reference" not in told["time"]
    assert "stretch" not in told["run"]
    assert told["run"]["speeds"] == [0.5, 0.5]
    demand_in_time(record)


@pytest.mark.parametrize(
    ("time", "speeds", "cpu_us", "changes", "words"),
    [
        # 150 ms of 100 that a machine of twice the time makes 200.
        (REFERENCE, (0.5, 0.5), 150_000, {}, None),
        (TimeControl(move_ms=100), (0.5, 0.5), 150_000, {}, "150 ms of CPU time; it had 100"),
        (TimeControl(move_ms=100), (), 100_000, {}, None),
        (REFERENCE, (2.0, 0.5), 60_000, {}, "ply 0 seat 1 .*60 ms of CPU time; it had 50"),
        (REFERENCE, (0.5, 0.5), 0, {"stretch": (4.0, 4.0)}, "stretched by .4.0, 4.0. at speeds"),
        (REFERENCE, (0.5, 0.5), 0, {"stretch": ()}, "stretched by"),
        (REFERENCE, (), 0, {}, "nothing is said of its own"),
        (TimeControl(move_ms=100), (0.5, 0.5), 0, {"stretch": (2.0, 2.0)}, "stretched by"),
        # 0.6 s for the first move of each, 1 s for two: there is one.
        (TimeControl(time_ms=1000), (), 600_000, {}, "600 ms of CPU time; it had 400"),
        (TimeControl(time_ms=1000, inc_ms=600), (), 600_000, {}, None),
    ],
)
def test_the_times_of_a_record_are_proven(
    time: TimeControl,
    speeds: tuple[float, ...],
    cpu_us: int,
    changes: dict[str, Any],
    words: str | None,
) -> None:
    """Against what was granted, and that against the speed that it says it was granted for."""
    record = replace(game(time, speeds, cpu_us), **changes)
    if words is None:
        demand_in_time(record)
        return
    with pytest.raises(RecordError, match=words):
        demand_in_time(record)


@pytest.mark.parametrize("name", ["speeds", "stretch"])
@pytest.mark.parametrize("value", [[1.0], [1.0, 0.0], [1.0, -1.0], ["1", "1"], 1.0, [1.0] * 3])
def test_a_record_of_impossible_machines_is_damaged(name: str, value: Any) -> None:
    """There is a number above zero for each seat, or none at all."""
    told = game(REFERENCE, (0.5, 1.25)).to_json()
    told["run"][name] = value
    with pytest.raises(RecordError):
        GameRecord.from_json(told)


def test_races_are_by_the_reference_machine() -> None:
    """Who took 900 ms on a machine of half the speed was faster than who took 500 on it."""
    records = []
    for speed, cpu_us in ((0.5, 900_000), (1.0, 500_000)):
        record = play_game(PUZZLE, [Scripted("stop")], time=REFERENCE, speeds=[speed])
        plies = (record.plies[0]._replace(cpu_us=cpu_us),)
        records.append(replace(record, scores=(float(PUZZLE.solved_score or 0),), plies=plies))
    assert race_ranks(records) == (1, 2)
