"""The command ladder: create one, change what it is, and show its rounds."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable
from typing import Any

import click
from sqlalchemy.orm import Session

from arena.cli import InputError, deeds
from arena.cli.arguments import read_variant
from arena.cli.client import Name, Where, on_arena
from arena.cli.completing import games_known
from arena.cli.listing import show
from arena.cli.options import as_json, in_english
from arena.cli.reading import read
from arena.competitions.date_deeds import DATES
from arena.competitions.founding import find_named
from arena.competitions.ladder_deeds import ChangeLadder, CreateLadder
from arena.competitions.ladder_settings import SETTINGS
from arena.competitions.renaming import RenameCompetition
from arena.competitions.round_tables import MOST_ROUNDS, round_table
from arena.ground.config import Settings
from arena.models import Ladder
from arena.web.api.round_shapes import CSV, LadderRoundsShape, csv_lines
from engine.plurals import capitalized
from engine.translation import N_, gettext


@click.group()
def ladder() -> None:
    """Ladders: create one, change what it is, and show its rounds."""


def _ladder_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """An option for everything that can be chosen about a ladder."""
    for key, setting in reversed(list(SETTINGS.items())):
        # Words that begin with a value keep its small letter, in which alone it is understood.
        words = setting.words if setting.choices else capitalized(setting.words)
        default = f"; by default {setting.default}" if setting.default else ""
        command = click.option(f"--{key}", key, help=f"{words}{default}.")(command)
    return command


@ladder.command("create")
@click.argument("name")
@click.option(
    "--game",
    required=True,
    shell_complete=games_known,
    help="The game with its options, e.g. 'clobber size=5x6'.",
)
@_ladder_options
@click.option("--dates", type=deeds.Pairs(), help=f"{DATES}.")
@on_arena
def create_command(
    name: str, game: str, where: Where, dates: dict[str, str] | None, **settings: str | None
) -> None:
    """Create a ladder.

    NAME is what addresses and commands call it.

    Example: arena ladder create blitz --game "clobber size=8x8" --time 5+0.05
    """
    variant = read_variant(game)
    chosen = {key: text for key, text in settings.items() if text is not None}
    options = dict(variant.options)
    its = {"options": options, "settings": chosen, "dates": dates or {}}
    deeds.do_one(deeds.made(CreateLadder, name=name, game=variant.game, **its), where)


@ladder.command("change")
@click.argument("name", type=Name("ladders"))
@click.argument("changes", metavar="KEY=VALUE...", nargs=-1, required=True)
@on_arena
def change_command(name: str, changes: tuple[str, ...], where: Where) -> None:
    """Change settings of a ladder.

    They are called as the options of arena ladder create, and state: open, paused, frozen or
    closed. What games are played by stays as it is once there are matches.

    Example: arena ladder change blitz state=paused title="Blitz, paused"
    """
    for text in changes:
        if "=" not in text:
            raise InputError(
                gettext(
                    "%(text)r is no change: write KEY=VALUE, KEY of %(keys)s",
                    text=text,
                    keys=", ".join(SETTINGS),
                )
            )
    chosen = {key: value for key, _, value in (text.partition("=") for text in changes)}
    deeds.do_one(deeds.made(ChangeLadder, name=name, settings=chosen), where)


@ladder.command("rename")
@click.argument("name", type=Name("ladders"))
@click.argument("new_name")
@on_arena
def rename_command(name: str, new_name: str, where: Where) -> None:
    """Give a ladder another name; by the one before it is found, too.

    Example: arena ladder rename blitz lightning
    """
    deeds.do_one(deeds.made(RenameCompetition, name=name, to=new_name), where)


@ladder.command("rounds")
@click.argument("name", type=Name("ladders"))
@click.option(
    "--last",
    type=click.IntRange(1, MOST_ROUNDS),
    default=5,
    show_default=True,
    help="So many rounds, the newest.",
)
@click.option(
    "--csv",
    "in_csv",
    is_flag=True,
    help="Print CSV, of each bot in each round a line.",
    callback=in_english,
)
@on_arena
@as_json
def rounds_command(name: str, last: int, in_csv: bool, where: Where, in_json: bool) -> None:
    """Show the rounds of a ladder, its divisions, and where each bot came.

    Of each round the table has the place and, in brackets, the points.

    Example: arena ladder rounds blitz
    """
    if in_csv and in_json:
        raise InputError(gettext("choose --csv or --json"))

    def here(session: Session, _: Settings) -> LadderRoundsShape:
        table = round_table(session, find_named(session, Ladder, name), last)
        return LadderRoundsShape.shown(table)

    found = read(where, f"/ladders/{name}/rounds", here, last=last)
    if in_json:
        click.echo(json.dumps(found))
    elif in_csv:
        writer = csv.DictWriter(sys.stdout, fieldnames=CSV)
        writer.writeheader()
        writer.writerows(csv_lines(found))
    else:
        _show_rounds(found)


def _show_rounds(found: dict[str, Any]) -> None:
    if not found["bots"]:
        click.echo(gettext("%(ladder)s has had no rounds", ladder=found["ladder"]))
        return
    numbers = [str(one["number"]) for one in found["rounds"]]
    rows = [
        line
        | {"bot": f"{line['bot']} ({gettext('boss')})" if line["boss"] else line["bot"]}
        | {"points": f"{line['points']:g}", "division": line["division"] or ""}
        | dict.fromkeys(numbers, "")
        | {str(one["round"]): _place(one, line["division"]) for one in line["results"]}
        for line in found["bots"]
    ]
    columns = (N_("division"), N_("bot"), N_("points"), N_("rounds"), *numbers)
    show(
        rows, columns, in_json=False, title=gettext("Rounds of %(ladder)s", ladder=found["ladder"])
    )


def _place(one: dict[str, Any], division: int | None) -> str:
    """A bot's place in a round, with the division where it is in another one now."""
    place = "…" if one["place"] is None else f"{one['place']} ({one['points']:g})"
    if one["division"] in (0, division):
        return place
    return f"{place}, {gettext('div. %(number)s', number=one['division'])}"


deeds.add_commands(ladder)
