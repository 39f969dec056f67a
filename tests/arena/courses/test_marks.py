"""Marks by a table: all points here are counted by hand."""

from __future__ import annotations

from datetime import timedelta

import pytest

from arena.courses.marks import read_table
from arena.ground.refusals import Refusal

REFERENCES = {"greedy": "greedy", "mcts": "MCTS"}
TABLE = """
# bot    share  points
greedy   50%    10
mcts     50%    20
mcts     share  20
late     1d     -10%
"""
MARKDOWN = """
| Bot    | Share | Points |
|--------|-------|--------|
| greedy | 50%   | 10   |
| MCTS   | 50%   | 20   |
| MCTS   | share | 20   |
| late   | 1d    | -10% |
"""
CSV = "greedy,50%,10\nMCTS,50%,20\nMCTS;share;20\nlate,1d,10%"


@pytest.mark.parametrize("text", [TABLE, MARKDOWN, CSV])
@pytest.mark.parametrize(
    ("won", "late", "points"),
    [
        ({}, 0, 0),
        ({"greedy": 0.49}, 0, 0),
        ({"greedy": 0.5}, 0, 10),
        ({"greedy": 1.0, "MCTS": 0.25}, 0, 15),
        ({"greedy": 1.0, "MCTS": 0.5}, 0, 40),
        ({"greedy": 1.0, "MCTS": 1.0}, 0, 50),
        ({"greedy": 1.0, "MCTS": 1.0}, 1, 45),
        ({"greedy": 1.0, "MCTS": 1.0}, 86400, 45),
        ({"greedy": 1.0, "MCTS": 1.0}, 86401, 40),
        ({"greedy": 1.0, "MCTS": 1.0}, 9.5 * 86400, 0),
        ({"greedy": 1.0, "MCTS": 1.0}, 400 * 86400, 0),
    ],
)
def test_points_add_up(text: str, won: dict[str, float], late: float, points: float) -> None:
    table = read_table(text, REFERENCES)
    assert table.most == 50
    assert table.mark(won, timedelta(seconds=late)).points == pytest.approx(points)


def test_what_each_rule_gave() -> None:
    """7 of 10 games are 70 %, though 0.7 has no end in binary digits."""
    table = read_table("greedy 70% 3\ngreedy share 10", REFERENCES)
    mark = table.mark({"greedy": sum([0.1] * 7)})
    assert mark.by_rule == pytest.approx((3, 7))
    assert mark.taken_off == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "has no rule"),
        ("# nothing", "has no rule"),
        ("late 1d -10%", "has no rule"),
        ("greedy 50%", "line 1: give a bot, a share and points, as: greedy 50% 10"),
        ("greedy 50% 1\n\ngredy 50% 2", "line 3: gredy is no reference bot here; did you mean"),
        ("greedy 0% 1", "line 1: 0% is no share"),
        ("greedy 101% 1", "line 1: 101% is no share"),
        ("greedy half 1", "line 1: half is no share"),
        ("greedy 50% 0", "line 1: 0 are no points"),
        ("greedy 50% -3", "line 1: -3 are no points"),
        ("greedy 50% nan", "line 1: nan are no points"),
        ("greedy 50% 1\nlate often -10%", "line 2: say what each hour or day takes off"),
        ("greedy 50% 1\nlate 1d 0%", "line 2: say what each hour or day takes off"),
        ("greedy 50% 1\nlate 1d 1%\nlate 1h 1%", "line 3: there is a rule for being late already"),
        ("greedy 50% 1\n" * 201, "line 201: give at most 200 rules"),
    ],
)
def test_a_table_that_is_none_is_refused(text: str, words: str) -> None:
    with pytest.raises(Refusal) as refused:
        read_table(text, REFERENCES)
    assert words in str(refused.value)
