"""The pages of tournaments."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import sqlalchemy as sa
from flask import Blueprint, Response, abort, jsonify, render_template
from sqlalchemy.orm import Session, joinedload, selectinload

from arena.competitions.results import Results, flat_rows, results, rows
from arena.formats.catalogue import FORMATS
from arena.formats.score import Score
from arena.models import BotVersion, Entrant, GameSeat, JobStatus, PlayedGame, Tournament
from arena.web import exports, queries
from arena.web.competitions import list_page
from arena.web.identity import current, settings
from arena.web.lookup import find_tournament, reading

tournaments = Blueprint("tournaments", __name__)

SHOWN_CELLS = 64
"""A crosstable of more bots is in the JSON alone: no page could show it."""


@tournaments.get("/tournaments")
def listing() -> str:
    """All tournaments, the last made first."""
    with reading() as session:
        found = session.scalars(sa.select(Tournament).order_by(Tournament.id.desc())).all()
        formats = {one.id: FORMATS[one.format].title for one in found}
        return list_page(session, "Tournaments", found, formats)


@tournaments.get("/tournaments/<name>")
def tournament(name: str) -> str:
    """A tournament: standings, crosstable, rounds, bracket."""
    with reading() as session:
        found = results(session, find_tournament(session, name))
        now = datetime.now(UTC)
        running, quiet = queries.happening(session, found.tournament, settings(), now)
        return render_template(
            "tournament.html",
            tournament=found.tournament,
            found=found,
            kind=FORMATS[found.tournament.format],
            owned=_owns_any(found),
            running=running,
            quiet=quiet,
            aside=found.set_aside,
            played=found.count(JobStatus.FIXED),
            SHOWN_CELLS=SHOWN_CELLS,
        )


def _owns_any(found: Results) -> bool:
    """Whether who asks has a bot in the field that was not withdrawn."""
    who = current()
    return who is not None and any(
        who.owns(one.version.bot)
        for number, one in found.entrants.items()
        if found.withdrawn(number) is None
    )


@tournaments.get("/tournaments/<name>/<int:one>/<int:other>")
def meetings(name: str, one: int, other: int) -> str:
    """The games of a tournament between two of its bots, by their numbers in the seeding."""
    with reading() as session:
        found = results(session, find_tournament(session, name))
        for number in (one, other):
            if number not in found.entrants or one == other:
                abort(404, f"In this tournament {one} and {other} are no two bots.")
        return render_template(
            "meetings.html",
            tournament=found.tournament,
            found=found,
            one=one,
            other=other,
            cell=_cell(found, one, other),
            games=_games(session, found, one, other),
        )


def _cell(found: Results, one: int, other: int) -> Score | None:
    """What the first did against the second; None if they have not met."""
    order = [line.number for line in found.standings]
    return found.cells[order.index(one)][order.index(other)]


def _games(session: Session, found: Results, one: int, other: int) -> Sequence[PlayedGame]:
    """The games in which both sat, the last first."""
    matches = [
        match.id for match in found.matches if {one, other} <= set(match.result.fixture.entrants)
    ]
    seats = selectinload(PlayedGame.seats).joinedload(GameSeat.entrant)
    return session.scalars(
        sa.select(PlayedGame)
        .where(PlayedGame.match_id.in_(matches))
        .order_by(PlayedGame.id.desc())
        .options(
            joinedload(PlayedGame.match),
            joinedload(PlayedGame.competition),
            seats.joinedload(Entrant.version).joinedload(BotVersion.bot),
        )
    ).all()


@tournaments.get("/tournaments/<name>.json")
def tournament_json(name: str) -> Response:
    """What the page shows, with all of a crosstable that is too large for it."""
    with reading() as session:
        found = find_tournament(session, name)
        return jsonify(exports.tournament_json(session, found, settings(), datetime.now(UTC)))


@tournaments.get("/tournaments/<name>.csv")
def tournament_csv(name: str) -> Response:
    """The standings alone, for a spreadsheet."""
    with reading() as session:
        lines = flat_rows(rows(results(session, find_tournament(session, name))))
    return exports.csv_answer(lines, lines[0])
