"""What lies on the board and what each colour has left: the part that Blokus and puzzles share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from engine.board import FREE, bits_of, read_ranks, write_ranks
from engine.game import IllegalMoveError, Move, PositionError
from engine.games.blokus.board import Board, shape_of
from engine.games.blokus.polyominoes import (
    ALL,
    NAMES,
    NO_PIECE,
    cells_of,
    read_pieces,
    squares_in,
    write_pieces,
)
from engine.plurals import counted
from engine.scene import Body, Held, Paint, Piece, Rim, Scene
from engine.speed import maker
from engine.translation import N_, gettext, translated

COLOURS = (N_("blue"), N_("yellow"), N_("red"), N_("green"))
"""The colours as moves have them; for people they are looked up."""
COVER = N_("Choose the squares that it covers, from the first file on.")
LETTERS = "BYRG"
OVER = "-"
NO_SEATS = "-"
PAINTS = (Paint.BLUE, Paint.YELLOW, Paint.RED, Paint.GREEN)

Room = tuple[int, int]
"""The squares that a colour may cover, and those of which a piece must cover one at least."""


@dataclass(frozen=True, slots=True)
class Position:
    """The squares that each colour covers, the set of pieces it has left, and its last piece."""

    board: Board = field(repr=False, compare=False)
    covered: tuple[int, ...]
    left: tuple[int, ...]
    last: tuple[int | None, ...] = (None,) * 4

    @property
    def free(self) -> int:
        """The squares that nothing covers."""
        blue, yellow, red, green = self.covered
        return self.board.full & ~(blue | yellow | red | green)

    def room(self, colour: int, start: int) -> Room:
        """Where ``colour`` may place by the rules of Blokus, its first piece on ``start``."""
        own = self.covered[colour]
        room = self.free & ~self.board.edges(own)
        return room, room & (self.board.diagonals(own) if own else start)

    def placements(
        self, colour: int, start: int, room: Room | None = None
    ) -> Iterator[tuple[int, int]]:
        """The placements of ``colour`` by the rules of Blokus, as `Board.placements` has them.

        Args:
            room: its `room`, for who knows that already.
        """
        inside, seeds = room or self.room(colour, start)
        return self.board.placements(inside, seeds, self.left[colour])

    def place(self, colour: int, mask: int) -> Position:
        """The position with a piece of ``colour`` on the squares of ``mask``."""
        piece = self.board.piece_of[shape_of(mask)]
        covered, left, last = list(self.covered), list(self.left), list(self.last)
        covered[colour] |= mask
        left[colour] ^= 1 << piece
        last[colour] = piece
        return new_position(self.board, tuple(covered), tuple(left), tuple(last))

    def fields(self, turn: str) -> str:
        """The position text, but for the seats that left."""
        board = self.board
        cells = [FREE] * (board.width * board.height)
        for letter, covered in zip(LETTERS, self.covered, strict=True):
            for bit in bits_of(covered):
                file, rank = divmod(bit, board.stride)
                cells[rank * board.width + file] = letter
        left = "/".join(map(write_pieces, self.left))
        last = "/".join(NO_PIECE if piece is None else NAMES[piece] for piece in self.last)
        return f"{write_ranks(cells, board.width)} {turn} {left} {last}"

    def clicks(self, move: str) -> tuple[str, ...]:
        """The clicks of a placement: the piece with its colour, and the squares in their order."""
        colour, _, squares = move.partition(":")
        piece = self.board.piece_of[shape_of(self.board.read(squares))]
        return (f"{colour} {NAMES[piece]}", *squares.split(","))

    def half_made(self, scene: Scene, clicked: Sequence[str]) -> Scene:
        """A scene with those squares covered that are clicked already."""
        if len(clicked) < 2:
            return scene
        name, *squares = clicked
        colour, _, kind = name.partition(" ")
        paint = PAINTS[COLOURS.index(colour)]
        begun = gettext("%(colour)s %(piece)s that is begun", colour=translated(colour), piece=kind)
        piece = Piece(tuple(squares), Body.POLYOMINO, paint, begun)
        return replace(scene, pieces=(*scene.pieces, piece))

    def hand(self, colour: int, pieces: int = ALL) -> list[Held]:
        """Those of ``pieces`` that a colour has left, and those that it has placed."""
        return [
            Held(
                f"{COLOURS[colour]} {NAMES[piece]}",
                self.left[colour] >> piece & 1,
                Body.POLYOMINO,
                PAINTS[colour],
                cells=cells_of(piece),
                tell=partial(called, COLOURS[colour], NAMES[piece]),
            )
            for piece in bits_of(pieces)
        ]

    def beginnings(self, colour: int, start: int) -> Iterator[Rim]:
        """A rim in its colour at each corner that is open to a colour's first piece."""
        if not self.covered[colour]:
            for bit in bits_of(start & self.free):
                (x, along), (y, up) = (
                    (place + 0.5, -1) if place else (-0.5, 1)
                    for place in divmod(bit, self.board.stride)
                )
                yield Rim(((x + along, y), (x, y), (x, y + up)), PAINTS[colour])

    def drawing(self) -> Iterator[Piece]:
        """The pieces as they lie; pieces of one colour that touch are drawn as one."""
        for colour, paint, covered in zip(COLOURS, PAINTS, self.covered, strict=True):
            for part in self.board.parts(covered):
                piece = self.board.piece_of.get(shape_of(part))
                words = (
                    gettext("%(colour)s pieces", colour=translated(colour))
                    if piece is None
                    else called(colour, NAMES[piece])
                )
                squares = tuple(self.board.names[bit] for bit in bits_of(part))
                yield Piece(squares, Body.POLYOMINO, paint, words)

    def caption(self) -> str:
        """How many squares of pieces each colour has left, in words."""
        counts = (
            f"{translated(colour)} {squares_in(left)}"
            for colour, left in zip(COLOURS, self.left, strict=True)
        )
        return gettext("Left: %(squares)s", squares=", ".join(counts))


