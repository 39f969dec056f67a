"""The commands of tunings that the arena's workers play: create, list, show, pause, stop, ..."""

from __future__ import annotations

import json

import click
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.cli import deeds
from arena.cli.client import Where, on_arena
from arena.cli.listing import show as show_rows
from arena.cli.options import as_json
from arena.cli.reading import read, read_all
from arena.cli.report import aligned
from arena.cli.strength import CompetitionNumber
from arena.competitions import tunings
from arena.ground.config import Settings
from arena.models import BotTuning
from arena.web.api.tunings import TuningShape
from engine.bot_options import chosen_words
from engine.protocol import visible
from engine.translation import N_

NUMBER = CompetitionNumber(
    "tuning", N_("%(given)r is no tuning: give its number, as in 17 or tuning-17")
)


@click.group()
def tuning() -> None:
    """Tunings by the arena's workers: create one, list, show, pause, resume, stop, extend."""


@tuning.command("list")
@on_arena
@as_json
def list_tunings(where: Where, in_json: bool) -> None:
    """List the tunings, the last made first.

    Example: arena tuning list
    """
    newest_first = sa.select(BotTuning).order_by(BotTuning.id.desc())
    show_rows(
        read_all(where, "/tunings", TuningShape, lambda session: session.scalars(newest_first)),
        (
            *(N_("tuning"), N_("what"), N_("game"), N_("state")),
            *(N_("games"), N_("of"), N_("values"), N_("test")),
        ),
        in_json,
        cells=lambda one: {
            "tuning": one["id"],
            "what": one["title"],
            "of": one["max_games"],
            "values": chosen_words(one["chosen"]),
            "test": one["proof"] or "",
        },
        kinds={"state": "a tuning"},
    )


@tuning.command()
@click.argument("number", type=NUMBER)
@on_arena
@as_json
def show(number: int, where: Where, in_json: bool) -> None:
    """Show how a tuning stands, and what it comes to as bot.toml has it.

    Example: arena tuning show 17
    """

    def here(session: Session, _: Settings) -> TuningShape:
        return TuningShape.looked_up(session, tunings.find(session, number))

    found = read(where, f"/tunings/{number}", here)
    if in_json:
        click.echo(json.dumps(found))
        return
    click.echo(visible(aligned(found["told"])))
    click.echo(visible(found["outcome"]))
    click.echo(f"\n{found['manifest']}", nl=False)


deeds.add_commands(tuning, number=NUMBER)
