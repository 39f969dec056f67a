"""Clobber (Albert, Grossman and Nowakowski, 2001): take a neighbour or lose.

Rules: rules.md beside this. A position is two sets of stones, as masks of squares. Shifting the
other's stones by one step finds every stone that may move that way at once. A move's code is the
mask of the two squares it joins, which says all: the stone that moves is the mover's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import repeat
from math import floor
from random import Random
from typing import TYPE_CHECKING

from engine.board import bits_of, grid, mask_of
from engine.game import Dialect, Game, IllegalMoveError, Move, Seat, State, Termination, page_beside
from engine.games.chequerboard import BLACK, CHUNK, LOW, OFFERS, SIZE, STONES, WHITE, Chequerboard
from engine.scene import Body, Look, Paint, Piece, Scene
from engine.speed import maker
from engine.translation import N_, gettext, translated

if TYPE_CHECKING:
    from engine.truth import Truth

UCI_VARIANTS = {"5x6": "clobber", "10x10": "clobber10"}
"""What Fairy-Stockfish calls the sizes that it knows."""

PROMPTS = (N_("Choose the stone that moves."), N_("Choose the neighbour that it takes."))


class Clobber(Chequerboard):
    """Clobber on a board of W files and H ranks."""

    game = "clobber"

    def initial(self, seed: int = 0) -> ClobberState:
        return new_state(self, self.white, self.black, WHITE)

    def read(self, text: str) -> ClobberState:
        cells, mover = self.read_cells(text, "wb")
        white, black = mask_of(cells, "w"), mask_of(cells, "b")
        self.check_counts(white, black, mover)
        return new_state(self, white, black, mover)

    def all_moves(self) -> Sequence[Move]:
        return tuple(self.ends_of)

    def all_looks(self) -> Sequence[Look]:
        return [(Body.DISC, paint, "") for paint in (Paint.WHITE, Paint.BLACK)]

    def dialect(self, protocol: str) -> Dialect | None:
        """The game in UCI as Fairy-Stockfish has it; the start and the notation are the same."""
        name = UCI_VARIANTS.get(self.options["size"])
        if protocol != "uci" or name is None:
            return None
        return Dialect(name, lambda _, move: move, lambda _, word: word)

    def truth(self) -> Truth:
        from engine.games.clobber.truth import ClobberTruth

        return ClobberTruth(self)


@dataclass(frozen=True, slots=True)
class ClobberState(State):
    """The stones on the board, and the seat whose turn it is."""

    variant: Clobber = field(repr=False)
    white: int
    black: int
    mover: Seat

    @property
    def to_move(self) -> Seat | None:
        return self.mover if self._can_move() else None

    def _can_move(self) -> bool:
        white, black = self.white, self.black
        return any(
            (white & black >> shift | black & white >> shift) & guard
            for shift, guard, _, _ in self.variant.steps
        )

    def legal_moves(self) -> Sequence[Move]:
        own, other = (self.white, self.black) if self.mover == WHITE else (self.black, self.white)
        words: list[Move] = []
        for shift, guard, forth, back in self.variant.steps:
            mask = own & other >> shift & guard
            for chunk in forth:
                words += chunk[mask & LOW]
                mask >>= CHUNK
            mask = other & own >> shift & guard
            for chunk in back:
                words += chunk[mask & LOW]
                mask >>= CHUNK
        words.sort()
        return words

    def play(self, move: Move) -> ClobberState:
        return self._step(*self.judge(move))

    def judge(self, move: str) -> tuple[int, int]:
        """The squares that a legal move leaves and takes."""
        start, end = self.variant.ends_of.get(move, (0, 0))
        own, other = (self.white, self.black) if self.mover == WHITE else (self.black, self.white)
        if not (own & start and other & end):
            reason = (
                gettext(
                    "a move takes one of your stones onto a neighbour of the other colour, as in "
                    "a2a1"
                )
                if self._can_move()
                else gettext("the game is over")
            )
            raise IllegalMoveError(move, reason)
        return start, end

    def prompt(self, clicked: Sequence[str]) -> str:
        return translated(PROMPTS[len(clicked)])

    def _step(self, start: int, end: int) -> ClobberState:
        if self.mover == WHITE:
            return new_state(self.variant, self.white ^ start ^ end, self.black ^ end, BLACK)
        return new_state(self.variant, self.white ^ end, self.black ^ start ^ end, WHITE)

    def ending(self) -> Termination | None:
        return None if self._can_move() else Termination.NORMAL

    def scores(self) -> tuple[float, ...]:
        return (0.0, 1.0) if self.mover == WHITE else (1.0, 0.0)

    def text(self) -> str:
        return self.variant.write_cells({"w": self.white, "b": self.black}, self.mover)

    def scene(self) -> Scene:
        variant = self.variant
        pieces = tuple(
            Piece((variant.names[bit],), Body.DISC, paint, words)
            for paint, stones in ((Paint.WHITE, self.white), (Paint.BLACK, self.black))
            for words in (translated(STONES[paint]),)
            for bit in bits_of(stones)
        )
        turn = variant.turn(self.mover, can_move=self._can_move())
        return Scene(
            title=f"Clobber {variant.options['size']}: {turn}",
            squares=grid(variant.width, variant.height),
            pieces=pieces,
            captions=(turn,),
            dead=tuple(variant.names[bit] for bit in bits_of(self._dead())),
        )

    def _dead(self) -> int:
        """The stones that no way of stones joins with one of the other colour.

        They neither move nor are taken any more: no square that is left is entered again but by
        taking, so what is not joined now never will be.
        """
        stones = self.white | self.black
        met, grown = 0, self._meeting()
        while grown != met:
            met = grown
            for shift, guard, _, _ in self.variant.steps:
                grown |= (met & guard) << shift & stones
                grown |= met >> shift & guard & stones
        return stones & ~met

    def _meeting(self) -> int:
        """The stones beside one of the other colour."""
        white, black = self.white, self.black
        found = 0
        for shift, guard, _, _ in self.variant.steps:
            lower = (white & black >> shift | black & white >> shift) & guard
            found |= lower | lower << shift
        return found

    def codes(self) -> Sequence[int]:
        white, black = self.white, self.black
        codes = []
        for shift, guard, _, _ in self.variant.steps:
            lows = (white & black >> shift | black & white >> shift) & guard
            pair = 1 << shift | 1
            while lows:
                low = lows & -lows
                codes.append(low * pair)
                lows ^= low
        return codes

    def word(self, code: int) -> Move:
        own = self.white if self.mover == WHITE else self.black
        names = self.variant.names
        start, end = code & own, code & ~own
        return names[start.bit_length() - 1] + names[end.bit_length() - 1]

    def play_code(self, code: int) -> ClobberState:
        own = self.white if self.mover == WHITE else self.black
        return self._step(code & own, code & ~own)

    def playout(self, random: Random) -> tuple[float, ...]:
        # Nothing is listed: two neighbours drawn at random are a move if they differ in colour,
        # and every move is as likely as any other. Neighbours that lost a stone are sifted out
        # now and then, so that drawing doesn't miss too often.
        own, other = (self.white, self.black) if self.mover == WHITE else (self.black, self.white)
        draw = random.random
        board, pairs = self.variant.board, self.variant.pairs
        while True:
            if gone := board ^ (own | other):
                pairs = [pair for pair in pairs if not pair & gone]
            for pair in pairs:
                if own & pair and other & pair:
                    break
            else:
                # Every ply took a stone, so their number says whose turn it is.
                return (0.0, 1.0) if gone.bit_count() % 2 == WHITE else (1.0, 0.0)
            count = len(pairs)
            for _ in repeat(None, count):
                pair = pairs[floor(draw() * count)]
                if own & pair and (taken := other & pair):
                    own, other = other ^ taken, own ^ pair


new_state = maker(ClobberState)


GAME = Game(
    name="clobber",
    title="Clobber",
    options=SIZE,
    build=Clobber,
    offers=OFFERS,
    rules=page_beside(__file__),
    version="1",
    is_first=True,
)
