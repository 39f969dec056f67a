"""What bots say while they play: the lines of the protocol as they pass, and their logs."""

from __future__ import annotations

import re
from collections.abc import Sequence

import click

from engine.channel import TracedChannel
from engine.game import Seat
from engine.process import OpenChannel
from engine.protocol import visible
from engine.translation import gettext

LONGEST_SHOWN = 300


def traced_channel(name: str) -> OpenChannel:
    """A channel that shows each line on standard error: seat, bot, direction, line."""
    seat = "-"

    def tell(direction: str, line: str) -> None:
        nonlocal seat
        if direction == ">" and (found := re.match(r"newgame .* you=(\d+)", line)):
            seat = found[1]
        if len(line) > LONGEST_SHOWN:
            line = f"{line[:LONGEST_SHOWN]}... ({len(line)} characters)"
        click.echo(f"{seat} {name} {direction} {visible(line)}", err=True)

    return lambda program, errors: TracedChannel(program, errors, tell)


def print_logs(
    names: Sequence[str], logs: Sequence[str], seats: Sequence[Seat] | None = None
) -> None:
    """Shows on standard error what the seats of a game logged; all of them by default."""
    for seat, name, log in zip(seats or range(len(names)), names, logs, strict=True):
        if log:
            words = gettext("the log of seat %(seat)s, %(name)s:", seat=seat + 1, name=name)
            words += f"\n{visible(log.rstrip())}"
        else:
            words = gettext("the log of seat %(seat)s, %(name)s is empty", seat=seat + 1, name=name)
        click.echo(words, err=True)
