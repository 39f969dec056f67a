"""Elo, its interval and the likelihood of superiority."""

import json
from itertools import pairwise
from typing import Any

import pytest

from arena.ratings.elo import TOO_FEW, Estimate, elo_of, estimate, expected_score, observed, signed
from tests.arena.ratings.vectors import name, vectors


def alike(vector: dict[str, Any]) -> bool:
    """Whether all matches of a vector had the same score."""
    return sum(count > 0 for count in vector["results"]) < 2


FISHTEST = vectors("fishtest", "get_elo")
VARIED = [vector for vector in FISHTEST if not alike(vector)]


@pytest.mark.parametrize("vector", VARIED, ids=name)
def test_estimate_agrees_with_fishtest(vector: dict[str, Any]) -> None:
    """Elo, half the interval's width and LOS are fishtest's."""
    found, want = estimate(vector["results"]), vector["output"]
    assert found.elo == pytest.approx(want["elo"], abs=1e-9)
    assert (found.upper - found.lower) / 2 == pytest.approx(want["elo95"], abs=1e-9)
    assert found.los == pytest.approx(want["los"], abs=1e-9)


@pytest.mark.parametrize("vector", [v for v in FISHTEST if alike(v)], ids=name)
def test_like_results_are_trusted_less_than_fishtest_does(vector: dict[str, Any]) -> None:
    """fishtest takes a series of like results for one without spread: LOS 1e-45 after one loss."""
    found, want = estimate(vector["results"]), vector["output"]
    assert found.elo == pytest.approx(want["elo"], abs=1e-9)
    assert found.upper - found.lower > 2 * want["elo95"]
    assert found.los >= want["los"]


@pytest.mark.parametrize(
    "vector", [v for v in vectors("OpenBench", "stats.Elo") if not alike(v)], ids=name
)
def test_estimate_agrees_with_openbench(vector: dict[str, Any]) -> None:
    """OpenBench's interval is Student's t, wider than a normal one by (z^2 + 1) / 4n of itself."""
    found, want = estimate(vector["results"]), vector["output"]
    assert found.elo == pytest.approx(want["elo"], abs=1e-9)
    matches = sum(vector["results"])
    wider = 1 + (1.96**2 + 1) / (4 * matches)
    assert want["upper"] - want["lower"] == pytest.approx(
        (found.upper - found.lower) * wider, rel=2e-5 + 2 / matches**2
    )


@pytest.mark.parametrize(
    ("counts", "lower_score"),
    [([0, 0, 1], 0.025), ([0, 0, 0, 0, 10], 0.6915), ([0, 0, 100], 0.9638)],
)
def test_a_series_of_wins_has_the_exact_lower_bound(counts: list[int], lower_score: float) -> None:
    """n wins of n leave room for a share of 0.025 ** (1 / n) (Clopper and Pearson's tables)."""
    assert expected_score(estimate(counts).lower) == pytest.approx(lower_score, rel=2e-3)


def test_one_sided_series_grow_more_certain() -> None:
    """Each further win raises lower end and LOS, and nothing is ever infinite or sure at once."""
    series = [estimate([0, 0, wins]) for wins in range(30)]
    assert all(a.lower <= b.lower and a.los < b.los for a, b in pairwise(series))
    assert [round(e.los, 6) for e in series[:4]] == [0.5, 0.75, 0.875, 0.9375]
    assert all(e.lower <= e.elo <= e.upper < 1200 for e in series)


def test_one_draw_among_wins_is_no_gain_in_certainty() -> None:
    """9 wins and a draw do not prove more than 10 wins."""
    perfect, nearly = estimate([0, 0, 10]), estimate([0, 1, 9])
    assert nearly.lower < perfect.lower
    assert nearly.los <= perfect.los


