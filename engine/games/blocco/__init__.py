"""Blocco, also Bloc or Bloque Político (Jorge Nuno Silva, 2005): Clobber, and each group freezes
one of its stones.

Rules: rules.md beside this. A position is three masks of squares: each colour's stones, and the
marked ones of both. A move's code is the mask of the two squares it joins and, above the bits
of the board, the mask of the square that gets the marker, none for a stone that stands alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from math import floor
from random import Random
from typing import TYPE_CHECKING

from engine.board import WordTable, bits_of, grid, mask_of
from engine.game import (
    Game,
    IllegalMoveError,
    Move,
    PositionError,
    Seat,
    State,
    Termination,
    page_beside,
)
from engine.games.chequerboard import BLACK, OFFERS, SIZE, STONES, WHITE, Chequerboard
from engine.scene import Body, Look, Paint, Piece, Scene, Sign
from engine.speed import judged_once, maker
from engine.translation import N_, gettext, translated

if TYPE_CHECKING:
    from engine.truth import Truth

PROMPTS = (
    N_("Choose the stone that moves."),
    N_("Choose the neighbour that it takes."),
    N_("Choose the stone of its group that gets the marker."),
)
MARKED = {Paint.WHITE: N_("marked white stone"), Paint.BLACK: N_("marked black stone")}


class Blocco(Chequerboard):
    """Blocco on a board of W files and H ranks."""

    game = "blocco"

    def __init__(self, options: Mapping[str, str]) -> None:
        super().__init__(options)
        self.marks = WordTable([f"@{name}" for name in self.names])
        beside = [0] * self.squares
        for low, high in map(bits_of, self.pairs):
            beside[low] |= 1 << high
            beside[high] |= 1 << low
        self.near = [(0, 0), *((1 << bit, others) for bit, others in enumerate(beside))]
        """Each square and its neighbours, as masks, by the bit length of its own."""
        self.step_of = {
            word: (start, end, start | end, self.near[end.bit_length()][1])
            for word, (start, end) in self.ends_of.items()
        }
        """The square that each step leaves, that it enters, both, and the second's neighbours."""
        self.mark_of = {name: 1 << bit for bit, name in enumerate(self.names)}

    def initial(self, seed: int = 0) -> BloccoState:
        return new_state(self, self.white, self.black, 0, WHITE)

    def read(self, text: str) -> BloccoState:
        cells, mover = self.read_cells(text, "wbWB")
        white, black = mask_of(cells, "wW"), mask_of(cells, "bB")
        marked = mask_of(cells, "WB")
        self.check_counts(white, black, mover)
        for stones in (white, black):
            for bit in bits_of(stones & marked):
                twice = self.group(stones, 1 << bit) & marked & ~(1 << bit)
                if twice:
                    second = self.names[bits_of(twice)[0]]
                    raise PositionError(
                        gettext(
                            "the group of %(first)s is marked twice, on %(second)s too",
                            first=self.names[bit],
                            second=second,
                        )
                    )
        return new_state(self, white, black, marked, mover)

    def all_moves(self) -> Sequence[Move]:
        steps = self.ends_of.items()
        marked = (
            f"{step}@{name}"
            for step, (start, _) in steps
            for name, bit in self.mark_of.items()
            if bit != start
        )
        return (*self.ends_of, *marked)

    def all_looks(self) -> Sequence[Look]:
        paints = (Paint.WHITE, Paint.BLACK)
        return [(Body.DISC, paint, sign) for paint in paints for sign in ("", Sign.CROSS)]

    def group(self, stones: int, square: int) -> int:
        """Those of ``stones`` that are connected with the one on ``square``, itself included."""
        return square | self.joined(stones ^ square, stones & self.near[square.bit_length()][1])

    def joined(self, stones: int, edge: int) -> int:
        """Those of ``stones`` that are connected with any of ``edge``, which are some of them."""
        near = self.near
        rest = stones ^ edge
        while True:
            stone, new = near[edge.bit_length()]
            edge ^= stone
            if new := new & rest:
                rest ^= new
                edge ^= new
            elif not edge:
                return stones ^ rest

    def truth(self) -> Truth:
        from engine.games.blocco.truth import BloccoTruth

        return BloccoTruth(self)


