"""Monte Carlo tree search in every game of the engine, for any number of seats.

It grows a tree of the moves ahead. A round walks down the tree by UCT (Kocsis and Szepesvári,
2006), adds one position, plays on from there at random to the end, and credits every move on
its way with what it brought the seat that made it. Where the engine has an outlook for a long game,
that stands for the random end, of which little could be learnt, and counts by how much better or
worse it is than that of today; and moves are tried in the order in which it likes them, as far as
they were looked at, which those are first that it liked elsewhere in the tree. Where games end
nearby, a move that wins at once is the only one that is tried (decisive moves; Teytaud and
Teytaud, 2010). The move tried most often is played. A node gets another child only when its visits
allow it (progressive widening; Coulom, 2007), so that a hundred rounds are of use among a thousand
moves as well. Between two sides, a move that was proven to win or to lose counts as nothing else
(Winands, Björnsson and Saito, 2008).

It imports the engine, and needs nothing from the referee but the moves so far. By its option
`nodes` it plays so many rounds and looks at no clock, and plays the same game from the same seed
on every machine.
"""

from __future__ import annotations

import gc
import time
from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import pairwise
from math import inf, isinf, log, sqrt
from operator import itemgetter
from random import Random

from engine.following import NODES, Followed, follow, told
from engine.game import CHANCE, Move, State

EXPLORE, EXPLORE_LIKED = 0.4, 0.1
"""How much what is little known is preferred to what looks good; gains lie between 0 and 1.

The second goes with an outlook.
"""
WIDTH, WIDTH_LIKED = 3.0, 0.4
"""A node of n visits has at most this times the root of n children; the second as above."""
PLAYED_OUT = 64
"""The most plies of a game in which a random end tells more than the outlook."""
LOOKED_AT, MOST_LOOKED_AT = 20, 100
"""Moves of a node that are looked at together, to be tried in the order of their outlook.

The second goes for those that their seat was not seen to have before.
"""
LARGEST_TREE = 1_000_000
"""Moves in the nodes of a tree, which then grows no further: about 100 MB."""
SPREAD = 5.0
"""How much a change of the outlook is stretched, so that it shows among gains from 0 to 1."""
WARM_UP = 0.1
"""Seconds of trial before a game."""
LASTS, LASTS_ELSEWHERE = {"oxoxo": 0.05}, 0.7
"""Which part of the plies that the limit of a game still allows it is likely to last, as alphabeta
has it; a clock for the whole game is shared among so many.
"""


class Node:
    """A position in the tree, and what came of the rounds through it."""

    __slots__ = ("children", "code", "gained", "liked", "seat", "state", "untried", "visits")

    def __init__(self, state: State, code: int) -> None:
        self.state = state
        self.seat = state.to_move
        self.code = code
        """The move that led here."""
        self.visits = 0
        self.gained = 0.0
        """What the rounds brought the seat that made that move, in sum; infinite if that seat is
        proven to win or to lose by it.
        """
        self.children: list[Node] = []
        self.untried: list[int] | None = None
        """The moves without a child that were not looked at; None until the first is wanted."""
        self.liked: list[tuple[float, int]] = []
        """Those that were looked at, the best last."""

    @property
    def has_more(self) -> bool:
        """Whether there are moves without a child."""
        return bool(self.untried or self.liked)

    def draw(self, dice: Random) -> int:
        """Takes a move by lot that was not looked at."""
        untried = self.untried
        assert untried
        pick = int(dice.random() * len(untried))
        untried[pick], untried[-1] = untried[-1], untried[pick]
        return untried.pop()

    def most_promising(self, explore: float) -> Node:
        """The child with the highest upper confidence bound."""
        known = explore * explore * log(self.visits)
        return max(self.children, key=lambda c: c.gained / c.visits + sqrt(known / c.visits))

    def best(self) -> Node:
        """The child to play; there must be one."""
        return max(
            self.children,
            key=lambda child: (
                child.gained if isinf(child.gained) else 0.0,
                child.visits,
                child.gained,
            ),
        )