def test_without_matches_everything_is_open() -> None:
    """No match is no knowledge."""
    assert estimate([0, 0, 0, 0, 0]) == Estimate(
        elo=0.0,
        lower=pytest.approx(-1200, abs=1),
        upper=pytest.approx(1200, abs=1),
        los=0.5,
        matches=0,
    )


@pytest.mark.parametrize("counts", [[3, 5, 8], [0, 0, 7], [1, 0, 4, 0, 9], [2, 3, 5, 7, 1, 0, 4]])
def test_the_opponents_estimate_is_the_mirror_image(counts: list[int]) -> None:
    """Reading the cells from the other end only changes signs, whatever their number."""
    ours, theirs = estimate(counts), estimate(counts[::-1])
    assert (ours.elo, ours.lower, ours.upper) == pytest.approx(
        (-theirs.elo, -theirs.upper, -theirs.lower)
    )
    assert ours.los == pytest.approx(1 - theirs.los)


def test_pairs_that_always_split_narrow_the_interval() -> None:
    """100 pairs of one win each say that the bots are equal; 100 wins and 100 losses less so."""
    assert estimate([0, 0, 100, 0, 0]).upper < estimate([100, 0, 100]).upper / 2


@pytest.mark.parametrize(("elo", "score"), [(0, 0.5), (400, 10 / 11), (-400, 1 / 11)])
def test_elo_and_score(elo: float, score: float) -> None:
    """400 Elo are ten to one, by definition."""
    assert expected_score(elo) == pytest.approx(score)
    assert elo_of(score) == pytest.approx(elo)


@pytest.mark.parametrize(
    ("counts", "words", "measured"),
    [
        # By hand: the deviation of ten pairs' mean is 0.106, so that 0.708 is the upper end.
        ([0, 0, 0, 0, 0], TOO_FEW, TOO_FEW),
        ([1, 0, 0, 0, 0], TOO_FEW, TOO_FEW),
        ([2, 1, 3, 1, 2], TOO_FEW, TOO_FEW),  # nine
        ([2, 1, 4, 1, 2], "+0 [-154, +154]", "+0 ±154"),
        # A score of 0.8167, whose interval is wider above than below.
        ([0, 1, 2, 4, 8], "+259 [+99, +461]", "+259 [+99, +461]"),
        # All won or lost: 1 - 0.025 ** (1 / 20) = 0.168 may be other than what was seen.
        ([0, 0, 0, 0, 20], "above +277", "above +277"),
        ([20, 0, 0, 0, 0], "below -277", "below -277"),
        ([20, 80, 160, 80, 20], "+0.0 [-16.9, +16.9]", "+0.0 ±16.9"),
    ],
)
def test_an_elo_for_people(counts: list[int], words: str, measured: str) -> None:
    """Nothing before ten matches, no end where there is none, no decimals of a wide interval."""
    found = estimate(counts)
    assert (found.words, found.measured) == (words, measured)
    assert found.tells is (words != TOO_FEW)


@pytest.mark.parametrize("counts", [[], [4], [3, -1, 2]])
def test_bad_counts_are_refused(counts: list[int]) -> None:
    """Fewer than two cells, or a number below zero."""
    with pytest.raises(ValueError, match="two numbers or more, none below 0"):
        observed(counts)


@pytest.mark.parametrize(
    ("elo", "digits", "text"),
    [(12.34, 1, "+12.3"), (-7.6, 0, "-8"), (-1e-14, 0, "+0"), (-0.04, 1, "+0.0")],
)
def test_no_zero_is_below_zero(elo: float, digits: int, text: str) -> None:
    """What rounds to zero comes with one sign, on whichever side of it the sum ended."""
    assert signed(elo, digits) == text


def test_no_zero_is_below_zero_in_json() -> None:
    """There it would be read as -0.0."""
    assert json.dumps(Estimate(-1e-14, -1e-14, 12.3456, 0.5, 20).to_json()) == (
        '{"elo": 0.0, "elo_95": [0.0, 12.346], "los": 0.5}'
    )
