"""Mijnlieff (Andy Hopwood, 2010): each piece says where the other seat plays next.

Rules: rules.md beside this file. A position is the pieces of both seats as codes (see
mijnlieff.board), the piece that binds the next move, and whose turn it is. It also keeps which
squares are free and which of them are open to the mover. A pass leaves no trace but a free
choice: a seat that no square is open to never comes to move. A move's code is that of its piece.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.board import bits_of, read_fields, read_seat
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
from engine.games.mijnlieff.board import KINDS, TILES, TYPES, Board
from engine.options import board_size, choice
from engine.scene import Body, Held, Look, Paint, Piece, PieceRow, Scene, Shade, Sign, Square
from engine.speed import maker
from engine.translation import N_, gettext, translated

if TYPE_CHECKING:
    from engine.truth import Truth

WHITE, BLACK = 0, 1
FREE_CHOICE = -1
"""Stands for no binding piece: the mover may play on any free square."""
PROSPECT_POINTS, SURE_LEAD = 0.1, 10
"""What the outlook makes of a piece in a three that may still come, and of the lead in points that
is as good as a win. Both were tried out, as a guess for alpha-beta."""
DRAWN = (Sign.PLUS, Sign.CROSS, Sign.SMALL_RING, Sign.RING)
ORDERS = (
    N_("in line with %(square)s"),
    N_("diagonally from %(square)s"),
    N_("next to %(square)s"),
    N_("away from %(square)s"),
)
"""Where each type of piece sends the other seat."""
PROMPTS = (N_("Choose where you put a piece."), N_("Choose which piece you put there."))

CHOSEN = (N_("straight +"), N_("diagonal x"), N_("pull ><"), N_("push <>"))
"""The types of pieces as they are clicked: in words, and as moves have them."""
PIECES = {
    Paint.WHITE: (
        N_("white straight piece"),
        N_("white diagonal piece"),
        N_("white pull piece"),
        N_("white push piece"),
    ),
    Paint.BLACK: (
        N_("black straight piece"),
        N_("black diagonal piece"),
        N_("black pull piece"),
        N_("black push piece"),
    ),
}
HOLDING = (N_("White holds %(pieces)s"), N_("Black holds %(pieces)s"))


class Mijnlieff(Variant):
    """Mijnlieff on one board, with the first piece anywhere or only on the rim."""

    game = "mijnlieff"
    seats = 2
    seat_names = (N_("White"), N_("Black"))

    def __init__(self, options: Mapping[str, str]) -> None:
        super().__init__(options)
        self.board = board = Board(options["size"], options["shape"])
        self.first = board.rim if options["first"] == "edge" else board.outline
        self.max_plies = 2 * len(TYPES) * board.hand
        self.opening_plies = 2 if board.size <= 16 else 4

    def initial(self, seed: int = 0) -> MijnlieffState:
        return new_state(self, 0, 0, FREE_CHOICE, WHITE, self.board.outline, self.first)

    def read(self, text: str) -> MijnlieffState:
        board = self.board
        ranks, seat, binding, hands = read_fields(
            text, N_("ranks"), N_("seat to move"), N_("binding piece or -"), N_("pieces in hand")
        )
        white, black = sides = board.read(ranks)
        for name, pieces in zip(self.seat_names, sides, strict=True):
            for kind, held in zip(KINDS, board.held(pieces), strict=True):
                if held < 0:
                    raise PositionError(
                        gettext(
                            "%(seat)s has %(pieces)s %(kind)s pieces on the board, more than "
                            "the %(most)s there are",
                            seat=translated(name),
                            pieces=board.hand - held,
                            kind=translated(kind),
                            most=board.hand,
                        )
                    )
        by_board = "/".join("".join(map(str, board.held(pieces))) for pieces in sides)
        if hands != by_board:
            raise PositionError(
                gettext(
                    "the pieces in hand are %(hands)r; by the board %(by_board)s",
                    hands=hands[:20],
                    by_board=by_board,
                )
            )
        mover = read_seat(seat)
        if not white and (black or mover == BLACK):
            raise PositionError(
                gettext("White has no piece on the board, yet White begins the game")
            )
        if binding == "-" and not white:
            return self.initial()
        own, other = sides[mover], sides[1 - mover]
        free = board.outline ^ board.flat(white | black)
        if binding == "-":
            self._check_pass(own, other, free)
            return new_state(self, white, black, FREE_CHOICE, mover, free, free)
        bound = board.signed.index(binding) if binding in board.signed else None
        if bound is None or not other >> bound & 1:
            raise PositionError(
                gettext(
                    "the binding piece is %(binding)r; it is '-' or a piece of the seat that is "
                    "not to move, such as d3+",
                    binding=binding[:20],
                )
            )
        reach = board.reach[bound] & free
        if not (reach or board.is_done(own) or board.is_done(other)):
            raise PositionError(
                gettext(
                    "seat %(seat)s passes, as %(binding)s leaves it no square; with seat %(other)s "
                    "to move and '-' it is a position",
                    seat=mover + 1,
                    binding=binding,
                    other=2 - mover,
                )
            )
        open_squares = 0 if board.is_done(own) else reach
        return new_state(self, white, black, bound, mover, free, open_squares)

    def all_moves(self) -> Sequence[Move]:
        return [word for word in self.board.words if word]

    def all_looks(self) -> Sequence[Look]:
        return [(Body.TILE, paint, sign) for paint in (Paint.WHITE, Paint.BLACK) for sign in DRAWN]

    def _check_pass(self, own: int, other: int, free: int) -> None:
        """Refuses a free choice where the other seat cannot just have passed."""
        if (
            self.board.is_done(own)
            or self.board.is_done(other)
            or all(self.board.reach[code] & free for code in bits_of(own))
        ):
            raise PositionError(
                gettext(
                    "no pass led here, and the choice is free ('-') only after one and on the "
                    "empty board; otherwise a piece binds the move, such as d3+"
                )
            )

    def truth(self) -> Truth:
        from engine.games.mijnlieff.truth import MijnlieffTruth

        return MijnlieffTruth(self)


@dataclass(frozen=True, slots=True)
class MijnlieffState(State):
    """The pieces on the board, the piece that binds the next move, and whose turn it is."""

    variant: Mijnlieff = field(repr=False)
    white: int
    black: int
    bound: int
    """The code of the piece that binds the mover, or FREE_CHOICE."""
    mover: Seat
    free: int
    open: int
    """The free squares on which the mover may play; none when the game is over."""

    @property
    def to_move(self) -> Seat | None:
        return self.mover if self.open else None

    def ending(self) -> Termination | None:
        return None if self.open else Termination.NORMAL

    def legal_moves(self) -> Sequence[Move]:
        words: list[Move] = []
        self.variant.board.table.extend(words, sum(self.open << base for base in self._bases()))
        words.sort()
        return words

    def _bases(self) -> list[int]:
        """The first code of each type of piece that the mover holds."""
        board = self.variant.board
        own = self.white if self.mover == WHITE else self.black
        return [
            kind * board.squares
            for kind, layer in enumerate(board.layers)
            if (own & layer).bit_count() < board.hand
        ]

    def is_legal(self, move: str) -> bool:
        return self._find(move) is not None

    def canonical(self, move: str) -> Move:
        return self.variant.board.words[self.judge(move)]

    def play(self, move: Move) -> MijnlieffState:
        return self.play_code(self.judge(move))

    def _find(self, move: str) -> int | None:
        """The code of a move, if it is legal."""
        board = self.variant.board
        code = board.code_of.get(move)
        if code is None:
            return None
        square, layer = board.parts[code]
        own = self.white if self.mover == WHITE else self.black
        if self.open & square and (own & layer).bit_count() < board.hand:
            return code
        return None

    def judge(self, move: str) -> int:
        code = self._find(move)
        if code is None:
            reason = (
                gettext(
                    "%(turn)s, with a piece in hand, as in b2+, b2x, b2>< or b2<>",
                    turn=", ".join(self._turn()),
                )
                if self.open
                else gettext("the game is over")
            )
            raise IllegalMoveError(move, reason)
        return code

    def clicks(self, move: Move) -> tuple[str, ...]:
        """The square, and the type of the piece."""
        board = self.variant.board
        kind, bit = divmod(board.code_of[move], board.squares)
        return (board.names[bit], CHOSEN[kind])

    def prompt(self, clicked: Sequence[str]) -> str:
        return translated(PROMPTS[len(clicked)])

    def hand(self, seat: Seat) -> Sequence[Held]:
        paint, side = (Paint.BLACK, self.black) if seat else (Paint.WHITE, self.white)
        return [
            Held(CHOSEN[kind], left, Body.TILE, paint, DRAWN[kind])
            for kind, left in enumerate(self.variant.board.held(side))
        ]

    def scores(self) -> tuple[float, ...]:
        return tuple(float(points) for points in self._points())

    points_so_far = scores

    def forfeit_scores(self, seat: Seat) -> tuple[float, ...]:
        return self.scores()

    def _points(self) -> tuple[int, int]:
        board = self.variant.board
        return board.points(self.white), board.points(self.black)

    def outlook(self) -> tuple[float, ...]:
        board = self.variant.board
        white, black = self._points()
        hoped_for = board.prospects(self.white, self.black) - board.prospects(
            self.black, self.white
        )
        lead = white - black + PROSPECT_POINTS * hoped_for
        hope = min(1.0, max(0.0, 0.5 + lead / SURE_LEAD / 2))
        return hope, 1 - hope

    def text(self) -> str:
        board = self.variant.board
        sides = self.white, self.black
        binding = "-" if self.bound == FREE_CHOICE else board.signed[self.bound]
        hands = "/".join("".join(map(str, board.held(pieces))) for pieces in sides)
        return f"{board.write(*sides)} {self.mover + 1} {binding} {hands}"

    def scene(self) -> Scene:
        board = self.variant.board
        sides = ((WHITE, Paint.WHITE, self.white), (BLACK, Paint.BLACK, self.black))
        pieces = []
        hands = []
        for seat, paint, side in sides:
            for code in bits_of(side):
                kind, bit = divmod(code, board.squares)
                words = translated(PIECES[paint][kind])
                pieces.append(Piece((board.names[bit],), Body.TILE, paint, words, DRAWN[kind]))
            held = zip(board.held(side), TYPES, strict=True)
            counts = ", ".join(f"{count} {sign}" for count, sign in held)
            hands.append(gettext(HOLDING[seat], pieces=counts))
        turn, where = self._turn()
        options = self.variant.options
        outline = options["size"] if options["shape"] == "square" else options["shape"]
        return Scene(
            title=f"Mijnlieff {outline}: {turn}, {where}",
            squares=tuple(self._square(bit) for bit in bits_of(board.outline)),
            pieces=tuple(pieces),
            captions=(turn, where, *hands),
            rows=tuple(
                PieceRow(board.names[start], board.names[end], paint, str(points))
                for _, paint, side in sides
                for start, end, points in board.lines(side)
            ),
        )

    def _square(self, bit: int) -> Square:
        """A square of the picture, marked where the mover has to play unless it is anywhere."""
        board = self.variant.board
        is_order = self.open != self.free and self.open >> bit & 1
        shade = Shade.SPECIAL if is_order else Shade.PLAIN
        return Square(board.names[bit], bit % board.width, bit // board.width, shade)

    def _turn(self) -> tuple[str, str]:
        """Whose turn it is and where it plays; in the end, who won and the points."""
        names = self.variant.seat_names
        if not self.open:
            white, black = self._points()
            if white == black:
                return gettext("A draw"), _to(white, black)
            winner = translated(names[WHITE if white > black else BLACK])
            return gettext("%(seat)s wins", seat=winner), _to(*sorted((white, black))[::-1])
        turn = gettext("%(seat)s to move", seat=translated(names[self.mover]))
        if self.bound == FREE_CHOICE:
            return turn, gettext("anywhere") if self.open == self.free else gettext("on the rim")
        kind, bit = divmod(self.bound, self.variant.board.squares)
        return turn, gettext(ORDERS[kind], square=self.variant.board.names[bit])

    def codes(self) -> Sequence[int]:
        bits = bits_of(self.open)
        return [base + bit for base in self._bases() for bit in bits]

    def word(self, code: int) -> Move:
        return self.variant.board.words[code]

    def play_code(self, code: int) -> MijnlieffState:
        board = self.variant.board
        free = self.free ^ board.parts[code][0]
        reach = board.reach[code] & free
        if self.mover == WHITE:
            white, black = own, other = self.white | 1 << code, self.black
        else:
            white, black = other, own = self.white, self.black | 1 << code
        other_done = board.is_done(other)
        if not (reach or other_done or board.is_done(own)):
            # The other seat passes.
            return new_state(self.variant, white, black, FREE_CHOICE, self.mover, free, free)
        open_squares = 0 if other_done else reach
        return new_state(self.variant, white, black, code, 1 - self.mover, free, open_squares)


new_state = maker(MijnlieffState)


def _to(more: int, less: int) -> str:
    return gettext("%(more)s to %(less)s", more=more, less=less)


def _check(options: Mapping[str, str]) -> str | None:
    if options["shape"] != "square" and options["size"] != "4x4":
        return gettext(
            "shape=%(shape)s is made of four 2x2 tiles and goes with size=4x4 only",
            shape=options["shape"],
        )
    return None


GAME = Game(
    name="mijnlieff",
    title="Mijnlieff",
    options={
        "size": board_size("4x4", 4, 8),
        "shape": choice("square", *TILES),
        "first": choice("any", "edge"),
    },
    build=Mijnlieff,
    offers=({}, {"size": "5x5"}, {"size": "6x6"}, {"size": "8x8"}, {"size": "6x4"}),
    check=_check,
    rules=page_beside(__file__),
    version="1",
)
