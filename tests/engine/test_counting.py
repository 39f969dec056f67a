"""Numbers of things, in words."""

from __future__ import annotations

import pytest

from engine.counting import counted


@pytest.mark.parametrize(
    ("number", "things", "words"),
    [
        (0, ("game",), "0 games"),
        (1, ("game",), "1 game"),
        (2, ("game",), "2 games"),
        (1.0, ("point",), "1 point"),
        (0.5, ("point",), "0.5 points"),
        (1, ("match is", "matches are"), "1 match is"),
        (1234567, ("match is", "matches are"), "1234567 matches are"),
    ],
)
def test_one_is_no_plural(number: float, things: tuple[str, ...], words: str) -> None:
    """Nothing and parts have the plural in English, too."""
    assert counted(number, *things) == words
