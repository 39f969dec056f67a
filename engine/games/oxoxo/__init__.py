"""Oxoxo, also Form and Colour (Francesco Rotta, 1999): four alike in a line, by sign or by shade.

Rules: rules.md beside this file. A position is three masks of squares (see engine.board): Form's
pieces, Colour's pieces, and those of both that show X. A piece is dark if it is Form's and
shows X, or Colour's and shows O: so the dark pieces are the X signs, but the other way round
on Colour's pieces, which is one exclusive or.

The moves of a position are a mask too: 16 bits for the pieces that may be turned over, 16 for
the free squares that take an O, 16 for those that take an X. A move's code is its bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING

from engine.board import (
    WordTable,
    bits_of,
    grid,
    mask_of,
    read_fields,
    read_ranks,
    read_seat,
    square_names,
    write_ranks,
)
from engine.game import (
    Game,
    IllegalMoveError,
    Move,
    PositionError,
    Seat,
    State,
    Termination,
    Variant,
    page_beside,
)
from engine.plurals import counted
from engine.scene import Body, Held, Look, Paint, Piece, PieceRow, Scene, Sign
from engine.speed import judged_once, maker
from engine.translation import N_, gettext, translated

FORM, COLOUR = 0, 1
BODIES = (Body.TILE, Body.DISC)
"""The form of either's pieces."""
SIDE = 4
SQUARES = SIDE * SIDE
BOARD = (1 << SQUARES) - 1
NAMES = square_names(SIDE, SIDE)
HAND = 8
"""How many pieces a seat begins with."""
MAX_PLIES = 200
OCCURRENCES = 3
"""How often a position occurs before the game is a draw."""

LINES = (
    *(sum(1 << SIDE * rank + file for file in range(SIDE)) for rank in range(SIDE)),
    *(sum(1 << SIDE * rank + file for rank in range(SIDE)) for file in range(SIDE)),
    sum(1 << SIDE * rank + rank for rank in range(SIDE)),
    sum(1 << SIDE * rank + SIDE - 1 - rank for rank in range(SIDE)),
)

if TYPE_CHECKING:
    from engine.truth import Truth
LINES_OF = tuple(tuple(line for line in LINES if line >> bit & 1) for bit in range(SQUARES))

UP = {"O": N_("O up"), "X": N_("X up")}
"""Which side of a piece is up, as it is clicked."""
KINDS = {
    (True, True, "O"): N_("dark O of Form"),
    (True, True, "X"): N_("dark X of Form"),
    (True, False, "O"): N_("light O of Form"),
    (True, False, "X"): N_("light X of Form"),
    (False, True, "O"): N_("dark O of Colour"),
    (False, True, "X"): N_("dark X of Colour"),
    (False, False, "O"): N_("light O of Colour"),
    (False, False, "X"): N_("light X of Colour"),
}
"""What a piece is called: by whether it is Form's, whether it is dark, and its sign."""

FLIP, PUT_O, PUT_X = 0, 1, 2
ACTS = "FOX"
WORDS = tuple(act + name for act in ACTS for name in NAMES)
CODE_OF = {word: code for code, word in enumerate(WORDS)}
STEPS = tuple((act, 1 << bit, LINES_OF[bit]) for act in range(3) for bit in range(SQUARES))
"""What each code does, the square, and the lines through it."""
MOVES = WordTable(WORDS)


def goals(pieces: int, crosses: int, colours: int) -> tuple[bool, bool]:
    """Whether four of a sign stand in a line (Form's goal), and four of a shade (Colour's)."""
    by_sign, by_shade = lines_made(pieces, crosses, colours)
    return bool(by_sign), bool(by_shade)


def lines_made(pieces: int, crosses: int, colours: int) -> tuple[list[int], list[int]]:
    """The lines of four of a sign, and those of four of a shade."""
    full = [line for line in LINES if line & pieces == line]
    dark = crosses ^ colours
    return (
        [line for line in full if crosses & line in (0, line)],
        [line for line in full if dark & line in (0, line)],
    )