new_position = maker(Position)


def called(colour: str, piece: str) -> str:
    """What a piece is called, in the language that is spoken."""
    return gettext("%(colour)s %(piece)s", colour=translated(colour), piece=piece)


def choose_a_piece(colour: int) -> str:
    """What is asked of whoever places a piece of a colour."""
    return gettext("Choose one of %(colour)s's pieces.", colour=translated(COLOURS[colour]))


LOOKS = tuple((Body.POLYOMINO, paint, "") for paint in PAINTS)
"""How the pieces of each colour look."""


def all_placements(board: Board, pieces: int) -> list[Move]:
    """The words of all placements of some pieces by all colours, wherever the board has room."""
    found = list(board.placements(board.full, board.full, pieces))
    return [word for colour in COLOURS for word in board.spell(f"{colour}:", found)]


def read_position(start: Position, ranks: str, left: str, last: str, *, apart: bool) -> Position:
    """The position of three fields of a position text.

    Args:
        start: the set-up, with all pieces left.
        apart: whether pieces of one colour never touch edge to edge, so that each connected
            area must be one piece.

    Raises:
        PositionError: with the reason.
    """
    board = start.board
    cells = read_ranks(ranks, board.width, board.height, LETTERS)
    covered = [0] * 4
    for number, cell in enumerate(cells):
        if cell != FREE:
            rank, file = divmod(number, board.width)
            covered[LETTERS.index(cell)] |= 1 << file * board.stride + rank
    lefts = [
        read_pieces(word)
        for word in _four(
            left, N_("the remaining pieces of the four colours are separated by three '/'")
        )
    ]
    lasts = [
        _read_last(word)
        for word in _four(
            last, N_("the pieces placed last of the four colours are separated by three '/'")
        )
    ]
    for name, its_covered, its_left, its_last, everything in zip(
        COLOURS, covered, lefts, lasts, start.left, strict=True
    ):
        colour = translated(name)
        if its_left & ~everything:
            extra = write_pieces(its_left & ~everything)
            raise PositionError(
                gettext(
                    "%(colour)s has %(extra)s left, which the set-up has not",
                    colour=colour,
                    extra=extra,
                )
            )
        placed = everything & ~its_left
        if squares_in(placed) != its_covered.bit_count():
            raise PositionError(
                gettext(
                    "%(colour)s covers %(squares)s squares, but the pieces that are not left "
                    "have %(others)s",
                    colour=colour,
                    squares=its_covered.bit_count(),
                    others=squares_in(placed),
                )
            )
        if apart and sorted(bits_of(placed)) != sorted(
            board.piece_of.get(shape_of(part), -1) for part in board.parts(its_covered)
        ):
            raise PositionError(
                gettext(
                    "the areas that %(colour)s covers are not its pieces that are not left: "
                    "%(placed)s",
                    colour=colour,
                    placed=write_pieces(placed),
                )
            )
        if not (not placed if its_last is None else placed >> its_last & 1):
            raise PositionError(
                gettext(
                    "%(colour)s's last piece must be one of those it placed: %(placed)s",
                    colour=colour,
                    placed=write_pieces(placed),
                )
            )
    return Position(board, tuple(covered), tuple(lefts), tuple(lasts))


