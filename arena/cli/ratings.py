"""The command ratings: ratings made anew."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

import click
import sqlalchemy as sa

from arena.cli.data_folder import opened
from arena.cli.options import as_json, on_data
from arena.cli.progress_bar import ProgressBar
from arena.competitions.kinds import names_of
from arena.models import Competition
from arena.recorder.rebuild import rebuild, rebuild_beside
from engine.plurals import counted
from engine.translation import gettext, ngettext


@click.group()
def ratings() -> None:
    """Ratings, made anew from the results."""


@ratings.command("rebuild")
@click.option("--check", is_flag=True, help="Only say whether they come out equal.")
@on_data
@as_json
def rebuild_command(check: bool, data: Path | None, in_json: bool) -> None:
    """Make ratings and counters anew from the results, and say whether they came out equal.

    Example: arena ratings rebuild --check
    """
    found = []
    with opened(data) as (database, _):
        with database.read() as session:
            kept = sa.select(Competition.id, Competition.games)
            kept = kept.where(Competition.kind.in_(names_of(lambda kind: kind.checked))).order_by(
                Competition.id
            )
            rows = session.execute(kept).all()
        with ProgressBar(
            gettext("rebuilding"), "game", total=sum(games for _, games in rows)
        ) as bar:
            for id_, _ in rows:
                if not check:
                    found.append(rebuild_beside(database, id_, bar.advance))
                    continue
                with database.read() as session:
                    competition = session.get_one(Competition, id_)
                    found.append(rebuild(session, competition, write=False, advance=bar.advance))
    if in_json:
        click.echo(json.dumps([asdict(one) | {"equal": one.equal} for one in found]))
    else:
        for one in found:
            count = len(one.differences)
            what = gettext("equal")
            if not one.equal:
                what = ngettext(
                    "%(number)s rating or counter differs",
                    "%(number)s ratings or counters differ",
                    count,
                    number=count,
                )
            games = counted(one.games, "game")
            entrants = counted(one.entrants, "entrant")
            click.echo(f"{one.competition}: {games}, {entrants}: {what}")
            for difference in one.differences[:5]:
                click.echo(f"  {difference}")
    sys.exit(0 if all(one.equal for one in found) or not check else 1)
