"""Solves the puzzles of Blokus: it finds the whole answer first, and then writes it down.

The rectangles are an exact cover: every square by one piece, every piece once. They are cut into
bands that hold each shape equally often, which Knuth's algorithm X (2000) fills from one end to
the other: it takes the first free square, tries every piece there, and goes back where none is
left. What it filled gets its colours afterwards, which is another search: the copies of a shape
need different ones, and in a hard task so do neighbours. The piece with the fewest colours left
comes first (Brelaz, 1979).

The large board looks the same to all four colours when each puts its piece where the one before
it did, a quarter turn on. So the pieces of one colour are enough: a beam search places them, the
largest first, and keeps what leaves it the most corners to go on from.

Each attempt rolls its dice anew. They go on until one succeeds: before the game, when thinking is
free, and if need be at every move, from the pieces that lie there already. Where nothing better
is known it plays the best attempt as far as it goes, and then the largest piece that fits.
"""

from __future__ import annotations

import gc
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import count
from math import inf
from random import Random

from engine.board import bits_of
from engine.following import Followed, Stopwatch, follow
from engine.games.blokus.board import masks, shape_of
from engine.games.blokus.polyominoes import SIZES, of_size, squares_in
from engine.games.blokus.position import COLOURS
from engine.games.puzzle import Puzzle

BEFORE = 3.5
"""Seconds of wall time before a game; the protocol grants five."""
PATIENCE = 300
"""Steps of a search that got stuck; then it begins again with other dice."""
BEAM = 8
"""Positions kept at each round of the beam search."""
LUCK = 2.0
"""The range of the dice that make one beam search differ from the next, in corners."""

Placement = tuple[int, int]
"""A colour, and the mask of the squares that its piece covers."""


class TimeUp(Exception):
    """The time for a search is over."""


class Stuck(Exception):
    """A search lost its patience."""


class Solver(ABC):
    """Tries to solve one task."""

    def __init__(self, variant: Puzzle, dice: Random) -> None:
        self.variant = variant
        self.board = variant.board
        self.dice = dice
        self.plan: list[Placement] = []
        """The best answer so far, from the first piece on."""
        self.stopwatch: Stopwatch = lambda: 0.0
        self.seconds = inf

    @property
    def is_solved(self) -> bool:
        return squares(self.plan) == self.variant.solved_score

    def run(self, plies: int, stopwatch: Stopwatch, seconds: float) -> None:
        """Looks for answers that begin as the game did, until one is whole or the time over."""
        self.stopwatch, self.seconds = stopwatch, seconds
        played = self.plan[:plies]
        try:
            while not self.is_solved:
                self.check_time()
                found = self.attempt(played)
                if squares(found) > squares(self.plan):
                    self.plan = found
        except TimeUp:
            pass

    def check_time(self) -> None:
        if self.stopwatch() > self.seconds:
            raise TimeUp

    @abstractmethod
    def attempt(self, played: Sequence[Placement]) -> list[Placement]:
        """An answer that begins with these placements, and goes as far as it may."""

    def piece(self, mask: int) -> int:
        return self.board.piece_of[shape_of(mask)]


def squares(plan: Sequence[Placement]) -> int:
    """How many squares an answer covers."""
    return sum(mask.bit_count() for _, mask in plan)