@dataclass(frozen=True, slots=True)
class BloccoState(State):
    """The stones on the board, those with a marker, and the seat whose turn it is."""

    variant: Blocco = field(repr=False)
    white: int
    black: int
    marked: int
    mover: Seat

    @property
    def to_move(self) -> Seat | None:
        return self.mover if self._can_move() else None

    def _can_move(self) -> bool:
        white, black = self.white & ~self.marked, self.black & ~self.marked
        return any(
            (white & black >> shift | black & white >> shift) & guard
            for shift, guard, _, _ in self.variant.steps
        )

    def _steps(self) -> Iterator[tuple[int, int, int]]:
        """The squares left and entered, and the new group, for each stone that may be taken."""
        own, other = (self.white, self.black) if self.mover == WHITE else (self.black, self.white)
        free, targets = own & ~self.marked, other & ~self.marked
        group = self.variant.group
        for shift, guard, _, _ in self.variant.steps:
            for mask, forth in ((free & targets >> shift, True), (targets & free >> shift, False)):
                mask &= guard
                while mask:
                    low = mask & -mask
                    mask ^= low
                    start, end = (low, low << shift) if forth else (low << shift, low)
                    yield start, end, group(own ^ start ^ end, end)

    def legal_moves(self) -> Sequence[Move]:
        names, extend = self.variant.names, self.variant.marks.extend
        words: list[Move] = []
        for start, end, group in self._steps():
            step = names[start.bit_length() - 1] + names[end.bit_length() - 1]
            if group == end:
                words.append(step)
            else:
                marks: list[str] = []
                extend(marks, group)
                words += [step + mark for mark in marks]
        words.sort()
        return words

    @judged_once
    def play(self, move: Move) -> BloccoState:
        variant, marked = self.variant, self.marked
        step, at, square = move.partition("@")
        start, end, pair, beside = variant.step_of.get(step, (0, 0, 0, 0))
        own, other = (self.white, self.black) if self.mover == WHITE else (self.black, self.white)
        if not (own & start and other & end) or pair & marked:
            reason = (
                gettext(
                    "a move takes an unmarked stone of yours onto an unmarked neighbour of the "
                    "other colour, as in e4d4@d3"
                )
                if self._can_move()
                else gettext("the game is over")
            )
            raise IllegalMoveError(move, reason)
        own ^= pair
        if edge := own & beside:
            group = end | variant.joined(own ^ end, edge)
            mark = variant.mark_of.get(square, 0)
            if not group & mark:
                raise IllegalMoveError(
                    move,
                    gettext(
                        "it ends with '@' and the square of the stone in its group to be marked"
                    ),
                )
            marked = marked & ~group | mark
        elif at:
            raise IllegalMoveError(
                move, gettext("the stone stands alone then, so nothing is marked")
            )
        if self.mover == WHITE:
            return new_state(variant, own, other ^ end, marked, BLACK)
        return new_state(variant, other ^ end, own, marked, WHITE)

    judge = play

    def prompt(self, clicked: Sequence[str]) -> str:
        return translated(PROMPTS[len(clicked)])

    def half_made(self, clicked: Sequence[str]) -> Scene:
        """The board in mid-move: after two clicks the stone has moved, its group not yet marked."""
        if len(clicked) < 2:
            return self.scene()
        start, end, _, _ = self.variant.step_of["".join(clicked[:2])]
        own = self.white if self.mover == WHITE else self.black
        group = self.variant.group(own ^ start ^ end, end)
        unmarked = new_state(self.variant, self.white, self.black, self.marked & ~group, self.mover)
        return unmarked.scene().carried(*clicked[:2])

    def ending(self) -> Termination | None:
        return None if self._can_move() else Termination.NORMAL

    def scores(self) -> tuple[float, ...]:
        return (0.0, 1.0) if self.mover == WHITE else (1.0, 0.0)

    def text(self) -> str:
        white, black, marked = self.white, self.black, self.marked
        letters = {
            "w": white & ~marked,
            "b": black & ~marked,
            "W": white & marked,
            "B": black & marked,
        }
        return self.variant.write_cells(letters, self.mover)

    def scene(self) -> Scene:
        variant = self.variant
        pieces = tuple(
            Piece((variant.names[bit],), Body.DISC, paint, words, sign)
            for paint, stones in ((Paint.WHITE, self.white), (Paint.BLACK, self.black))
            for words, sign, some in (
                (translated(STONES[paint]), "", stones & ~self.marked),
                (translated(MARKED[paint]), Sign.CROSS, stones & self.marked),
            )
            for bit in bits_of(some)
        )
        turn = variant.turn(self.mover, can_move=self._can_move())
        return Scene(
            title=f"Blocco {variant.options['size']}: {turn}",
            squares=grid(variant.width, variant.height),
            pieces=pieces,
            captions=(turn,),
        )

    def codes(self) -> Sequence[int]:
        above = self.variant.squares
        codes = []
        for start, end, group in self._steps():
            pair = start | end
            if group == end:
                codes.append(pair)
            else:
                codes += [pair | 1 << above + bit for bit in bits_of(group)]
        return codes

    def word(self, code: int) -> Move:
        start, end, mark = self._split(code)
        squares = self.variant.names
        step = squares[start.bit_length() - 1] + squares[end.bit_length() - 1]
        return f"{step}@{squares[mark.bit_length() - 1]}" if mark else step

    def play_code(self, code: int) -> BloccoState:
        start, end, mark = self._split(code)
        own, other = (self.white, self.black) if self.mover == WHITE else (self.black, self.white)
        own ^= start | end
        group = self.variant.group(own, end)
        marked = self.marked & ~group | mark
        if self.mover == WHITE:
            return new_state(self.variant, own, other ^ end, marked, BLACK)
        return new_state(self.variant, other ^ end, own, marked, WHITE)

    def _split(self, code: int) -> tuple[int, int, int]:
        """The squares that a move leaves, enters and marks."""
        own = self.white if self.mover == WHITE else self.black
        pair = code & self.variant.board
        return pair & own, pair & ~own, code >> self.variant.squares

    def playout(self, random: Random) -> tuple[float, ...]:
        # As in Clobber two neighbours are drawn, and with them how many stones of the
        # group to skip for the one to mark: less than the mover has stones, so that the bound is
        # the same for all moves. Where the group has no so many, both are drawn again.
        own, other = (self.white, self.black) if self.mover == WHITE else (self.black, self.white)
        draw = random.random
        variant, marked = self.variant, self.marked
        board, pairs, group_of = variant.board, variant.pairs, variant.group
        while True:
            if gone := board ^ (own | other):
                pairs = [pair for pair in pairs if not pair & gone]
            free, targets = own & ~marked, other & ~marked
            for pair in pairs:
                if free & pair and targets & pair:
                    break
            else:
                # Every ply took a stone, so their number says whose turn it is.
                return (0.0, 1.0) if gone.bit_count() % 2 == WHITE else (1.0, 0.0)
            count = len(pairs)
            for _ in repeat(None, count):
                pair = pairs[floor(draw() * count)]
                end = targets & pair
                if not (end and free & pair):
                    continue
                group = group_of(own ^ pair, end)
                skipped = floor(draw() * own.bit_count())
                if skipped >= group.bit_count():
                    continue
                if group != end:
                    marked &= ~group
                    for _ in repeat(None, skipped):
                        group &= group - 1
                    marked |= group & -group
                own, other = other ^ end, own ^ pair
                free, targets = own & ~marked, other & ~marked


new_state = maker(BloccoState)


GAME = Game(
    name="blocco",
    title="Blocco",
    options=SIZE,
    build=Blocco,
    offers=OFFERS,
    rules=page_beside(__file__),
    version="1",
)
