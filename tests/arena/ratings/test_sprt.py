"""The sequential test: other programs' values, error rates, and when it stops."""

import math
from itertools import product
from random import Random
from typing import Any

import pytest

from arena.ratings.sprt import Decision, Model, Sprt
from tests.arena.ratings.vectors import name, vectors

DRAWS_ONLY = [0, 100, 0]


def sprt_of(vector: dict[str, Any]) -> Sprt:
    return Sprt(vector["elo0"], vector["elo1"], model=vector["model"])


@pytest.mark.parametrize(
    "vector",
    [
        *vectors("fishtest", "LLR_logistic", "LLR_normalized", "SPRT_elo"),
        *vectors("OpenBench", "PentanomialSPRT"),
    ],
    ids=name,
)
def test_llr_agrees_with_fishtest_and_openbench(vector: dict[str, Any]) -> None:
    """Both solve the same likelihood equations as we do (OpenBench for normalized Elo)."""
    want = vector["output"].get("llr", vector["output"].get("LLR"))
    assert sprt_of(vector).llr(vector["results"]) == pytest.approx(want, abs=1e-9)


@pytest.mark.parametrize("vector", vectors("fastchess", "EloWDL", "EloPentanomial"), ids=name)
def test_llr_agrees_with_fastchess(vector: dict[str, Any]) -> None:
    """fastchess stops its normalized fit earlier, and for logistic Elo it takes a second-order
    approximation of the logarithms: good to 1e-4 of the value. Draws alone, where the fit is
    slowest, are good to 1 %.
    """
    loose = vector["model"] == "logistic" or vector["results"] == DRAWS_ONLY
    assert sprt_of(vector).llr(vector["results"]) == pytest.approx(
        vector["output"]["llr"],
        rel=0.01 if vector["results"] == DRAWS_ONLY else 1e-4 if loose else 0,
        abs=0 if loose else 1e-6,
    )


@pytest.mark.parametrize(
    ("model", "elo1", "llr"), [("normalized", 4, -0.54912), ("logistic", 2.716, -0.53772)]
)
def test_llr_agrees_with_a_published_test(model: Model, elo1: float, llr: float) -> None:
    """The raw statistics of a finished test of the Monty chess engine, 69d3c8dc7c5b3724e29d2712,
    as its public fishtest shows them (its logistic elo1 is rounded).
    """
    counts = [13, 37, 50, 25, 3]
    assert Sprt(0, elo1, model=model).llr(counts) == pytest.approx(llr, abs=1e-4)


@pytest.mark.parametrize(
    ("model", "elo0", "elo1", "counts", "llr"),
    [
        ("normalized", 0, 10, [1, 3, 19, 17, 13], 1.185581),
        ("normalized", 0, 10, [13, 17, 19, 3, 1], -1.264981),
        ("normalized", -5, 0, [1, 1, 6, 11, 11], 0.412145),
        ("normalized", 0, 2, [1, 1, 8, 11, 9], 0.149118),
        ("logistic", 0, 10, [12, 32, 0, 8, 1], -1.401563),
    ],
)
def test_llr_where_a_step_lands_beside_a_pole(
    model: Model, elo0: float, elo1: float, counts: list[int], llr: float
) -> None:
    """The values are those of fastchess's own code (05d6451c). With eight and three times as many
    good pairs as bad ones, Newton's first step from an even fit ends at a pole, or beside it: a
    solver that takes the small steps there for the end of its way gives some -30."""
    assert Sprt(elo0, elo1, model=model).llr(counts) == pytest.approx(llr, abs=5e-6)


@pytest.mark.parametrize("model", ["normalized", "logistic"])
def test_a_match_more_changes_the_llr_by_little_and_the_right_way(model: Model) -> None:
    """A pair won speaks for the candidate, one lost against it, by less than 1 each, whatever was
    played before: all there is of up to nine pairs, and pairs of a sum where a step of Newton's
    ends at a pole."""
    sprt = Sprt(0, 10, model=model)
    few = [list(counts) for counts in product(range(3), repeat=5) if sum(counts) > 3]
    poles = [
        [a, b, c, 8 * a + 3 * b, e]
        for a, b in ((1, 0), (1, 1), (2, 1))
        for c, e in product((4, 19), (2, 13))
    ]
    for counts in [*few, *poles, *(one[::-1] for one in poles)]:
        llr = sprt.llr(counts)
        better, worse = [*counts[:4], counts[4] + 1], [counts[0] + 1, *counts[1:]]
        assert 0 < sprt.llr(better) - llr < 1, counts
        assert 0 < llr - sprt.llr(worse) < 1, counts


