"""How a position of the Siege of Paris looks: the board, the fortress in its middle, the armies."""

from __future__ import annotations

from engine.games.siege.board import (
    ARMIES,
    ATTACKERS,
    BITS,
    CELLS,
    DARK,
    FULL,
    GATES,
    INSIDE,
    LETTERS,
    PIECES,
    PITCH,
    SEGMENTS,
    SQUARES,
    Board,
)
from engine.scene import Body, Line, Paint, Piece, Scene, Shade, Square

PAINTS = (Paint.YELLOW, Paint.WHITE, Paint.BLACK)
# The attackers' at the start.
SOLDIERS = FULL["S"] + FULL["s"]
OFFICERS = len(ATTACKERS) - SOLDIERS
SIGNS = {"general": "G", "colonel": "C", "captain": "K", "lieutenant": "L", "soldier": ""}


def draw(board: Board, news: str) -> Scene:
    """The board, with ``news`` beneath it and what either side has reached."""
    soldiers, officers = _counts(board, board.attackers)
    soldiers_in, officers_in = _counts(board, board.attackers & INSIDE)
    return Scene(
        title=f"The Siege of Paris: {news}",
        squares=(
            *(
                _place(name, Shade.DARK if DARK >> BITS[name] & 1 else Shade.LIGHT)
                for name in SQUARES
            ),
            *(_place(name, Shade.SPECIAL) for name in CELLS),
        ),
        pieces=tuple(_piece(name, letter) for name, letter in board.pieces().items()),
        lines=(
            *(Line(pair[:2], pair[2:]) for pair in SEGMENTS.split()),
            *(Line(pair[:2], pair[2:], broken=True) for pair in GATES.split()),
        ),
        captions=(
            news,
            f"Taken: soldiers {SOLDIERS - soldiers} of {SOLDIERS}, "
            f"officers {OFFICERS - officers} of {OFFICERS}",
            f"Attackers inside: soldiers {soldiers_in}, officers {officers_in}",
        ),
    )


def _counts(board: Board, places: int) -> tuple[int, int]:
    """How many soldiers and officers stand there."""
    soldiers = (places & board.soldiers).bit_count()
    return soldiers, places.bit_count() - soldiers


def _place(name: str, shade: Shade) -> Square:
    rank, file = divmod(BITS[name], PITCH)
    return Square(name, file, rank, shade)


def _piece(name: str, letter: str) -> Piece:
    army, kind = PIECES[letter]
    words = f"{ARMIES[army].lower()} {kind.name}"
    return Piece((name,), Body.DISC, PAINTS[army], words, SIGNS[kind.name])


LOOKS = tuple(_piece("", letter).look for letter in LETTERS)
"""How all kinds of pieces look."""
