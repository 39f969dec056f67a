"""What the command test does with --against: candidate and baseline against the same field."""

from __future__ import annotations

import time as wall
from collections.abc import Callable, Sequence
from contextlib import closing

import click

from arena.cli.report import LINE_SECONDS, write_json
from arena.cli.running import Launcher, play_rounds, weakest
from arena.gauntlet import Gauntlet, Line
from arena.ratings.sprt import Decision
from arena.strength import Settings
from arena.strength_words import elo_words
from engine.counting import counted

VERDICTS = {
    Decision.ACCEPT: "passed: the candidate does better against this field",
    Decision.REJECT: "failed: the baseline does better against this field",
    Decision.UNDECIDED: "undecided: the 95 % interval of the difference holds zero",
    Decision.CONTINUE: "undecided: it was not played to its end",
}


def run_gauntlet(
    settings: Settings,
    pair: tuple[Launcher, Launcher],
    field: Sequence[Launcher],
    *,
    games: int,
    concurrency: int,
    json_file: str | None,
    stopped: Callable[[], bool],
) -> Decision:
    """Plays a gauntlet of candidate and baseline, prints its result, and returns it."""
    candidate, baseline = pair
    gauntlet = Gauntlet.begin(settings.variant, games, len(field))
    told = wall.monotonic()
    rounds = play_rounds(
        gauntlet,
        candidate,
        baseline,
        field,
        settings.time,
        seed=settings.seed,
        concurrency=concurrency,
        stopped=stopped,
    )
    with closing(rounds):
        for step in rounds:
            gauntlet = step
            if wall.monotonic() - told >= LINE_SECONDS:
                told = wall.monotonic()
                click.echo(f"{gauntlet.played} of {counted(gauntlet.rounds, 'round')}", err=True)
    level = weakest([*pair, *field])
    if json_file != "-":
        _print(gauntlet, candidate, baseline, field)
        click.echo(f"box      {level}")
        click.echo(VERDICTS[gauntlet.decision])
    if json_file:
        write_json(json_file, gauntlet.to_json() | {"isolation": level})
    return gauntlet.decision


def _print(
    gauntlet: Gauntlet, candidate: Launcher, baseline: Launcher, field: Sequence[Launcher]
) -> None:
    mean, lower, upper = gauntlet.difference
    click.echo(f"game     {gauntlet.variant}")
    click.echo(f"field    {', '.join(bot.name for bot in field)}")
    for bot, line in ((candidate, gauntlet.candidate), (baseline, gauntlet.baseline)):
        click.echo(f"{bot.name}: {gauntlet.score(line):.1%}, {_words(line)}")
    click.echo(f"better   by {mean:+z.1%} [{lower:+z.1%}, {upper:+z.1%}]")
    click.echo(f"Elo      {elo_words(gauntlet.estimate)}")
    click.echo(
        f"games    {gauntlet.games}, of {gauntlet.played} of {counted(gauntlet.rounds, 'round')}"
    )


def _words(line: Line) -> str:
    faults = ", ".join(f"{key} {count}" for key, count in line.faults.items())
    return f"W-D-L {line.wins}-{line.draws}-{line.losses}, faults {faults or 'none'}"
