"""A log is taken apart by plies as it was put together."""

from __future__ import annotations

import pytest

from engine.bot_logs import at, by_ply

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


@pytest.mark.parametrize(
    ("ply", "words"),
    [
        (0, "hello\n--- standard error ---\nup\n"),
        (1, "thinking\n"),
        (2, ""),
        (3, "still\ndone\nply 9: no heading here\n"),
        (4, "Traceback\n"),  # of the turn after the last ply
    ],
)
def test_what_belongs_to_a_position(ply: int, words: str) -> None:
    """The log of the move that led there, and at the end of what came of it."""
    assert at(LOG, ply, last=4) == words


@pytest.mark.parametrize("log", ["", "--- ply x ---\n", "--- ply 99999999999 ---\n", "ply : a\n"])
def test_what_is_no_heading(log: str) -> None:
    """A bot may write anything."""
    assert "".join(by_ply(log).values()) == log
