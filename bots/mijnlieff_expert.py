"""Plays Mijnlieff: it searches the end to the last piece, and samples what comes before it.

What matters of the pieces on the board is whose they are: their types only count as missing from
the hand, and the last one for where the next may go. So far fewer positions differ than there are
ways to reach them, and an alpha-beta search with a table (Knuth and Moore, 1975) finds the winner
of the 4x4 game with half of its squares still free. Before that a Monte Carlo tree search (UCT;
Kocsis and Szepesvari, 2006) plays random games, quickly, as it has nothing to keep but masks.

A position that is not won is not given up: among the moves that save as much as can be saved the
tree looks for those that are the hardest to answer.

It imports the engine, and needs nothing from the referee but the moves so far. Usage:

    mijnlieff_expert.py [STEPS]

With a number of steps it looks at no clock but counts how often it would have, and plays the same
game from the same seed on every machine.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from math import log, sqrt
from random import Random
from typing import NamedTuple

from engine.following import Followed, Stopwatch, follow
from engine.games.mijnlieff import Mijnlieff, MijnlieffState
from engine.games.mijnlieff.board import TYPES, Board

ENDGAME = 11
"""Free squares with which the end is searched for from the board, with 0.1 s for a move.

Each square more takes about five times as long.
"""
NEARLY_OVER = 5
"""Free squares with which it is searched for from a position of the tree."""
LARGEST_TABLE = 400_000
"""Positions remembered; with so many the table is emptied."""
EXPLORE = 0.4
"""How much what is little known is preferred to what looks good; gains lie between 0 and 1."""
WIDTH = 3.0
"""A node of n visits has at most this times the root of n children."""
LARGE_LEAD = 5
"""Points; a larger lead is worth no more."""
LARGEST_TREE = 100_000
"""Nodes of a tree, which then grows no further."""

DIGIT = 4
"""Bits for the number of pieces of one type in a hand; no seat begins with more than 8."""
Piece = tuple[int, int]
"""A type and the mask of its square."""


class TimeUp(Exception):
    """The time for a search is over."""


class Position(NamedTuple):
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


class Rules:
    """The game on one board, as far as a search has to know it."""

    def __init__(self, board: Board) -> None:
        self.board = board
        squares = range(board.squares)
        self.reach = [
            {1 << bit: board.reach[kind * board.squares + bit] for bit in squares}
            for kind in range(len(TYPES))
        ]
        """For each type and square where a piece sends the other seat."""
        self.kinds: dict[int, tuple[int, ...]] = {}

    def position(self, state: MijnlieffState) -> Position:
        """The position of the engine, as its seat to move sees it."""
        board = self.board
        sides = [(board.flat(side), self.hand(side)) for side in (state.white, state.black)]
        (own, hand), (other, others) = sides if state.mover == 0 else reversed(sides)
        return Position(own, other, hand, others, state.open, state.mover == 1)

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

    def pieces(self, position: Position) -> list[Piece]:
        """What may be played where."""
        return [
            (kind, square)
            for square in singles(position.open)
            for kind in self.kinds_in(position.hand)
        ]

    def play(self, position: Position, piece: Piece) -> Position:
        """The position after a piece, as the seat sees it that moves next."""
        own, other, hand, others, _, turned = position
        kind, square = piece
        own |= square
        hand -= 1 << DIGIT * kind
        free = self.board.outline ^ (own | other)
        if not others:
            return Position(other, own, others, hand, 0, not turned)
        reach = self.reach[kind][square] & free
        if hand and not reach:
            # The other seat passes.
            return Position(own, other, hand, others, free, turned)
        return Position(other, own, others, hand, reach, not turned)

    def lead(self, own: int, other: int) -> int:
        """1 if the first of two seats with these squares wins, 0 for a draw, -1 if it loses."""
        lead = self.points(own, other)
        return (lead > 0) - (lead < 0)

    def points(self, own: int, other: int) -> int:
        """By how many points the first of two seats with these squares leads."""
        lead = 0
        for shift, starts in self.board.threes:
            lead += (own & own >> shift & own >> 2 * shift & starts).bit_count()
            lead -= (other & other >> shift & other >> 2 * shift & starts).bit_count()
        return lead

    def playout(self, position: Position, dice: Random) -> float:
        """What random moves to the end bring White: near 1 if it wins, and nearer by its lead."""
        draw = dice.random
        own, other, hand, others, squares, turned = position
        outline = self.board.outline
        while squares:
            for _ in range(int(draw() * squares.bit_count())):
                squares &= squares - 1
            square = squares & -squares
            kinds = self.kinds_in(hand)
            kind = kinds[int(draw() * len(kinds))]
            own |= square
            hand -= 1 << DIGIT * kind
            free = outline ^ (own | other)
            squares = self.reach[kind][square] & free if others else 0
            if squares or not hand or not others:
                own, other, hand, others, turned = other, own, others, hand, not turned
            else:
                squares = free
        points = self.points(own, other)
        if turned:
            points = -points
        # A lead of more points is more likely to hold.
        lead = (points > 0) - (points < 0)
        return 0.5 + 0.35 * lead + 0.15 * max(-1.0, min(1.0, points / LARGE_LEAD))


def singles(mask: int) -> Iterator[int]:
    """Each bit of a mask as a mask."""
    while mask:
        single = mask & -mask
        yield single
        mask ^= single


class Endgame:
    """Searches positions to their end."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.table: dict[Position, tuple[int, int]] = {}
        """Bounds of the values known: not less than the first, not more than the second."""

    def value(self, position: Position, low: int, high: int, go_on: Callable[[], bool]) -> int:
        """1 if the seat to move wins, 0 for a draw, -1 if it loses; exact between low and high.

        Raises:
            TimeUp: ``go_on`` said no before that was clear.
        """
        if not position.open:
            return self.rules.lead(position.own, position.other)
        floor, ceiling = self.table.get(position, (-1, 1))
        low, high = max(low, floor), min(high, ceiling)
        if low >= high:
            return floor if floor >= high else ceiling
        if not go_on():
            raise TimeUp
        best, least = -1, low
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

    def likely_first(self, position: Position) -> list[Position]:
        """The positions after each move, first those that leave the other seat little choice."""
        rules = self.rules
        return sorted(
            (rules.play(position, piece) for piece in rules.pieces(position)),
            key=lambda after: after.open.bit_count() if after.turned != position.turned else -1,
        )


