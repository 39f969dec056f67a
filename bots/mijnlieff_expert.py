"""Plays Mijnlieff: it searches the end to the last piece, and samples what comes before it.

The end is the engine's own search, which finds the winner of the 4x4 game with half of its squares
still free. Before that a Monte Carlo tree search (UCT; Kocsis and Szepesvari, 2006) plays random
games, quickly, as it has nothing to keep but masks.

A position that is not won is not given up: among the moves that save as much as can be saved the
tree looks for those that are the hardest to answer.

It imports the engine, and needs nothing from the referee but the moves so far. By its option
`nodes` it looks at no clock but counts how often it would have, at positions of the end and after
rounds of the tree, and plays the same game from the same seed on every machine.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from itertools import count
from math import log, sqrt
from random import Random

from engine.following import NODES, Followed, Stopwatch, follow, told
from engine.games.mijnlieff import Mijnlieff, MijnlieffState
from engine.games.mijnlieff.endgame import DIGIT, MijnlieffEndgame, Piece, Reduced, ReducedRules
from engine.truth import OutOfSteps

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


class Node:
    """A position in the tree, and what came of the rounds through it."""

    __slots__ = ("children", "gained", "piece", "position", "untried", "visits")

    def __init__(self, position: Reduced, piece: Piece, untried: list[Piece]) -> None:
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
        self, position: Reduced, pieces: Sequence[Piece], endgame: MijnlieffEndgame, dice: Random
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
            except OutOfSteps:
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
            OutOfSteps: it is not clear which these are.
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

    def gain(self, position: Reduced) -> float:
        """What a position brings White: by search if it is late, or by a random game."""
        free = self.rules.board.outline ^ (position.own | position.other)
        if free.bit_count() > NEARLY_OVER:
            return playout(self.rules, position, self.dice)
        value = self.endgame.value(position, -1, 1, lambda: True)
        return (1 - value if position.turned else 1 + value) / 2

    def best(self) -> Piece:
        """The move to play."""
        if not self.root.children:
            return self.root.untried[0]
        return max(self.root.children, key=lambda child: child.visits).piece


def playout(rules: ReducedRules, position: Reduced, dice: Random) -> float:
    """What random moves to the end bring White: near 1 if it wins, and nearer by its lead."""
    draw = dice.random
    own, other, hand, others, squares, turned = position
    outline = rules.board.outline
    while squares:
        for _ in range(int(draw() * squares.bit_count())):
            squares &= squares - 1
        square = squares & -squares
        kinds = rules.kinds_in(hand)
        kind = kinds[int(draw() * len(kinds))]
        own |= square
        hand -= 1 << DIGIT * kind
        free = outline ^ (own | other)
        squares = rules.reach[kind][square] & free if others else 0
        if squares or not hand or not others:
            own, other, hand, others, turned = other, own, others, hand, not turned
        else:
            squares = free
    points = rules.points(own, other)
    if turned:
        points = -points
    # A lead of more points is more likely to hold.
    lead = (points > 0) - (points < 0)
    return 0.5 + 0.35 * lead + 0.15 * max(-1.0, min(1.0, points / LARGE_LEAD))


class Player:
    """A game, and what is known of its end."""

    def __init__(self, game: Followed) -> None:
        """Begins a game."""
        variant = game.state.variant
        if not isinstance(variant, Mijnlieff):
            raise SystemExit(f"this bot plays Mijnlieff and not {variant.game}")
        self.game = game
        self.endgame = MijnlieffEndgame(ReducedRules(variant.board), 1)

    def answer(self) -> str:
        """What was found, then the move."""
        search = self.search()
        if self.game.nodes:
            search.run(count().__next__, self.game.nodes)
        else:
            search.run(self.game.stopwatch, self.game.seconds(most=0.85, margin=0.015, moves=12))
        return self.reply(search)

    @property
    def state(self) -> MijnlieffState:
        """The position on the board."""
        assert isinstance(self.game.state, MijnlieffState)
        return self.game.state

    def search(self) -> Search:
        """A search that begins at the position at hand."""
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
        return f"{told(share, [move])}# nodes {search.rounds}\nmove {move} {remark}"


def main() -> None:
    """Answers the referee until it says quit."""
    # Nothing here refers in circles, and looking through large tables for it takes long.
    gc.disable()
    follow("mijnlieff-expert", Player, Player.answer, [NODES])


if __name__ == "__main__":
    main()
