"""Books of openings: series of openings that people chose, read from a file.

What kind of file it is shows in it, not in its name. PGN gives the first moves of its games, from
a position of their own if they name one. Of a game that can begin anywhere (`Variant.beginning_at`)
each line may be a position, as in EPD. And for every game each line may be the moves of an opening
in the game's own notation. In lists of positions and of moves a ``#`` begins a comment.

Which opening a match has follows from a seed and the number of the match: all are used before any
comes again, each time in another order.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import NamedTuple

from engine.game import GameError, IllegalMoveError, Move, PositionError, State, Variant
from engine.openings import Opening
from engine.pgn import PgnError, dialect_of, looks_like_pgn, read_games
from engine.plurals import counted, grouped
from engine.protocol import visible
from engine.seeds import derive
from engine.translation import gettext

MOST_BYTES = 16 * 2**20
MOST_OPENINGS = 100_000
LONGEST = 100
"""Plies of an opening."""
LONGEST_OF_PGN = 20
"""So many plies of a game begin it: a PGN file may have whole games."""
_COMMENT = re.compile(r"(?:^|(?<=\s))#.*")


class BookError(GameError):
    """A file that is no book of its game; one line with the file, its line, and what is wrong."""


@dataclass(frozen=True, slots=True)
class Book:
    """Openings of a game, all different, in the order of their file."""

    name: str
    digest: str
    """SHA-256 of its file, in hexadecimal."""
    openings: tuple[Opening, ...]
    repeated: int = 0
    """How many were left out, since their positions had come before."""

    def opening(self, seed: int, number: int) -> Opening:
        """The opening of a match by its number, from 0: none comes again before all have come."""
        return self.openings[place(len(self.openings), seed, number)]

    def series(self, seed: int) -> Iterator[Opening]:
        """All openings once, in the order of a seed."""
        return (self.opening(seed, number) for number in range(len(self.openings)))

    def __str__(self) -> str:
        """Tells people its name, how many openings it has, and the beginning of its digest."""
        return gettext(
            "%(name)s, %(openings)s, digest %(digest)s",
            name=self.name,
            openings=counted(len(self.openings), "opening"),
            digest=self.digest[:12],
        )


def book_json(book: Book | None) -> dict[str, str | None]:
    """Which book was used, as JSON's types."""
    name, digest = (book.name, book.digest) if book else (None, None)
    return {"book": name, "book_digest": digest}


def place(size: int, seed: int, number: int) -> int:
    """Which of so many openings is that of a match, the same on every machine."""
    cycle, turn = divmod(number, size)
    return _order(size, seed, cycle)[turn]


@lru_cache(maxsize=64)
def _order(size: int, seed: int, cycle: int) -> Sequence[int]:
    random = Random(derive(seed, "book", cycle))
    return sorted(range(size), key=lambda _: random.random())


class _Line(NamedTuple):
    """An opening as its file has it."""

    number: int
    """The number of the line in the file, from 1."""
    variant: Variant
    moves: Sequence[tuple[int, str]]
    """Each with its line."""


