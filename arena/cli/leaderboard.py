"""The commands that show ladders: ladders, leaderboard, accuracy."""

from __future__ import annotations

import json
from typing import Any

import click
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.cli import InputError
from arena.cli.client import Name, RemoteArena, Where, on_arena
from arena.cli.listing import show
from arena.cli.options import as_json
from arena.cli.reading import read, read_all, told
from arena.competitions.founding import find_named
from arena.ground.config import Settings
from arena.lists.accuracy import accuracies
from arena.models import Ladder
from arena.web import leaderboards
from arena.web.api.ladder_shapes import AccuracyBoard, BoardShape, ListedLadder
from engine.places import TWO, mean_place, results_head, results_words
from engine.translation import N_, gettext


@click.command()
@on_arena
@as_json
def ladders(where: Where, in_json: bool) -> None:
    """List the ladders, the first made first.

    Example: arena ladders
    """
    newest_first = sa.select(Ladder).order_by(Ladder.id.desc())
    show(
        read_all(where, "/ladders", ListedLadder, lambda its: its.scalars(newest_first))[::-1],
        (
            *(N_("ladder"), N_("variant"), N_("time")),
            *(N_("state"), N_("games"), N_("leader")),
        ),
        in_json,
        cells=lambda one: {"ladder": one["name"]},
        kinds={"state": "a ladder"},
    )


@click.command()
@click.argument("ladder_name", type=Name("ladders"), metavar="LADDER")
@on_arena
@as_json
def leaderboard(ladder_name: str, where: Where, in_json: bool) -> None:
    """Show a ladder's leaderboard, of a server or of this machine's arena as arena submit does.

    Example: arena leaderboard clobber-6x7
    """

    def here(session: Session, _: Settings) -> dict[str, Any]:
        board = leaderboards.board(session, find_named(session, Ladder, ladder_name))
        return BoardShape.of(board).model_dump(mode="json")

    found = told(where, lambda server: whole_board(server, ladder_name), here)
    if in_json:
        click.echo(json.dumps(found))
        return
    sides = max((len(row["places"]) for row in found["bots"]), default=0)
    results, score = results_head(sides), N_("mean place") if sides > TWO else N_("score")
    rows = [
        row
        | {
            "rank": row["rank"] or gettext("placement"),
            "rating": f"{row['rating']:.0f} ± {row['interval']:.0f}" if row["games"] else "",
            "surely": f"{row['surely']:.0f}" if row["rank"] else "",
            results: results_words(row["wins"], row["draws"], row["losses"], row["places"]),
            score: _score(row, sides),
        }
        for row in found["bots"]
    ]
    columns = (
        *(N_("rank"), N_("surely"), N_("bot"), N_("version"), N_("owner")),
        *(N_("rating"), N_("games"), results, score, N_("faults")),
    )
    show(rows, columns, in_json, title=found["variant"])


def _score(row: dict[str, Any], sides: int) -> str:
    if not row["games"]:
        return ""
    return f"{mean_place(row['score'], sides):.2f}" if sides > TWO else f"{row['score']:.1%}"


@click.command()
@click.argument("ladder_name", type=Name("ladders"), metavar="LADDER")
@on_arena
@as_json
def accuracy(ladder_name: str, where: Where, in_json: bool) -> None:
    """Show how accurate the bots of a ladder are against perfect play, where that is certain.

    Of the moves that had something to lose, the share that lost nothing.

    Example: arena accuracy clobber-6x7
    """

    def here(session: Session, _: Settings) -> AccuracyBoard:
        ladder = find_named(session, Ladder, ladder_name)
        return AccuracyBoard.shown(ladder, accuracies(session, ladder))

    found = read(where, f"/ladders/{ladder_name}/accuracy", here)
    if in_json:
        click.echo(json.dumps(found))
        return
    if not found["solved"]:
        raise InputError(
            gettext(
                "nothing finds the values of positions of %(variant)s", variant=found["variant"]
            )
        )
    rows = [
        row
        | {
            "accuracy": f"{row['accuracy']:.1%}",
            "results given away": row["results_given_away"],
        }
        for row in found["bots"]
    ]
    columns = (
        *(N_("bot"), N_("version"), N_("accuracy"), N_("judged")),
        *(N_("results given away"), N_("lost"), N_("games")),
    )
    show(rows, columns, in_json, title=found["variant"])


def whole_board(server: RemoteArena, ladder: str) -> dict[str, Any]:
    """A ladder's leaderboard with all its pages, as `arena.web.exports` has it."""
    path = f"/ladders/{ladder}/leaderboard"
    board: dict[str, Any] = server.get(path)
    bots = list(board["bots"])
    for page in range(2, board["pages"] + 1):
        bots += server.get(path, page=page)["bots"]
    return {**board, "page": None, "pages": 1, "bots": bots}