class Rectangle(Solver):
    """Fills a rectangle band by band, and colours what lies there."""

    def __init__(self, variant: Puzzle, dice: Random) -> None:
        super().__init__(variant, dice)
        self.kinds = bits_of(variant.start.left[0])
        area = squares_in(variant.start.left[0])
        # A band takes as few copies of every shape as fill whole ranks.
        self.copies = next(n for n in count(1) if n * area % self.board.width == 0)
        ranks = self.copies * area // self.board.width
        self.bands = [
            sum(
                1 << file * self.board.stride + rank
                for file in range(self.board.width)
                for rank in range(first, first + ranks)
            )
            for first in range(0, self.board.height, ranks)
        ]
        self.shapes = [
            (shape, piece) for shape, piece in self.board.piece_of.items() if piece in self.kinds
        ]
        self.filled: dict[int, list[int]] = {}
        """The pieces that fill each band, of late."""
        self.steps = 0

    def attempt(self, played: Sequence[Placement]) -> list[Placement]:
        # One band anew is enough for other colours.
        self.filled.pop(self.dice.choice(self.bands), None)
        for band in self.bands:
            lying = [mask for _, mask in played if mask & band]
            if not set(lying) <= set(self.filled.get(band, ())):
                self.filled.pop(band, None)
            if band not in self.filled:
                self.filled[band] = [*lying, *self.fill_band(band, lying)]
        masks = [mask for band in self.bands for mask in self.filled[band]]
        return self.colour(masks, {mask: colour for colour, mask in played})

    def fill_band(self, band: int, lying: Sequence[int]) -> list[int]:
        """The pieces that fill what is free of a band, or none if that can't be."""
        left = Counter(dict.fromkeys(self.kinds, self.copies))
        left.subtract(map(self.piece, lying))
        free = band - sum(lying)
        while True:
            self.check_time()
            self.dice.shuffle(self.shapes)
            self.steps = 0
            try:
                return self.fill(free, left) or []
            except Stuck:
                pass

    def fill(self, free: int, left: Counter[int]) -> list[int] | None:
        """Fills some squares with the pieces left, the lowest square first."""
        if not free:
            return []
        self.steps += 1
        if self.steps > PATIENCE:
            raise Stuck
        low = free & -free
        for shape, piece in self.shapes:
            mask = shape * low
            if left[piece] and mask & free == mask:
                left[piece] -= 1
                try:
                    rest = self.fill(free ^ mask, left)
                finally:
                    left[piece] += 1
                if rest is not None:
                    return [mask, *rest]
        return None

    def colour(self, masks: Sequence[int], given: Mapping[int, int]) -> list[Placement]:
        """Gives each piece a colour, or as many as it can; those that have one come first."""
        apart = {mask: self.apart_from(mask, masks) for mask in masks}
        open_to = {mask: set(range(len(COLOURS))) for mask in masks}
        for mask, colour in given.items():
            for other in apart[mask]:
                open_to[other].discard(colour)
        best: dict[int, int] = {}

        def assign(colours: dict[int, int]) -> bool:
            nonlocal best
            if len(colours) > len(best):
                best = dict(colours)
            if len(colours) == len(masks):
                return True
            self.steps += 1
            if self.steps > PATIENCE:
                raise Stuck
            bare = (mask for mask in masks if mask not in colours)
            mask = min(bare, key=lambda mask: (len(open_to[mask]), -len(apart[mask])))
            for colour in self.dice.sample(sorted(open_to[mask]), len(open_to[mask])):
                narrowed = [
                    other
                    for other in apart[mask]
                    if other not in colours and colour in open_to[other]
                ]
                for other in narrowed:
                    open_to[other].remove(colour)
                if all(open_to[other] for other in narrowed) and assign(colours | {mask: colour}):
                    return True
                for other in narrowed:
                    open_to[other].add(colour)
            return False

        self.check_time()
        self.steps = 0
        try:
            assign(dict(given))
        except Stuck:
            pass
        return [(colour, mask) for mask, colour in best.items()]

    def apart_from(self, mask: int, masks: Sequence[int]) -> list[int]:
        """The pieces whose colour must not be that of one of them."""
        beside = self.board.edges(mask) if self.variant.hard else 0
        piece = self.piece(mask)
        return [
            other
            for other in masks
            if other != mask and (other & beside or self.piece(other) == piece)
        ]


