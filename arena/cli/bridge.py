"""The command bridge: foreign programs as bots, without a change of theirs."""

from __future__ import annotations

import sys

import click

from arena.cli import InputError
from engine.bridges.command import Bridge, UsageError, play


@click.group()
def bridge() -> None:
    """Make a bot of a program that speaks another protocol.

    As a command a bridge plays on your own machine and in no box, and its CPU time is not that of
    the program behind it: play it with --wall. A bot.toml that names a bridge has both in a box.

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
    _run(Bridge("ugi", options), command)


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
    _run(Bridge("gtp", first), command)


def _run(bridge: Bridge, command: tuple[str, ...]) -> None:
    try:
        adapter = bridge.adapter(command)
    except UsageError as error:
        raise InputError(str(error)) from None
    play(adapter, sys.stdin)
