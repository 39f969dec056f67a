"""The command games: what can be played here."""

from __future__ import annotations

import click

from arena.cli.listing import show
from arena.cli.options import as_json
from engine.games import GAMES
from engine.translation import N_


@click.command()
@as_json
def games(in_json: bool) -> None:
    """List the games that are installed, and by whose rules; and those that can't be loaded.

    Example: arena games
    """
    rows = [
        {
            "game": name,
            "title": game.title,
            "rules": GAMES.rules(name),
            "options": {key: option.allowed for key, option in game.options.items()},
            "problem": None,
        }
        for name, game in GAMES.items()
    ]
    for name, problem in {**GAMES.faults, **GAMES.absent}.items():
        rows.append({"game": name, "title": "", "rules": "", "options": {}, "problem": problem})
    show(rows, (N_("game"), N_("title"), N_("rules"), N_("problem")), in_json)
