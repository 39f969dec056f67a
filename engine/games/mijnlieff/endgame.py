"""The end of Mijnlieff: what both seats gain from a position if they play perfectly.

What matters of the pieces on the board is whose they are: their types only count as missing from
the hand, and the last one for where the next may go. So far fewer positions differ than there are
ways to reach them, and an alpha-beta search with a table (Knuth and Moore, 1975) goes from half
of the 4x4 game to its end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from engine.games.mijnlieff import MijnlieffState
from engine.games.mijnlieff.board import TYPES, Board
from engine.truth import OutOfSteps

DIGIT = 4
"""Bits for the number of pieces of one type in a hand; no seat begins with more than 8."""
Piece = tuple[int, int]
"""A type and the mask of its square."""


class Reduced(NamedTuple):
    """What a seat to move sees."""

    own: int
    """The squares of its pieces on the board; then those of the other seat."""
    other: int
    hand: int
    """Its pieces in hand, a digit for each type; then those of the other seat."""
    others: int
    open: int
    """Where it may play; nowhere when the game is over."""
    turned: bool
    """Whether the seat to move is Black."""


class ReducedRules:
    """The game on one board, as far as a search has to know it."""

    def __init__(self, board: Board) -> None:
        self.board = board
        squares = range(board.squares)
        self.reach = [
            {1 << bit: board.reach[kind * board.squares + bit] for bit in squares}
            for kind in range(len(TYPES))
        ]
        """Where a piece of each type on each square sends the other seat."""
        self.kinds: dict[int, tuple[int, ...]] = {}

    def position(self, state: MijnlieffState) -> Reduced:
        """The position of the engine, as its seat to move sees it."""
        board = self.board
        sides = [(board.flat(side), self.hand(side)) for side in (state.white, state.black)]
        (own, hand), (other, others) = sides if state.mover == 0 else reversed(sides)
        return Reduced(own, other, hand, others, state.open, state.mover == 1)

    def hand(self, pieces: int) -> int:
        """The pieces in hand of a seat with these on the board."""
        return sum(held << DIGIT * kind for kind, held in enumerate(self.board.held(pieces)))

    def kinds_in(self, hand: int) -> tuple[int, ...]:
        """The types of which a hand has a piece."""
        if hand not in self.kinds:
            self.kinds[hand] = tuple(
                kind for kind in range(len(TYPES)) if hand >> DIGIT * kind & (1 << DIGIT) - 1
            )
        return self.kinds[hand]

    def pieces(self, position: Reduced) -> list[Piece]:
        """What may be played where."""
        return [
            (kind, square)
            for square in singles(position.open)
            for kind in self.kinds_in(position.hand)
        ]

    def play(self, position: Reduced, piece: Piece) -> Reduced:
        """The position after a piece, as the seat sees it that moves next."""
        own, other, hand, others, _, turned = position
        kind, square = piece
        own |= square
        hand -= 1 << DIGIT * kind
        free = self.board.outline ^ (own | other)
        if not others:
            return Reduced(other, own, others, hand, 0, not turned)
        reach = self.reach[kind][square] & free
        if hand and not reach:
            # The other seat passes.
            return Reduced(own, other, hand, others, free, turned)
        return Reduced(other, own, others, hand, reach, not turned)

    def points(self, own: int, other: int) -> int:
        """How many points the first of two seats with these squares leads by."""
        lead = 0
        for shift, starts in self.board.threes:
            lead += (own & own >> shift & own >> 2 * shift & starts).bit_count()
            lead -= (other & other >> shift & other >> 2 * shift & starts).bit_count()
        return lead


def singles(mask: int) -> Iterator[int]:
    """Each bit of a mask as a mask."""
    while mask:
        single = mask & -mask
        yield single
        mask ^= single


class MijnlieffEndgame:
    """Searches positions to their end."""

    def __init__(self, rules: ReducedRules, most: int) -> None:
        """Begins with nothing known.

        Args:
            most: the largest lead in points that is told from larger ones; with 1 it looks for who
                wins alone, which is quicker.
        """
        self.rules, self.most = rules, most
        self.table: dict[Reduced, tuple[int, int]] = {}
        """Bounds of the values known: not less than the first, not more than the second."""

    def value(self, position: Reduced, low: int, high: int, go_on: Callable[[], bool]) -> int:
        """How much the seat to move wins by with the best of play; exact between low and high.

        Raises:
            OutOfSteps: ``go_on`` said no before that was clear.
        """
        if not position.open:
            lead = self.rules.points(position.own, position.other)
            return max(-self.most, min(self.most, lead))
        floor, ceiling = self.table.get(position, (-self.most, self.most))
        low, high = max(low, floor), min(high, ceiling)
        if low >= high:
            return floor if floor >= high else ceiling
        if not go_on():
            raise OutOfSteps
        best, least = -self.most, low
        for after in self.likely_first(position):
            if after.turned == position.turned:
                value = self.value(after, low, high, go_on)
            else:
                value = -self.value(after, -high, -low, go_on)
            if value > best:
                best = value
                low = max(low, value)
                if low >= high:
                    break
        self.table[position] = (
            best if best > least else floor,
            best if best < high else ceiling,
        )
        return best

    def likely_first(self, position: Reduced) -> list[Reduced]:
        """The positions after each move, first those that leave the other seat little choice."""
        rules = self.rules
        return sorted(
            (rules.play(position, piece) for piece in rules.pieces(position)),
            key=lambda after: after.open.bit_count() if after.turned != position.turned else -1,
        )
