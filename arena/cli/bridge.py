"""The command bridge: foreign programs as bots, without a change of theirs."""

from __future__ import annotations

import signal
import sys

import click

from arena.bridges import bot
from arena.bridges.foreign import BridgeError
from arena.bridges.gtp import Gtp
from arena.bridges.ugi import Ugi
from arena.cli import InputError


@click.group()
def bridge() -> None:
    """Make a bot of a program that speaks another protocol.

    A bridge is a bot of two processes, so it plays on your own machine and in no box. Its CPU
    time is not that of the program behind it: play it with --wall.

    \b
    Example: arena play clobber size=5x6 --wall "arena bridge ugi -- fairy-stockfish" greedy
    """


@bridge.command()
@click.option(
    "--option", "options", metavar="NAME=VALUE", multiple=True, help="Set an option of the program."
)
@click.argument("command", metavar="-- COMMAND...", nargs=-1, required=True)
def ugi(options: tuple[str, ...], command: tuple[str, ...]) -> None:
    """For programs that speak UGI, or UCI as Fairy-Stockfish does.

    Example: arena bridge ugi --option Threads=1 -- fairy-stockfish
    """
    chosen = {}
    for option in options:
        key, equals, value = option.partition("=")
        if not equals:
            raise InputError(f"{option[:40]!r} is no option; an option is written NAME=VALUE")
        chosen[key] = value
    _run(Ugi(command, chosen))


@bridge.command()
@click.option(
    "--first", metavar="COMMAND", multiple=True, help="A GTP command before the first game."
)
@click.argument("command", metavar="-- COMMAND...", nargs=-1, required=True)
def gtp(first: tuple[str, ...], command: tuple[str, ...]) -> None:
    """For programs that speak GTP for Blokus as Pentobi does.

    \b
    Example: arena bridge gtp --first "set_random_seed 7" -- pentobi-gtp --nobook --level 3
    """
    if not all(one.strip() for one in first):
        raise InputError("--first is empty; it takes a GTP command")
    _run(Gtp(command, first))


def _run(adapter: bot.Adapter) -> None:
    """Plays; a bridge that can't go on says why on standard error.

    However it ends, the program behind it is ended before it.
    """
    for number in (signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit(1))
    try:
        bot.run(adapter, sys.stdin, lambda line: print(line, flush=True))
    except (BridgeError, UnicodeDecodeError) as error:
        click.echo(f"arena bridge: {error}", err=True)
        sys.exit(1)
