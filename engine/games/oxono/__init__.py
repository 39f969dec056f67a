"""Oxono (Jérémy Partinico, 2024): slide a totem, then put a piece of its symbol beside it.

Rules: rules.md beside this file. Pieces and totems are masks of squares (see engine.board). Every
move there can be is a `Step` made once. Almost every legal one is a slide with the piece put
beside the totem; what has to be free for that is one mask, and looked up. A totem that is shut
in is rare, and its jumps are walked out square by square. A move's code is its place in STEPS.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING

from engine.board import (
    bits_of,
    grid,
    mask_of,
    read_fields,
    read_ranks,
    read_seat,
    square_bits,
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
    squares_in,
)
from engine.games.oxono.board import (
    BOARD,
    FILES,
    LINES,
    NAMES,
    NEAR,
    PATHS,
    RANKS,
    ROWS,
    SIDE,
    SQUARES,
    completing,
    has_row,
    landings,
    prospects,
    rows_in,
)
from engine.options import choice
from engine.plurals import counted
from engine.scene import Body, Held, Look, Paint, Piece, PieceRow, Scene, Sign
from engine.speed import judged_once, maker
from engine.translation import N_, gettext, translated

if TYPE_CHECKING:
    from engine.truth import Truth

WHITE, BLACK = 0, 1
SYMBOLS = "XO"
CROSS, RING = 0, 1
HAND = 8
"""How many pieces of each symbol a seat begins with."""
SURE_LEAD = 40
"""The lead in prospects that the outlook takes for as good as a win."""


@dataclass(frozen=True, slots=True)
class Step:
    """A move: which totem goes where, and where the piece is put."""

    word: Move
    symbol: int
    to: int
    put: int
    to_be_free: Mapping[int, int]
    """What a slide to there needs free, by the square that the totem leaves; none if it has to
    jump."""
    rank: int
    file: int
    """The lines of the piece."""


def _steps() -> Iterator[Step]:
    for to, put in product(range(SQUARES), repeat=2):
        beside = NEAR[1 << to] >> put & 1
        # A totem may slide away from the very square that the piece is put on.
        to_be_free = (
            {totem: path | 1 << put for totem, path in PATHS[1 << to].items()} if beside else {}
        )
        for symbol in (CROSS, RING):
            yield Step(
                SYMBOLS[symbol] + NAMES[to] + NAMES[put],
                symbol,
                1 << to,
                1 << put,
                to_be_free,
                RANKS[put // SIDE],
                FILES[put % SIDE],
            )


KINDS = {
    "X": (Body.TILE, Paint.WHITE, N_("white X piece"), Sign.CROSS),
    "O": (Body.TILE, Paint.WHITE, N_("white O piece"), Sign.RING),
    "x": (Body.TILE, Paint.BLACK, N_("black X piece"), Sign.CROSS),
    "o": (Body.TILE, Paint.BLACK, N_("black O piece"), Sign.RING),
    "*": (Body.DISC, Paint.NEUTRAL, N_("X totem"), Sign.CROSS),
    "@": (Body.DISC, Paint.NEUTRAL, N_("O totem"), Sign.RING),
}
"""How pieces and totems look, by their letters in a position text."""

STEPS = tuple(_steps())
STEP_OF = {step.word: step for step in STEPS if step.to != step.put}


@lru_cache(maxsize=1 << 12)
def _codes(symbol: int, to: int, puts: int) -> tuple[int, ...]:
    """The codes of the moves of a totem to one square, with the piece on any of ``puts``."""
    base = (to.bit_length() - 1) * SQUARES
    return tuple((base + put) * 2 + symbol for put in bits_of(puts))


class Oxono(Variant):
    """Oxono with the X totem on c4, on d3, or on either by lot."""

    game = "oxono"
    seats = 2
    seat_names = (N_("White"), N_("Black"))
    max_plies = 4 * HAND
    opening_plies = 2

    def drawn(self, seed: int) -> Oxono:
        if self.options["totems"] == "random":
            return Oxono({"totems": "xd3" if seed % 2 else "xc4"})
        return self

    def initial(self, seed: int = 0) -> OxonoState:
        variant = self.drawn(seed)
        c4, d3 = (1 << square_bits(SIDE, SIDE)[name] for name in ("c4", "d3"))
        totems = (c4, d3) if variant.options["totems"] == "xc4" else (d3, c4)
        return new_state(variant, (0, 0), (0, 0), totems, WHITE, False)

    def read(self, text: str) -> OxonoState:
        board, seat = read_fields(text, N_("ranks"), N_("seat to move"))
        cells = read_ranks(board, SIDE, SIDE, "XOxo*@")
        mover = read_seat(seat)
        for sign, symbol in zip("*@", SYMBOLS, strict=True):
            if cells.count(sign) != 1:
                raise PositionError(
                    gettext(
                        "the %(symbol)s totem (%(sign)s) stands on %(squares)s squares, not on 1",
                        symbol=symbol,
                        sign=sign,
                        squares=cells.count(sign),
                    )
                )
        for piece in "XOxo":
            if cells.count(piece) > HAND:
                raise PositionError(
                    gettext(
                        "there are %(pieces)s pieces %(letter)s, not %(most)s",
                        pieces=cells.count(piece),
                        letter=piece,
                        most=HAND,
                    )
                )
        colours = white, black = mask_of(cells, "XO"), mask_of(cells, "xo")
        symbols = mask_of(cells, "Xx"), mask_of(cells, "Oo")
        totems = mask_of(cells, "*"), mask_of(cells, "@")
        if white.bit_count() - black.bit_count() != mover:
            raise PositionError(
                gettext(
                    "White has %(white)s on the board and Black %(black)s, so it is not "
                    "seat %(seat)s's turn",
                    white=counted(white.bit_count(), "piece"),
                    black=black.bit_count(),
                    seat=mover + 1,
                )
            )
        if has_row(colours[mover]):
            raise PositionError(
                gettext(
                    "seat %(seat)s has a row of four, so the game ended and it is not seat "
                    "%(seat)s's turn",
                    seat=mover + 1,
                )
            )
        won = any(map(has_row, colours + symbols))
        return new_state(self, colours, symbols, totems, mover, won)

    def all_moves(self) -> Sequence[Move]:
        return tuple(STEP_OF)

    def all_looks(self) -> Sequence[Look]:
        return [(body, paint, sign) for body, paint, _, sign in KINDS.values()]

    def truth(self) -> Truth:
        from engine.games.oxono.truth import OxonoTruth

        return OxonoTruth(self)


@dataclass(frozen=True, slots=True)
class OxonoState(State):
    """Pieces and totems on the board, and the seat whose turn it is.

    Which totem began where makes no difference later, so the variant is no part of equality.
    """

    variant: Oxono = field(repr=False, compare=False)
    colours: tuple[int, int]
    """White's pieces and Black's."""
    symbols: tuple[int, int]
    """The pieces that show X and those that show O."""
    totems: tuple[int, int]
    """The square of the X totem and that of the O totem."""
    mover: Seat
    won: bool
    """Whether the seat that is not to move has completed a row."""

    @property
    def to_move(self) -> Seat | None:
        return self.mover if self.ending() is None else None

    def ending(self) -> Termination | None:
        # White never has more pieces on the board than Black when it is White's turn.
        all_placed = self.mover == WHITE and self.colours[WHITE].bit_count() == 2 * HAND
        return Termination.NORMAL if self.won or all_placed else None

    def legal_moves(self) -> Sequence[Move]:
        return sorted([STEPS[code].word for code in self.codes()])

    @judged_once
    def play(self, move: Move) -> OxonoState:
        step = STEP_OF.get(move)
        if step is None or not self._allows(step):
            reason = (
                gettext("the game is over")
                if self.ending()
                else gettext(
                    "a move is a totem you hold pieces of, a square it can reach, and a free "
                    "square beside that for the piece, such as Xd5c5"
                )
            )
            raise IllegalMoveError(move, reason)
        return self._after(step)

    judge = play

    def clicks(self, move: Move) -> tuple[str, ...]:
        """The totem, its new square, and the square of the piece."""
        totem = self.totems[SYMBOLS.index(move[0])]
        return (NAMES[totem.bit_length() - 1], *squares_in(move))

    def prompt(self, clicked: Sequence[str]) -> str:
        if not clicked:
            return gettext("Choose the totem that you move.")
        symbol = self.totems.index(1 << NAMES.index(clicked[0]))
        sign = SYMBOLS[symbol]
        if len(clicked) == 1:
            return gettext("Choose where the %(sign)s totem goes.", sign=sign)
        others = self.colours[0] | self.colours[1] | self.totems[1 - symbol]
        if NEAR[1 << NAMES.index(clicked[1])] & ~others:
            return gettext("Place your %(sign)s beside the totem.", sign=sign)
        return gettext(
            "Place your %(sign)s on any free square: none beside the totem is free.", sign=sign
        )

    def hand(self, seat: Seat) -> Sequence[Held]:
        groups = self._groups()
        return [
            Held(words, HAND - groups[letter].bit_count(), body, paint, sign)
            for letter in ("xo" if seat else "XO")
            for body, paint, words, sign in (KINDS[letter],)
        ]

    def _allows(self, step: Step) -> bool:
        """Whether a step is legal."""
        symbol = step.symbol
        if self.won or (self.colours[self.mover] & self.symbols[symbol]).bit_count() == HAND:
            return False
        totem = self.totems[symbol]
        others = self.colours[0] | self.colours[1] | self.totems[1 - symbol]
        return not step.to_be_free.get(totem, BOARD) & others or _jumps(step, totem, others)

    def _after(self, step: Step) -> OxonoState:
        white, black = self.colours
        crosses, rings = self.symbols
        if self.mover == WHITE:
            own = white = white | step.put
        else:
            own = black = black | step.put
        if step.symbol == CROSS:
            alike = crosses = crosses | step.put
            totems = (step.to, self.totems[RING])
        else:
            alike = rings = rings | step.put
            totems = (self.totems[CROSS], step.to)
        rank, file = step.rank, step.file
        won = (
            own & rank in ROWS or own & file in ROWS or alike & rank in ROWS or alike & file in ROWS
        )
        return new_state(
            self.variant, (white, black), (crosses, rings), totems, 1 - self.mover, won
        )

    def scores(self) -> tuple[float, ...]:
        if not self.won:
            return (0.5, 0.5)
        return (0.0, 1.0) if self.mover == WHITE else (1.0, 0.0)

    def outlook(self) -> tuple[float, ...]:
        own, other = self.colours[self.mover], self.colours[1 - self.mover]
        free = BOARD & ~(own | other)
        lead = prospects(own, other) - prospects(other, own)
        hope = min(0.9, max(0.1, 0.5 + lead / SURE_LEAD / 2))
        of_colour = completing(own, free)
        for symbol in (CROSS, RING):
            wins = of_colour | completing(self.symbols[symbol], free)
            if wins and (own & self.symbols[symbol]).bit_count() < HAND:
                others = own | other | self.totems[1 - symbol]
                if any(puts & wins for _, puts in landings(self.totems[symbol], others)):
                    hope = 1.0  # it wins at once
        return (hope, 1 - hope) if self.mover == WHITE else (1 - hope, hope)

    def text(self) -> str:
        cells = ["."] * SQUARES
        for letter, squares in self._groups().items():
            for bit in bits_of(squares):
                cells[bit] = letter
        return f"{write_ranks(cells, SIDE)} {self.mover + 1}"

    def _groups(self) -> dict[str, int]:
        """What stands where, by its letter in a position text."""
        (white, black), (crosses, rings), (x_totem, o_totem) = (
            self.colours,
            self.symbols,
            self.totems,
        )
        return {
            "X": white & crosses,
            "O": white & rings,
            "x": black & crosses,
            "o": black & rings,
            "*": x_totem,
            "@": o_totem,
        }

    def scene(self) -> Scene:
        groups = self._groups()
        pieces = tuple(
            Piece((NAMES[bit],), body, paint, words, sign)
            for letter, (body, paint, kind, sign) in KINDS.items()
            for words in (translated(kind),)
            for bit in bits_of(groups[letter])
        )
        held = {letter: HAND - groups[letter].bit_count() for letter in "XOxo"}
        names = self.variant.seat_names
        mover, other = translated(names[self.mover]), translated(names[1 - self.mover])
        if self.won:
            turn = gettext("%(seat)s wins: four in a row", seat=other)
        elif self.ending():
            turn = gettext("A draw: all are placed")
        else:
            turn = gettext("%(seat)s to move", seat=mover)
        return Scene(
            title=f"Oxono: {turn}",
            squares=grid(SIDE, SIDE, chequered=False),
            pieces=pieces,
            captions=(
                turn,
                gettext(
                    "White holds %(crosses)s X, %(rings)s O", crosses=held["X"], rings=held["O"]
                ),
                gettext(
                    "Black holds %(crosses)s X, %(rings)s O", crosses=held["x"], rings=held["o"]
                ),
            ),
            rows=tuple(self._rows()) if self.won else (),
        )

    def _rows(self) -> Iterator[PieceRow]:
        """The rows that won: of a colour or a symbol, each once."""
        ends = dict.fromkeys(end for some in self.colours + self.symbols for end in rows_in(some))
        return (PieceRow(NAMES[start], NAMES[end]) for start, end in ends)

    def codes(self) -> Sequence[int]:
        if self.won:
            return []
        codes: list[int] = []
        own, pieces = self.colours[self.mover], self.colours[0] | self.colours[1]
        for symbol in (CROSS, RING):
            if (own & self.symbols[symbol]).bit_count() < HAND:
                others = pieces | self.totems[1 - symbol]
                for to, puts in landings(self.totems[symbol], others):
                    codes += _codes(symbol, to, puts)
        return codes

    def word(self, code: int) -> Move:
        return STEPS[code].word

    def play_code(self, code: int) -> OxonoState:
        return self._after(STEPS[code])


new_state = maker(OxonoState)


def _jumps(step: Step, totem: int, others: int) -> bool:
    """Whether a step is one of the jumps of a totem that is hemmed in."""
    free = BOARD & ~others
    if NEAR[totem] & free:
        return False
    path = PATHS[step.to].get(totem)
    if path is None:
        lands = step.to & (free ^ totem) and not free & LINES[totem]
    else:
        lands = path & free == step.to
    return bool(lands and step.put & (NEAR[step.to] & free or free ^ step.to))


GAME = Game(
    name="oxono",
    title="Oxono",
    options={"totems": choice("random", "xc4", "xd3")},
    build=Oxono,
    offers=({},),
    rules=page_beside(__file__),
    version="1",
)
