"""What can be clicked on a board; that moves are found by clicks is in `tests/engine`."""

from __future__ import annotations

import pytest

from arena.web.boards import Reached, clickable
from engine.games import find_variant
from tests.requirements import need_openspiel


@pytest.mark.parametrize(
    ("game", "clicked", "asks", "complete"),
    [
        ("openspiel:connect_four", (), True, None),
        ("openspiel:connect_four", ("a1",), False, "x0"),
        ("clobber", (), False, None),
        ("clobber", ("a1",), False, None),
        ("puzzle", (), False, None),
    ],
)
def test_a_move_of_a_single_click_is_asked_about(
    game: str, clicked: tuple[str, ...], asks: bool, complete: str | None
) -> None:
    """It is known before, so that the page has room for the question."""
    if game.startswith("openspiel:"):
        need_openspiel()
    state = find_variant(game).initial()
    found = clickable(Reached(state), clicked, lambda way: f"/?at={way}", last=None)
    assert (found.asks, found.complete) == (asks, complete)
