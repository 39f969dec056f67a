"""The outlook in the Siege: what is better for whom, pair by pair of positions."""

from __future__ import annotations

import pytest

from tests.engine.games.positions_siege import at

PIECES = "Yb4 Sk4 Sb11 Gl4"


@pytest.mark.parametrize(
    ("worse", "better"),
    [
        pytest.param((PIECES, None), (PIECES.replace(" Sb11", ""), None), id="a soldier is taken"),
        pytest.param((PIECES, None), ("Yb5 Sk4 Sb11 Gl4", None), id="the hunter comes nearer"),
        pytest.param(("Yb4 Sk6 Gl4", None), ("Yb4 Sk4 Gl4", None), id="a soldier is further off"),
        pytest.param(("Yb4 Sk7 Gl5", None), ("Yb4 Sk7 Gl4", None), id="the officer is further off"),
        pytest.param(("Yb4 Sk9 Gl4", None), ("Yb4 Sk10 Gl4", None), id="a soldier has passed by"),
        pytest.param(("Yb4 sk8 gl12", None), ("Yb4 sk7 gl12", None), id="Black comes from above"),
        pytest.param(
            ("Yb4 yb2 Gl4", "S.yyyyyZ"), ("Yb4 yb2 Gl4 Sj9", "..yyyyyZ"), id="a soldier is in"
        ),
    ],
)
def test_what_is_better_for_yellow(
    worse: tuple[str, str | None], better: tuple[str, str | None]
) -> None:
    """Each pair differs in one fact of the rules."""
    one, other = (at(pieces, "y1", cells).outlook()[0] for pieces, cells in (worse, better))
    assert one < other


@pytest.mark.parametrize(
    ("options", "passed"), [({}, False), ({"retreat": "yes"}, True)], ids=["no retreat", "retreat"]
)
def test_who_has_passed_the_gates_counts_if_he_can_come_back(
    options: dict[str, str], passed: bool
) -> None:
    """White at k10 may be as near as at k7, or never come in again."""
    behind, before = (
        at(f"Ya4 S{square} Gl4 sa15", "y1", **options).outlook()[0] for square in ("k10", "k7")
    )
    assert (behind == pytest.approx(before)) == passed
