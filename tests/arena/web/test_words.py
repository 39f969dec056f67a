"""What pages say of times and numbers: tables worked out by hand."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest

from arena.ratings.trueskill import Rating
from arena.web.charts import RatedGame, rating_chart, sparkline, ticks
from arena.web.words import (
    ago,
    by_side,
    duration,
    ending,
    opening_words,
    outcome,
    own_result,
    sentence,
    time_control,
    tint,
)
from engine.clock import TimeControl
from engine.game import Termination
from engine.games import GAMES
from engine.plurals import listed
from engine.record import GameRecord


@pytest.mark.parametrize(
    ("options", "moves", "words"),
    [
        ({"size": "4x4"}, ["a2a1", "b1b2"], "a2a1 b1b2"),
        ({"size": "4x4"}, [], "from the start"),
        ({"size": "4x4", "fen": "8/8"}, [], "fen=8/8"),
        ({"size": "4x4", "fen": "8/8"}, ["e4"], "fen=8/8 e4"),
    ],
)
def test_openings_are_told_apart(options: dict[str, str], moves: list[str], words: str) -> None:
    """What is their own does it: a position as well as moves."""
    assert opening_words(GAMES["clobber"].variant(size="4x4"), options, moves) == words


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("choose a file", "Choose a file."),
        ("stop.", "Stop."),
        ("a.rar can't be read", "a.rar can't be read."),
        ("bot.toml: there is no key 'x'", "bot.toml: there is no key 'x'."),
    ],
)
def test_sentence(said: str, words: str) -> None:
    """It begins with a capital, unless that would be the name of another file."""
    assert sentence(ValueError(said)) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-5, "just now"),
        (9, "just now"),
        (10, "10 s ago"),
        (59, "59 s ago"),
        (60, "1 min ago"),
        (3599, "59 min ago"),
        (3600, "1 h ago"),
        (86399, "23 h ago"),
        (86400, "1 day ago"),
        (86400 * 45, "45 days ago"),
    ],
)
def test_how_long_ago(seconds: float, words: str) -> None:
    """A moment in words, whatever its unit."""
    # Half a second of grace, for the test takes time too.
    moment = datetime.now(UTC) - timedelta(seconds=seconds + (0.5 if seconds > 0 else 0))
    assert f">{words}</time>" in ago(moment)


@pytest.mark.parametrize("words", ["there is no bot x", "there is no bot x."])
def test_an_error_is_a_sentence(words: str) -> None:
    assert sentence(ValueError(words)) == "There is no bot x."


@pytest.mark.parametrize(
    ("ranks", "sides", "words"),
    [
        ((1, 2), (0, 1), ["You won.", "You lost."]),
        ((1, 1), (0, 1), ["", ""]),
        # Alone, against a puzzle.
        ((1,), (0,), [""]),
        # Four for themselves, two of whom tie; two teams; one against two.
        (
            (2, 1, 4, 2),
            (0, 1, 2, 3),
            ["You came second of 4.", "You won.", "You came fourth of 4.", "You came second of 4."],
        ),
        ((2, 1, 2, 1), (0, 1, 0, 1), ["You lost.", "You won."] * 2),
        ((1, 2, 2), (0, 1, 1), ["You won.", "You lost.", "You lost."]),
    ],
)
def test_what_came_of_it_for_oneself(
    ranks: tuple[int, ...], sides: tuple[int, ...], words: list[str]
) -> None:
    """Ranks count the better sides, not the better seats."""
    assert [own_result(ranks, sides, seat) for seat in range(len(ranks))] == words


@pytest.mark.parametrize(
    ("names", "sides", "named"),
    [
        ("ab", (0, 1), ["a", "b"]),
        ("abc", (0, 1, 2), ["a", "b", "c"]),
        ("abc", (0, 0, 1), ["a and b", "c"]),
        ("abb", (0, 0, 1), ["a and b", "b"]),
        ("abb", (0, 1, 1), ["a", "b"]),
        ("abab", (0, 1, 0, 1), ["a", "b"]),
        ("abcd", (0, 1, 0, 1), ["a and c", "b and d"]),
        ("a", (0,), ["a"]),
    ],
)
def test_allies_are_named_together(names: str, sides: tuple[int, ...], named: list[str]) -> None:
    """So that a heading says "against" between sides, and never between allies."""
    assert by_side(names, sides) == named


@pytest.mark.parametrize(
    ("termination", "words"),
    [
        (Termination.NORMAL, "A draw."),
        (Termination.REPETITION, "A draw. The game ended when a position came back."),
        # The Siege has two limits, and one of them ends games that are not long at all.
        (
            Termination.PLY_LIMIT,
            "A draw. The game ended at a limit of plies: in all, or without progress.",
        ),
    ],
)
def test_how_a_draw_came_about(termination: Termination, words: str) -> None:
    """What rule made it one, and nothing that the game need not have been."""
    record = GameRecord(
        variant=GAMES["siege"].variant(),
        seed=0,
        players=("a", "b", "c"),
        time=TimeControl(move_ms=100),
        opening=0,
        plies=(),
        faults=(),
        termination=termination,
        scores=(0.5, 0.5, 0.5),
        ranks=(1, 1, 1),
        isolation="full",
        started="2026-01-01T00:00:00Z",
    )
    assert outcome(record) == words
    assert "too many" not in ending(termination)


def test_a_moment_that_never_came() -> None:
    """What did not happen has no time."""
    assert ago(None) == "never"


@pytest.mark.parametrize(
    ("milliseconds", "words"),
    [
        (0, "0 ms"),
        (0.4, "0.4 ms"),
        (7.53, "7.5 ms"),
        (9.99, "10 ms"),
        (120.4, "120 ms"),
        (2500, "2.5 s"),
        (60_000, "60 s"),
        (3_600_000, "3600 s"),
    ],
)
def test_lengths_of_time(milliseconds: float, words: str) -> None:
    """A length in the unit that people would say it in."""
    assert duration(milliseconds) == words


@pytest.mark.parametrize(
    ("control", "words"),
    [
        (TimeControl(move_ms=100), "100 ms of CPU time a move"),
        (TimeControl(move_ms=1500, charge="wall"), "1.5 s of wall time a move"),
        (TimeControl(time_ms=60_000), "60 s of CPU time a game"),
        (
            TimeControl(time_ms=10_000, inc_ms=100),
            "10 s of CPU time a game, and 100 ms more a move",
        ),
    ],
)
def test_time_controls(control: TimeControl, words: str) -> None:
    """What a bot may use, said in full."""
    assert time_control(control) == words


@pytest.mark.parametrize(
    ("names", "words"), [(["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")]
)
def test_lists(names: list[str], words: str) -> None:
    """Names as a sentence has them."""
    assert listed(names) == words


@pytest.mark.parametrize(
    ("low", "high", "marks"),
    [
        (1412, 1588, [1450, 1500, 1550]),
        (0, 10, [0, 5, 10]),
        (869, 1802, [1000, 1200, 1400, 1600, 1800]),
        (-3, 3, [-2, 0, 2]),
        (7.2, 7.9, []),
    ],
)
def test_ticks_are_round(low: float, high: float, marks: list[int]) -> None:
    """Few numbers, all round, and none outside of the chart."""
    assert list(ticks(low, high)) == marks


def test_sparklines_of_a_table_have_one_scale() -> None:
    """What moved by 300 points of 300 goes from edge to edge, and what moved by 3 hardly at all."""
    assert 'points="1.0,22.0 91.0,2.0"' in sparkline([1500.0, 1800.0], 300.0)
    assert 'points="1.0,12.1 91.0,11.9"' in sparkline([1500.0, 1503.0], 300.0)


@pytest.mark.parametrize(
    ("share", "games", "expected", "colour"),
    [
        # All of few games won is nothing yet; of eight it is: 2 exp(-16 * 0.25) = 0.037.
        (1.0, 2, 0.5, ""),
        (0.0, 7, 0.5, ""),
        (1.0, 8, 0.5, "tint tint-4"),
        (0.0, 8, 0.5, "tint tint-0"),
        (0.5, 1000, 0.5, ""),
        (0.6, 1000, 0.5, "tint tint-3"),
        (0.6, 1000, 0.75, "tint tint-1"),
        (0.6, 1000, 0.6, ""),
        # Of who nearly always wins three lost say something: 2 exp(-6 * 0.81) = 0.016.
        (0.0, 2, 0.9, ""),
        (0.0, 3, 0.9, "tint tint-0"),
        (0.5, 0, 0.5, ""),
    ],
)
def test_only_what_chance_does_not_explain_is_coloured(
    share: float, games: int, expected: float, colour: str
) -> None:
    """It goes by how far it is from what was expected, and of how many games."""
    assert tint(share, games, expected) == colour


def test_charts_of_little() -> None:
    """One value makes no course; equal values make a level one, whatever the scale."""
    assert sparkline([1500.0], 1.0) == rating_chart([RatedGame(1, Rating())]) == ""
    assert 'points="1.0,12.0 91.0,12.0"' in sparkline([1500.0, 1500.0], 300.0)
    assert rating_chart([RatedGame(1, Rating()), RatedGame(2, Rating())]).count('class="mark"') == 2


@pytest.mark.parametrize(
    ("versions", "named"),
    [
        ([1, 2], ["v1", "v2"]),
        ([1] * 50 + [2] * 50, ["v1", "v2"]),
        ([1, 2] + [3] * 98, ["v3"]),
        ([1] * 98 + [2, 3], ["v1", "v3"]),
    ],
    ids=["two games", "apart", "close at the start", "close at the end"],
)
def test_names_of_versions_do_not_overlap(versions: list[int], named: list[str]) -> None:
    """Each has its mark; of some that follow each other closely the last is named."""
    drawn = rating_chart([RatedGame(version, Rating()) for version in versions])
    assert re.findall(r">(v\d+)<", drawn) == named
    assert drawn.count('class="mark"') == len(set(versions))
