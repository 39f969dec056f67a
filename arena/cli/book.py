"""The command book: books of openings that competitions are played by."""

from __future__ import annotations

from pathlib import Path

import click

from arena.cli import InputError, deeds
from arena.cli.client import Where, on_arena
from arena.cli.listing import show
from arena.cli.options import NamedPath, as_json
from arena.cli.reading import read_all
from arena.competitions.book_deeds import AddBook
from arena.competitions.books import listed
from arena.models import OpeningBook
from arena.web.api.books import BookShape
from engine.books import decoded
from engine.translation import N_, gettext


@click.group()
def book() -> None:
    """Books of openings, by which ladders, tournaments and strength tests can be played."""


@book.command("add")
@deeds.options(AddBook, "name", but=("text",))
@click.argument("file", type=NamedPath(exists=True, dir_okay=False, path_type=Path))
@on_arena
@as_json
def add_command(name: str, game: str, file: Path, where: Where, in_json: bool) -> None:
    """Add a book of openings.

    FILE is EPD (positions), PGN (the first moves of its games) or moves, the openings one a line.

    Example: arena book add eight-moves 8moves.pgn --game openspiel:chess
    """
    try:
        text = decoded(file.read_bytes())
    except OSError as error:
        raise InputError(
            gettext("can't read %(name)s: %(reason)s", name=file, reason=error.strerror)
        ) from None
    if text is None:
        raise InputError(gettext("%(file)s is no text: give EPD, PGN, or moves", file=file))
    deeds.do_one(deeds.made(AddBook, name=name, game=game, text=text), where, in_json=in_json)


@book.command("list")
@on_arena
@as_json
def list_command(where: Where, in_json: bool) -> None:
    """List the books, the last added first.

    Example: arena book list
    """
    newest_first = listed().order_by(OpeningBook.id.desc())
    found = read_all(where, "/books", BookShape, lambda session: session.scalars(newest_first))
    columns = N_("name"), N_("variant"), N_("openings"), N_("digest"), N_("created")
    show(found, columns, in_json)


deeds.add_commands(book)
