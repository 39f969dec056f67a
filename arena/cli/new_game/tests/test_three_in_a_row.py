"""Three in a Row keeps to what every game must, and its tree of moves is as large as is known."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engine.games import GAMES
from engine.perft import perft


@pytest.mark.arena_game("three-in-a-row")
def test_it_is_a_game(game_check: Callable[[], None]) -> None:
    """What is checked is in the name of each test (`arena game check` says the same)."""
    game_check()


# Of games that end with the fifth to the ninth ply there are 1440, 5328, 47952, 72576 and 127872
# (Henry Bottomley, "How many Tic-Tac-Toe games are there?"). What goes on from a ply has as many
# ways as there are free squares: 9, 9*8, ... 15120, then (15120 - 1440) * 4 and so on.
@pytest.mark.parametrize(
    ("depth", "leaves"),
    [(1, 9), (2, 72), (3, 504), (4, 3024), (5, 15120), (6, 54720), (7, 148176)],
)
def test_perft(depth: int, leaves: int) -> None:
    """The tree has as many leaves as the source says."""
    assert perft(GAMES["three-in-a-row"].variant().initial(), depth) == leaves
