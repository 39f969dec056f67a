"""Plays Clobber: the end by combinatorial game theory, all before it by Monte Carlo tree search.

Where stones no longer touch, the board falls into parts that have nothing to do with each other:
it is a sum of games. A small part is replaced by its canonical form (Berlekamp, Conway and Guy,
Winning Ways, 1982; Siegel, Combinatorial Game Theory, 2013), which is short, and the same for
many parts; a part and its negative cancel. Over such sums a plain search with a table finds who
wins, and often does so with twenty stones and more in play (Griebel and Uiterwijk, 2016).

Before a move most of the time goes to that search, if no part is too large. If it fails, the tree
grows from there, and the small positions in it are looked up in the same way: what is decided is
decided for the positions above too (MCTS-Solver; Winands, Bjornsson and Saito, 2008).
A move is judged by all rounds in which it was played, early or late (RAVE; Gelly and Silver, 2007).

White is Left, and a position is won for the seat to move or it is not.

It imports the engine, and needs nothing from the referee but the moves so far. Usage:

    clobber_expert.py [STEPS]

With a number of steps it looks at no clock but counts how often it would have, and plays the same
game from the same seed on every machine.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count, pairwise, repeat
from math import log, sqrt
from random import Random

from engine.following import Followed, Stopwatch, follow
from engine.games.clobber import Clobber, ClobberState

SMALL = 7
"""Stones of a part that is replaced by its value."""
LARGEST_TABLE = 120_000
"""Sums remembered; with so many a search ends, and the next begins with an empty table."""
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

WHITE, BLACK = 0, 1
ZERO = 0
Stones = tuple[int, int]
"""White's and Black's stones, as masks."""
Sum = tuple[int, ...]
"""Parts that are played side by side: the numbers of values, and of larger parts below zero."""


class TooLong(Exception):
    """A search was not finished with what it was granted."""


class Values:
    """Games in canonical form, each known by a number, and what they are worth in sums."""

    def __init__(self) -> None:
        self.left: list[tuple[int, ...]] = []
        """For each value those that White may move to."""
        self.right: list[tuple[int, ...]] = []
        self.numbers: dict[tuple[frozenset[int], frozenset[int]], int] = {}
        self.order: dict[tuple[int, int], bool] = {}
        self.sums: dict[tuple[int, int], int] = {}
        self.negatives: dict[int, int] = {}
        self.number(frozenset(), frozenset())

    def number(self, left: frozenset[int], right: frozenset[int]) -> int:
        """The number of the value with these options, which are canonical already."""
        if (left, right) not in self.numbers:
            self.numbers[left, right] = len(self.left)
            self.left.append(tuple(left))
            self.right.append(tuple(right))
        return self.numbers[left, right]

    def at_most(self, one: int, other: int) -> bool:
        """Whether one value is never better for White than another."""
        if one == other:
            return True
        if (one, other) not in self.order:
            self.order[one, other] = not any(
                self.at_most(other, option) for option in self.left[one]
            ) and not any(self.at_most(option, one) for option in self.right[other])
        return self.order[one, other]

    def value(self, left: set[int], right: set[int]) -> int:
        """The canonical form of the game with these options."""
        while reversible := next(self.reversible(left, right), None):
            seat, option, back = reversible
            if seat == WHITE:
                left = (left - {option}) | set(self.left[back])
            else:
                right = (right - {option}) | set(self.right[back])
        return self.number(
            frozenset(
                one
                for one in left
                if not any(other != one and self.at_most(one, other) for other in left)
            ),
            frozenset(
                one
                for one in right
                if not any(other != one and self.at_most(other, one) for other in right)
            ),
        )

    def reversible(self, left: set[int], right: set[int]) -> Iterator[tuple[int, int, int]]:
        """A seat, an option of its that the other answers at no loss, and the answer."""
        for option in left:
            for back in self.right[option]:
                if self.is_below(back, left, right):
                    yield WHITE, option, back
        for option in right:
            for back in self.left[option]:
                if self.is_above(back, left, right):
                    yield BLACK, option, back

    def is_below(self, value: int, left: set[int], right: set[int]) -> bool:
        """Whether a value is at most the game with these options."""
        return not any(self.is_above(option, left, right) for option in self.left[value]) and (
            not any(self.at_most(option, value) for option in right)
        )

    def is_above(self, value: int, left: set[int], right: set[int]) -> bool:
        """Whether a value is at least the game with these options."""
        return not any(self.is_below(option, left, right) for option in self.right[value]) and (
            not any(self.at_most(value, option) for option in left)
        )

    def add(self, one: int, other: int) -> int:
        """The value of two games side by side."""
        if ZERO in (one, other):
            return one or other
        pair = min(one, other), max(one, other)
        if pair not in self.sums:
            self.sums[pair] = self.value(
                {self.add(option, other) for option in self.left[one]}
                | {self.add(one, option) for option in self.left[other]},
                {self.add(option, other) for option in self.right[one]}
                | {self.add(one, option) for option in self.right[other]},
            )
        return self.sums[pair]

    def negative(self, value: int) -> int:
        """The value with the colours exchanged."""
        if value not in self.negatives:
            self.negatives[value] = self.number(
                frozenset(map(self.negative, self.right[value])),
                frozenset(map(self.negative, self.left[value])),
            )
        return self.negatives[value]


class Endgame:
    """Finds out who wins positions on one board."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        # Behind each rank lies a bit that is no square, so that no step leads over the rim.
        self.up = width + 1
        self.values = Values()
        self.small: dict[Stones, int] = {}
        """The values of small parts."""
        self.forget()

    def forget(self) -> None:
        """Empties the tables that grow without end."""
        self.parts: list[Stones] = []
        """The larger parts; the first has the number -1."""
        self.numbers: dict[Stones, int] = {}
        self.options: tuple[dict[int, list[Sum]], dict[int, list[Sum]]] = ({}, {})
        """What a seat may make of a value or a part, by seat."""
        self.won: tuple[dict[Sum, bool], dict[Sum, bool]] = ({}, {})
        """Whether the seat to move wins a sum, by seat."""

    def make_room(self) -> None:
        """Empties the tables if they are full."""
        if max(map(len, self.won)) > LARGEST_TABLE or len(self.parts) > LARGEST_TABLE // 3:
            self.forget()

    def meeting(self, state: ClobberState) -> int:
        """How many stones stand beside one of the other colour; quickly found."""
        white, black = self.spread(state.white), self.spread(state.black)
        return (white & self.beside(black) | black & self.beside(white)).bit_count()

    def largest(self, state: ClobberState) -> int:
        """How many stones the largest part has."""
        parts = self.split(self.spread(state.white), self.spread(state.black))
        return max(((white | black).bit_count() for white, black in parts), default=0)

    def stones(self, state: ClobberState) -> Stones:
        """The stones of a position that can still meet."""
        white, black = self.spread(state.white), self.spread(state.black)
        parts = self.split(white, black)
        return sum(white for white, _ in parts), sum(black for _, black in parts)

    def spread(self, mask: int) -> int:
        """A mask of the engine with a bit more to each rank."""
        rank = (1 << self.width) - 1
        return sum((mask >> n * self.width & rank) << n * self.up for n in range(self.height))

    def beside(self, mask: int) -> int:
        return mask << 1 | mask >> 1 | mask << self.up | mask >> self.up

    def split(self, white: int, black: int) -> list[Stones]:
        """The connected parts in which both colours meet."""
        parts = []
        meeting = white & self.beside(black)
        while meeting:
            part, grown = 0, meeting & -meeting
            while grown != part:
                part, grown = grown, (grown | self.beside(grown)) & (white | black)
            parts.append((white & part, black & part))
            meeting &= ~part
        return parts

    def moves(self, own: int, other: int) -> Iterator[Stones]:
        """The stones after each move of one colour, its own first."""
        for shift in (1, self.up):
            for start in singles(own & other >> shift):
                yield own ^ start ^ start << shift, other ^ start << shift
            for start in singles(own & other << shift):
                yield own ^ start ^ start >> shift, other ^ start >> shift

    def sum_of(self, white: int, black: int) -> list[int]:
        """The parts of a position as numbers, those that are worth nothing left out."""
        numbers = []
        for part in self.split(white, black):
            stones = part[0] | part[1]
            lowest = (stones & -stones).bit_length() - 1
            here = part[0] >> lowest, part[1] >> lowest
            if stones.bit_count() > SMALL:
                numbers.append(self.part(here))
            elif value := self.value(here):
                numbers.append(value)
        return numbers

    def part(self, stones: Stones) -> int:
        """The number of a larger part."""
        if stones not in self.numbers:
            self.parts.append(stones)
            self.numbers[stones] = -len(self.parts)
        return self.numbers[stones]

    def value(self, stones: Stones) -> int:
        """The value of a small part."""
        if stones not in self.small:
            white, black = stones
            self.small[stones] = self.values.value(
                {self.total(*after) for after in self.moves(white, black)},
                {self.total(*reversed(after)) for after in self.moves(black, white)},
            )
        return self.small[stones]

    def total(self, white: int, black: int) -> int:
        """The value of a position of small parts."""
        total = ZERO
        for number in self.sum_of(white, black):
            total = self.values.add(total, number)
        return total

    def choices(self, number: int, seat: int) -> list[Sum]:
        """What a seat may make of a value or a larger part."""
        options = self.options[seat]
        if number not in options:
            if number > ZERO:
                values = (self.values.left, self.values.right)[seat][number]
                options[number] = [(value,) if value else () for value in values]
            else:
                white, black = self.parts[-1 - number]
                found = (
                    (self.sum_of(*after) for after in self.moves(white, black))
                    if seat == WHITE
                    else (self.sum_of(*reversed(after)) for after in self.moves(black, white))
                )
                options[number] = list({tuple(sorted(after)) for after in found})
        return options[number]

    def mobility(self, number: int, seat: int) -> int:
        """How many moves a seat has in a value or a larger part."""
        if number > ZERO:
            return len((self.values.left, self.values.right)[seat][number])
        white, black = self.parts[-1 - number]
        own, other = (white, black) if seat == WHITE else (black, white)
        return sum(
            (own & other >> shift).bit_count() + (own & other << shift).bit_count()
            for shift in (1, self.up)
        )

    def negative(self, number: int) -> int:
        if number > ZERO:
            return self.values.negative(number)
        white, black = self.parts[-1 - number]
        return self.part((black, white))

    def reduced(self, numbers: Sequence[int]) -> Sum:
        """A sum in its order, without parts that cancel each other."""
        left: list[int] = []
        for number in numbers:
            negative = self.negative(number)
            if negative in left:
                left.remove(negative)
            else:
                left.append(number)
        left.sort()
        return tuple(left)

    def wins(self, white: int, black: int, seat: int, go_on: Callable[[], bool]) -> bool:
        """Whether the seat to move makes the last move.

        Raises:
            TooLong: ``go_on`` said no before that was clear.
        """
        return self.is_won(self.reduced(self.sum_of(white, black)), seat, go_on)

    def is_won(self, parts: Sum, seat: int, go_on: Callable[[], bool]) -> bool:
        if not parts:
            return False
        known = self.won[seat].get(parts)
        if known is not None:
            return known
        full = len(self.won[seat]) > LARGEST_TABLE or len(self.parts) > LARGEST_TABLE // 3
        if full or not go_on():
            raise TooLong
        answers = self.won[1 - seat]
        freedom: dict[Sum, int] = {}
        for number in dict.fromkeys(parts):
            rest = list(parts)
            rest.remove(number)
            for choice in self.choices(number, seat):
                after = self.reduced([*rest, *choice])
                won = answers.get(after)
                if won is False or not after:
                    self.won[seat][parts] = True
                    return True
                if won is None and after not in freedom:
                    freedom[after] = sum(self.mobility(part, 1 - seat) for part in after)
        # First what leaves the other seat few moves.
        won = any(
            not self.is_won(after, 1 - seat, go_on)
            for after in sorted(freedom, key=freedom.__getitem__)
        )
        self.won[seat][parts] = won
        return won