class Search:
    """The tree that grows from one position."""

    def __init__(self, state: State, dice: Random, longest: float = 0.0) -> None:
        self.root = Node(state, -1)
        self.sides = state.variant.side_of
        self.has_proofs = len(set(self.sides)) == 2 and not state.variant.has_chance
        self.dice = dice
        self.rounds = 0
        self.room = LARGEST_TREE
        self.longest = longest
        """Seconds of the longest round of late."""
        self.outlook = state.outlook() if state.variant.max_plies > PLAYED_OUT else None
        self.sees_ends = False
        """Whether the tree has come to the end of a game between two sides."""
        self.promised: list[dict[int, float]] = [{} for _ in self.sides]
        """What each seat's moves promised where they were last looked at."""
        self.explore, self.width = (
            (EXPLORE, WIDTH) if self.outlook is None else (EXPLORE_LIKED, WIDTH_LIKED)
        )

    def run(self, stopwatch: Callable[[], float], seconds: float) -> None:
        """Grows the tree until the stopwatch would pass so many seconds with another round.

        Or until the game is proven to be won or lost.
        """
        self.look_around(lambda: stopwatch() < seconds / 2)
        before = stopwatch()
        while before + 1.3 * self.longest < seconds and not self.is_proven:
            self.round()
            after = stopwatch()
            self.longest = max(0.98 * self.longest, after - before)
            before = after

    def look_around(self, go_on: Callable[[], bool]) -> None:
        """Looks at the moves at hand as long as it may, where there is an outlook."""
        if self.outlook is not None and self.is_due_a_child(self.root):
            while self.root.untried and go_on():
                self.look(self.root)

    def round(self) -> None:
        """Down the tree, one node more, a random game, and back."""
        node = self.root
        path = [node]
        while node.seat is not None:
            if node.seat == CHANCE:
                node = self.drawn(node)
                path.append(node)
                continue
            if self.is_due_a_child(node):
                path.append(self.new_child(node))
                break
            if not node.children:
                break
            child = node.most_promising(self.explore)
            if child.gained == -inf and node.has_more and self.room > 0:
                child = self.new_child(node)
                path.append(child)
                break
            node = child
            path.append(node)
        gains = self.gains(path[-1].state)
        self.rounds += 1
        self.root.visits += 1
        for parent, child in pairwise(path):
            assert parent.seat is not None
            child.visits += 1
            child.gained += gains[parent.seat]
        if self.has_proofs and path[-1].seat is None and len(path) > 1:
            self.sees_ends = True
            self.prove(path, gains)

    def drawn(self, node: Node) -> Node:
        """The position after what chance draws this time."""
        state = node.state.play(node.state.roll(self.dice.random()))
        for child in node.children:
            if child.state == state:
                return child
        node.children.append(Node(state, -1))
        return node.children[-1]

    def new_child(self, node: Node) -> Node:
        """The position after a move that has no child yet."""
        if self.outlook is None:
            code = node.draw(self.dice)
        else:
            if not node.liked:
                self.look(node)
            code = node.liked.pop()[1]
        child = Node(node.state.play_code(code), code)
        node.children.append(child)
        return child

    def look(self, node: Node) -> None:
        """Looks at some moves more: what they would bring if the game went no further.

        That depends little on how the game came here. So it is first those that are new for
        their seat, drawn by lot, and then those that promised most at another node.
        """
        seat, untried, lot = node.seat, node.untried, self.dice.random
        assert seat is not None
        assert untried
        promised = self.promised[seat]
        untried.sort(key=lambda code: promised.get(code, 2 + lot()))
        known = bisect_left(untried, True, key=lambda code: code not in promised)
        number = min(MOST_LOOKED_AT, max(LOOKED_AT, len(untried) - known))
        codes = untried[-number:]
        del untried[-number:]
        found = node.state.prospects(codes)
        if found is None:
            found = [self.gains(node.state.play_code(code))[seat] for code in codes]
        promised.update(zip(codes, found, strict=True))
        node.liked += zip(found, codes, strict=True)
        node.liked.sort(key=itemgetter(0))

    @property
    def is_proven(self) -> bool:
        """Whether it is proven who wins."""
        return isinf(self.root.gained)

    def prove(self, path: Sequence[Node], gains: Sequence[float]) -> None:
        """Marks what is proven by a game that ended, from its end upwards as far as it goes."""
        last = path[-2].seat
        assert last is not None
        wins = gains[last] == 1.0
        if not wins and gains[last] > 0.0:
            return
        for grandparent, parent, child in zip(
            reversed([None, *path[:-2]]), reversed(path[:-1]), reversed(path), strict=False
        ):
            # By this child the seat at its parent wins, or loses.
            child.gained = inf if wins else -inf
            if not wins and (parent.has_more or any(c.gained > -inf for c in parent.children)):
                return
            if grandparent is not None:
                wins ^= self.sides[grandparent.seat] != self.sides[parent.seat]
        path[0].gained = inf if wins else -inf

    def gains(self, state: State) -> Sequence[float]:
        """What a round that came to a position brings each seat."""
        if self.outlook is None or state.to_move is None:
            return gains_of(state, state.playout(self.dice))
        outlook = state.outlook() or self.outlook
        return [
            min(1.0, max(0.0, 0.5 + SPREAD * (then - now)))
            for then, now in zip(outlook, self.outlook, strict=True)
        ]

    def is_due_a_child(self, node: Node) -> bool:
        """Whether a node has moves left to try, visits enough, and the tree has room."""
        if self.room <= 0 or len(node.children) > self.width * sqrt(node.visits):
            return False
        if node.untried is None:
            node.untried = list(node.state.codes())
            self.room -= len(node.untried)
            if self.sees_ends and self.outlook is None:
                node.untried = self.decisive(node)
        return node.has_more

    def decisive(self, node: Node) -> list[int]:
        """The untried moves of a node, or one of them that wins at once."""
        codes, seat = node.untried, node.seat
        assert codes is not None
        assert seat is not None
        for code in codes:
            after = node.state.play_code(code)
            if after.to_move is None and gains_of(after, after.scores())[seat] == 1.0:
                return [code]
        return codes

    def best(self) -> Node:
        """The move to play; the search must have had a round."""
        return self.root.best()

    @property
    def line(self) -> list[Move]:
        """The moves that are expected, up to what chance has to draw."""
        node, moves = self.root, list[Move]()
        while node.children and node.seat != CHANCE:
            child = node.best()
            moves.append(node.state.word(child.code))
            node = child
        return moves


