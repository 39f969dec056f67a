"""The commands of gauntlets that the arena's workers play: create, list, show, stop."""

from __future__ import annotations

import json

import click
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.cli import deeds, refusing
from arena.cli.client import Name, Where, on_arena
from arena.cli.listing import show as show_rows
from arena.cli.options import as_json
from arena.cli.reading import read, read_all
from arena.cli.report import aligned
from arena.competitions.founding import find_named
from arena.competitions.gauntlets import Gauntlet
from arena.ground.config import Settings
from arena.ground.refusals import Refusal
from arena.web.api.gauntlet_shapes import GauntletShape
from engine.protocol import visible
from engine.translation import N_


@click.group()
def gauntlet() -> None:
    """Submitted versions compared by their games against the same others."""


@gauntlet.command("list")
@on_arena
@as_json
def list_gauntlets(where: Where, in_json: bool) -> None:
    """List the gauntlets, the last made first.

    Example: arena gauntlet list
    """
    newest_first = sa.select(Gauntlet).order_by(Gauntlet.id.desc())
    rows = read_all(where, "/gauntlets", GauntletShape, lambda its: its.scalars(newest_first))
    show_rows(
        rows,
        (
            *(N_("gauntlet"), N_("what"), N_("game"), N_("games")),
            *(N_("better by"), N_("outcome")),
        ),
        in_json,
        cells=lambda one: {
            "gauntlet": one["name"],
            "what": one["title"],
            "game": one["variant"],
            "games": one["standing"]["games"],
            "better by": f"{one['standing']['difference']:+.1%}",
        },
    )


@gauntlet.command()
@click.argument("name", type=Name("gauntlets"))
@on_arena
@as_json
def show(name: str, where: Where, in_json: bool) -> None:
    """Show how a gauntlet stands.

    Example: arena gauntlet show gauntlet-2
    """

    def here(session: Session, _: Settings) -> GauntletShape:
        with refusing(Refusal):
            return GauntletShape.looked_up(session, find_named(session, Gauntlet, name))

    found = read(where, f"/gauntlets/{name}", here)
    if in_json:
        click.echo(json.dumps(found))
        return
    click.echo(visible(aligned(found["told"])))
    click.echo(visible(found["outcome"]))


deeds.add_commands(gauntlet)
