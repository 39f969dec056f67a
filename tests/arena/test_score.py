"""Points in words."""

from __future__ import annotations

import pytest

from arena.score import decimal


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
