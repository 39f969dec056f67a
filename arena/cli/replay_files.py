"""What `arena replay` makes of games for elsewhere: pages of one file, and animated pictures."""

from __future__ import annotations

import tempfile
import webbrowser
from pathlib import Path

import click

from arena.cli import writing
from arena.cli.progress_bar import ProgressBar
from arena.web.films import animate
from arena.web.replay_files import as_page
from engine.record import GameRecord
from engine.translation import gettext


def write_page(
    name: str, number: int | None, record: GameRecord, *, ply: int | None, problem: str
) -> None:
    """Writes a game's replay as a page.

    Args:
        number: of the game, where several are written.
        ply: after how many plies it is shown at first; by default at its end.
        problem: what the rules have against it.

    Raises:
        InputError: it can't be written.
    """
    _write(_named(name, number), as_page(record, ply=ply, problem=problem).encode())


def write_animation(name: str, number: int | None, record: GameRecord) -> None:
    """Writes a game as an animated picture of all its plies.

    Raises:
        InputError: it can't be written.
    """
    with ProgressBar(gettext("drawing"), "position", total=len(record.plies) + 1) as bar:
        picture = animate(record, most=None, drawn=bar.advance)
    _write(_named(name, number), picture)


def open_page(record: GameRecord, *, ply: int | None, problem: str) -> None:
    """Opens a game's replay in a browser; where there is none, says where its file lies.

    Raises:
        InputError: the file can't be written.
    """
    with writing(tempfile.gettempdir()):
        path = Path(tempfile.mkdtemp(prefix="arena-replay-"), "game.html")
    write_page(str(path), None, record, ply=ply, problem=problem)
    if not webbrowser.open(path.as_uri()):
        click.echo(gettext("there is no browser here: open that file in one"), err=True)


def _named(name: str, number: int | None) -> Path:
    path = Path(name)
    return path if number is None else path.with_name(f"{path.stem}-{number}{path.suffix}")


def _write(path: Path, data: bytes) -> None:
    with writing(path):
        path.write_bytes(data)
    click.echo(
        gettext("wrote %(path)s, %(size)s kB", path=path, size=f"{len(data) / 1e3:.0f}"),
        err=True,
    )
