"""The command match: ask for one, void one, try again what was set aside, list them."""

from __future__ import annotations

from collections.abc import Iterable

import click
import sqlalchemy as sa
from sqlalchemy.orm import Session, joinedload

from arena.cli import InputError, deeds, match_sets
from arena.cli.client import Where, on_arena
from arena.cli.completing import named
from arena.cli.listing import show
from arena.cli.options import as_json
from arena.cli.reading import read_all, told
from arena.ground.guesses import meant
from arena.ground.refusals import NotThere
from arena.models import Competition, JobStatus, Match
from arena.schedule.requests import RequestUnratedMatch
from arena.schedule.verdicts import RequeueMatch
from arena.web import queries
from arena.web.api.game_shapes import MatchShape
from engine.translation import N_, gettext, ngettext


@click.group()
def match() -> None:
    """Matches: ask for one, void one, try those again that were set aside."""


@match.command("request")
@click.argument("ladder_name", metavar="LADDER", shell_complete=named("ladders"))
@click.argument("bots", nargs=-1, required=True, shell_complete=named("bots"))
@click.option("--opening", default="", help="Moves that begin each match, in quotes.")
@click.option(
    "--start", multiple=True, help="Where lots or a position say how it begins: key=value."
)
@click.option("--matches", type=int, default=1, show_default=True, help="How many.")
@click.option("--user", "user_name", help="Who asks, within that user's number a day.")
@on_arena
def request_command(
    ladder_name: str,
    bots: tuple[str, ...],
    opening: str,
    start: tuple[str, ...],
    matches: int,
    user_name: str | None,
    where: Where,
) -> None:
    """Ask for an unrated match between bots of a ladder.

    BOTS are named as greedy, or greedy:2 for a version that is not active any more.

    Example: arena match request clobber-6x7 greedy mybot:2
    """
    deed = deeds.made(
        RequestUnratedMatch,
        ladder=ladder_name,
        bots=bots,
        opening=tuple(opening.split()),
        start=dict(_option(word) for word in start),
        matches=matches,
    )
    (done,) = deeds.do([deed], where, user=user_name)
    click.echo(done.said)


def _option(word: str) -> tuple[str, str]:
    key, equals, value = word.partition("=")
    if not equals:
        raise InputError(
            gettext("%(word)r is no option; an option is written key=value", word=word)
        )
    return key, value


@match.command("requeue")
@click.argument("numbers", type=int, nargs=-1)
@click.option("--all", "every", is_flag=True, help="All that are set aside.")
@on_arena
def requeue_command(numbers: tuple[int, ...], every: bool, where: Where) -> None:
    """Try matches again that were set aside because they failed too often.

    Example: arena match requeue 17 21
    """
    if bool(numbers) == every:
        raise InputError(gettext("give the numbers of matches, or --all"))
    if every:
        numbers = _set_aside(where)
    # Sorted, as all lock matches.
    done = deeds.do([RequeueMatch(number) for number in sorted(numbers)], where)
    there = where.server()
    words = ngettext(
        "%(number)s match is to be tried again",
        "%(number)s matches are to be tried again",
        len(done),
        number=len(done),
    )
    click.echo(words if there is None else f"{there.address}: {words}")


def _set_aside(where: Where) -> tuple[int, ...]:
    """The numbers of the matches that are set aside."""
    aside = sa.select(Match.id).where(Match.status == JobStatus.SET_ASIDE)
    return told(
        where,
        lambda server: tuple(one["number"] for one in server.all("/matches", status="set aside")),
        lambda session, _: tuple(session.scalars(aside)),
    )


@match.command("list")
@click.option(
    "--ladder",
    "competition_name",
    shell_complete=named("competitions"),
    help="Of one ladder or tournament.",
)
@click.option(
    "--status",
    type=click.Choice([str(status) for status in JobStatus]),
    help="Only those that stand so.",
)
@click.option(
    "--last", default=20, show_default=True, type=click.IntRange(1, 10_000), help="How many."
)
@on_arena
@as_json
def list_command(
    competition_name: str | None,
    status: str | None,
    last: int,
    where: Where,
    in_json: bool,
) -> None:
    """List the last matches.

    Example: arena match list --status "set aside"
    """

    def here(session: Session) -> Iterable[Match]:
        wanted = sa.select(Match).options(joinedload(Match.competition), queries.places())
        if competition_name is not None:
            known = sa.select(Competition.id).where(Competition.named(competition_name))
            if (found := session.scalar(known)) is None:
                guess = meant(session, Competition.name, competition_name)
                words = gettext("there is no ladder or tournament %(name)r", name=competition_name)
                raise NotThere(f"{words}{guess}")
            wanted = wanted.where(Match.competition_id == found)
        if status is not None:
            wanted = wanted.where(Match.status == JobStatus(status))
        return session.scalars(wanted.order_by(Match.id.desc()).limit(last))

    asked = {"competition": competition_name, "status": status}
    show(
        read_all(where, "/matches", MatchShape, here, most=last, **asked),
        (N_("match"), N_("competition"), N_("bots"), N_("status"), N_("rated"), N_("problem")),
        in_json,
        cells=lambda one: {"match": one["number"], "bots": ", ".join(one["bots"])},
        kinds={"status": "a match"},
    )


deeds.add_commands(match)
for one in match_sets.COMMANDS:
    match.add_command(one)
