"""Moves and positions as numbers; what every game must keep to is in the conformance tests."""

from __future__ import annotations

import pytest

from engine.games import GAMES, find_variant
from engine.numbering import Numbering, UnnumberedError, numbering_of
from tests import dice
from tests.packages import Installer


@pytest.mark.parametrize(
    ("words", "moves", "planes"),
    [
        ("clobber size=6x7", 2 * (5 * 7 + 6 * 6), 2),  # both ways between neighbours
        ("blocco size=2x2", 8 + 8 * 3, 4),  # alone, or a mark on any square but the one left
        ("oxono", 2 * 36 * 35, 6),
        ("oxoxo", 3 * 16, 8),
        ("mijnlieff", 4 * 16, 8),
        ("blokus mode=duel", 4 * 30433, 4),  # Pentobi: Move::onboard_moves_classic
        ("puzzle task=full", 4 * 30433 + 1, 4),
    ],
)
def test_how_many_moves_and_kinds_of_pieces(words: str, moves: int, planes: int) -> None:
    """They were counted by hand, and as others count."""
    name, *options = words.split()
    numbering = Numbering(find_variant(name, options))
    assert len(numbering.moves) == len(numbering.number_of) == moves
    assert numbering.moves == sorted(numbering.moves)
    assert numbering.shape[2] == planes + numbering.variant.seats


def test_a_position_in_planes() -> None:
    """Form's X, which is dark, on b1; then it is Colour's turn."""
    numbering = Numbering(GAMES["oxoxo"].variant())
    start = numbering.variant.initial()
    assert numbering.shape == (4, 4, 10)
    assert numbering.ones(start) == [*range(8, 160, 10)], "Form is to move"
    # Sorted: the moves that turn a piece over, F, those that put an O, those that put an X.
    number = 16 + 16 + 4  # Xa1 to Xa4 come before
    assert numbering.moves[number] == "Xb1"
    assert number in numbering.legal(start)
    after = start.play("Xb1")
    row, column = 3, 1
    # Tiles before discs, then white before black, then rings before crosses.
    plane = 0 * 4 + 1 * 2 + 1
    assert numbering.ones(after) == [(row * 4 + column) * 10 + plane, *range(9, 160, 10)]
    assert number not in numbering.legal(after)


def test_a_game_that_tells_no_moves(packages: Installer) -> None:
    """It is named, and what it lacks."""
    packages.install("dice-game", dice.CODE, dice.ENTRY)
    with pytest.raises(UnnumberedError, match=r"dice .* have no all_moves\(\)"):
        numbering_of(GAMES["dice"].variant())
