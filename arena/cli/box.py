"""Commands about boxes: check a bot in one, and say which boxes this machine can build."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import click

from arena.cli import Usage
from engine.clock import TimeControl
from engine.games import find_variant
from engine.match import MatchSpec, entrants_needed, play_match
from engine.process import BotProcess
from workers import bundles
from workers.archives import BundleError
from workers.doctor import examine
from workers.sandbox import Sandbox
from workers.walls import BoxError

MINIMUM = click.option(
    "--minimum",
    type=click.Choice(["full", "good", "reduced", "none"]),
    default="good",
    show_default=True,
    envvar="ARENA_MINIMUM_ISOLATION",
    help="The weakest box to accept.",
)


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--game", required=True, help="A game, with options: 'clobber size=5x6'.")
@click.option("--move", "move_ms", default=1000, show_default=True, help="Milliseconds a move.")
@click.option("--json", "in_json", is_flag=True, help="Print JSON.")
@MINIMUM
def check(file: Path, game: str, move_ms: int, in_json: bool, minimum: str) -> None:
    """Check a bot as an arena does: a whole game against itself, in the box.

    Example: arena check mybot.py --game clobber
    """
    name, *options = game.split() or [""]
    variant = find_variant(name, options).drawn(0)
    control = TimeControl(move_ms=move_ms)
    try:
        bundle = bundles.pack(file)
        box = Sandbox(minimum)
        with tempfile.TemporaryDirectory() as stored:
            archive = bundles.store(Path(stored), bundle)
            folder = bundles.unpack(archive, bundle.digest, box.bundles)
        launch = bundles.launch(folder)
    except (BundleError, BoxError) as error:
        raise Usage(str(error)) from None
    seats = entrants_needed(variant)
    result = play_match(
        MatchSpec(variant, (bundle.name,) * seats, control),
        lambda _: BotProcess(lambda: box.start(folder, launch)),
        games=1,
    )
    (record,), (logs,) = result.games, result.logs
    faults = [f"ply {fault.ply}: {fault.termination}, {fault.detail}" for fault in record.faults]
    if in_json:
        click.echo(
            json.dumps(
                {
                    "bot": bundle.name,
                    "digest": bundle.digest,
                    "language": bundle.language,
                    "variant": str(variant),
                    "isolation": record.isolation,
                    "plies": len(record.plies),
                    "termination": str(record.termination),
                    "faults": faults,
                    "logs": list(logs),
                }
            )
        )
    else:
        click.echo(f"{bundle.name} ({bundle.language}), box: {record.isolation}")
        click.echo(
            f"a game of {variant} against itself: {len(record.plies)} plies, {record.termination}"
        )
        for fault in faults:
            click.echo(f"FAULT {fault}")
        log = next((log for log in logs if log), "")
        click.echo(f"its log:\n{log}" if log else "its log is empty")
        click.echo("failed" if faults else "passed")
    sys.exit(1 if faults else 0)


@click.command()
@click.option("--json", "in_json", is_flag=True, help="Print JSON.")
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
            (f"the box: {report.level}", report.layers),
            ("the machine", report.host),
            ("languages", report.languages),
        ):
            click.echo(heading)
            for finding in findings:
                mark = "ok  " if finding.holds else "no  "
                click.echo(f"  {mark}{finding.name}: {finding.detail}")
                if not finding.holds and finding.remedy:
                    click.echo(f"      do: {finding.remedy}")
        verdict = "bots can be run here" if report.suffices else "no uploaded bot is run here"
        click.echo(f"{verdict} (minimum: {report.minimum})")
    sys.exit(0 if report.suffices else 1)
