"""Positions of the Siege of Paris for tests, written down in few letters."""

from __future__ import annotations

from engine.board import write_ranks
from engine.games.siege.game import GAME, SiegeState
from tests.engine.games import oracle_siege as oracle

START = (
    "1l1k1g1c1k1l/s1s1s1s1s1s1/1s1s1s1s1s1s/12/12/12/12/12/"
    "12/12/12/12/12/1S1S1S1S1S1S/S1S1S1S1S1S1/1L1K1G1C1K1L"
)
FAR = " Sk1 sk16"
"""One soldier more for each attacker, able to move and far from everything."""
IN = "Ya1 yc1 yd1" + FAR
"""The general and two soldiers are out of the fortress."""
LAST = "Yb3 Sc4 Ga8 Ca9 Ka10 gl8 cl9"
"""Yellow can take the last soldier, and then there are five officers."""
ROUND_TRIP = "b4a4 b6a6 a4b4 k12l12 b4a4 a6b6 a4b4 l12k12"
"""Two rounds of turns after which everything stands as before."""


def text_of(pieces: str, turn: str, cells: str | None = None, rest: str = "- 7 50") -> str:
    """A position text from pieces such as "Sb3 ya10".

    Unless ``cells`` says otherwise, Yellow stands in the fortress as in =GSSSSSSC, and who is
    outside has left its cell: the soldiers f9, g9, i9, d8, f8 and g8 in turn.
    """
    board = ["."] * 12 * 16
    home = "YyyyyyyZ"
    for piece in pieces.split():
        file, rank = oracle.place_of(piece[1:])
        board[(rank - 1) * 12 + file - 1] = piece[0]
        home = home.replace(piece[0], ".", 1)
    return f"{write_ranks(board, 12)} {cells or home} {turn} {rest}"


def at(
    pieces: str, turn: str, cells: str | None = None, rest: str = "- 7 50", **options: str
) -> SiegeState:
    """The position of `text_of`."""
    return GAME.variant(**options).read(text_of(pieces, turn, cells, rest))


def play(state: SiegeState, moves: str) -> SiegeState:
    """The position after some moves."""
    for move in moves.split():
        state = state.play(move)
    return state