def gains_of(state: State, scores: Sequence[float]) -> list[float]:
    """What scores are worth to each seat: the share of the other sides that its side is ahead of.

    Seats of one side gain together. A lone seat gains its share of what a solved puzzle scores.
    """
    variant = state.variant
    sides = variant.side_of
    if variant.seats == 1:
        return [scores[0] / variant.solved_score if variant.solved_score else scores[0]]
    points = dict.fromkeys(sides, 0.0)
    for side, score in zip(sides, scores, strict=True):
        points[side] += score / sides.count(side)
    gains = {
        side: sum((own > other) + (own == other) / 2 for other in points.values()) - 0.5
        for side, own in points.items()
    }
    return [gains[side] / (len(points) - 1) for side in sides]


class Player:
    """A game that is searched anew at every move."""

    def __init__(self, game: Followed) -> None:
        """Begins a game."""
        self.game = game
        self.longest = 0.0
        if not game.nodes:
            # Thinking is free here, and shows how long a round can take.
            game.start_stopwatch(time.monotonic(), time.process_time())
            search = Search(game.state, Random(0))
            search.run(game.stopwatch, WARM_UP)
            self.longest = search.longest

    def answer(self) -> str:
        """The reply: what was found, then the move."""
        game = self.game
        search = Search(game.state, game.dice, 0.8 * self.longest)
        if len(game.state.codes()) == 1:
            pass  # there is nothing to think about
        elif game.nodes:
            search.look_around(lambda: True)
            while search.rounds < game.nodes and not search.is_proven:
                search.round()
        else:
            moves = game.moves_left(LASTS.get(game.state.variant.game, LASTS_ELSEWHERE))
            search.run(game.stopwatch, game.seconds(most=0.95, margin=0.025, moves=moves))
            self.longest = search.longest
        if not search.root.children:
            # Any move will do but the first, which gives a puzzle up.
            return f"move {game.state.word(game.state.codes()[-1])} at once"
        best, line = search.best(), search.line
        share = min(1.0, max(0.0, best.gained / max(1, best.visits)))
        return (
            f"{told(share, line)}# nodes {search.rounds}\n"
            f"move {line[0]} {share:.0%} in {search.rounds} rounds"
        )


def main() -> None:
    """Answers the referee until it says quit."""
    # Nothing here refers in circles, and looking through a large tree for it takes long.
    gc.disable()
    follow("mcts", Player, Player.answer, [NODES])


if __name__ == "__main__":
    main()
