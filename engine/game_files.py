"""Files of games as somebody has them: records, or PGN."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress

from engine.books import decoded
from engine.game import PositionError, Variant
from engine.games import GAMES
from engine.pgn import PgnError, PgnGame, dialect_of, looks_like_pgn, read_games, read_record
from engine.record import GameRecord, RecordError
from engine.translation import gettext


def text_of(data: bytes) -> str:
    """The text of a file of games; PGN may be in Latin-1.

    Raises:
        RecordError: it is none.
    """
    try:
        return str(data, "utf-8-sig")
    except UnicodeDecodeError:
        text = decoded(data)
        if text is not None and _is_pgn(text):
            return text
        raise RecordError(
            gettext("this is no text file: give one that `arena play --records` wrote")
        ) from None


def _is_pgn(text: str) -> bool:
    """Whether a text is PGN, in which a comment may come first, but no JSON."""
    return looks_like_pgn(text) and not text.lstrip().startswith("{")


def pgn_games(text: str) -> list[PgnGame]:
    """The games of a text, if it is PGN; none if it is not.

    Raises:
        RecordError: it is damaged.
    """
    if not _is_pgn(text):
        return []
    try:
        return list(read_games(text))
    except PgnError as error:
        raise RecordError(
            gettext("line %(line)s: %(error)s", line=error.line, error=error)
        ) from None


def record_of(game: PgnGame, variants: Iterable[Variant]) -> GameRecord:
    """A game as a record, by the rules of the first of some variants that allow it.

    PGN does not say of which game it is.

    Raises:
        RecordError: none of them has PGN, begins where the game does and allows its moves.
    """
    start = game.tags.get("FEN", "")
    problem = (
        gettext("no game is played here that PGN has and that begins at %(start)s", start=start)
        if start
        else gettext("no game is played here that PGN has")
    )
    for variant in variants:
        if not _begins(variant, start):
            continue
        try:
            return read_record(game, variant)
        except PgnError as error:
            problem = gettext(
                "%(variant)s: line %(line)s: %(error)s",
                variant=variant,
                line=error.line,
                error=error,
            )
    raise RecordError(problem)


def _begins(variant: Variant, start: str) -> bool:
    """Whether games of a variant are written as PGN and begin at a FEN, or at the usual start."""
    dialect = dialect_of(variant)
    if dialect is None or not start:
        return dialect is not None and not dialect.start
    try:
        return variant.beginning_at(start) == variant
    except PositionError:
        return False


def variants_with_pgn(start: str = "") -> Iterator[Variant]:
    """Every variant on this machine's shelf that PGN has, from its first position or from a FEN."""
    for name in GAMES:
        variant = GAMES.find(name, {})
        if dialect_of(variant) is None:
            continue
        with suppress(PositionError):
            yield variant.beginning_at(start) if start else variant
