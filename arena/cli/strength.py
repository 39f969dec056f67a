"""The commands of strength tests that the arena's workers play: create, list, show, stop, ..."""

from __future__ import annotations

import json
import re
import secrets
from functools import partial
from pathlib import Path
from typing import Any

import click
from sqlalchemy.orm import Session

from arena import audit
from arena.cli import InputError
from arena.cli.arguments import (
    ALPHA,
    BETA,
    CLOCK,
    DEFAULT_MOVE_MS,
    HYPOTHESES,
    MODEL,
    read_hypotheses,
    read_variant,
    time_control,
)
from arena.cli.data_folder import as_json, changing, find_ladder, opened
from arena.cli.data_option import on_data
from arena.cli.listing import show as show_rows
from arena.competitions import strength_tests
from arena.competitions.strength_plans import MAX_GAMES, StrengthPlan
from arena.competitions.strength_reports import StrengthReport, last_tests, reports
from arena.competitions.tournaments import TournamentError, named_versions
from arena.models import StrengthTest
from arena.ratings.sprt import Model
from arena.strength.sequential import StrengthError
from arena.strength.words import chance_words, elo_words, games_words, llr_words, result_rows
from engine.plurals import counted

SEED_BITS = 48


class TestNumber(click.ParamType[int]):
    """A strength test by its number, 17, or by its name among all competitions, test-17."""

    name = "number"

    def convert(
        self, value: Any, _param: click.Parameter | None, _context: click.Context | None
    ) -> int:
        found = re.fullmatch(r"(?:test-)?([0-9]{1,20})", str(value))
        if found is None:
            words = f"{str(value)[:40]!r} is no strength test"
            raise InputError(f"{words}: give its number, as in 17 or test-17")
        return int(found[1])


@click.group()
def strength() -> None:
    """Strength tests between submitted versions: create one, list, show, stop, extend, clone."""


_changing = partial(changing, refusals=(StrengthError, TournamentError))


@strength.command()
@click.argument("candidate")
@click.argument("baseline")
@click.option("--ladder", "ladder_name", help="Its game, time and limits.")
@click.option("--game", help='The game and its options, e.g. "clobber size=5x6".')
@click.option(
    "--elo",
    default=HYPOTHESES,
    show_default=True,
    metavar="ELO0,ELO1",
    help="Is it ELO1 rather than ELO0?",
)
@ALPHA
@BETA
@MODEL
@CLOCK
@click.option(
    "--move",
    "move_ms",
    metavar="MS",
    type=int,
    help=f"Milliseconds a move; by default the ladder's, else {DEFAULT_MOVE_MS}.",
)
@click.option(
    "--max-games",
    type=click.IntRange(1),
    default=MAX_GAMES,
    show_default=True,
    help="Undecided after so many.",
)
@click.option(
    "--weight",
    default=1.0,
    show_default=True,
    help="Its share of the workers' time, with 1 for a ladder's; 10 at most.",
)
@click.option("--allow-faults", is_flag=True, help="Decide even if faults ended many of the games.")
@click.option("--seed", type=click.IntRange(0, 2**SEED_BITS - 1), help="Of openings and dice.")
@click.option("--note", default="", help="What is tested.")
@on_data
@as_json
def create(
    candidate: str,
    baseline: str,
    ladder_name: str | None,
    game: str | None,
    elo: str,
    alpha: float,
    beta: float,
    model: Model,
    clock: str | None,
    move_ms: int | None,
    max_games: int,
    weight: float,
    allow_faults: bool,
    seed: int | None,
    note: str,
    data: Path | None,
    in_json: bool,
) -> None:
    """Test one submitted version against another; a running arena begins at once.

    CANDIDATE and BASELINE are bots, or versions of them as in greedy:2.

    Example: arena strength create greedy:2 greedy:1 --ladder clobber-6x7
    """
    if (ladder_name is None) == (game is None):
        raise InputError("say what is played: --ladder NAME, or --game GAME")
    elo0, elo1 = read_hypotheses(elo)
    changes: dict[str, Any] = {
        "elo0": elo0,
        "elo1": elo1,
        "alpha": alpha,
        "beta": beta,
        "model": model,
        "max_games": max_games,
        "weight": weight,
        "allow_faults": allow_faults,
        "note": note,
        "seed": secrets.randbits(SEED_BITS) if seed is None else seed,
    }
    if clock is not None or move_ms is not None:
        changes["time"] = time_control(clock, move_ms)
    with _changing(data) as (session, now):
        if ladder_name is not None:
            plan = StrengthPlan.on(find_ladder(session, ladder_name), **changes)
        else:
            given = {"variant": read_variant(game or ""), "time": time_control(clock, move_ms)}
            plan = StrengthPlan(**{**given, **changes})
        mine, theirs = named_versions(session, [candidate, baseline])
        made = strength_tests.create(session, plan, mine, theirs, now, audit.operator())
        said = _one(session, made)
    _say(said, in_json, f"test {said.test.id}, {said.test.title}, was made")