def read_book(
    data: bytes,
    variant: Variant,
    name: str,
    *,
    most_bytes: int = MOST_BYTES,
    most_openings: int = MOST_OPENINGS,
) -> Book:
    """The book of a file.

    Args:
        name: the file's, for people.

    Raises:
        BookError: it is none of this variant, or too large; one opening is wrong or ends the game.
    """

    def wrong(words: object, line: int | None = None) -> BookError:
        where = name
        if line is not None:
            where = gettext("%(name)s, line %(line)s", name=name, line=line)
        return BookError(
            gettext("%(where)s: %(words)s", where=visible(where, ""), words=visible(str(words), ""))
        )

    if variant.seats == 1:
        raise wrong(
            gettext(
                "%(game)s is played alone and has no openings: leave the book out",
                game=variant.game,
            )
        )
    if variant.drawn(0) != variant.drawn(1):
        raise wrong(
            gettext(
                "%(variant)s draws its start by lot, which a book can't foresee: fix it by an "
                "option",
                variant=variant,
            )
        )
    if len(data) > most_bytes:
        raise wrong(
            gettext(
                "a book has %(most)s bytes at most, this one %(size)s",
                most=grouped(most_bytes),
                size=grouped(len(data)),
            )
        )
    text = decoded(data)
    if text is None:
        raise wrong(gettext("this is no text: give PGN, EPD, or a line of moves for each opening"))
    is_pgn = looks_like_pgn(text)
    found: dict[str, Opening] = {}
    repeated = 0
    try:
        for line in _of_pgn(text, variant) if is_pgn else _of_lines(text, variant):
            opening, state = _judged(line, pgn=is_pgn)
            if state.to_move is None:
                raise wrong(
                    gettext("this opening ends the game: no move is left to play"), line.number
                )
            if found.setdefault(state.text(), opening) is not opening:
                repeated += 1
            elif len(found) > most_openings:
                raise wrong(
                    gettext(
                        "a book has %(most)s openings at most",
                        most=grouped(most_openings),
                    ),
                    line.number,
                )
    except (PgnError, _LineError) as error:
        raise wrong(error, error.line) from None
    if not found:
        raise wrong(gettext("there is no opening in it"))
    return Book(name, hashlib.sha256(data).hexdigest(), tuple(found.values()), repeated)


def decoded(data: bytes) -> str | None:
    """A file's text, of which PGN's standard says that it is in Latin-1; None if it is none."""
    if b"\0" in data:
        return None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return text.replace("\r\n", "\n")


class _LineError(GameError):
    """What is wrong in a line."""

    def __init__(self, line: int, words: object) -> None:
        super().__init__(str(words))
        self.line = line


def _of_pgn(text: str, variant: Variant) -> Iterator[_Line]:
    for game in read_games(text):
        start = variant
        if fen := game.tags.get("FEN"):
            try:
                start = variant.beginning_at(fen)
            except PositionError as error:
                raise _LineError(game.line, gettext("its FEN: %(error)s", error=error)) from None
        moves = [(move.line, move.text) for move in game.moves[:LONGEST_OF_PGN]]
        # Without moves and position it is the usual start, which needs no book.
        if moves or fen:
            yield _Line(game.line, start, moves)


def _of_lines(text: str, variant: Variant) -> Iterator[_Line]:
    read: Callable[[int, str], _Line] | None = None
    for number, whole in enumerate(text.split("\n"), start=1):
        line = _COMMENT.sub("", whole).strip()
        if not line:
            continue
        read = read or _kind(number, line, variant)
        yield read(number, line)


def _kind(number: int, line: str, variant: Variant) -> Callable[[int, str], _Line]:
    """How lines are read of which this is the first: as moves, or as positions."""

    def moves(number: int, line: str) -> _Line:
        return _Line(number, variant, [(number, word) for word in line.split()])

    def position(number: int, line: str) -> _Line:
        try:
            return _Line(number, variant.beginning_at(line), ())
        except PositionError as error:
            raise _LineError(number, error) from None

    word = line.split()[0]
    try:
        variant.initial().canonical(word)
    except IllegalMoveError as error:
        try:
            variant.beginning_at(line)
        except PositionError as other:
            words = gettext(
                "this is neither moves (%(error)s) nor a position (%(other)s)",
                error=error,
                other=other,
            )
            raise _LineError(number, words) from None
        return position
    return moves


def _judged(line: _Line, *, pgn: bool) -> tuple[Opening, State]:
    """An opening by the rules, and where it leads.

    Raises:
        _LineError: a move is illegal, or there are too many.
    """
    if len(line.moves) > LONGEST:
        raise _LineError(
            line.number, gettext("an opening has %(most)s plies at most", most=LONGEST)
        )
    dialect = dialect_of(line.variant) if pgn else None
    state: State = line.variant.initial()
    moves: list[Move] = []
    for number, (where, word) in enumerate(line.moves, start=1):
        try:
            move = dialect.read(state, word) if dialect else word
            moves.append(state.canonical(move))
        except IllegalMoveError as error:
            raise _LineError(
                where, gettext("ply %(number)s: %(error)s", number=number, error=error)
            ) from None
        state = state.play(moves[-1])
    return Opening(line.variant, tuple(moves)), state
