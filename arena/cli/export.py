"""The command export: games, as records or as tables."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import takewhile
from pathlib import Path
from typing import Protocol

import click

from arena.cli import InputError, refusing, writing
from arena.cli.client import Name, RemoteArena, ServerFault, Where, on_arena
from arena.cli.data_folder import opened
from arena.cli.options import NamedPath
from arena.cli.progress_bar import ProgressBar
from arena.cli.streams import reader_has_gone
from arena.dumps.manifest import About
from arena.dumps.sources import OfArena
from arena.ground.refusals import Refusal
from arena.lists.filters import WORDS, GameFilter, Order
from engine.plurals import counted
from engine.translation import gettext, ngettext


class ExportedGames(Protocol):
    """The games that are to be exported, wherever they are."""

    arena: str
    """What a dump calls the arena."""
    licence: str
    """What it says of how its games may be used, if anything."""

    def newest(self) -> int:
        """A number above which there is none of them yet."""

    def lines(self, after: int) -> Iterable[bytes]:
        """Those above a number, in their order, each as a line."""

    def count(self, after: int) -> int | None:
        """How many those are; None if that takes too long to know."""


class _OnServer:
    """Games of a server; errors as for `RemoteArena.get`."""

    licence = ""

    def __init__(self, server: RemoteArena, wanted: Mapping[str, str]) -> None:
        self._server, self._wanted, self.arena = server, wanted, server.address
        self._counted: int | None = None

    def newest(self) -> int:
        newest = {**self._wanted, "sort": str(Order.NEWEST)}
        return next((int(game["number"]) for game in self._server.all("/games", **newest)), 0)

    def lines(self, after: int) -> Iterator[bytes]:
        found, self._counted = self._server.lines("/games.jsonl", **self._wanted, after=after)
        return found

    def count(self, after: int) -> int | None:
        return self._counted


@contextmanager
def _games(where: Where, wanted: Mapping[str, str]) -> Iterator[ExportedGames]:
    """The games that are wanted of an arena.

    Raises:
        InputError: as for `arena.cli.reading.told`, or the filter can't be meant.
    """
    server = where.server()
    if server is not None:
        yield _OnServer(server, wanted)
        return
    with opened(where.data) as (database, settings):
        for word in wanted:
            if word not in WORDS:
                raise InputError(
                    gettext(
                        "%(word)s: there is no such word; there are: %(words)s",
                        word=word,
                        words=", ".join(WORDS),
                    )
                )
        yield OfArena(database, settings, GameFilter.read(wanted))


@click.command()
@click.argument("competition", type=Name("competitions"), required=False)
@click.option(
    "--where",
    "words",
    multiple=True,
    metavar="WORD=TEXT",
    help="Only such games: bot=greedy, ending=timeout, and what else the page Games asks for.",
)
@click.option("-o", "--output", type=NamedPath(path_type=Path), help="The file or folder to write.")
@click.option("--after", type=click.IntRange(0), help="Only games of higher numbers.")
@click.option(
    "--parquet", is_flag=True, help="Write tables of Parquet to a folder, positions among them."
)
@click.option(
    "--earlier",
    type=NamedPath(path_type=Path, file_okay=False, exists=True),
    metavar="FOLDER",
    help="Take over what is the same in that dump of before.",
)
@click.option("--licence", metavar="TEXT", help="Say in a dump how its games may be used.")
@on_arena
def export(
    competition: str | None,
    words: Sequence[str],
    output: Path | None,
    after: int | None,
    parquet: bool,
    earlier: Path | None,
    licence: str | None,
    where: Where,
) -> None:
    """Export games: as JSON Lines, which arena replay reads, or as tables.

    COMPETITION is a ladder, a tournament, or test-5 for strength test 5; without it they are of
    all. --where narrows them as the list of games on the pages does.

    JSON Lines go to standard output without -o. The file is replaced when all of them have come;
    until then they are in FILE.part. What was interrupted goes on with --after and the number of
    the last game that came.

    With --parquet, -o names a folder for a dump of all games that there are now, void ones left
    out, as arena.data reads it. What was interrupted goes on if the command is given again.

    \b
    Examples:
      arena export clobber-6x7 --where bot=greedy --where ending=timeout -o games.jsonl
      arena export --parquet -o dump --licence CC0-1.0
    """
    wanted = _read_where(competition, words)
    with _games(where, wanted) as games:
        if parquet:
            if output is None:
                raise InputError(gettext("name the folder to write, with -o"))
            if after is not None:
                raise InputError(
                    gettext("--after: a dump goes on by itself where it was broken off")
                )
            _dump(games, wanted, output, earlier, licence)
            return
        for name, given in (("--earlier", earlier), ("--licence", licence)):
            if given is not None:
                raise InputError(gettext("%(name)s is for --parquet", name=name))
        _write_lines(games, output, after or 0)


def _dump(
    games: ExportedGames,
    wanted: Mapping[str, str],
    folder: Path,
    earlier: Path | None,
    licence: str | None,
) -> None:
    with refusing(ImportError):
        from arena.dumps.writing import write_dump  # what it needs is an extra

    about = About(games.arena, wanted, games.licence if licence is None else licence)
    bar = ProgressBar(gettext("exporting"), "game", total=games.count(0))
    with bar, writing(folder), refusing(Refusal):
        dump = write_dump(
            folder,
            games,
            about,
            datetime.now(UTC),
            earlier=earlier,
            done=bar.show,
            tell=bar.say,
        )
    click.echo(
        gettext(
            "%(folder)s has %(games)s up to number %(last)s, as of %(made)s",
            folder=folder,
            games=counted(dump.count, "game"),
            last=dump.until,
            made=f"{dump.made[:19]}Z",
        ),
        err=True,
    )


def _write_lines(games: ExportedGames, output: Path | None, after: int) -> None:
    lines = games.lines(after)
    if output is None:
        for line in takewhile(lambda _: not reader_has_gone(), lines):
            sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
        return
    count = _keep(_told(lines, games.count(after)), output)
    click.echo(
        ngettext(
            "%(number)s game is in %(file)s",
            "%(number)s games are in %(file)s",
            count,
            number=count,
            file=output,
        ),
        err=True,
    )


def _read_where(competition: str | None, words: Sequence[str]) -> dict[str, str]:
    """The words of a filter, which the server reads.

    Raises:
        InputError: one is no such word, or is said twice.
    """
    said = {} if competition is None else {"competition": competition}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or not re.fullmatch("[a-z]+", name) or name == "after":
            raise InputError(
                gettext("--where %(word)r: write WORD=TEXT, as in ending=timeout", word=word[:60])
            )
        if name in said:
            raise InputError(
                gettext("--where %(word)r: %(name)s is said twice", word=word[:60], name=name)
            )
        said[name] = text
    return said


def _keep(lines: Iterable[bytes], output: Path) -> int:
    """Writes lines to a file, which is replaced when all are there, and says how many they are.

    A link stays one, and its target is replaced; a device or a pipe is written to.

    Raises:
        InputError: it can't be written.
        ServerFault: they broke off; what came is kept beside the file.
    """
    target = Path(os.path.realpath(output))
    is_device = os.path.exists(target) and not os.path.isfile(target)
    part = target if is_device else target.with_name(f"{target.name}.part")
    count = 0
    try:
        with writing(output):
            with part.open("wb") as file:
                for line in lines:
                    file.write(line)
                    count += 1
            if not is_device:
                part.replace(target)
    except ServerFault as error:
        came = ngettext(
            "%(number)s game that came is in %(file)s",
            "%(number)s games that came are in %(file)s",
            count,
            number=count,
            file=part,
        )
        raise ServerFault(f"{error.message}; {came}") from None
    return count


def _told(lines: Iterable[bytes], total: int | None) -> Iterator[bytes]:
    """Passes lines on, and tells how many there were."""
    with ProgressBar(gettext("downloading"), "game", total=total) as bar:
        for line in lines:
            bar.advance()
            yield line
