"""Commands about boxes: check a bot in one, and say which boxes this machine can build."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import click

from arena.cli import refusing
from arena.cli.arguments import (
    CLOCK,
    MOVE,
    PROCESSES,
    find_path,
    minimum_option,
    read_variant,
    time_control,
)
from arena.cli.boxed import into_box, pack
from arena.cli.completing import bots_here, games_known
from arena.cli.listing import BAD, DOUBTFUL, GOOD, say
from arena.cli.options import as_json
from arena.ground import bot_names
from engine.clock import TimeControl
from engine.compliance import Examination
from engine.game import OptionError, Variant
from engine.games import GAMES
from engine.match import MatchSpec, entrants_needed
from engine.protocol import visible
from engine.reporting import Finding
from engine.translation import gettext, pgettext, translated
from workers.archives import BundleError
from workers.building import BuildError
from workers.bundles import Bundle
from workers.cores import claimed_core
from workers.doctor import examine
from workers.manifest import MANIFEST
from workers.program import BoxError
from workers.sandbox import Sandbox

MINIMUM = minimum_option("good")


@click.command()
@click.argument("bot", metavar="BOT", shell_complete=bots_here)
@click.option(
    "--game",
    shell_complete=games_known,
    help="A game, with options: 'clobber size=5x6'. By default the bot's own.",
)
@click.option("--name", help="What it is to be called, as for arena submit.")
@CLOCK
@MOVE
@PROCESSES
@as_json
@MINIMUM
def check(
    bot: str,
    game: str | None,
    name: str | None,
    clock: str | None,
    move_ms: int | None,
    processes: int,
    in_json: bool,
    minimum: str,
) -> None:
    """Check a bot as an arena does, clause by clause of the protocol, in the box.

    BOT is a program, a folder, an archive, or the name of a sample bot. Each clause is tried and
    told with the lines that were said; at last the bot plays a whole game against itself. The
    game is the first one in its bot.toml, or Clobber, if none is given. Exit code 1 says that
    something is broken.

    Example: arena check mybot.py --game clobber
    """
    control = time_control(clock, move_ms)
    variant = None if game is None else read_variant(game)
    with refusing(BundleError, BoxError):
        bundle = pack(find_path(bot))
        bundle = replace(bundle, name=name or bundle.name)
        box = Sandbox(minimum)
        box.end_orphans()
    variant = (variant or _game_of(bundle)).drawn(0)
    if not in_json:
        click.echo(
            gettext(
                "%(name)s (%(language)s) in a box of level %(level)r, %(variant)s, %(words)s",
                name=bundle.name,
                language=bundle.language,
                level=box.level,
                variant=variant,
                words=control.words,
            )
        )
    findings = []
    log = ""
    for finding, part in _findings(bundle, box, variant, control, processes):
        log += part
        if finding:
            findings.append(finding)
            if not in_json:
                _print(finding)
    kept = all(finding.kept for finding in findings)
    if in_json:
        click.echo(
            json.dumps(
                {
                    "bot": bundle.name,
                    "digest": bundle.digest,
                    "language": bundle.language,
                    "variant": str(variant),
                    "time": control.words,
                    "isolation": box.level,
                    "passed": kept,
                    "findings": [finding.to_json() for finding in findings],
                    "log": log,
                }
            )
        )
    else:
        heading = gettext("its log:") if log else gettext("its log is empty")
        click.echo("\n".join(["", heading, *([visible(log.rstrip())] if log else ())]))
        broken = sum(not finding.kept for finding in findings)
        failed = gettext("failed: %(number)s broken", number=broken)
        say((gettext("passed"), GOOD) if kept else (failed, BAD))
    sys.exit(0 if kept else 1)


def _findings(
    bundle: Bundle, box: Sandbox, variant: Variant, control: TimeControl, processes: int
) -> Iterator[tuple[Finding | None, str]]:
    """Builds a bot if it must be and checks it: what is found, and parts of the log."""
    if refusal := bot_names.refusal(bundle.name):
        remedy = gettext(
            "give another in %(file)s, or by --name, here and to arena submit", file=MANIFEST
        )
        yield Finding(False, f"{refusal}; {remedy}", "name"), ""
    try:
        boxed = into_box(bundle, box, processes)
    except BuildError as error:
        yield Finding(False, str(error), "build"), _build_log(error.log)
        return
    if boxed.ready.built:
        log = _build_log(boxed.ready.log) if boxed.ready.log else ""
        yield Finding(True, gettext("it was built from its sources"), "build"), log
    if words := boxed.refusal:
        words = gettext("it can't be run here: %(reason)s", reason=words)
        yield Finding(False, words, "language"), ""
        return
    names = (bundle.name,) * entrants_needed(variant)
    with claimed_core() as core:
        start, spec = partial(boxed.start, core), MatchSpec(variant, names, control)
        tested = Examination(
            start,
            spec,
            allowances=boxed.allowances,
            tells_errors=True,
            declared=boxed.ready.launch.options,
        )
        for finding in tested.findings():
            yield finding, ""
    yield None, tested.log


def _build_log(log: str) -> str:
    heading = gettext("while building")
    return f"=== {heading}\n{log.rstrip()}\n"


def _game_of(bundle: Bundle) -> Variant:
    """The first game that a bot says it knows; the one to begin with if it says nothing."""
    try:
        return read_variant(next(iter(bundle.manifest.games), GAMES.default.name))
    except OptionError as error:
        raise OptionError(f"{MANIFEST}: {error}") from None


def _print(finding: Finding) -> None:
    """A finding, and below it what was said."""
    kept = ("ok    ", GOOD) if finding.applies else "--    "
    say(
        kept if finding.kept else ("BROKEN", BAD),
        f" {translated(finding.clause)}: {visible(finding.words)}",
    )
    for line in finding.lines:
        click.echo(f"         {visible(line)}")


@click.command()
@as_json
@MINIMUM
def doctor(in_json: bool, minimum: str) -> None:
    """Say which boxes this machine can build for bots, and what to do about what is missing.

    Example: arena doctor
    """
    report = examine(minimum)
    if in_json:
        click.echo(json.dumps(report.to_json()))
    else:
        for heading, findings in (
            (gettext("the box: %(level)s", level=report.level), report.layers),
            (gettext("the machine"), report.host),
            (gettext("languages"), report.languages),
            (pgettext("a kind of game", "games"), report.games),
        ):
            click.echo(heading)
            for finding in findings:
                mark = ("ok  ", GOOD) if finding.holds else ("no  ", DOUBTFUL)
                say("  ", mark, f"{finding.name}: {finding.detail}")
                if not finding.holds and finding.remedy:
                    words = gettext("do: %(remedy)s", remedy=finding.remedy)
                    click.echo(f"      {words}")
        verdict = (
            gettext("bots can be run here (minimum: %(level)s)", level=report.minimum)
            if report.suffices
            else gettext("no uploaded bot is run here (minimum: %(level)s)", level=report.minimum)
        )
        say((verdict, GOOD if report.suffices else BAD))
    sys.exit(0 if report.suffices else 1)
