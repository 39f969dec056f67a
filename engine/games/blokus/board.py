"""Where polyominoes fit on a rectangular board.

A square is a bit, ``file * stride + rank``, so that the order of bits is the order in which a
move names its squares. The stride is one more than the ranks: between two files lies a bit
that is no square, and a piece that would leave the board runs into it.

A shape is a piece in one orientation, as the bits of its squares when the lowest is bit 0; a
placement is the mask of the squares it covers, which is a shape shifted to its anchor. All
anchors of a shape are found at once: shifting the free squares down by each of the shape's bits
and and-ing what comes out leaves those from which every square of it is free. Shapes that share
squares share the work: each but the single square is another shape, its parent, and one square
more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from engine.board import FILES, bits_of
from engine.games.blokus.polyominoes import NAMES, SIZES, orientations

LARGEST = max(SIZES)

Step = tuple[int, int, int, int, int, int]


class Board:
    """A board of ``width`` files and ``height`` ranks, at least five of each."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.stride = height + 1
        ranks = [str(rank + 1) for rank in range(height)]
        self.names = tuple(
            name for file in FILES[:width] for name in [*(file + r for r in ranks), ""]
        )
        self.squares = {name: 1 << bit for bit, name in enumerate(self.names) if name}
        self.full = sum(self.squares.values())
        self.corners = sum(
            self.squares[file + rank]
            for file in (FILES[0], FILES[width - 1])
            for rank in (ranks[0], ranks[-1])
        )
        self.piece_of = {
            self._shape(cells): piece
            for piece in range(len(NAMES))
            for cells in orientations(piece)
        }
        """The piece that each shape is an orientation of."""
        self._steps = tuple(self._walk())
        self._words: dict[int, tuple[str, ...]] = {}
        self._lane = (width + 1) * self.stride // 8 + 1
        """How many bytes each mask has to itself in a row of them."""

    def _shape(self, cells: tuple[tuple[int, int], ...]) -> int:
        bits = [file * self.stride + rank for file, rank in cells]
        return sum(1 << bit - min(bits) for bit in bits)

    def _walk(self) -> Iterator[Step]:
        """The tree of shapes from parent to child, each before its children.

        For each shape: how many squares, the bit by which it exceeds its parent, its piece as a
        set, itself, where the walk goes on without its children, and the set of the pieces in
        this branch.
        """
        children: dict[int, list[tuple[int, int]]] = {shape: [] for shape in self.piece_of}
        for shape in self.piece_of:
            # The lowest bit stays, so that a parent has the anchors of its children.
            for bit in bits_of(shape)[1:]:
                if shape ^ 1 << bit in children:
                    children[shape ^ 1 << bit].append((bit, shape))
                    break

        def branch(shape: int, bit: int, start: int) -> list[Step]:
            below: list[Step] = []
            for child_bit, child in sorted(children[shape]):
                below += branch(child, child_bit, start + 1 + len(below))
            own = 1 << self.piece_of[shape]
            pieces = own
            for step in below:
                pieces |= step[2]
            end = start + 1 + len(below)
            return [(shape.bit_count(), bit, own, shape, end, pieces), *below]

        yield from branch(1, 0, 0)

    def edges(self, mask: int) -> int:
        """The neighbours of the squares of ``mask``; bits that are no square may be among them."""
        return mask << 1 | mask >> 1 | mask << self.stride | mask >> self.stride

    def diagonals(self, mask: int) -> int:
        """The squares corner to corner with those of ``mask``; ditto."""
        beside = mask << self.stride | mask >> self.stride
        return beside << 1 | beside >> 1

    def row(self, masks: Sequence[int]) -> int:
        """Masks side by side, so far apart that no neighbour of one is a square of the next.

        A step on all of them at once takes much less time than one after the other.
        """
        lane = self._lane
        return int.from_bytes(b"".join([mask.to_bytes(lane, "little") for mask in masks]), "little")

    def copies(self, mask: int, number: int) -> int:
        """A `row` of the same mask so many times."""
        return int.from_bytes(mask.to_bytes(self._lane, "little") * number, "little")

    def counts(self, row: int, number: int) -> list[int]:
        """How many squares each of so many masks in a `row` has."""
        lane, read = self._lane, int.from_bytes
        data = row.to_bytes(lane * number, "little")
        return [
            read(data[at : at + lane], "little").bit_count() for at in range(0, len(data), lane)
        ]

    def parts(self, mask: int) -> Iterator[int]:
        """The connected areas of ``mask``."""
        while mask:
            part, grown = 0, mask & -mask
            while grown != part:
                part, grown = grown, (grown | self.edges(grown)) & mask
            yield part
            mask ^= part

    def placements(self, room: int, seeds: int, pieces: int) -> Iterator[tuple[int, int]]:
        """The placements of ``pieces`` inside ``room`` that cover one of ``seeds`` at least.

        Each shape that has any comes once, with the mask of its anchors.
        """
        fits = [room] * (LARGEST + 1)
        touches = [0] * (LARGEST + 1)
        steps = self._steps
        number, end = 0, len(steps) if seeds else 0
        while number < end:
            size, bit, own, shape, beyond, branch = steps[number]
            fit = fits[size - 1] & room >> bit
            if not fit or not pieces & branch:
                number = beyond
                continue
            fits[size] = fit
            touches[size] = touch = touches[size - 1] | seeds >> bit
            if pieces & own:
                anchors = fit & touch
                if anchors:
                    yield shape, anchors
            number += 1

    def words(self, shape: int) -> tuple[str, ...]:
        """The squares of ``shape`` at each anchor, joined by commas; nonsense where it leaves."""
        if shape not in self._words:
            columns = (self.names[bit:] for bit in bits_of(shape))
            self._words[shape] = tuple(map(",".join, zip(*columns, strict=False)))
        return self._words[shape]

    def spell(self, prefix: str, placements: Iterable[tuple[int, int]]) -> list[str]:
        """The words of placements: ``prefix``, and the squares as `write` has them."""
        spelt: list[str] = []
        add = spelt.append
        for shape, anchors in placements:
            words = self.words(shape)
            # bits_of written out: most of the time of listing moves goes here.
            while anchors:
                bit = anchors.bit_length() - 1
                add(prefix + words[bit])
                anchors ^= 1 << bit
        return spelt

    def write(self, mask: int) -> str:
        """The squares of ``mask`` in order of file, then rank, joined by commas."""
        return ",".join(self.names[bit] for bit in bits_of(mask))

    def read(self, text: str) -> int:
        """Up to five squares that `write` wrote, in any order; 0 where the text is no such list."""
        names = text.split(",", LARGEST)
        try:
            mask = sum(map(self.squares.__getitem__, names))
        except KeyError:
            return 0
        # Of squares that are all different each is a bit of the sum.
        return mask if mask.bit_count() == len(names) <= LARGEST else 0


@cache
def board(width: int, height: int) -> Board:
    """The one board of this size: its tables are made once."""
    return Board(width, height)


def shape_of(mask: int) -> int:
    """A placement moved down so that its lowest square is bit 0."""
    return mask >> (mask & -mask).bit_length() - 1


def masks(placements: Iterable[tuple[int, int]]) -> list[int]:
    """Every placement as the mask of its squares."""
    return [shape << bit for shape, anchors in placements for bit in bits_of(anchors)]


def count(placements: Sequence[tuple[int, int]]) -> int:
    """How many placements these are."""
    return sum(anchors.bit_count() for _, anchors in placements)


def nth(placements: Sequence[tuple[int, int]], index: int) -> int:
    """One of the placements, counted from 0, as the mask of its squares."""
    for shape, anchors in placements:
        here = anchors.bit_count()
        if index < here:
            return shape << bits_of(anchors)[index]
        index -= here
    raise IndexError("there are not so many placements")
