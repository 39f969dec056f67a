"""What a strength test's verdict says of the difference."""

from __future__ import annotations

from typing import Any

import pytest

from arena.ratings.elo import Estimate
from arena.strength.terms import StrengthTerms

MEASURED = Estimate(-94.2, -130.1, -58.3, 0.001, 64)


@pytest.mark.parametrize(
    ("terms", "passed", "words"),
    [
        ({}, True, "stronger"),
        ({}, False, "not 10 normalized Elo stronger"),
        ({"model": "logistic"}, False, "not 10 Elo stronger"),
        ({"elo0": 2.5, "elo1": 5.0}, True, "more than 2.5 normalized Elo stronger"),
        # That nothing was lost: what is refused is -5 in the one case, 0 in the other.
        ({"elo0": -5.0, "elo1": 0.0}, True, "less than 5 normalized Elo weaker"),
        ({"elo0": -5.0, "elo1": 0.0}, False, "weaker"),
        ({"elo0": -10.0, "elo1": -5.0}, False, "more than 5 normalized Elo weaker"),
        ({"games": 128}, False, "the 95 % interval lies below zero"),
    ],
)
def test_what_was_refused_and_what_was_measured(
    terms: dict[str, Any], passed: bool, words: str
) -> None:
    """A verdict says what the hypothesis that fell leaves, and beside it what was measured."""
    found = StrengthTerms(**terms).decided(MEASURED, passed=passed)
    assert found == f"{words} (measured -94.2 ±35.9 Elo)"
