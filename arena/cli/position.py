"""Commands that look at one position: moves, perft, draw."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple

import click

from arena.cli import InputError, writing
from arena.cli.arguments import read_position, split_words
from arena.cli.completing import choices, games_known
from arena.cli.options import NamedPath, as_json
from engine import svg
from engine.clicks import illustrate
from engine.colours import Theme
from engine.game import Move, State
from engine.perft import perft as count_leaves
from engine.translation import gettext, translated


class ReachedPosition(NamedTuple):
    """A position, and the last of the moves that led to it."""

    state: State
    last: Move | None


def takes_position(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the arguments that name a position, for a command that takes it as ``reached``."""

    @wraps(command)
    def call(
        game: str, words: tuple[str, ...], after: str, position: str | None, seed: int, **given: Any
    ) -> Any:
        variant, rest = split_words(game, words)
        if rest:
            raise InputError(
                gettext("%(word)r is no option; an option is written key=value", word=rest[0])
            )
        state = read_position(variant, after, position=position, seed=seed)
        return command(reached=ReachedPosition(state, next(reversed(after.split()), None)), **given)

    for decorate in (
        click.option(
            "--seed",
            type=int,
            default=0,
            show_default=True,
            help="Draws what the rules leave to the lot.",
        ),
        click.option("--position", metavar="TEXT", help="Start from this position text."),
        click.option("--after", metavar='"M M ..."', default="", help="Moves played before."),
        click.argument("words", metavar="[KEY=VALUE]...", nargs=-1, shell_complete=choices),
        click.argument("game", shell_complete=games_known),
    ):
        call = decorate(call)
    return call


@click.command()
@takes_position
@as_json
def moves(reached: ReachedPosition, in_json: bool) -> None:
    """List the legal moves of a position.

    Example: arena moves clobber size=5x6 --after "a2a1 b4b5"
    """
    state = reached.state
    legal = list(state.legal_moves())
    if in_json:
        over = state.to_move is None
        click.echo(
            json.dumps(
                {
                    "variant": str(state.variant),
                    "position": state.text(),
                    "to_move": None if state.to_move is None else state.to_move + 1,
                    "moves": legal,
                    "ending": state.ending(),
                    "scores": list(state.scores()) if over else None,
                    "ranks": list(state.ranks()) if over else None,
                }
            )
        )
    elif legal:
        click.echo("\n".join(legal))
    elif ending := state.ending():
        scores = ", ".join(f"{score:g}" for score in state.scores())
        click.echo(
            gettext(
                "the game is over (%(ending)s); scores %(scores)s",
                ending=translated(ending),
                scores=scores,
            ),
            err=True,
        )


@click.command()
@takes_position
@click.option("--depth", type=click.IntRange(0, 100), required=True, help="Plies to look ahead.")
@as_json
def perft(reached: ReachedPosition, depth: int, in_json: bool) -> None:
    """Count the leaf nodes of the tree of legal moves.

    Example: arena perft clobber --depth 4
    """
    state = reached.state
    nodes = count_leaves(state, depth)
    if in_json:
        where = {"variant": str(state.variant), "position": state.text()}
        click.echo(json.dumps({**where, "depth": depth, "nodes": nodes}))
    else:
        click.echo(nodes)


@click.command()
@takes_position
@click.option(
    "--output",
    "-o",
    type=NamedPath(dir_okay=False),
    default="-",
    help="The SVG file; standard output by default.",
)
@click.option(
    "--theme",
    type=click.Choice(["light", "dark"]),
    default="light",
    show_default=True,
    help="Its colours.",
)
@click.option(
    "--size",
    type=click.IntRange(16, 10_000),
    help="Width in pixels; by default it fills what holds it.",
)
@click.option("--chosen", metavar="SQUARE", help="Show where the piece on this square may go.")
def draw(
    reached: ReachedPosition,
    output: str,
    theme: Theme,
    size: int | None,
    chosen: str | None,
) -> None:
    """Draw a position as SVG.

    Example: arena draw clobber --after "a2a1" -o clobber.svg
    """
    scene = illustrate(
        reached.state,
        last=reached.last,
        clicked=(chosen,) if chosen else (),
    )
    if chosen and chosen not in {square.name for square in scene.squares}:
        raise InputError(gettext("there is no square %(name)r on this board", name=chosen[:20]))
    picture = svg.render(scene, theme=theme, size=size)
    if output == "-":
        click.echo(picture, nl=False)
        return
    with writing(output):
        Path(output).write_text(picture, encoding="utf-8")
