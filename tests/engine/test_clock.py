"""Time controls, clocks and their two allowances."""

import pytest

from engine.clock import LONGEST_MS, Clock, Limit, TimeControl, parse_time
from engine.game import GameError


@pytest.mark.parametrize(
    ("text", "time_ms", "inc_ms"),
    [
        ("60", 60_000, 0),
        ("10+0.1", 10_000, 100),
        ("0.001", 1, 0),
        ("0.25+0", 250, 0),
        ("1.5+1.125", 1500, 1125),
        ("86400+86400", LONGEST_MS, LONGEST_MS),
    ],
)
def test_a_clock_is_written_in_seconds(text, time_ms, inc_ms):
    """Seconds and thousandths, with an increment behind a plus."""
    assert parse_time(text) == TimeControl(time_ms=time_ms, inc_ms=inc_ms)


@pytest.mark.parametrize(
    "text",
    # The last is a one in Arabic digits.
    ["", "0", "0.0001", "-1", "1e3", "10+", "+1", "1 + 1", "1+1+1", "86401", "1.", "ten", "\u0661"],
)
def test_a_text_that_is_no_clock_is_refused(text):
    """What is refused is refused with one clear error."""
    with pytest.raises(GameError):
        parse_time(text)


@pytest.mark.parametrize(
    "control",
    [
        {},
        {"time_ms": 1, "move_ms": 1},
        {"time_ms": 0},
        {"move_ms": 0},
        {"time_ms": 1, "inc_ms": -1},
        {"move_ms": LONGEST_MS + 1},
        {"move_ms": 100, "inc_ms": 1},
        {"time_ms": float("nan")},
    ],
    ids=str,
)
def test_a_control_that_makes_no_sense_is_refused(control):
    """A control is one of the two kinds, with times from a millisecond to a day."""
    with pytest.raises(GameError):
        TimeControl(**control)


@pytest.mark.parametrize(
    ("control", "words"),
    [
        (TimeControl(time_ms=60_000, inc_ms=500), "time=60000 inc=500"),
        (TimeControl(time_ms=60_000), "time=60000 inc=0"),
        (TimeControl(move_ms=1000), "move=1000"),
        (TimeControl(move_ms=1000, charge="wall"), "move=1000 clock=wall"),
    ],
)
def test_the_words_of_newgame(control, words):
    """A control as bots read it, by the protocol's table."""
    assert control.words == words


