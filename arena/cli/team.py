"""The command team: people whose bots are each one's."""

from __future__ import annotations

import click
import sqlalchemy as sa
from sqlalchemy.orm import Session, joinedload

from arena.bots.directory import is_listed_person
from arena.cli import deeds
from arena.cli.client import Where, on_arena
from arena.cli.listing import show
from arena.cli.options import as_json
from arena.cli.reading import read_all
from arena.models import Team
from arena.web.api.user_shapes import TeamShape
from engine.translation import N_


@click.group()
def team() -> None:
    """Found a team, join one by its code, list them, and decide about one's own."""


@team.command("list")
@on_arena
@as_json
def list_command(where: Where, in_json: bool) -> None:
    """List the teams that have a bot which has entered something.

    Example: arena team list
    """

    def here(session: Session) -> list[Team]:
        query = sa.select(Team).where(is_listed_person()).options(joinedload(Team.captain))
        return list(session.scalars(query))

    found = read_all(where, "/teams", TeamShape, here)
    show(
        sorted(found, key=lambda one: one["name"].lower()),
        (N_("name"), N_("captain"), N_("created")),
        in_json,
    )


deeds.add_commands(team)
