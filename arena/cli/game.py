"""The commands game new and game check: for whoever brings a game of their own."""

from __future__ import annotations

import json
import shutil
import sys
import time
import tracemalloc
from pathlib import Path
from random import Random

import click

from arena.cli import InputError
from arena.cli.arguments import read_variant
from arena.cli.completing import games_known
from arena.cli.game_checks import CheckOutcome, run_checks
from arena.cli.listing import BAD, GOOD, say
from arena.cli.options import as_json
from engine.conformance import random_path
from engine.game import Game, Variant
from engine.games import GAMES
from engine.plurals import grouped
from engine.protocol import visible
from engine.shelf import NAME
from engine.translation import N_, gettext, translated

TEMPLATE = Path(__file__).with_name("new_game")
MODEL, MODULE, TITLE = "three-in-a-row", "three_in_a_row", "Three in a Row"
"""What the template's game is called, and what its files are."""
MEASURED_SECONDS = 1.0


@click.group()
def game() -> None:
    """Bring a game of your own: begin a package, and check it.

    Example: arena game new connect-four
    """


@game.command()
@click.argument("name")
def new(name: str) -> None:
    """Begin a package with a game that plays, its rules page and its tests, in a folder NAME.

    Example: arena game new connect-four
    """
    if not NAME.fullmatch(name):
        raise InputError(
            gettext(
                "%(name)r is no name for a game: take up to 40 small letters, digits and '-', "
                "a letter first",
                name=name[:60],
            )
        )
    if name in GAMES.declared:
        taken = GAMES.declared[name].package
        raise InputError(
            gettext(
                "%(name)s is a game of %(taken)s already: take another name", name=name, taken=taken
            )
        )
    folder = Path(name)
    if folder.exists():
        raise InputError(
            gettext("%(name)s is there already: take another name, or another folder", name=name)
        )
    title = " ".join(word.capitalize() for word in name.split("-"))
    words = {MODEL: name, MODULE: name.replace("-", "_"), TITLE: title}
    words[TITLE.title().replace(" ", "")] = title.replace(" ", "")
    try:
        for source in sorted(TEMPLATE.rglob("*")):
            if source.is_file() and "__pycache__" not in source.parts:
                file = folder / _put(str(source.relative_to(TEMPLATE)), words)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(_put(source.read_text("utf-8"), words), encoding="utf-8")
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise InputError(
            gettext("can't write the folder %(name)s: %(reason)s", name=name, reason=error.strerror)
        ) from None
    module = words[MODULE]
    click.echo(
        gettext(
            "%(name)s/ has a package with a game that plays.\n"
            "  %(name)s/%(module)s/__init__.py   its rules; write your own there\n"
            "  %(name)s/%(module)s/rules.md      its page for people\n"
            "  %(name)s/%(tests)s   its tests\n"
            "Next: %(commands)s",
            name=name,
            module=module,
            tests=f"{'tests/':{len(module) + 12}}",
            commands=f"pip install -e {name}; arena game check {name}; "
            f"arena play {name} mcts random --games 10",
        )
    )


def _put(text: str, words: dict[str, str]) -> str:
    """A text of the template with the words of another game."""
    for old, its in words.items():
        text = text.replace(old, its)
    return text


@game.command()
@click.argument("name", metavar="GAME", shell_complete=games_known)
@click.option("--seconds", default=60.0, show_default=True, help="That one check may take.")
@as_json
def check(name: str, seconds: float, in_json: bool) -> None:
    """Check a game that is installed, in each variant that it offers, or in one: 'NAME size=4x4'.

    What every game must keep to is tried on random games; what takes longer than it may is ended,
    and told with the line at which it was. Exit code 1 says that something does not hold.

    Example: arena game check connect-four
    """
    word, *options = name.split()
    found = GAMES[word]
    variants = (read_variant(name),) if options else _offered(found)
    outcomes: list[CheckOutcome] = []
    for outcome in run_checks(found, variants, seconds):
        outcomes.append(outcome)
        if not in_json:
            _print(outcome)
    broken = [one for one in outcomes if one.problem]
    measures = {} if broken else {str(one): measure(one) for one in variants}
    if in_json:
        told = [one.to_json() for one in outcomes]
        click.echo(json.dumps({"game": word, "checks": told, "measured": measures}))
    else:
        for variant, measured in measures.items():
            each = (f"{translated(key)} {grouped(its, 'g')}" for key, its in measured.items())
            click.echo(f"{variant}: {', '.join(each)}")
        click.echo(
            gettext(
                "%(game)s by the rules of %(rules)s: %(held)s of %(all)s checks hold",
                game=word,
                rules=GAMES.rules(word),
                held=len(outcomes) - len(broken),
                all=len(outcomes),
            )
        )
    sys.exit(1 if broken else 0)


def _offered(game: Game) -> tuple[Variant, ...]:
    """What a game offers; nothing if it can't make that, which the first of its checks tells."""
    try:
        return game.offered
    except Exception:
        return ()


def _print(outcome: CheckOutcome) -> None:
    mark = ("BROKEN", BAD) if outcome.problem else ("ok    ", GOOD)
    say(mark, f" {outcome.subject}: {outcome.check}")
    for line in (outcome.problem, *outcome.lines) if outcome.problem else ():
        click.echo(f"         {visible(line)}")


def measure(variant: Variant) -> dict[str, int]:
    """How quick a variant is here by this process's clock, and what its positions take."""
    start, random = variant.initial(1), Random(1)
    playouts, began = 0, time.process_time()
    while (spent := time.process_time() - began) < MEASURED_SECONDS:
        start.playout(random)
        playouts += 1
    tracemalloc.start()
    path = random_path(start, random, variant.max_plies)
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return {
        N_("playouts a second"): round(playouts / spent),
        N_("bytes a position"): size // len(path),
    }
