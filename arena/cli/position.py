"""Commands that look at one position: moves, perft, draw."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from arena.cli import InputError
from arena.cli.arguments import read_position, split_words
from arena.cli.paths import NamedPath
from engine import svg
from engine.clicks import illustrate
from engine.game import State
from engine.perft import perft as count_leaves

F = TypeVar("F", bound=Callable[..., Any])


def takes_position(command: F) -> F:
    """Adds the arguments that name a position."""
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
        click.argument("words", metavar="[KEY=VALUE]...", nargs=-1),
        click.argument("game"),
    ):
        command = decorate(command)
    return command


def find_state(
    game: str, words: tuple[str, ...], after: str, position: str | None, seed: int
) -> State:
    """The position that a command's arguments name."""
    variant, rest = split_words(game, words)
    if rest:
        raise InputError(f"{rest[0]!r} is no option; an option is written key=value")
    return read_position(variant, after, position=position, seed=seed)


@click.command()
@takes_position
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def moves(
    game: str, words: tuple[str, ...], after: str, position: str | None, seed: int, as_json: bool
) -> None:
    """List the legal moves of a position.

    Example: arena moves clobber size=5x6 --after "a2a1 b4b5"
    """
    state = find_state(game, words, after, position, seed)
    legal = list(state.legal_moves())
    if as_json:
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
    else:
        scores = ", ".join(f"{score:g}" for score in state.scores())
        click.echo(f"the game is over ({state.ending()}); scores {scores}", err=True)


@click.command()
@takes_position
@click.option("--depth", type=click.IntRange(0, 100), required=True, help="Plies to look ahead.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def perft(
    game: str,
    words: tuple[str, ...],
    after: str,
    position: str | None,
    seed: int,
    depth: int,
    as_json: bool,
) -> None:
    """Count the leaf nodes of the tree of legal moves.

    Example: arena perft clobber --depth 4
    """
    state = find_state(game, words, after, position, seed)
    nodes = count_leaves(state, depth)
    if as_json:
        click.echo(
            json.dumps(
                {
                    "variant": str(state.variant),
                    "position": state.text(),
                    "depth": depth,
                    "nodes": nodes,
                }
            )
        )
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
    game: str,
    words: tuple[str, ...],
    after: str,
    position: str | None,
    seed: int,
    output: str,
    theme: svg.Theme,
    size: int | None,
    chosen: str | None,
) -> None:
    """Draw a position as SVG.

    Example: arena draw clobber --after "a2a1" -o clobber.svg
    """
    state = find_state(game, words, after, position, seed)
    scene = illustrate(
        state,
        last=after.split()[-1] if after.split() else None,
        clicked=(chosen,) if chosen else (),
    )
    if chosen and chosen not in {square.name for square in scene.squares}:
        raise InputError(f"there is no square {chosen[:20]!r} on this board")
    picture = svg.render(scene, theme=theme, size=size)
    if output == "-":
        click.echo(picture, nl=False)
        return
    try:
        Path(output).write_text(picture, encoding="utf-8")
    except OSError as error:
        raise InputError(f"can't write {output}: {error.strerror}") from None
