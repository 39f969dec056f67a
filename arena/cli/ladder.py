"""The command ladder: create one, and change what it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from arena.cli import InputError, deeds
from arena.cli.arguments import read_variant
from arena.cli.client import Name, Where, on_arena
from arena.cli.completing import games_known
from arena.competitions.date_deeds import DATES
from arena.competitions.ladder_deeds import ChangeLadder, CreateLadder
from arena.competitions.ladder_settings import SETTINGS
from arena.competitions.renaming import RenameCompetition
from engine.translation import gettext


@click.group()
def ladder() -> None:
    """Ladders: create one, and change what it is."""


def _ladder_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """An option for everything that can be chosen about a ladder."""
    for key, setting in reversed(list(SETTINGS.items())):
        # Words that begin with a value keep its small letter, in which alone it is understood.
        words = setting.words if setting.choices else setting.words[0].upper() + setting.words[1:]
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


deeds.add_commands(ladder)