class Node:
    """A position in the tree, and what came of the rounds through it."""

    __slots__ = ("children", "gained", "piece", "position", "untried", "visits")

    def __init__(self, position: Position, piece: Piece, untried: list[Piece]) -> None:
        self.position = position
        self.piece = piece
        """The move that led here."""
        self.untried = untried
        self.children: list[Node] = []
        self.visits = 0
        self.gained = 0.0
        """What the rounds brought White, in sum."""

    def most_promising(self) -> Node:
        """The child with the highest upper confidence bound."""
        known = EXPLORE * EXPLORE * log(self.visits)
        if self.position.turned:
            return max(
                self.children, key=lambda c: 1 - c.gained / c.visits + sqrt(known / c.visits)
            )
        return max(self.children, key=lambda c: c.gained / c.visits + sqrt(known / c.visits))


class Search:
    """The search from one position."""

    def __init__(
        self, position: Position, pieces: Sequence[Piece], endgame: Endgame, dice: Random
    ) -> None:
        self.rules = endgame.rules
        self.endgame = endgame
        self.dice = dice
        self.root = Node(position, (0, 0), list(pieces))
        self.free = (self.rules.board.outline ^ (position.own | position.other)).bit_count()
        self.value: int | None = None
        """1 if the seat to move wins, 0 for a draw, -1 if it loses, and None if it isn't clear."""
        self.rounds = 0
        self.longest = 0.0
        """Seconds of the longest round."""

    def run(self, stopwatch: Stopwatch, seconds: float) -> None:
        """Thinks until the stopwatch shows so many seconds, or the move is found."""
        if len(self.root.untried) == 1:
            return
        if self.free <= ENDGAME + log(max(1.0, 10 * seconds), 5):
            try:
                self.solve(lambda: stopwatch() < 0.6 * seconds)
            except TimeUp:
                pass
        if self.value == 1 or len(self.root.untried) == 1:
            return
        before = stopwatch()
        while before + 1.3 * self.longest < seconds:
            self.round()
            after = stopwatch()
            self.longest = max(0.98 * self.longest, after - before)
            before = after

    def solve(self, go_on: Callable[[], bool]) -> None:
        """Keeps of the moves those that are as good as any.

        Raises:
            TimeUp: it is not clear which these are.
        """
        position = self.root.position
        value = self.endgame.value(position, -1, 1, go_on)
        best = []
        for piece in self.root.untried:
            after = self.rules.play(position, piece)
            sign = 1 if after.turned == position.turned else -1
            if sign * self.endgame.value(after, -1, 1, go_on) == value:
                best.append(piece)
                if value == 1:
                    break
        self.root.untried = best
        self.value = value

    def round(self) -> None:
        """Down the tree, one node more, a random game, and back."""
        node = self.root
        path = [node]
        while node.position.open:
            is_small = self.rounds > LARGEST_TREE
            if node.untried and not is_small and len(node.children) <= WIDTH * sqrt(node.visits):
                path.append(self.new_child(node))
                break
            if not node.children:
                break
            node = node.most_promising()
            path.append(node)
        gain = self.gain(path[-1].position)
        self.rounds += 1
        for node in path:
            node.visits += 1
            node.gained += gain

    def new_child(self, node: Node) -> Node:
        """The position after a move that was not tried yet."""
        untried = node.untried
        pick = int(self.dice.random() * len(untried))
        untried[pick], untried[-1] = untried[-1], untried[pick]
        piece = untried.pop()
        position = self.rules.play(node.position, piece)
        child = Node(position, piece, self.rules.pieces(position))
        node.children.append(child)
        return child

    def gain(self, position: Position) -> float:
        """What a position brings White: by search if it is late, or by a random game."""
        free = self.rules.board.outline ^ (position.own | position.other)
        if free.bit_count() > NEARLY_OVER:
            return self.rules.playout(position, self.dice)
        value = self.endgame.value(position, -1, 1, lambda: True)
        return (1 - value if position.turned else 1 + value) / 2

    def best(self) -> Piece:
        """The move to play."""
        if not self.root.children:
            return self.root.untried[0]
        return max(self.root.children, key=lambda child: child.visits).piece


