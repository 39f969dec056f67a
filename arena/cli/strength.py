"""The commands of strength tests that the arena's workers play: create, list, show, stop, ..."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import click
from sqlalchemy.orm import Session

from arena.cli import InputError, deeds
from arena.cli.arguments import (
    ALPHA,
    BETA,
    CLOCK,
    HYPOTHESES,
    MODEL,
    read_hypotheses,
    time_control,
)
from arena.cli.client import on_arena
from arena.cli.data_folder import as_json, opened
from arena.cli.data_option import on_data
from arena.cli.listing import show as show_rows
from arena.competitions import strength_tests
from arena.competitions.strength_deeds import SEED_BITS, CreateTest
from arena.competitions.strength_plans import MAX_GAMES
from arena.competitions.strength_reports import StrengthReport, last_tests, reports
from arena.ground.refusals import NotThere
from arena.models import StrengthTest
from arena.ratings.sprt import Model
from arena.strength.words import chance_words, elo_words, games_words, llr_words, result_rows
from engine.clock import DEFAULT_MOVE_MS


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
@on_arena
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
    server: str | None,
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
    if clock is not None:
        time_control(clock, move_ms)  # refuses an empty one, which a deed takes for none
    deed = deeds.made(
        CreateTest,
        candidate=candidate,
        baseline=baseline,
        ladder=ladder_name or "",
        game=game or "",
        elo0=elo0,
        elo1=elo1,
        alpha=alpha,
        beta=beta,
        model=model,
        time=clock or "",
        move=move_ms,
        max_games=max_games,
        weight=weight,
        allow_faults=allow_faults,
        seed=seed,
        note=note,
    )
    deeds.do_one(deed, server, data, in_json=in_json)


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
        except NotThere as error:
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


def _one(session: Session, test: StrengthTest) -> StrengthReport:
    return reports(session, [test])[0]


deeds.add_commands(strength, number=TestNumber())
