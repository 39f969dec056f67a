"""The LLR beside what fishtest and OpenBench showed of tests that people told of."""

from __future__ import annotations

import pytest

from arena.ratings.sprt import Model, Sprt

FISHTEST: list[tuple[int, Model, float, float, float, list[int]]] = [
    (3209, "logistic", -0.25, 1.25, 2.94, [253, 4282, 17604, 4431, 286]),
    (3209, "logistic", 0.25, 1.25, 2.97, [58, 3302, 33130, 3518, 84]),
    (3098, "logistic", -0.25, 1.25, 2.96, [491, 7345, 29693, 7670, 465]),
    (2971, "logistic", -0.5, 1.5, 2.96, [17, 253, 1042, 337, 39]),
    (2971, "logistic", 0.25, 1.75, 2.93, [11, 407, 3238, 513, 11]),
    (2493, "logistic", -1, 3, 2.94, [424, 2948, 5832, 3045, 460]),
    (2493, "logistic", 0, 2, 2.94, [1284, 17437, 55536, 18085, 1292]),
    (3514, "normalized", -0.5, 2.5, 2.97, [264, 5737, 31270, 5964, 269]),
    (3514, "normalized", 0.5, 3.5, 2.94, [29, 2205, 35000, 2392, 34]),
    (4194, "normalized", 0, 2, 2.95, [371, 10263, 24989, 10642, 379]),
    (4194, "normalized", 0.5, 2.5, 2.94, [47, 8181, 25234, 8575, 47]),
]
"""The number of a pull request at github.com/official-stockfish/Stockfish, and the pentanomials
there; fishtest writes logistic hypotheses in braces, and normalized ones in angle brackets."""
OPENBENCH = [
    ("Yoshie2000/PlentyChess 95", 5, 2.91, [46, 936, 2083, 1043, 63]),
    ("Yoshie2000/PlentyChess 211", 3, 2.93, [1, 3, 32, 87, 164]),
    ("paulsonkoly/chess-3 39", 5, -2.95, [78, 64, 64, 14, 4]),
    ("paulsonkoly/chess-3 119", 5, 2.95, [30, 73, 195, 136, 84]),
]
"""A pull request at github.com, elo1 with an elo0 of 0, and the same of it."""


@pytest.mark.parametrize(("number", "model", "elo0", "elo1", "llr", "counts"), FISHTEST)
def test_llr_is_what_fishtest_showed(
    number: int, model: Model, elo0: float, elo1: float, llr: float, counts: list[int]
) -> None:
    """It is the same to its last digit."""
    assert round(Sprt(elo0, elo1, model=model).llr(counts), 2) == pytest.approx(llr, abs=1e-9)


@pytest.mark.parametrize(("where", "elo1", "llr", "counts"), OPENBENCH)
def test_llr_is_what_openbench_showed(
    where: str, elo1: float, llr: float, counts: list[int]
) -> None:
    """Also of few games, and of bots far apart."""
    assert round(Sprt(0, elo1).llr(counts), 2) == llr