@pytest.mark.parametrize(
    ("alpha", "beta", "lower", "upper"),
    [(0.05, 0.05, -2.9444389791664403, 2.9444389791664403), (0.05, 0.1, -2.2513, 2.8904)],
)
def test_bounds(alpha: float, beta: float, lower: float, upper: float) -> None:
    """ln(beta / (1 - alpha)) and ln((1 - beta) / alpha); the first row is fishtest's, too."""
    test = Sprt(0, 5, alpha=alpha, beta=beta)
    assert (test.lower, test.upper) == pytest.approx((lower, upper), abs=1e-4)


def test_two_cells_have_a_closed_form() -> None:
    """Won or lost, the likelihoods are those of a coin: nothing is left to be fitted."""
    score = 1 / (1 + 10 ** (-50 / 400))
    want = 70 * math.log(score / 0.5) + 30 * math.log((1 - score) / 0.5)
    assert Sprt(0, 50, model="logistic").llr([30, 70]) == pytest.approx(want)
    # A coin's normalized Elo: its mean m is t deviations sqrt(m (1 - m)) above one half.
    t = 50 * math.log(10) / 800
    mean = 0.5 + t / math.sqrt(1 + t * t) / 2
    want = 70 * math.log(mean / 0.5) + 30 * math.log((1 - mean) / 0.5)
    assert Sprt(0, 50, games_per_match=1).llr([30, 70]) == pytest.approx(want)


@pytest.mark.parametrize("model", ["normalized", "logistic"])
@pytest.mark.parametrize("counts", [[9, 20, 5], [0, 30, 4], [1, 4, 9, 3, 2], [3, 0, 1, 4, 1, 5, 9]])
def test_llr_is_a_log_ratio(model: Model, counts: list[int]) -> None:
    """Neighbouring tests add up, and the opponent's test is the mirror image."""
    whole, low, high = (
        Sprt(*elos, model=model).llr(counts) for elos in ((-10, 20), (-10, 5), (5, 20))
    )
    assert whole == pytest.approx(low + high, abs=1e-9)
    assert Sprt(-20, 10, model=model).llr(counts[::-1]) == pytest.approx(-whole, abs=1e-9)


def test_normalized_elo_is_about_one_game() -> None:
    """Games in pairs that do not influence each other say the same as the games one by one."""
    loss, draw, win = 0.33, 0.33, 0.34
    pairs = (
        loss * loss,
        2 * loss * draw,
        2 * loss * win + draw * draw,
        2 * draw * win,
        win * win,
    )
    by_pair = Sprt(0, 10).llr([round(20000 * p) for p in pairs])
    by_game = Sprt(0, 10).llr([round(40000 * p) for p in (loss, draw, win)])
    assert by_pair == pytest.approx(by_game, rel=0.005)


EVEN = (0.15, 0.2, 0.3, 0.2, 0.15)
LOGISTIC_100 = (0.05, 0.14, 0.25, 0.32, 0.24)  # the mean is 0.64
NORMALIZED_100 = (0.05, 0.1484, 0.3, 0.3, 0.2016)  # the mean is 0.5 + 0.4071 deviations


@pytest.mark.parametrize(
    ("model", "shares", "wrong", "fixed_length"),
    [
        ("normalized", EVEN, Decision.ACCEPT, 65),
        ("normalized", NORMALIZED_100, Decision.REJECT, 65),
        ("logistic", EVEN, Decision.ACCEPT, 55),
        ("logistic", LOGISTIC_100, Decision.REJECT, 45),
    ],
)
def test_error_rates(
    model: Model, shares: tuple[float, ...], wrong: Decision, fixed_length: int
) -> None:
    """With elo0 or elo1 true, 5 % of the tests may be wrong, and on average they are shorter than
    a test of fixed length with the same errors: (2 * 1.645 * deviation / distance) ** 2 pairs.
    """
    runs = 100
    test, random = Sprt(0, 100, model=model), Random(2026)
    errors = played = 0
    for _ in range(runs):
        counts = [0] * 5
        while (decision := decide_late(test, counts)) is Decision.CONTINUE:
            counts[random.choices(range(5), shares)[0]] += 1
        errors += decision is wrong
        played += sum(counts)
    assert errors <= 10  # at a rate of 5 %, more than 10 of 100 have a chance of 1 %
    assert played / runs < fixed_length


