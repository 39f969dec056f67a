"""The command truth: what is certain of positions, and tables of it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from arena.cli import InputError, refusing
from arena.cli.arguments import read_variant
from arena.cli.completing import games_known
from arena.cli.options import NamedPath, as_json
from arena.cli.position import ReachedPosition, takes_position
from arena.cli.progress_bar import ProgressBar
from arena.ground.config import load
from engine.game import GameError, Variant
from engine.plurals import counted
from engine.translation import gettext, translated
from engine.truth import Advance, Budget, Truth, Value, choices, value_of, wants
from engine.truth_tables import check, file_name, find_truth, make

in_tables = click.option(
    "--tables",
    type=NamedPath(file_okay=False, path_type=Path),
    help="The folder of tables; by default truth in the data folder.",
)


@click.group()
def truth() -> None:
    """Say what is certain of positions, and make tables of it.

    Example: arena truth show clobber size=4x5
    """


def _folder(tables: Path | None) -> Path:
    return tables or load().truth


def _truth_of(variant: Variant, tables: Path | None) -> Truth:
    with refusing(GameError, OSError):
        found = find_truth(variant, _folder(tables))
        if found is None:
            raise GameError(
                gettext("nothing finds the values of positions of %(game)s", game=variant.game)
            )
    return found


@truth.command()
@takes_position
@click.option(
    "--steps",
    type=click.IntRange(1),
    default=200_000,
    show_default=True,
    help="Positions that a search may look at, for each move.",
)
@in_tables
@as_json
def show(reached: ReachedPosition, steps: int, tables: Path | None, in_json: bool) -> None:
    """Say what a position is worth with perfect play, and what each of its moves is worth.

    Example: arena truth show mijnlieff --after "b2<> a1+ c4x a4>< d1x"
    """
    state = reached.state
    found = _truth_of(state.variant, tables)
    value = value_of(found, state, Budget(steps))
    weighed = choices(found, state, Budget(steps * max(1, len(state.legal_moves()))))
    if in_json:
        told = {
            "variant": str(state.variant),
            "position": state.text(),
            "to_move": None if state.to_move is None else state.to_move + 1,
            "value": value,
            "moves": {one.move: one.value for one in weighed},
        }
        click.echo(json.dumps(told))
        return
    click.echo(_words(state.variant, value))
    sign = wants(state.to_move or 0)
    known = [one for one in weighed if one.value is not None]
    for one in sorted(known, key=lambda one: (-sign * (one.value or 0), one.move)):
        click.echo(f"  {one.move}: {_words(state.variant, one.value)}")
    if len(known) < len(weighed):
        unknown = counted(len(weighed) - len(known), "move")
        click.echo(f"  {unknown}: {_words(state.variant, None)}")


def _telling(bar: ProgressBar) -> Advance:
    return lambda what, done, total: bar.show(done, total=total, words=what)


def _words(variant: Variant, value: Value | None) -> str:
    if value is None:
        return gettext("not known within these steps")
    if variant.seats == 1:
        return gettext("can be solved") if value else gettext("can't be solved")
    if value == 0:
        return gettext("a draw")
    winner = translated(variant.seat_names[value < 0])
    if abs(value) > 1:
        return gettext("%(seat)s wins by %(points)s", seat=winner, points=abs(value))
    return gettext("%(seat)s wins", seat=winner)


@truth.command("make")
@click.argument("name", metavar="'GAME [KEY=VALUE]...'", shell_complete=games_known)
@click.option("--plies", type=click.IntRange(0, 100), help="Of the game, that it has.")
@click.option(
    "--parts",
    type=click.IntRange(1),
    help="Instead: what parts of so many stones are worth, for boards of any size.",
)
@click.option(
    "--steps",
    type=click.IntRange(1),
    default=10**9,
    help="Positions that the search from one may look at; what takes more is left out.",
)
@click.option(
    "--out",
    type=NamedPath(file_okay=False, path_type=Path),
    help="The folder that it is written to; by default truth in the data folder.",
)
@as_json
def make_command(
    name: str,
    plies: int | None,
    parts: int | None,
    steps: int,
    out: Path | None,
    in_json: bool,
) -> None:
    """Make the table of the first plies of a variant, from the rules alone.

    Of a game whose positions are sums of their parts, a table of small parts can be made, too.

    Example: arena truth make 'clobber size=4x5' --plies 3
    """
    variant = read_variant(name)
    if (plies is None) == (parts is None):
        raise InputError(
            gettext("give --plies for a table of the first plies, or --parts for one of parts")
        )
    if parts is not None:
        _make_parts(variant, parts, _folder(out), in_json)
        return
    assert plies is not None
    file = _folder(out) / file_name(variant)
    with refusing(GameError, OSError), ProgressBar(gettext("making it"), "position") as bar:
        made = make(variant, plies, steps, file, _telling(bar))
    start = _words(variant, made.start)
    if in_json:
        click.echo(
            json.dumps(
                {
                    "variant": str(variant),
                    "file": str(file),
                    "plies": made.plies,
                    "positions": made.positions,
                    "unknown": made.unknown,
                    "start": made.start,
                    "digest": made.digest,
                }
            )
        )
        return
    positions = counted(made.positions, "position")
    if made.unknown:
        positions = gettext(
            "%(positions)s, %(number)s left out", positions=positions, number=made.unknown
        )
    click.echo(f"{file}: {positions}")
    click.echo(
        gettext("from the start: %(value)s; digest %(digest)s", value=start, digest=made.digest)
    )


def _make_parts(variant: Variant, stones: int, folder: Path, in_json: bool) -> None:
    with refusing(GameError, OSError), ProgressBar(gettext("making it"), "part") as bar:
        truth = variant.truth()
        if truth is None:
            raise GameError(
                gettext("nothing finds the values of positions of %(game)s", game=variant.game)
            )
        file, count, digest = truth.make_parts(stones, folder, _telling(bar))
    if in_json:
        told = {"game": variant.game, "file": str(file), "parts": count, "digest": digest}
        click.echo(json.dumps(told))
    else:
        click.echo(
            gettext(
                "%(file)s: %(parts)s; digest %(digest)s",
                file=file,
                parts=counted(count, "part"),
                digest=digest,
            )
        )


@truth.command("check")
@click.argument("name", metavar="'GAME [KEY=VALUE]...'", shell_complete=games_known)
@click.option(
    "--games", type=click.IntRange(1), default=20, show_default=True, help="That are played."
)
@click.option("--seed", type=int, default=1, show_default=True, help="Of the random games.")
@click.option(
    "--steps",
    type=click.IntRange(1),
    default=20_000,
    show_default=True,
    help="That brute force may take for a position.",
)
@in_tables
@as_json
def check_command(
    name: str, games: int, seed: int, steps: int, tables: Path | None, in_json: bool
) -> None:
    """Compare what is said of positions of random games with trying every move.

    Exit code 1 says that something came out differently.

    Example: arena truth check 'clobber size=4x4'
    """
    variant = read_variant(name)
    found = _truth_of(variant, tables)
    with refusing(GameError), ProgressBar(gettext("comparing"), "game") as bar:
        checked = check(variant, found, games, seed, steps, _telling(bar))
    if in_json:
        click.echo(
            json.dumps(
                {
                    "variant": str(variant),
                    "positions": checked.positions,
                    "too_large": checked.too_large,
                    "wrong": checked.wrong,
                }
            )
        )
    else:
        for text in checked.wrong:
            click.echo(gettext("WRONG %(position)s", position=text))
        click.echo(
            gettext(
                "%(number)s of %(positions)s came out alike; %(large)s were too large to compare",
                number=checked.positions - len(checked.wrong),
                positions=counted(checked.positions, "position"),
                large=checked.too_large,
            )
        )
    sys.exit(1 if checked.wrong else 0)
