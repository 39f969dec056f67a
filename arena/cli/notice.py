"""The command notice: a line for all visitors."""

from __future__ import annotations

import click

from arena.cli import InputError, deeds
from arena.cli.client import Where, on_arena
from arena.cli.reading import told
from arena.operation.notice import GiveNotice, read_notice
from engine.protocol import visible
from engine.translation import gettext


@click.command()
@click.argument("text", required=False)
@click.option("--clear", is_flag=True, help="Tell nothing any more.")
@on_arena
def notice(text: str | None, clear: bool, where: Where) -> None:
    """Tell all visitors a line, on every page until you clear it; without TEXT, print it.

    Example: arena notice "Maintenance on Saturday, 18:00 UTC"
    """
    if clear and text is not None:
        raise InputError(gettext("give a text or --clear, not both"))
    if text is not None and not text.strip():
        raise InputError(gettext("the text is empty; --clear takes the last one away"))
    if text is None and not clear:
        found = told(
            where,
            lambda server: visible(server.get("/notice")["text"]),
            lambda session, _: read_notice(session),
        )
        click.echo(found or gettext("there is no notice"))
        return
    deeds.do_one(deeds.made(GiveNotice, text=text or ""), where)
