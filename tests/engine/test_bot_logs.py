"""A log is taken apart by plies as it was put together."""

from __future__ import annotations

import pytest

from engine.bot_logs import apart, by_place, by_ply
from engine.exchange import AFTER, BEFORE, HEADING, ExchangedLine, whole
from engine.record import Ply

LOG = """\
hello
ply 0: thinking
ply 2: still
ply 2: done
--- standard error ---
up
--- ply 2 ---
ply 9: no heading here
--- ply 4 ---
Traceback
"""


def test_by_ply() -> None:
    """Lines before replies, and standard error under its headings; the rest is of no ply."""
    assert by_ply(LOG) == {
        -1: "hello\n--- standard error ---\nup\n",
        0: "thinking\n",
        2: "still\ndone\nply 9: no heading here\n",
        4: "Traceback\n",
    }


BEGIN = "hello\n--- standard error ---\nup\n"
STILL = "still\ndone\nply 9: no heading here\n"


@pytest.mark.parametrize(
    ("first", "last", "shown"),
    [
        # What is said of the turn after the last ply stands with what came of it.
        (0, 4, {0: BEGIN, 1: "thinking\n", 3: STILL, 4: "Traceback\n"}),
        (0, 9, {0: BEGIN, 1: "thinking\n", 3: STILL, 5: "Traceback\n"}),
        (2, 3, {2: BEGIN, 1: "thinking\n", 3: f"{STILL}Traceback\n"}),  # after an opening
    ],
)
def test_what_belongs_to_a_position(first: int, last: int, shown: dict[int, str]) -> None:
    """What a bot wrote stands with the move that it led to, the first with its game's beginning."""
    assert by_place(LOG, first, last) == shown


LINES = """begin > newgame clobber size=4x3 seats=2 you=1 move=1000 seed=5
begin < 1.5 ms: ok
0 > go 0 clocks=1000,1000 moves
0 < 12.3 ms: # depth 3
0 < 13.0 ms: move a1b1 it's <b>
[... 40 bytes left out ...]
 > of which the beginning is left out
2 > go 2 clocks=987,1000 moves ...
end > end ranks=1,2 scores=1,0 cause=normal
"""


@pytest.mark.parametrize("text", ["", LOG, f"{LOG}{HEADING}a bot may write that line, too\n"])
def test_lines_exchanged_stand_apart(text: str) -> None:
    """What a bot wrote is as it was, whatever that is, and the lines are as they were told."""
    said, lines = apart(f"{text}{HEADING}{LINES}")
    assert said == text
    assert lines == [
        ExchangedLine(BEFORE, ">", "newgame clobber size=4x3 seats=2 you=1 move=1000 seed=5"),
        ExchangedLine(BEFORE, "<", "ok", 1.5),
        ExchangedLine(0, ">", "go 0 clocks=1000,1000 moves"),
        ExchangedLine(0, "<", "# depth 3", 12.3),
        ExchangedLine(0, "<", "move a1b1 it's <b>", 13.0),
        ExchangedLine(2, ">", "go 2 clocks=987,1000 moves ..."),
        ExchangedLine(AFTER, ">", "end ranks=1,2 scores=1,0 cause=normal"),
    ]
    assert by_ply(f"{LOG}{HEADING}{LINES}") == by_ply(LOG)
    plies = [Ply(0, "a1b1"), Ply(1, "c3c2"), Ply(0, "not yet")]
    assert [whole(line, plies).text for line in lines[2:6:3]] == [
        "go 0 clocks=1000,1000 moves",
        "go 2 clocks=987,1000 moves 1:a1b1 2:c3c2",
    ]


@pytest.mark.parametrize("log", ["", "--- ply x ---\n", "--- ply 99999999999 ---\n", "ply : a\n"])
def test_what_is_no_heading(log: str) -> None:
    """A bot may write anything."""
    assert "".join(by_ply(log).values()) == log