class Oxoxo(Variant):
    """Oxoxo, which has no options."""

    game = "oxoxo"
    seats = 2
    seat_names = (N_("Form"), N_("Colour"))
    max_plies = MAX_PLIES
    opening_plies = 2

    def initial(self, seed: int = 0) -> OxoxoState:
        return new_state(self, 0, 0, 0, 0)

    def read(self, text: str) -> OxoxoState:
        board, seat, plies_text = read_fields(
            text, N_("ranks"), N_("seat to move"), N_("plies played")
        )
        cells = read_ranks(board, SIDE, SIDE, "OXox")
        mover = read_seat(seat)
        plies = read_plies(plies_text)
        if plies % 2 != mover:
            raise PositionError(
                gettext(
                    "after %(plies)s it is not seat %(seat)s's turn",
                    plies=counted(plies, "ply", "plies"),
                    seat=mover + 1,
                )
            )
        form, colour, crosses = (mask_of(cells, letters) for letters in ("OX", "ox", "Xx"))
        turns_taken = (plies + 1) // 2, plies // 2
        for name, pieces, turns in zip(self.seat_names, (form, colour), turns_taken, strict=True):
            count = pieces.bit_count()
            if count > min(HAND, turns):
                raise PositionError(
                    gettext(
                        "%(seat)s has %(pieces)s on the board; after %(plies)s it has put down "
                        "%(most)s at most",
                        seat=translated(name),
                        pieces=counted(count, "piece"),
                        plies=counted(plies, "ply", "plies"),
                        most=min(HAND, turns),
                    )
                )
            if turns and not count:
                raise PositionError(
                    gettext(
                        "%(seat)s has no piece on the board, yet its first turn must put one down",
                        seat=translated(name),
                    )
                )
        ended = None
        if any(goals(form | colour, crosses, colour)):
            ended = Termination.NORMAL
        elif plies == MAX_PLIES:
            ended = Termination.PLY_LIMIT
        return new_state(self, form, colour, crosses, plies, ended)

    def all_moves(self) -> Sequence[Move]:
        return WORDS

    def all_looks(self) -> Sequence[Look]:
        bodies, paints, signs = BODIES, (Paint.WHITE, Paint.BLACK), (Sign.RING, Sign.CROSS)
        return list(product(bodies, paints, signs))

    def truth(self) -> Truth:
        from engine.games.oxoxo.truth import OxoxoTruth

        return OxoxoTruth(self)


def read_plies(text: str) -> int:
    """The number of plies played.

    Raises:
        PositionError: it is no number from 0 to the limit.
    """
    if text not in map(str, range(MAX_PLIES + 1)):
        raise PositionError(
            gettext(
                "the plies played are %(text)r, not a number from 0 to %(most)s",
                text=text[:20],
                most=MAX_PLIES,
            )
        )
    return int(text)


