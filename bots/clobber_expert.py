"""Plays Clobber: the end by combinatorial game theory, all before it by Monte Carlo tree search.

Before a move most of the time goes to the engine's own search of the end, by sums of parts, if no
part is too large. If it fails, the tree grows from there, and the small positions in it are looked
up in the same way: what is decided is decided for the positions above too (MCTS-Solver; Winands,
Bjornsson and Saito, 2008). A move is judged by all rounds in which it was played, early or late
(RAVE; Gelly and Silver, 2007).

It imports the engine, and needs nothing from the referee but the moves so far. By its option
`nodes` it looks at no clock but counts how often it would have, at positions of the end and after
rounds of the tree, and plays the same game from the same seed on every machine.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count, pairwise, repeat
from math import log, sqrt
from random import Random

from engine.following import NODES, Followed, Stopwatch, follow, told
from engine.game import Move
from engine.games.clobber import Clobber, ClobberState
from engine.games.clobber.endgame import ClobberEndgame
from engine.truth import OutOfSteps

ENDGAME = 23
"""Stones of the largest part with which the end is searched for from the board, with 0.1 s.

Each stone more takes about three times as long; smaller parts beside it cost little.
"""
NEARLY_OVER = 18
"""Stones in play with which it is searched for from a position of the tree."""
PATIENCE = 100
"""Sums that are looked at for a position of the tree."""
EXPLORE = 0.4
"""How much what is little known is preferred to what looks good; gains lie between 0 and 1."""
ALIKE = 300.0
"""Visits until which a move is judged more by like moves elsewhere than by its own rounds."""
WIDTH = 3.0
"""A node of n visits has at most this times the root of n children."""
LARGEST_TREE = 50_000
"""Rounds, and so nodes, after which a tree grows only where it has no choice."""

WHITE = 0


class Node:
    """A position in the tree, and what came of the rounds through it."""

    __slots__ = ("alike", "children", "code", "gained", "is_won", "state", "untried", "visits")

    def __init__(self, state: ClobberState, code: int) -> None:
        self.state = state
        self.code = code
        """The move that led here."""
        self.visits = 0
        self.gained = 0.0
        """How many of the rounds the seat won that made that move."""
        self.alike = [2.0, 1.0]
        """How many rounds had this move by this seat then or later, and how many of them it won."""
        self.children: list[Node] = []
        self.untried = list(state.codes())
        self.is_won: bool | None = None if self.untried else False
        """Whether the seat to move wins."""

    def best(self) -> Node:
        """The child to play; there must be one."""
        return max(self.children, key=lambda c: (c.is_won is False, c.is_won is None, c.visits))

    def new_child(self, dice: Random) -> Node:
        """The position after a move that was not tried yet."""
        untried = self.untried
        pick = int(dice.random() * len(untried))
        untried[pick], untried[-1] = untried[-1], untried[pick]
        code = untried.pop()
        child = Node(self.state.play_code(code), code)
        self.children.append(child)
        return child

    def open_children(self) -> list[Node]:
        """The children of which it is not clear who wins."""
        return [child for child in self.children if child.is_won is None]

    def most_promising(self, children: Sequence[Node]) -> Node:
        """The child with the highest upper confidence bound, like moves counted in."""
        known = EXPLORE * EXPLORE * log(self.visits)
        best, highest = children[0], 0.0
        # Written out: much of a round's time goes here.
        for child in children:
            visits, (met, won) = child.visits, child.alike
            trust = sqrt(ALIKE / (ALIKE + 3 * visits))
            share = child.gained / visits
            promise = share + trust * (won / met - share) + sqrt(known / visits)
            if promise > highest:
                best, highest = child, promise
        return best


class Tree:
    """The search from one position: who wins, or else what looks best."""

    def __init__(self, state: ClobberState, endgame: ClobberEndgame, dice: Random) -> None:
        self.endgame = endgame
        self.dice = dice
        self.root = Node(state, 0)
        self.rounds = 0
        self.nearly_over = NEARLY_OVER
        self.longest = 0.0
        """Seconds of the longest round."""

    def run(self, stopwatch: Stopwatch, seconds: float) -> None:
        """Thinks until the stopwatch shows so many seconds, or the move is found."""
        root = self.root
        if len(root.untried) == 1:
            return
        won = None
        if self.endgame.largest(root.state) <= ENDGAME + int(log(max(1.0, 10 * seconds), 3)):
            won = self.looked_up(root, lambda: stopwatch() < 0.8 * seconds)
            if won and self.find_win(lambda: stopwatch() < 0.9 * seconds):
                return
        if won is False:
            # The other seat may not know. Playing on, the tree seeks what is hard to answer.
            self.nearly_over = 0
        before = stopwatch()
        while before + 1.3 * self.longest < seconds and root.is_won is None:
            self.round()
            after = stopwatch()
            self.longest = max(0.98 * self.longest, after - before)
            before = after

    def looked_up(self, node: Node, go_on: Callable[[], bool]) -> bool | None:
        """Whether the seat to move wins, if it can be found out."""
        state = node.state
        try:
            return self.endgame.wins(*self.endgame.stones(state), state.mover, go_on)
        except OutOfSteps:
            return None

    def round(self) -> None:
        """Down the tree, one node more, a random game, and back."""
        node = self.root
        path = [node]
        while node.is_won is None:
            children = node.open_children()
            if node.untried and (
                not children
                or len(children) <= WIDTH * sqrt(node.visits)
                and self.rounds < LARGEST_TREE
            ):
                node = node.new_child(self.dice)
                path.append(node)
                if node.is_won is None and self.is_nearly_over(node.state):
                    patience = repeat(True, PATIENCE)
                    node.is_won = self.looked_up(node, partial(next, patience, False))
                break
            node = node.most_promising(children)
            path.append(node)
        mover = node.state.mover
        played: tuple[set[int], set[int]] = (set(), set())
        if node.is_won is None:
            winner = playout(node.state, self.dice, played)
        else:
            winner = mover if node.is_won else 1 - mover
            back_up(path)
        self.rounds += 1
        for node in reversed(path):
            seat = node.state.mover
            node.visits += 1
            node.gained += seat != winner
            for child in node.children:
                if child.code in played[seat]:
                    child.alike[0] += 1
                    child.alike[1] += seat == winner
            played[1 - seat].add(node.code)

    def is_nearly_over(self, state: ClobberState) -> bool:
        """Whether so few stones are in play that a look-up is worth its time."""
        if self.endgame.meeting(state) > self.nearly_over:
            return False
        white, black = self.endgame.stones(state)
        return (white | black).bit_count() <= self.nearly_over

    def find_win(self, go_on: Callable[[], bool]) -> bool:
        """Finds a move that wins, where there is one.

        The search may have won with a move that only the canonical form has; then the moves on
        the board are still to be searched, those first that are in the table.
        """
        root = self.root
        granted: tuple[Callable[[], bool], ...] = (lambda: False, go_on)
        for more in granted:
            for code in root.untried:
                child = Node(root.state.play_code(code), code)
                child.is_won = self.looked_up(child, more)
                if child.is_won is False:
                    root.children = [child]
                    root.is_won = True
                    return True
        return False

    def best(self) -> int:
        """The move to play."""
        return self.root.best().code if self.root.children else self.root.untried[0]

    @property
    def line(self) -> list[Move]:
        """The moves that are expected."""
        node, moves = self.root, [self.root.state.word(self.best())]
        while node.children:
            node = node.best()
            if node.children:
                moves.append(node.state.word(node.best().code))
        return moves


def playout(state: ClobberState, dice: Random, played: tuple[set[int], set[int]]) -> int:
    """Who wins after random moves to the end; adds the moves of each seat."""
    seat = state.mover
    own, other = (state.white, state.black) if seat == WHITE else (state.black, state.white)
    draw = dice.random
    pairs = state.variant.pairs
    mine, theirs = played[seat], played[1 - seat]
    while True:
        stones = own | other
        pairs = [pair for pair in pairs if pair & stones == pair]
        if not any(own & pair and other & pair for pair in pairs):
            return 1 - seat
        for _ in repeat(None, len(pairs)):
            pair = pairs[int(draw() * len(pairs))]
            taken = other & pair
            if taken and own & pair:
                own, other = other ^ taken, own ^ pair
                mine.add(pair)
                mine, theirs = theirs, mine
                seat = 1 - seat


def back_up(path: Sequence[Node]) -> None:
    """Decides the nodes of a path that the last of them decides."""
    for parent, child in reversed(list(pairwise(path))):
        if child.is_won is False:
            parent.is_won = True
        elif not parent.untried and all(other.is_won for other in parent.children):
            parent.is_won = False
        else:
            return


class Player:
    """A game, and what is known of its ends."""

    def __init__(self, game: Followed) -> None:
        """Begins a game."""
        variant = game.state.variant
        if not isinstance(variant, Clobber):
            raise SystemExit(f"this bot plays Clobber and not {variant.game}")
        self.game = game
        self.endgame = ClobberEndgame(variant.width, variant.height)

    def answer(self) -> str:
        """What was found, then the move."""
        state = self.game.state
        assert isinstance(state, ClobberState)
        self.endgame.make_room()
        tree = Tree(state, self.endgame, self.game.dice)
        if self.game.nodes:
            tree.run(count().__next__, self.game.nodes)
        else:
            tree.run(self.game.stopwatch, self.game.seconds(most=0.92, margin=0.025, moves=20))
        return reply(tree)


def reply(tree: Tree) -> str:
    """What was found, then the move."""
    root, line = tree.root, tree.line
    if root.is_won is not None or not tree.rounds:
        share = float(bool(root.is_won))
        remark = "wins" if root.is_won else "at once"
    else:
        share = 1 - root.gained / root.visits
        remark = f"{share:.0%} in {tree.rounds} rounds"
    return f"{told(share, line)}# nodes {tree.rounds}\nmove {line[0]} {remark}"


def main() -> None:
    """Answers the referee until it says quit."""
    # Nothing here refers in circles, and looking through large tables for it takes long.
    gc.disable()
    follow("clobber-expert", Player, Player.answer, [NODES])


if __name__ == "__main__":
    main()