class Board(Solver):
    """Covers the large board, where a round of all four colours is one placement and its turns."""

    def __init__(self, variant: Puzzle, dice: Random) -> None:
        super().__init__(variant, dice)
        side, stride = self.board.width, self.board.stride
        self.turned = {
            file * stride + rank: 1 << (side - 1 - rank) * stride + file
            for file in range(side)
            for rank in range(side)
        }
        """Where a square comes by a quarter turn."""
        self.turns = cache(self.turns_of)

    def turns_of(self, mask: int) -> tuple[int, ...]:
        """A placement in its four turns, one for each colour."""
        turns = [mask]
        for _ in COLOURS[1:]:
            turns.append(sum(self.turned[bit] for bit in bits_of(turns[-1])))
        return tuple(turns)

    def attempt(self, played: Sequence[Placement]) -> list[Placement]:
        path: tuple[int, ...] = tuple(mask for colour, mask in played if colour == 0)
        beam = [path]
        while beam:
            path = beam[0]
            beam = self.next_beam(beam)
        return [turn for mask in path for turn in enumerate(self.turns(mask))]

    def next_beam(self, beam: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
        """The best ways to go on from the paths of one colour, each by one placement."""
        board = self.board
        found: dict[int, tuple[float, tuple[int, ...]]] = {}
        for path in beam:
            self.check_time()
            own = sum(path)
            free = board.full - sum(sum(self.turns(mask)) for mask in path)
            for mask in self.placements(path, own, free):
                after = own | mask
                if after not in found:
                    room = (free - sum(self.turns(mask))) & ~board.edges(after)
                    corners = (room & board.diagonals(after)).bit_count()
                    value = corners + room.bit_count() / 8 + self.dice.random() * LUCK
                    found[after] = (value, (*path, mask))
        best = sorted(found.values(), reverse=True)[:BEAM]
        return [path for _, path in best]

    def placements(self, path: Sequence[int], own: int, free: int) -> Iterator[int]:
        """Where one colour may go on with its largest pieces, clear of the other colours' turns."""
        board = self.board
        left = self.variant.start.left[0] - sum(1 << self.piece(mask) for mask in path)
        if not left:
            return
        largest = left & of_size(SIZES[left.bit_length() - 1])
        room = free & ~board.edges(own)
        seeds = room & (board.diagonals(own) if own else board.corners)
        for mask in masks(board.placements(room, seeds, largest)):
            # Where masks overlap, their sum has fewer bits.
            if sum(self.turns(mask)).bit_count() == len(COLOURS) * mask.bit_count():
                yield mask


class Player:
    """A task, and the plan for it."""

    def __init__(self, game: Followed) -> None:
        """Looks for an answer while it costs nothing."""
        variant = game.state.variant
        if not isinstance(variant, Puzzle):
            raise SystemExit(f"this bot solves puzzles and does not play {variant.game}")
        self.game, self.variant = game, variant
        kind = Board if variant.in_turn else Rectangle
        self.said: list[str] = []
        """The moves of the plan that were played."""
        self.solver: Solver = kind(variant, game.dice)
        came = time.monotonic()
        self.solver.run(0, lambda: time.monotonic() - came, BEFORE)

    def answer(self) -> str:
        """The move that the plan goes on with."""
        game = self.game
        if game.moves == self.said:
            if not self.solver.is_solved:
                seconds = game.seconds(most=0.9, margin=0.02, moves=10)
                self.solver.run(len(game.moves), game.stopwatch, seconds)
            if len(game.moves) < len(self.solver.plan):
                colour, mask = self.solver.plan[len(game.moves)]
                self.said.append(f"{COLOURS[colour]}:{self.variant.board.write(mask)}")
                return f"move {self.said[-1]}"
        # Either the plan is at its end, or the game was begun by somebody else.
        return f"move {game.state.word(max(game.state.codes(), key=int.bit_count))}"


def main() -> None:
    """Answers the referee until it says quit."""
    # Nothing here refers in circles, and looking for such things takes its time.
    gc.disable()
    follow("solver", Player, Player.answer)


if __name__ == "__main__":
    main()
