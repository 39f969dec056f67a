"""The command export: games, from a server."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from pathlib import Path

import click

from arena.cli import InputError, writing
from arena.cli.client import Name, ServerFault, need_server, on_server
from arena.cli.options import NamedPath
from arena.cli.progress_bar import ProgressBar
from arena.cli.streams import reader_has_gone
from engine.plurals import counted


@click.command()
@click.argument("competition", type=Name(), required=False)
@click.option(
    "--where",
    "words",
    multiple=True,
    metavar="WORD=TEXT",
    help="Only such games: bot=greedy, ending=timeout, and what else the page Games asks for.",
)
@click.option(
    "-o", "--output", type=NamedPath(dir_okay=False, path_type=Path), help="The file to write."
)
@click.option("--after", type=click.IntRange(0), help="Only games of higher numbers.")
@on_server
def export(
    competition: str | None,
    words: Sequence[str],
    output: Path | None,
    after: int | None,
    server: str | None,
) -> None:
    """Download games as JSON Lines, which arena replay reads.

    COMPETITION is a ladder, a tournament, or test-5 for strength test 5; without it they are of
    all. --where narrows them as the list of games on the pages does. Without -o they go to
    standard output. FILE is replaced when all of them have come; until then they are in
    FILE.part. What was interrupted goes on with --after and the number of the last game that came.

    Example: arena export clobber-6x7 --where bot=greedy --where ending=timeout -o games.jsonl
    """
    wanted = _read_where(competition, words)
    lines, total = need_server(server).lines("/games.jsonl", **wanted, after=after)
    if output is None:
        for line in takewhile(lambda _: not reader_has_gone(), lines):
            sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
        return
    count = _keep(_told(lines, total), output)
    click.echo(f"{counted(count, 'game is', 'games are')} in {output}", err=True)


def _read_where(competition: str | None, words: Sequence[str]) -> dict[str, str]:
    """The words of a filter, which the server reads.

    Raises:
        InputError: one is no such word, or is said twice.
    """
    said = {} if competition is None else {"competition": competition}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or not re.fullmatch("[a-z]+", name) or name == "after":
            raise InputError(f"--where {word[:60]!r}: write WORD=TEXT, as in ending=timeout")
        if name in said:
            raise InputError(f"--where {word[:60]!r}: {name} is said twice")
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
        came = f"{counted(count, 'game that came is', 'games that came are')} in {part}"
        raise ServerFault(f"{error.message}; {came}") from None
    return count


def _told(lines: Iterable[bytes], total: int | None) -> Iterator[bytes]:
    """Passes lines on, and tells how many there were."""
    with ProgressBar("downloading", "game", total=total) as bar:
        for line in lines:
            bar.advance()
            yield line
