"""What the command test does with --against: candidate and baseline against the same field."""

from __future__ import annotations

import time as wall
from collections.abc import Sequence
from contextlib import closing

import click

from arena.cli.first_faults import ADVICE, FirstFaults
from arena.cli.interrupts import INTERRUPTED, broken_off, stoppable
from arena.cli.listing import say
from arena.cli.report import LINE_SECONDS, aligned, json_text, leave, verdict_code, verdict_line
from arena.cli.runner import Launcher, play_rounds, weakest
from arena.ratings.sprt import Decision
from arena.strength.gauntlet import GauntletTest
from arena.strength.sequential import StrengthSettings
from arena.strength.words import gauntlet_rows
from engine.books import book_json
from engine.plurals import counted
from engine.translation import ENGLISH, gettext, speaking, translated


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
                        gettext(
                            "%(number)s of %(all)s",
                            number=gauntlet.played,
                            all=counted(gauntlet.rounds, "round"),
                        ),
                        err=True,
                    )
    level, names = weakest([*pair, *field]), [bot.name for bot in field]
    everybody = [candidate.name, baseline.name, *names]
    spoilt = gauntlet.spoilt_words(everybody)
    verdict = gauntlet.verdict(everybody)

    def show() -> None:
        rows = [*gauntlet_rows(gauntlet, everybody)]
        if settings.book:
            rows.append((gettext("book"), str(settings.book)))
        rows.append((gettext("box"), level))
        click.echo(aligned(rows))
        say(verdict_line(verdict, gauntlet.decision, spoilt=bool(spoilt)))

    with speaking(ENGLISH):
        result = gauntlet.to_json(names) | {
            "verdict": gauntlet.verdict(everybody),
            "first_faults": faults.lines,
            "isolation": level,
            **book_json(settings.book),
        }
    leave([(json_file, lambda: json_text(result))], show)
    if spoilt:
        click.echo("\n".join([*faults.lines, translated(ADVICE)]), err=True)
    trouble.tell()
    if gauntlet.decision is Decision.CONTINUE and stopped():
        return INTERRUPTED
    return verdict_code(gauntlet.decision, spoilt=bool(spoilt))