def decide_late(test: Sprt, counts: list[int]) -> Decision:
    """What the test says, without asking before it may say anything."""
    return test.decide(counts) if sum(counts) >= test.min_matches else Decision.CONTINUE


@pytest.mark.parametrize("model", ["normalized", "logistic"])
@pytest.mark.parametrize("cell", [0, 2, 4])
def test_like_results_decide_nothing_before_the_least_number(model: Model, cell: int) -> None:
    """However one-sided the first matches are; after them 100 Elo are soon decided."""
    test = Sprt(0, 100, model=model)
    decisions = []
    for matches in range(60):
        counts = [0] * 5
        counts[cell] = matches
        decisions.append(test.decide(counts))
    assert set(decisions[: test.min_matches]) == {Decision.CONTINUE}
    assert decisions[-1] is (Decision.ACCEPT if cell == 4 else Decision.REJECT)


def test_nothing_but_draws_comes_to_an_end() -> None:
    """Each pair without a winner takes t^2 off the LLR: 2.944 / (10 * ln 10 / 800)^2 / 2 pairs."""
    pairs = 2.9444 / (10 * math.log(10) / 800) ** 2 / 2
    test = Sprt(0, 10)
    assert test.decide([0, 0, round(0.99 * pairs), 0, 0]) is Decision.CONTINUE
    assert test.decide([0, 0, round(1.01 * pairs), 0, 0]) is Decision.REJECT


def test_a_bound_is_passed_by_a_hair() -> None:
    """It is passed at 2.95, as docs/strength-tests.md shows it, not a match before; so below."""
    passed, before = [7, 0, 28, 0, 71], [7, 0, 28, 0, 70]
    test, mirrored = Sprt(0, 10), Sprt(-10, 0)
    assert test.llr(passed) == pytest.approx(2.95, abs=0.005)
    assert (test.upper, test.lower) == pytest.approx((2.944, -2.944), abs=0.001)
    assert [test.decide(passed), test.decide(before)] == [Decision.ACCEPT, Decision.CONTINUE]
    assert mirrored.decide(passed[::-1]) is Decision.REJECT
    assert mirrored.decide(before[::-1]) is Decision.CONTINUE


def test_the_greatest_number_ends_what_cannot_be_decided() -> None:
    """Draws say nothing between -5 and 5, so such a test needs a limit; a decision goes first."""
    test = Sprt(-5, 5, max_matches=400)
    assert test.decide([0, 0, 399, 0, 0]) is Decision.CONTINUE
    assert test.decide([0, 0, 400, 0, 0]) is Decision.UNDECIDED
    assert Sprt(0, 100, max_matches=16).decide([0, 0, 0, 0, 16]) is Decision.ACCEPT


def test_without_matches_the_test_goes_on() -> None:
    """No match says next to nothing, and that without an error."""
    assert Sprt(0, 5).decide([0, 0, 0, 0, 0]) is Decision.CONTINUE


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"elo0": 5, "elo1": 5}, "elo0 must be less than elo1"),
        ({"elo0": 0, "elo1": math.nan}, "elo0 must be less than elo1"),
        ({"elo0": 0, "elo1": 5, "alpha": 0.0}, "alpha and beta"),
        ({"elo0": 0, "elo1": 5, "alpha": 0.5, "beta": 0.5}, "alpha and beta"),
        ({"elo0": 0, "elo1": 5, "model": "bayesian"}, "'normalized' or 'logistic'"),
        ({"elo0": 0, "elo1": 5, "max_matches": 15}, "less than min_matches"),
    ],
)
def test_senseless_tests_are_refused(arguments: dict[str, Any], message: str) -> None:
    """With one line that says what is wrong."""
    with pytest.raises(ValueError, match=message):
        Sprt(**arguments)


@pytest.mark.parametrize(
    ("elos", "model", "limit"),
    [
        ((0, 300), "normalized", 197),  # a pair lies 1.2 deviations above one half
        ((0, 1e6), "logistic", 1200),  # a score of 0.999 is 1200 Elo
        ((-1e6, 1e6), "logistic", 1200),
    ],
)
def test_an_elo_beyond_testing_is_refused(
    elos: tuple[float, float], model: Model, limit: int
) -> None:
    """It is refused on either side of zero, before any arithmetic overflows."""
    with pytest.raises(ValueError, match=f"needs no sequential test; use less than {limit}"):
        Sprt(*elos, model=model).llr([1, 2, 3, 2, 1])
