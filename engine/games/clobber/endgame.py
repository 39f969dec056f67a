"""The end of Clobber by combinatorial game theory: who makes the last move.

Where stones no longer touch, the board falls into parts that have nothing to do with each other:
it is a sum of games. A small part is replaced by its canonical form (Berlekamp, Conway and Guy,
Winning Ways, 1982; Siegel, Combinatorial Game Theory, 2013), which is short, and the same for
many parts; a part and its negative cancel. Over such sums a plain search with a table finds who
wins, and often does so with twenty stones and more in play (Griebel and Uiterwijk, 2016).

White is Left, and a position is won for the seat to move or it is not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Protocol

from engine.board import bits_of
from engine.games.clobber import ClobberState
from engine.truth import OutOfSteps

SMALL = 7
"""Stones of a part that is replaced by its value."""
LARGEST_TABLE = 120_000
"""Sums remembered, unless it is said otherwise; with so many a search ends, and the next begins
with an empty table."""

WIDEST = 26
"""Files and ranks of the largest board."""

WHITE, BLACK = 0, 1
ZERO = 0
Stones = tuple[int, int]
"""White's and Black's stones, as masks."""
Sum = tuple[int, ...]
"""Parts that are played side by side: the numbers of values, and of larger parts below zero."""


class Values:
    """Games in canonical form, each known by a number, and what they are worth in sums."""

    def __init__(self) -> None:
        self.left: list[tuple[int, ...]] = []
        """The values that White may move to, from each value."""
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


class KnownParts(Protocol):
    """A table of the values of small parts."""

    stones: int
    """How many stones they have at most."""

    def values(self) -> Values: ...

    def value(self, key: Stones) -> int | None: ...


class ClobberEndgame:
    """Finds out who wins positions on one board."""

    def __init__(
        self, width: int, height: int, largest_table: int = LARGEST_TABLE, small: int = SMALL
    ) -> None:
        """Begins with nothing known.

        Args:
            largest_table: sums remembered; with so many a search ends.
            small: stones of a part that is replaced by its value.
        """
        self.width, self.height = width, height
        self.largest_table = largest_table
        self.most_small = small
        # Behind each rank lies a bit that is no square, so that no step leads over the rim.
        self.up = width + 1
        self.values = Values()
        self.small: dict[Stones, int] = {}
        """The values of small parts."""
        self.table: KnownParts | None = None
        self.forget()

    def learn(self, table: KnownParts) -> None:
        """Takes the values of small parts from a table; what was found before is forgotten."""
        self.values, self.table = table.values(), table
        self.most_small = max(self.most_small, table.stones)
        self.small.clear()
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
        if self.is_full(max(map(len, self.won))):
            self.forget()

    def is_full(self, sums: int) -> bool:
        """Whether there is no room for more beside so many sums of one seat."""
        return sums > self.largest_table or len(self.parts) > self.largest_table // 3

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
            if stones.bit_count() > self.most_small:
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
            known = None
            if self.table is not None:
                known = self.table.value(look(white, black, self.up))
            self.small[stones] = (
                self.values.value(
                    {self.total(*after) for after in self.moves(white, black)},
                    {self.total(*reversed(after)) for after in self.moves(black, white)},
                )
                if known is None
                else known
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
            OutOfSteps: ``go_on`` said no before that was clear.
        """
        return self.is_won(self.reduced(self.sum_of(white, black)), seat, go_on)

    def is_clear(self, parts: Sum, seat: int) -> bool | None:
        """Whether the seat to move wins a sum of values, as far as their signs tell.

        Who has nothing but what is good for it wins, and so it does with one thing beside that
        is good for whoever moves.
        """
        if parts[0] < ZERO:
            return None
        good = bad = open_ = 0
        for number in parts:
            for_white = self.values.at_most(ZERO, number)
            if for_white or self.values.at_most(number, ZERO):
                good += for_white == (seat == WHITE)
                bad += for_white != (seat == WHITE)
            else:
                open_ += 1
        if not bad and open_ <= 1:
            return True
        return False if not good and not open_ else None

    def is_won(self, parts: Sum, seat: int, go_on: Callable[[], bool]) -> bool:
        if not parts:
            return False
        known = self.won[seat].get(parts)
        if known is None:
            known = self.is_clear(parts, seat)
        if known is not None:
            return known
        if self.is_full(len(self.won[seat])) or not go_on():
            raise OutOfSteps
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


def look(white: int, black: int, up: int) -> Stones:
    """Two masks that are the same for all parts turned, mirrored or moved alike.

    Args:
        up: how far a mask is shifted from rank to rank; that of the answer is `WIDEST`.
    """
    both = white | black
    cells = [(*reversed(divmod(bit, up)), white >> bit & 1) for bit in bits_of(both)]
    files, ranks = zip(*((file, rank) for file, rank, _ in cells), strict=True)
    left, right, low, top = min(files), max(files), min(ranks), max(ranks)
    ways = []
    for mirrored, turned, across in product((False, True), repeat=3):
        found = [0, 0]
        for file, rank, is_white in cells:
            x = right - file if mirrored else file - left
            y = top - rank if turned else rank - low
            found[is_white] |= 1 << (x * WIDEST + y if across else y * WIDEST + x)
        ways.append((found[1], found[0]))
    return min(ways)


def singles(mask: int) -> Iterator[int]:
    """Each bit of a mask as a mask."""
    while mask:
        single = mask & -mask
        yield single
        mask ^= single
