"""What a shell completes behind commands: games and what can be chosen about them, bots that lie
here, and what an arena has by name, of a data folder or elsewhere.

Whoever presses the key waits for it, and reads no faults: what does not come soon, or fails, is
nothing.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from itertools import islice
from typing import Any

import click
from click.shell_completion import CompletionItem as Item

WAIT_SECONDS = 1.5
"""How long an arena is asked."""
MOST = 500
"""Names that are offered."""
KINDS: Mapping[str, str] = {
    "ladder": "ladders",
    "bot": "bots",
    "bots": "bots",
    "candidate": "bots",
    "baseline": "bots",
    "against": "bots",
    "worker": "workers",
    "team": "teams",
}
"""What is listed where a deed asks for something by such a word."""

Completes = Callable[[click.Context, click.Parameter, str], list[Any]]


def _quietly(complete: Completes) -> Completes:
    """Offers nothing where that fails, or lasts too long."""

    def end(*_: object) -> None:
        raise TimeoutError

    @wraps(complete)
    def call(context: click.Context, param: click.Parameter, begun: str) -> list[Item[str]]:
        before = signal.signal(signal.SIGALRM, end)
        signal.setitimer(signal.ITIMER_REAL, WAIT_SECONDS)
        try:
            return complete(context, param, begun)
        except Exception:
            return []
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    return call


@_quietly
def games_known(_: click.Context, __: click.Parameter, begun: str) -> list[Item[str]]:
    """Games, and what can be chosen about one whose name stands there with a space."""
    from engine.games import GAMES  # a command's help needs none of it

    name, space, _rest = begun.rpartition(" ")
    if space:
        return _offer((f"{name} {one}" for one in _choices(name.split()[0])), begun)
    # Families are loaded where one of their games is asked for.
    return _offer(GAMES if ":" in begun else GAMES.declared, begun)


@_quietly
def choices(context: click.Context, _: click.Parameter, begun: str) -> list[Item[str]]:
    """What can be chosen about the game before."""
    return _offer(_choices(_game_of(context)), begun)


@_quietly
def bots_here(_: click.Context, __: click.Parameter, begun: str) -> list[Item[str]]:
    """Bots as commands take them that play here: sample bots, and files."""
    from arena.cli.arguments import listed_samples

    return _offer((one["name"] for one in listed_samples()), begun) or [Item(begun, type="file")]


def words_of_game(context: click.Context, param: click.Parameter, begun: str) -> list[Item[str]]:
    """What stands behind a game: what is chosen about it, and bots; or the game, if it is first."""
    is_first = "game" not in context.params and not context.params["words"]
    chosen = (games_known if is_first else choices)(context, param, begun)
    bots = bots_here(context, param, begun)
    # A shell would forget the others over files.
    return [*chosen, *(bot for bot in bots if bot.type == "plain" or not chosen)]


def named(kind: str) -> Completes:
    """What an arena has by name, of a kind as its API lists it, such as ``ladders``."""

    @_quietly
    def complete(context: click.Context, _: click.Parameter, begun: str) -> list[Item[str]]:
        # Several may be written with commas between them.
        before, comma, last = begun.rpartition(",")
        given = context.params
        found = _names(kind, given.get("server"), given.get("data"), last.lower())
        return _offer((f"{before}{comma}{one}" for one in found), begun)

    return complete


def of_part(name: str, address: str) -> Completes | None:
    """What is completed where a deed asks for something.

    Args:
        name: what that is called.
        address: where the API has the deed.
    """
    if name == "game":
        return games_known
    kind = KINDS.get(name)
    if kind is None and f"/<{name}>" in address:
        kind = address.split("/")[1]
    return None if kind is None else named(kind)


def _offer(names: Iterable[str], begun: str) -> list[Item[str]]:
    like = (name for name in names if name.lower().startswith(begun.lower()))
    return [Item(name) for name in islice(like, MOST)]


def _game_of(context: click.Context) -> str:
    given = context.params.get("game") or context.params["words"]
    name: str = given if isinstance(given, str) else given[0]
    return name.split()[0]


def _choices(game: str) -> list[str]:
    """What can be chosen about a game, as far as it has examples of it."""
    from engine.games import GAMES

    its = GAMES[game]
    found = {f"{key}={option.default}": None for key, option in its.options.items()}
    for variant in its.offered:
        found |= {f"{key}={value}": None for key, value in variant.options.items()}
    return sorted(found)


def _names(kind: str, server: str | None, data: Any, begun: str) -> list[str]:
    # They take longer to import than all else that is completed.
    import sqlalchemy as sa

    from arena import models
    from arena.cli.client import Where
    from arena.cli.data_folder import opened
    from arena.competitions.gauntlets import Gauntlet

    there = Where(server, data).server()
    if there is not None:
        return sorted(one["name"] for one in islice(there.all(f"/{kind}", limit=100), MOST))
    name = {
        "ladders": models.Ladder.name,
        "tournaments": models.Tournament.name,
        "gauntlets": Gauntlet.name,
        "competitions": models.Competition.name,
        "bots": models.Bot.name,
        "presets": models.TestPreset.name,
        "books": models.OpeningBook.name,
        "runtimes": models.Runtime.name,
        "workers": models.Worker.name,
        "users": models.User.name,
        "teams": models.Team.name,
    }[kind]
    like = sa.func.lower(name).startswith(begun, autoescape=True)
    with opened(data) as (database, _), database.read() as session:
        return list(session.scalars(sa.select(name).where(like).order_by(name).limit(MOST)))
