"""The command notice: a line for all visitors."""

from __future__ import annotations

from pathlib import Path

import click

from arena import audit
from arena.cli import InputError
from arena.cli.data_folder import changing, opened
from arena.cli.data_option import on_data
from arena.operation.notice import NoticeError, give_notice, read_notice


@click.command()
@click.argument("text", required=False)
@click.option("--clear", is_flag=True, help="Tell nothing any more.")
@on_data
def notice(text: str | None, clear: bool, data: Path | None) -> None:
    """Tell all visitors a line, on every page until you clear it; without TEXT, print it.

    Example: arena notice "Maintenance on Saturday, 18:00 UTC"
    """
    if clear and text is not None:
        raise InputError("give a text or --clear, not both")
    if text is not None and not text.strip():
        raise InputError("the text is empty; --clear takes the last one away")
    if text is None and not clear:
        with opened(data) as (database, _), database.read() as session:
            click.echo(read_notice(session) or "there is no notice")
        return
    with changing(data, refusals=(NoticeError,)) as (session, now):
        give_notice(session, audit.operator(), text or "", now)
    click.echo("all visitors are told, on every page" if text else "the notice is cleared")