def singles(mask: int) -> Iterator[int]:
    """Each bit of a mask as a mask."""
    while mask:
        single = mask & -mask
        yield single
        mask ^= single


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

    def __init__(self, state: ClobberState, endgame: Endgame, dice: Random) -> None:
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
        except TooLong:
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
            settle(path)
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
        if not self.root.children:
            return self.root.untried[0]
        return max(
            self.root.children, key=lambda c: (c.is_won is False, c.is_won is None, c.visits)
        ).code


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


def settle(path: Sequence[Node]) -> None:
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

    def __init__(self, game: Followed, steps: int | None = None) -> None:
        """Begins a game; so many steps a move, or as long as there is time."""
        variant = game.state.variant
        if not isinstance(variant, Clobber):
            raise SystemExit(f"this bot plays Clobber and not {variant.game}")
        self.game, self.steps = game, steps
        self.endgame = Endgame(variant.width, variant.height)

    def answer(self) -> str:
        """What was found, then the move."""
        state = self.game.state
        assert isinstance(state, ClobberState)
        self.endgame.make_room()
        tree = Tree(state, self.endgame, self.game.dice)
        if self.steps is None:
            tree.run(self.game.stopwatch, self.game.seconds(most=0.92, margin=0.025, moves=20))
        else:
            tree.run(count().__next__, self.steps)
        return reply(tree)


def reply(tree: Tree) -> str:
    """What was found, then the move."""
    root, code = tree.root, tree.best()
    if root.is_won is not None or not tree.rounds:
        share = float(bool(root.is_won))
        remark = "wins" if root.is_won else "at once"
    else:
        share = 1 - root.gained / root.visits
        remark = f"{share:.0%} in {tree.rounds} rounds"
    word = root.state.word(code)
    return f"# eval {share:.3f}\n# nodes {tree.rounds}\nmove {word} {remark}"


def main() -> None:
    """Answers the referee until it says quit."""
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else None
    # Nothing here refers in circles, and looking through large tables for it takes long.
    gc.disable()
    follow("clobber-expert", lambda game: Player(game, steps), Player.answer)


if __name__ == "__main__":
    main()
