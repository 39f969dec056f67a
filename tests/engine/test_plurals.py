"""Numbers, and numbers of things, in words."""

from __future__ import annotations

import pytest

from engine.plurals import NARROW_SPACE, counted, decimal, grouped
from engine.translation import speaking
from tests.marked import MARKED


@pytest.mark.parametrize(
    ("number", "things", "words"),
    [
        (0, ("game",), "0 games"),
        (1, ("game",), "1 game"),
        (2, ("game",), "2 games"),
        (1.0, ("point",), "1 point"),
        (0.5, ("point",), "0.5 points"),
        (4 / 3, ("point",), "1.333 points"),
        (1, ("match is", "matches are"), "1 match is"),
        (1234567, ("match is", "matches are"), "1234567 matches are"),
    ],
)
def test_one_is_no_plural(number: float, things: tuple[str, ...], words: str) -> None:
    """Nothing and parts have the plural in English, too."""
    assert counted(number, *things) == words


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0.0, "0"),
        (12, "12"),
        (2.5, "2.5"),
        (1 / 3, "0.333"),
        (2199.5, "2199.5"),  # of a hundred cycles: "2200" would be another's points
        (1234567.25, "1234567.25"),
        (100.0, "100"),
    ],
)
def test_points_are_written_out(value: float, words: str) -> None:
    """However many they are: no digit before the point is rounded, and no exponent is used."""
    assert decimal(value) == words


@pytest.mark.parametrize(
    ("value", "style", "words"),
    [
        (999, "", "999"),
        (20000, "", "20,000"),
        (1e9, ".0f", "1,000,000,000"),
        (1234.56, ".0f", "1,235"),
        (0.25, "g", "0.25"),
    ],
)
def test_thousands_are_set_apart(value: float, style: str, words: str) -> None:
    """Narrow spaces do it, which no language takes for a point, but in English."""
    assert grouped(value, style) == words
    with speaking(MARKED):
        assert grouped(value, style) == words.replace(",", NARROW_SPACE)