@strength.command("list")
@on_data
@as_json
def list_tests(data: Path | None, in_json: bool) -> None:
    """List the strength tests, those that run first.

    Example: arena strength list
    """
    with opened(data) as (database, _), database.read() as session:
        found = last_tests(session, count=None)
        rows = [
            one.to_json()
            | {
                "test": one.test.id,
                "what": one.test.title,
                "game": str(one.test.variant),
                "W-D-L": games_words(one.standing),
                "Elo": elo_words(one.standing.estimate) if one.standing.matches else "",
                "LLR": llr_words(one.standing),
            }
            for one in found
        ]
    columns = ("test", "what", "game", "verdict", "games", "W-D-L", "Elo", "LLR")
    show_rows(rows, columns, in_json)


@strength.command()
@click.argument("number", type=TestNumber())
@on_data
@as_json
def show(number: int, data: Path | None, in_json: bool) -> None:
    """Show how a strength test stands.

    Example: arena strength show 17
    """
    with opened(data) as (database, _), database.read() as session:
        try:
            found = _one(session, strength_tests.find(session, number))
        except StrengthError as error:
            raise InputError(str(error)) from None
    if in_json:
        click.echo(json.dumps(found.to_json()))
        return
    for name, text in result_rows(found.standing):
        click.echo(f"{name:<8} {text}")
    for worker, chance in found.odd.items():
        click.echo(
            f"{worker}: its results differ from the others' (by chance {chance_words(chance)})"
        )
    if found.odd:
        click.echo(f"without  {elo_words(found.without.estimate)}, LLR {llr_words(found.without)}")
    click.echo(found.verdict)


@strength.command()
@click.argument("number", type=TestNumber())
@on_data
@as_json
def stop(number: int, data: Path | None, in_json: bool) -> None:
    """Stop a strength test; what is under way is played to its end and counted.

    Example: arena strength stop 17
    """
    with _changing(data) as (session, now):
        test = strength_tests.find(session, number)
        strength_tests.stop(session, test, now, audit.operator())
        said = _one(session, test)
    _say(said, in_json, f"test {number} is stopped after {counted(said.standing.games, 'game')}")


@strength.command()
@click.argument("number", type=TestNumber())
@click.option("--max-games", type=click.IntRange(1), required=True, help="In all.")
@on_data
@as_json
def extend(number: int, max_games: int, data: Path | None, in_json: bool) -> None:
    """Let a test that was not decided go on, to so many games in all.

    Example: arena strength extend 17 --max-games 40000
    """
    with _changing(data) as (session, now):
        test = strength_tests.find(session, number)
        strength_tests.extend(session, test, max_games, now, audit.operator())
        said = _one(session, test)
    _say(said, in_json, f"test {number} goes on, to {max_games} games at most")


@strength.command()
@click.argument("number", type=TestNumber())
@on_data
@as_json
def clone(number: int, data: Path | None, in_json: bool) -> None:
    """Make the same test again, with other openings.

    Example: arena strength clone 17
    """
    with _changing(data) as (session, now):
        test = strength_tests.find(session, number)
        seed = secrets.randbits(SEED_BITS)
        made = strength_tests.clone(session, test, now, audit.operator(), seed=seed)
        said = _one(session, made)
    _say(said, in_json, f"test {said.test.id}, {said.test.title}, was made")


def _one(session: Session, test: StrengthTest) -> StrengthReport:
    return reports(session, [test])[0]


def _say(said: StrengthReport, in_json: bool, words: str) -> None:
    if in_json:
        click.echo(json.dumps(said.to_json()))
    else:
        click.echo(f"{words}. See: arena strength show {said.test.id}")
