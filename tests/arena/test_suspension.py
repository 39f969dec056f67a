"""Bots that fault in most of their games."""

from __future__ import annotations

import pytest

from arena.suspension import why_suspended
from engine.game import Termination

CRASH, TIMEOUT, RESIGN = Termination.CRASH, Termination.TIMEOUT, Termination.RESIGN


@pytest.mark.parametrize(
    ("last", "reason"),
    [
        ([], None),
        ([CRASH] * 5, None),
        ([CRASH] * 6, "6 of its last 6 games ended by its own fault: crash (6)"),
        ([None] * 5 + [CRASH] * 5, None),
        (
            [TIMEOUT, None, TIMEOUT, None, CRASH, CRASH, CRASH, None, None, CRASH],
            "6 of its last 10 games ended by its own fault: crash (4), timeout (2)",
        ),
        ([None] * 10 + [CRASH] * 30, None),
        ([RESIGN] * 10, None),
        ([RESIGN] * 5 + [CRASH] * 5, None),
    ],
    ids=[
        "no games",
        "too few to tell",
        "crashed from the first",
        "half of them",
        "most of them, in several ways",
        "mended since",
        "to resign is to play",
        "resignations beside crashes",
    ],
)
def test_most_of_the_last_games_suspend(last: list[Termination | None], reason: str | None) -> None:
    """Six of the last ten games, the newest first; the reason is for the bot's owner."""
    assert why_suspended(last) == reason