@dataclass(frozen=True, slots=True)
class OxoxoState(State):
    """The pieces on the board, the face each shows, and how many plies were played."""

    variant: Oxoxo = field(repr=False)
    form: int
    colour: int
    crosses: int
    plies: int
    ended: Termination | None = field(default=None, compare=False)
    past: tuple[int, ...] = field(default=(), compare=False)
    """The X signs of the earlier positions that could occur again: those since a piece was
    last put down. Each turn since has changed one sign, so two positions with the same signs
    have the same seat to move."""

    @property
    def mover(self) -> Seat:
        """The seat whose turn it is, or would be."""
        return self.plies % 2

    @property
    def to_move(self) -> Seat | None:
        return self.plies % 2 if self.ended is None else None

    def ending(self) -> Termination | None:
        return self.ended

    def _moves(self) -> int:
        """The legal moves, a bit for each code."""
        if self.ended:
            return 0
        own = self.colour if self.plies % 2 else self.form
        if own.bit_count() == HAND:
            return own
        free = BOARD ^ self.form ^ self.colour
        return own | free << SQUARES | free << 2 * SQUARES

    def legal_moves(self) -> Sequence[Move]:
        words: list[Move] = []
        MOVES.extend(words, self._moves())
        words.sort()
        return words

    @judged_once
    def play(self, move: Move) -> OxoxoState:
        code = CODE_OF.get(move)
        if code is None or not self._moves() >> code & 1:
            raise self._refusal(move)
        return self.play_code(code)

    judge = play

    def clicks(self, move: Move) -> tuple[str, ...]:
        """A piece to be turned over; or a free square, and which side of the piece is up."""
        act, square = move[0], move[1:]
        return (square,) if ACTS.index(act) == FLIP else (square, UP[act])

    def prompt(self, clicked: Sequence[str]) -> str:
        if clicked:
            return gettext("Choose which side of the piece is up.")
        if self._held(self.mover):
            return gettext("Choose a free square for a piece, or a piece of yours to turn over.")
        return gettext("Choose a piece of yours to turn over: you hold none any more.")

    def _held(self, seat: Seat) -> int:
        """How many pieces a seat holds."""
        return HAND - (self.colour if seat else self.form).bit_count()

    def hand(self, seat: Seat) -> Sequence[Held]:
        """The pieces, with either side up."""
        left, body = self._held(seat), BODIES[seat]
        paints = (Paint.BLACK, Paint.WHITE) if seat == COLOUR else (Paint.WHITE, Paint.BLACK)
        return [
            Held(UP["O"], left, body, paints[0], Sign.RING),
            Held(UP["X"], left, body, paints[1], Sign.CROSS, is_again=True),
        ]

    def _refusal(self, move: str) -> IllegalMoveError:
        if self.ended:
            return IllegalMoveError(move, gettext("the game is over"))
        return IllegalMoveError(
            move,
            gettext(
                "a move puts a piece you hold on a free square (Oa1 or Xa1), or turns over one "
                "of your own (Fa1)"
            ),
        )

    def scores(self) -> tuple[float, ...]:
        form_goal, colour_goal = goals(self.form | self.colour, self.crosses, self.colour)
        if form_goal and colour_goal:
            # Whoever makes both goals at once loses.
            form_goal, colour_goal = self.mover == FORM, self.mover == COLOUR
        if form_goal or colour_goal:
            return (float(form_goal), float(colour_goal))
        return (0.5, 0.5)

    def text(self) -> str:
        cells = ["."] * SQUARES
        for bit in bits_of(self.form | self.colour):
            sign = "X" if self.crosses >> bit & 1 else "O"
            cells[bit] = sign if self.form >> bit & 1 else sign.lower()
        return f"{write_ranks(cells, SIDE)} {self.mover + 1} {self.plies}"

    def scene(self) -> Scene:
        dark = self.crosses ^ self.colour
        pieces = []
        for bit in bits_of(self.form | self.colour):
            is_form, is_dark = bool(self.form >> bit & 1), bool(dark >> bit & 1)
            letter, sign = ("X", Sign.CROSS) if self.crosses >> bit & 1 else ("O", Sign.RING)
            pieces.append(
                Piece(
                    (NAMES[bit],),
                    BODIES[FORM if is_form else COLOUR],
                    Paint.BLACK if is_dark else Paint.WHITE,
                    translated(KINDS[is_form, is_dark, letter]),
                    sign,
                )
            )
        turn = self._turn()
        return Scene(
            title=f"Oxoxo: {turn}",
            squares=grid(SIDE, SIDE, chequered=False),
            pieces=tuple(pieces),
            captions=(
                turn,
                gettext("Form holds %(pieces)s", pieces=self._held(FORM)),
                gettext("Colour holds %(pieces)s", pieces=self._held(COLOUR)),
            ),
            rows=self._rows(),
        )

    def _rows(self) -> tuple[PieceRow, ...]:
        """The lines of four that ended the game, each once."""
        made = lines_made(self.form | self.colour, self.crosses, self.colour)
        ends = (bits_of(line) for line in dict.fromkeys((*made[FORM], *made[COLOUR])))
        return tuple(PieceRow(NAMES[bits[0]], NAMES[bits[-1]]) for bits in ends)

    def _turn(self) -> str:
        """Who is to move, or how the game ended."""
        names = self.variant.seat_names
        if self.ended is None:
            return gettext("%(seat)s to move", seat=translated(names[self.mover]))
        if self.ended is Termination.REPETITION:
            return gettext("A draw by repetition")
        scores = self.scores()
        if scores[FORM] == scores[COLOUR]:
            return gettext("A draw after %(plies)s plies", plies=self.plies)
        return gettext("%(seat)s wins", seat=translated(names[scores.index(1.0)]))

    def codes(self) -> Sequence[int]:
        return bits_of(self._moves())

    def word(self, code: int) -> Move:
        return WORDS[code]

    def play_code(self, code: int) -> OxoxoState:
        act, square, lines = STEPS[code]
        form, colour, crosses, plies = self.form, self.colour, self.crosses, self.plies + 1
        ended = None
        if act == FLIP:
            past = (*self.past, crosses)
            crosses ^= square
            if past.count(crosses) == OCCURRENCES - 1:
                ended = Termination.REPETITION
        else:
            past = ()
            if self.plies % 2 == FORM:
                form |= square
            else:
                colour |= square
            if act == PUT_X:
                crosses |= square
        # No goal stood before, so one can only stand in a line of the square that changed.
        pieces = form | colour
        for line in lines:
            if pieces & line == line and (
                crosses & line in (0, line) or (crosses ^ colour) & line in (0, line)
            ):
                ended = Termination.NORMAL
        if ended is None and plies == MAX_PLIES:
            ended = Termination.PLY_LIMIT
        return new_state(self.variant, form, colour, crosses, plies, ended, past)


new_state = maker(OxoxoState)


GAME = Game(
    name="oxoxo",
    title="Oxoxo",
    options={},
    build=Oxoxo,
    offers=({},),
    rules=page_beside(__file__),
    version="1",
)