@pytest.mark.parametrize(
    ("control", "moves", "left_us"),
    [
        # (CPU, wall) in us of each move, and what is left by hand.
        (TimeControl(time_ms=10, inc_ms=2), [(3000, 9000)], 10_000 + 2000 - 3000),
        (TimeControl(time_ms=10, inc_ms=2), [(3000, 9000), (9000, 9001)], 2000),
        (TimeControl(time_ms=10), [(3000, 9000), (6500, 9000)], 500),
        (TimeControl(time_ms=10, charge="wall"), [(3000, 9000)], 1000),
        (TimeControl(move_ms=10), [(3000, 9000), (10_000, 10_000)], 10_000),
    ],
)
def test_what_a_move_costs(control, moves, left_us):
    """A clock pays for a move and gains its increment; a time a move is always whole again."""
    clock = Clock.start(control)
    for cpu_us, wall_us in moves:
        assert clock.overrun(cpu_us, wall_us) is None
        clock = clock.after(cpu_us, wall_us)
    assert (clock.left_us, clock.left_ms) == (left_us, left_us // 1000)
    assert (clock.moves, clock.wall_us) == (len(moves), sum(wall for _, wall in moves))


@pytest.mark.parametrize(
    ("control", "before", "allowance_us"),
    [
        # By hand, from "twice its CPU allowance plus one second for each move, and under a
        # clock for the whole game twice its CPU budget plus ten seconds".
        (TimeControl(move_ms=1000), [], 3_000_000),
        (TimeControl(move_ms=1), [(1000, 900_000)] * 30, 1_002_000),
        (TimeControl(time_ms=1000), [], 3_000_000),
        (TimeControl(time_ms=1000), [(400_000, 400_000)], 2_200_000),
        # Twelve seconds for the game, nine of them slept away, then eleven and a half.
        (TimeControl(time_ms=1000), [(0, 3_000_000)] * 3, 3_000_000),
        (TimeControl(time_ms=1000), [(0, 3_000_000)] * 3 + [(0, 2_500_000)], 500_000),
        # Each increment adds twice itself to the game's budget: 12 s + 2 * 0.2 s - 11.5 s.
        (TimeControl(time_ms=1000, inc_ms=100), [(0, 5_750_000)] * 2, 900_000),
        (TimeControl(time_ms=1000, charge="wall"), [(0, 400_000)], 600_000),
    ],
)
def test_wall_time_is_the_backstop(control, before, allowance_us):
    """How long the next move may last by the wall clock, after these moves."""
    clock = Clock.start(control)
    for cpu_us, wall_us in before:
        clock = clock.after(cpu_us, wall_us)
    assert clock.wall_allowance_us == allowance_us


@pytest.mark.parametrize(
    ("charge", "cpu_us", "wall_us", "words"),
    [
        ("cpu", 100_000, 1_200_000, None),
        ("cpu", 100_001, 100_001, "100.001 ms of CPU time; it had 100"),
        ("cpu", 0, 1_200_001, None),
        ("wall", 999_999, 100_000, None),
        ("wall", 0, 100_001, "100.001 ms of wall time; it had 100"),
    ],
)
def test_an_overrun_is_told_in_words(charge, cpu_us, wall_us, words):
    """It is to the microsecond, with both numbers: no message says 100 is more than 100."""
    said = Clock.start(TimeControl(move_ms=100, charge=charge)).overrun(cpu_us, wall_us)
    assert said is None if words is None else words in str(said)


@pytest.mark.parametrize(
    ("control", "seats", "plies", "longest_ms"),
    [
        # By the protocol: for a move twice its CPU time and a second, 3 s; for a game twice the
        # budget and ten seconds, here of 60 s and 70 s; by the wall clock what was given.
        (TimeControl(move_ms=1000), 2, 40, 120_000),
        (TimeControl(move_ms=1000, charge="wall"), 2, 40, 40_000),
        (TimeControl(time_ms=25_000), 2, 40, 120_000),
        (TimeControl(time_ms=25_000, inc_ms=500), 2, 40, 160_000),
        (TimeControl(time_ms=25_000, inc_ms=500, charge="wall"), 3, 40, 95_000),
        (TimeControl(move_ms=LONGEST_MS), 4, 84, 84 * (2 * LONGEST_MS + 1000)),
    ],
    ids=str,
)
def test_a_game_has_an_end(control, seats, plies, longest_ms):
    """All its clocks together, however its moves are shared out."""
    assert control.longest_ms(seats, plies) == longest_ms


@pytest.mark.parametrize(
    ("control", "before", "limit"),
    [
        # By the protocol: 100 ms of CPU time, twice that and a second of wall time, and ten times
        # as much with what the bot waits for a core.
        (TimeControl(move_ms=100), (), Limit(1_200_000, 12_000_000, 100_000)),
        (TimeControl(move_ms=100, charge="wall"), (), Limit(100_000)),
        # What it waited is no part of twice its time and ten seconds for the whole game.
        (TimeControl(time_ms=1000), ((0, 9_000_000, 0),), Limit(3_000_000, 30_000_000, 1_000_000)),
        (TimeControl(time_ms=1000), ((0, 11_000_000, 0),), Limit(1_000_000, 30_000_000, 1_000_000)),
        (
            TimeControl(time_ms=1000),
            ((500_000, 99_000_000, 98_000_000),),
            Limit(2_000_000, 20_000_000, 500_000),
        ),
    ],
)
def test_what_a_move_may_cost(control, before, limit):
    """CPU time, wall time, and wall time with what others kept from the bot."""
    clock = Clock.start(control)
    for cost in before:
        clock = clock.after(*cost)
    assert clock.limit == limit
