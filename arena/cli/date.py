"""The command date: when a competition opens, freezes, closes or begins again."""

from __future__ import annotations

from urllib.parse import quote

import click
from sqlalchemy.orm import Session

from arena.cli import deeds
from arena.cli.client import Where, on_arena
from arena.cli.listing import show
from arena.cli.options import as_json
from arena.cli.reading import read
from arena.competitions.dates import dates_of
from arena.competitions.founding import find_named
from arena.ground.config import Settings
from arena.ground.db import database_time
from arena.models import Competition
from arena.web.api.competition_shapes import DateList, DateShape
from engine.translation import N_


@click.group()
def date() -> None:
    """Set when a competition opens, freezes, closes or begins again."""


@date.command("list")
@click.argument("name")
@on_arena
@as_json
def list_command(name: str, where: Where, in_json: bool) -> None:
    """List the dates of a ladder or a tournament, in UTC.

    Example: arena date list blitz
    """

    def here(session: Session, _: Settings) -> DateList:
        its = dates_of(session, find_named(session, Competition, name))
        return DateList(now=database_time(session), items=[DateShape.of(one) for one in its])

    found = read(where, f"/competitions/{quote(name, safe='')}/dates", here)
    columns = (N_("what"), N_("at"), N_("happened"), N_("made"), N_("outcome"))
    show(found["items"], columns, in_json)


deeds.add_commands(date)