def _four(text: str, refusal: str) -> list[str]:
    words = text.split("/", 4)
    if len(words) != 4:
        raise PositionError(translated(refusal))
    return words


def _read_last(text: str) -> int | None:
    if text == NO_PIECE:
        return None
    if text not in NAMES:
        raise PositionError(
            gettext(
                "the last piece is %(text)r, not one of %(names)s",
                text=text[:20],
                names=",".join(NAMES),
            )
        )
    return NAMES.index(text)


def contradiction(position: Position, start: Position, turn: int, out: Sequence[int]) -> str | None:
    """The way in which the numbers of pieces contradict the turn, if they do.

    A colour that is not out has placed in every round, so colours before ``turn`` have placed
    one piece more than it; those that are ``out`` at most as many.
    """
    placed = [
        (everything & ~left).bit_count()
        for everything, left in zip(start.left, position.left, strict=True)
    ]
    for colour, count in enumerate(placed):
        due = placed[turn] + (colour < turn)
        if count > due or (count < due and colour not in out):
            return gettext(
                "%(colour)s has placed %(pieces)s and %(other)s %(its)s, so it is not "
                "%(other)s's turn",
                colour=translated(COLOURS[colour]),
                pieces=counted(count, "piece"),
                other=translated(COLOURS[turn]),
                its=placed[turn],
            )
    return None


def read_turn(text: str, position: Position, start: Position, out: Sequence[int]) -> int | None:
    """The colour to move, None when the game is over, from its field of a position text.

    Raises:
        PositionError: it is no such field, or the position contradicts it.
    """
    if text == OVER:
        return None
    letters = [colour[0] for colour in COLOURS]
    if text not in letters:
        raise PositionError(
            gettext(
                "the colour to move is %(text)r, not one of %(letters)s %(over)s",
                text=text[:20],
                letters=" ".join(letters),
                over=OVER,
            )
        )
    turn = letters.index(text)
    if turn in out:
        raise PositionError(
            gettext(
                "it is %(colour)s's turn, but %(colour)s is out", colour=translated(COLOURS[turn])
            )
        )
    if wrong := contradiction(position, start, turn, out):
        raise PositionError(wrong)
    return turn


def write_turn(turn: int | None) -> str:
    """The field that `read_turn` reads."""
    return OVER if turn is None else COLOURS[turn][0]


def read_move(board: Board, move: str) -> tuple[int, int]:
    """The colour of a move, and the mask of the squares that it names.

    Raises:
        IllegalMoveError: it is not written as a move is.
    """
    name, _, squares = move.partition(":")
    mask = board.read(squares)
    if name not in COLOURS or not mask:
        raise IllegalMoveError(
            move,
            gettext("a move is a colour and up to five squares of the board, as in blue:a1,a2,b2"),
        )
    return COLOURS.index(name), mask


def check_move(move: str, position: Position, colour: int, mask: int, room: Room) -> None:
    """Refuses what is not a piece that ``colour`` has left, inside its room.

    Raises:
        IllegalMoveError: with the reason.
    """
    name = translated(COLOURS[colour])
    inside, seeds = room
    piece = position.board.piece_of.get(shape_of(mask))
    if piece is None:
        raise IllegalMoveError(move, gettext("its squares are not connected edge to edge"))
    if not position.left[colour] >> piece & 1:
        raise IllegalMoveError(
            move, gettext("%(colour)s has no %(piece)s left", colour=name, piece=NAMES[piece])
        )
    if mask & ~inside:
        covered = mask & ~position.free
        raise IllegalMoveError(
            move,
            gettext("one of its squares is covered already")
            if covered
            else gettext("it touches a %(colour)s piece edge to edge", colour=name),
        )
    if not mask & seeds:
        raise IllegalMoveError(
            move,
            gettext("it touches no %(colour)s piece corner to corner", colour=name)
            if position.covered[colour]
            else gettext(
                "%(colour)s's first piece must cover a corner of the board that is open to it",
                colour=name,
            ),
        )
