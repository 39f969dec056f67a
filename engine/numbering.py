"""Moves and positions as numbers, for programs that learn.

A game may give its moves and positions numbers of its own (`Variant.numbers`). In all others a move
has the number of its place among all moves of the variant (`Variant.all_moves`) as they are sorted
as text, the same in every position, and a position is a stack of planes of zeros and ones, each
as large as the board: one for each look that a piece may have (`Variant.all_looks`), with ones
where such a piece lies, and one for each seat, all ones when it is to move. What no piece shows,
such as how many plies were played, is not in the planes; what follows from the rules for the next
move is in the list of legal moves.

No number in here needs more than Python: a bot in its box has the same as whoever trained it.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.game import CHANCE, GameError, IllegalMoveError, Move, State, Variant
from engine.translation import gettext


class UnnumberedError(GameError):
    """A game that does not tell all its moves or what its pieces look like, or has no squares."""


class GivenNumbering:
    """The numbers that a variant gives its moves and positions itself."""

    def __init__(self, variant: Variant) -> None:
        """Raises: UnnumberedError: it gives none."""
        if variant.numbers is None:
            raise UnnumberedError(
                gettext("%(game)s gives its moves and positions no numbers", game=variant.game)
            )
        self.count, self.shape = variant.numbers.moves, variant.numbers.shape

    def legal(self, state: State) -> Sequence[int]:
        """The numbers of the legal moves."""
        return state.codes()

    def play(self, state: State, number: int) -> State:
        """The position after a move.

        Raises:
            IllegalMoveError: the move is not legal.
        """
        if number not in state.codes():
            raise IllegalMoveError(str(number))
        return state.play_code(number)


class Numbering:
    """The numbers of a variant's moves, and the planes of its positions.

    A plane has a row for each height at which there are squares, the top one first, and a column
    for each place from left to right. A square is named by file and rank, so on most boards row 0
    is the last rank and column 0 the file a.
    """

    def __init__(self, variant: Variant) -> None:
        """Raises: UnnumberedError: the game tells no such lists, which it need not."""
        moves, looks = variant.all_moves(), variant.all_looks()
        if moves is None or looks is None:
            name = "all_moves" if moves is None else "all_looks"
            raise UnnumberedError(
                gettext(
                    "%(game)s can't be put in numbers: its variants have no %(name)s()",
                    game=variant.game,
                    name=name,
                )
            )
        self.variant = variant
        self.moves: Sequence[Move] = sorted(moves)
        """The notation of each number."""
        self.number_of = {move: number for number, move in enumerate(self.moves)}
        """The number of each move."""
        self.count = len(self.moves)
        squares = variant.initial().scene().squares
        if not squares:
            raise UnnumberedError(
                gettext("%(game)s can't be put in numbers: it shows no squares", game=variant.game)
            )
        across = sorted({square.x for square in squares})
        down = sorted({square.y for square in squares}, reverse=True)
        self.shape = (len(down), len(across), len(looks) + variant.seats)
        """Rows, columns and planes."""
        depth = self.shape[2]
        self._squares = {
            square.name: (down.index(square.y) * len(across) + across.index(square.x)) * depth
            for square in squares
        }
        self._looks = {look: plane for plane, look in enumerate(looks)}
        self._seats = tuple(
            tuple(range(len(looks) + seat, len(down) * len(across) * depth, depth))
            for seat in range(variant.seats)
        )

    def legal(self, state: State) -> list[int]:
        """The numbers of the legal moves."""
        number_of = self.number_of
        return [number_of[move] for move in state.legal_moves()]

    def play(self, state: State, number: int) -> State:
        """The position after a move.

        Raises:
            IllegalMoveError: the move is not legal.
        """
        return state.play(self.moves[number])

    def ones(self, state: State) -> list[int]:
        """Where a position's planes have ones; all else is zeros.

        Returns:
            Indices into an array of `shape` that is laid out row by row, in each row square by
            square, and for each square plane by plane.
        """
        squares, looks = self._squares, self._looks
        found = [
            squares[name] + looks[piece.look]
            for piece in state.scene().pieces
            for name in piece.squares
        ]
        if (seat := state.to_move) not in (None, CHANCE):
            found += self._seats[seat]
        return found


def numbering_of(variant: Variant) -> Numbering | GivenNumbering:
    """The numbers of a variant: those that it gives itself, if it does.

    Raises:
        UnnumberedError: it has none.
    """
    return Numbering(variant) if variant.numbers is None else GivenNumbering(variant)
