"""What the command test does with --against: candidate and baseline against the same field."""

from __future__ import annotations

import time as wall
from collections.abc import Sequence
from contextlib import closing

import click

from arena.cli.first_faults import ADVICE, FirstFaults
from arena.cli.interrupts import INTERRUPTED, broken_off, stoppable
from arena.cli.report import LINE_SECONDS, json_text, leave, verdict_code
from arena.cli.runner import Launcher, play_rounds, weakest
from arena.ratings.sprt import Decision
from arena.strength.gauntlet import GauntletLine, GauntletTest
from arena.strength.sequential import StrengthSettings
from arena.strength.words import elo_words, faults_words
from engine.books import book_json
from engine.plurals import counted

VERDICTS = {
    Decision.ACCEPT: "passed: the candidate does better against this field",
    Decision.REJECT: "failed: the baseline does better against this field",
    Decision.UNDECIDED: "undecided: the 95 % interval of the difference holds zero",
    Decision.CONTINUE: "undecided: it was not played to its end",
}


def run_gauntlet(
    settings: StrengthSettings,
    pair: tuple[Launcher, Launcher],
    field: Sequence[Launcher],
    *,
    games: int,
    concurrency: int,
    json_file: str | None,
) -> int:
    """Plays a gauntlet of candidate and baseline, prints its result, and returns the exit code.

    Raises:
        InputError: the result can't be written.
    """
    candidate, baseline = pair
    gauntlet = GauntletTest.begin(
        settings.variant, games, len(field), allow_faults=settings.terms.allow_faults
    )
    faults = FirstFaults()
    told = wall.monotonic()
    with stoppable() as stopped, broken_off() as trouble:
        rounds = play_rounds(
            gauntlet,
            candidate,
            baseline,
            field,
            settings,
            concurrency=concurrency,
            stopped=stopped,
        )
        with closing(rounds):
            for step, records in rounds:
                gauntlet = step
                faults.note(records)
                if wall.monotonic() - told >= LINE_SECONDS:
                    told = wall.monotonic()
                    click.echo(
                        f"{gauntlet.played} of {counted(gauntlet.rounds, 'round')}", err=True
                    )
    level, names = weakest([*pair, *field]), [bot.name for bot in field]
    everybody = [candidate.name, baseline.name, *names]
    spoilt = gauntlet.spoilt_words(everybody)
    verdict = f"undecided: {spoilt}" if spoilt else VERDICTS[gauntlet.decision]

    def show() -> None:
        _print(gauntlet, candidate, baseline, names)
        if settings.book:
            click.echo(f"book     {settings.book}")
        click.echo(f"box      {level}")
        click.echo(verdict)

    result = {
        "verdict": verdict,
        "first_faults": faults.lines,
        "isolation": level,
        **book_json(settings.book),
    }
    leave([(json_file, lambda: json_text(gauntlet.to_json(names) | result))], show)
    if spoilt:
        click.echo("\n".join([*faults.lines, ADVICE]), err=True)
    trouble.tell()
    if gauntlet.decision is Decision.CONTINUE and stopped():
        return INTERRUPTED
    return verdict_code(gauntlet.decision, spoilt=bool(spoilt))


def _print(
    gauntlet: GauntletTest, candidate: Launcher, baseline: Launcher, field: Sequence[str]
) -> None:
    mean, lower, upper = gauntlet.difference
    click.echo(f"game     {gauntlet.variant}")
    each = zip(field, gauntlet.games_of[2:], gauntlet.opponents, strict=True)
    for number, (name, games, faults) in enumerate(each):
        against = f"{name}, {counted(games, 'game')}, faults {faults_words(faults)}"
        click.echo(f"{'' if number else 'field':<8} {against}")
    for bot, line in ((candidate, gauntlet.candidate), (baseline, gauntlet.baseline)):
        click.echo(f"{bot.name}: {gauntlet.score(line):.1%}, {_words(line)}")
    click.echo(f"better   by {mean:+z.1%} [{lower:+z.1%}, {upper:+z.1%}]")
    click.echo(f"Elo      {elo_words(gauntlet.estimate)}")
    click.echo(
        f"games    {gauntlet.games}, of {gauntlet.played} of {counted(gauntlet.rounds, 'round')}"
    )


def _words(line: GauntletLine) -> str:
    faults = ", ".join(f"{key} {count}" for key, count in line.faults.items())
    return f"W-D-L {line.wins}-{line.draws}-{line.losses}, faults {faults or 'none'}"
