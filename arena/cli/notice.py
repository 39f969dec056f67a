"""The command notice: a line for all visitors."""

from __future__ import annotations

from pathlib import Path

import click

from arena.cli import InputError, deeds
from arena.cli.client import find_server, on_arena
from arena.cli.data_folder import opened
from arena.operation.notice import GiveNotice, read_notice
from engine.protocol import visible


@click.command()
@click.argument("text", required=False)
@click.option("--clear", is_flag=True, help="Tell nothing any more.")
@on_arena
def notice(text: str | None, clear: bool, server: str | None, data: Path | None) -> None:
    """Tell all visitors a line, on every page until you clear it; without TEXT, print it.

    Example: arena notice "Maintenance on Saturday, 18:00 UTC"
    """
    if clear and text is not None:
        raise InputError("give a text or --clear, not both")
    if text is not None and not text.strip():
        raise InputError("the text is empty; --clear takes the last one away")
    if text is None and not clear:
        there = find_server(server, data)
        if there is not None:
            found = visible(there.get("/notice")["text"])
        else:
            with opened(data) as (database, _), database.read() as session:
                found = read_notice(session)
        click.echo(found or "there is no notice")
        return
    deeds.do_one(deeds.made(GiveNotice, text=text or ""), server, data)