class Player:
    """A game, and what is known of its end."""

    def __init__(self, game: Followed, steps: int | None = None) -> None:
        """Begins a game; so many steps a move, or as long as there is time."""
        variant = game.state.variant
        if not isinstance(variant, Mijnlieff):
            raise SystemExit(f"this bot plays Mijnlieff and not {variant.game}")
        self.game, self.steps = game, steps
        self.endgame = Endgame(Rules(variant.board))

    def answer(self) -> str:
        """What was found, then the move."""
        search = self.search()
        if self.steps is None:
            search.run(self.game.stopwatch, self.game.seconds(most=0.85, margin=0.015, moves=12))
        else:
            search.run(count().__next__, self.steps)
        return self.reply(search)

    @property
    def state(self) -> MijnlieffState:
        """The position on the board."""
        assert isinstance(self.game.state, MijnlieffState)
        return self.game.state

    def search(self) -> Search:
        """A search from there."""
        if len(self.endgame.table) > LARGEST_TABLE:
            self.endgame.table.clear()
        position = self.endgame.rules.position(self.state)
        return Search(position, self.endgame.rules.pieces(position), self.endgame, self.game.dice)

    def reply(self, search: Search) -> str:
        """What was found, then the move."""
        kind, square = search.best()
        move = self.state.word(kind * self.state.variant.board.squares + square.bit_length() - 1)
        if search.value is not None:
            remark = ("draws", "wins", "loses")[search.value]
            share = (1 + search.value) / 2
        elif search.rounds:
            share = search.root.gained / search.rounds
            share = 1 - share if search.root.position.turned else share
            remark = f"{share:.0%} in {search.rounds} rounds"
        else:
            return f"move {move} at once"
        return f"# eval {share:.3f}\n# nodes {search.rounds}\nmove {move} {remark}"


def main() -> None:
    """Answers the referee until it says quit."""
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else None
    # Nothing here refers in circles, and looking through large tables for it takes long.
    gc.disable()
    follow("mijnlieff-expert", lambda game: Player(game, steps), Player.answer)


if __name__ == "__main__":
    main()
