"""The commands of strength tests that the arena's workers play: create, list, show, stop, ..."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import click
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.cli import InputError, deeds
from arena.cli.arguments import (
    ALPHA,
    BETA,
    CLOCK,
    HYPOTHESES,
    MODEL,
    clock_words,
    read_hypotheses,
)
from arena.cli.client import on_arena
from arena.cli.data_folder import as_json
from arena.cli.listing import show as show_rows
from arena.cli.reading import read, read_all
from arena.competitions import strength_tests
from arena.competitions.strength_deeds import SEED_BITS, CreateTest
from arena.competitions.strength_plans import MAX_GAMES
from arena.ground.config import Settings
from arena.models import StrengthTest, TestVerdict
from arena.ratings.elo import Estimate
from arena.ratings.sprt import Model
from arena.strength.words import chance_words, elo_words, llr_words
from arena.web.api.results import TestShape
from engine.clock import DEFAULT_MOVE_MS
from engine.protocol import visible


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
        time=clock_words(clock, move_ms),
        move=move_ms,
        max_games=max_games,
        weight=weight,
        allow_faults=allow_faults,
        seed=seed,
        note=note,
    )
    deeds.do_one(deed, server, data, in_json=in_json)


@strength.command("list")
@on_arena
@as_json
def list_tests(server: str | None, data: Path | None, in_json: bool) -> None:
    """List the strength tests, those that run first.

    Example: arena strength list
    """

    def here(session: Session, _: Settings) -> list[TestShape]:
        newest_first = sa.select(StrengthTest).order_by(StrengthTest.id.desc())
        return TestShape.each(session, session.scalars(newest_first))

    found = read_all(server, data, "/tests", here)
    show_rows(
        sorted(found, key=lambda one: one["verdict"] != TestVerdict.RUNNING),
        ("test", "what", "game", "verdict", "games", "W-D-L", "Elo", "LLR"),
        in_json,
        cells=lambda one: {
            "test": one["id"],
            "what": one["title"],
            "game": one["settings"]["game"],
            "W-D-L": f"{one['wins']}-{one['draws']}-{one['losses']}",
            "Elo": elo_words(Estimate.from_json(one)) if one["matches"] else "",
            "LLR": llr_words(one["llr"], one["llr_bounds"]),
        },
    )


@strength.command()
@click.argument("number", type=TestNumber())
@on_arena
@as_json
def show(number: int, server: str | None, data: Path | None, in_json: bool) -> None:
    """Show how a strength test stands.

    Example: arena strength show 17
    """

    def here(session: Session, _: Settings) -> TestShape:
        return TestShape.looked_up(session, strength_tests.find(session, number))

    found = read(server, data, f"/tests/{number}", here)
    if in_json:
        click.echo(json.dumps(found))
        return
    for name, text in found["told"]:
        click.echo(visible(f"{name:<8} {text}"))
    for one in found["workers"]:
        if one["chance"] is not None:
            words = f"(by chance {chance_words(one['chance'])})"
            click.echo(visible(f"{one['worker']}: its results differ from the others' {words}"))
    if (rest := found["without_odd_workers"]) is not None:
        llr = llr_words(rest["llr"], rest["llr_bounds"])
        click.echo(f"without  {elo_words(Estimate.from_json(rest))}, LLR {llr}")
    click.echo(visible(found["outcome"]))


deeds.add_commands(strength, number=TestNumber())
