"""The commands match choose, set and sets: what deciding about many matches at once does."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlencode

import click
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.cli import deeds
from arena.cli.client import Where, on_arena
from arena.cli.listing import show
from arena.cli.options import as_json
from arena.cli.reading import read, read_all
from arena.models import MatchSet
from arena.recorder.match_set_deeds import ChooseMatches
from arena.web.api.match_set_shapes import MatchSetDetail, MatchSetShape
from engine.protocol import visible
from engine.translation import N_, gettext


@click.command("choose")
@click.option(
    "--where",
    "words",
    multiple=True,
    metavar="WORD=TEXT",
    help="Only such: worker=box-3, since=2026-05-01, bot=greedy:2, ending=timeout, and the like.",
)
@deeds.options(ChooseMatches, "verdict", but=("filter",))
@on_arena
@as_json
def choose_command(words: tuple[str, ...], where: Where, in_json: bool, **given: Any) -> None:
    """Choose many matches, and show what deciding about all of them would change.

    VERDICT is void, replay (void, and played again) or requeue (tried again). Nothing is done yet.

    Example: arena match choose void --where worker=box-3 --note "its clock ran fast"
    """
    wanted = dict(word.partition("=")[::2] for word in words)
    deed = deeds.made(ChooseMatches, **deeds.said(given), filter=urlencode(wanted))
    (done,) = deeds.do([deed], where, in_json=True)
    _show_set(where, done.answer["number"], in_json)


@click.command("set")
@click.argument("number", type=int)
@on_arena
@as_json
def set_command(number: int, where: Where, in_json: bool) -> None:
    """Show what a set of matches would change, or what became of it.

    Example: arena match set 5
    """
    _show_set(where, number, in_json)


@click.command("sets")
@click.option(
    "--last", default=20, show_default=True, type=click.IntRange(1, 10_000), help="How many."
)
@on_arena
@as_json
def sets_command(last: int, where: Where, in_json: bool) -> None:
    """List the last sets of matches that were chosen to decide about.

    Example: arena match sets
    """

    def rows(session: Session) -> Iterable[MatchSet]:
        return session.scalars(sa.select(MatchSet).order_by(MatchSet.id.desc()))

    show(
        read_all(where, "/match-sets", MatchSetShape, rows, most=last),
        (N_("set"), N_("verdict"), N_("matches"), N_("filter"), N_("state"), N_("by")),
        in_json,
        cells=lambda one: {"set": one["number"]},
    )


def _show_set(where: Where, number: int, in_json: bool) -> None:
    found = read(
        where,
        f"/match-sets/{number}",
        lambda session, _: MatchSetDetail.of_number(session, number),
    )
    if in_json:
        click.echo(json.dumps(found))
        return
    its = {key: found[key] for key in ("number", "verdict", "matches", "games", "state")}
    its["filter"] = visible(found["filter"]) or "-"
    click.echo(
        gettext(
            "set %(number)s, %(verdict)s: %(matches)s matches with %(games)s games by %(filter)s, "
            "%(state)s",
            **its,
        )
    )
    counts = {key: found[key] for key in ("waiting", "finished", "left")}
    click.echo(
        gettext("%(waiting)s wait, %(finished)s are done, %(left)s stay as they are", **counts)
    )
    if found["state"] == "looking":
        its = {"looked": found["looked"], "games": found["to_look"]}
        click.echo(
            gettext(
                "the recorder finds what it would change: %(looked)s of %(games)s games so far",
                **its,
            )
        )
    for one in found["outlook"]:
        if one["left"]:
            click.echo(
                gettext(
                    "%(competition)s: %(left)s stay as they are: %(why)s",
                    competition=visible(one["competition"]),
                    left=one["left"],
                    why=visible(one["why"]),
                )
            )
        if one["changes"]:
            show(
                one["changes"],
                (N_("bot"), N_("before"), N_("after"), N_("games"), N_("then")),
                in_json,
                title=visible(one["title"]),
                cells=lambda line: {
                    "bot": line["label"],
                    "before": _stand(line["before"]),
                    "after": _stand(line["after"]),
                    "games": line["before"]["games"],
                    "then": line["after"]["games"],
                },
            )
    if found["state"] == "ready" and found["waiting"]:
        click.echo(gettext("to do it: arena match decide %(number)s", number=number))


def _stand(one: dict[str, Any]) -> str:
    """Where somebody stands, as ``3: 25.31 +- 1.02``."""
    if one["mu"] is None:
        return str(one["words"])
    rank = f"{one['rank']}: " if one["rank"] else ""
    return f"{rank}{one['mu']:.2f} +- {one['sigma']:.2f}"


COMMANDS = (choose_command, set_command, sets_command)
