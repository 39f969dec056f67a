"""Where a competition of any kind is shown: on a page that its kind has, or on this one."""

from __future__ import annotations

from datetime import UTC, datetime

import sqlalchemy as sa
from flask import Blueprint, Response, redirect, render_template, url_for
from sqlalchemy.orm import joinedload

from arena.competitions.kinds import kind_of
from arena.models import BotVersion, Competition, Entrant, Ladder, StrengthTest, Tournament
from arena.schedule.idle import why_idle
from arena.web import queries
from arena.web.identity import settings
from arena.web.lookup import find_competition, reading

competitions = Blueprint("competitions", __name__)


def address_of(competition: Competition, *, external: bool = False) -> str:
    """The address of a competition's page."""
    match competition:
        case Ladder():
            return url_for("ladders.leaderboard", name=competition.name, _external=external)
        case Tournament():
            return url_for("tournaments.tournament", name=competition.name, _external=external)
        case StrengthTest():
            return url_for("strength.test", number=competition.id, _external=external)
    return url_for("competitions.competition", name=competition.name, _external=external)


FILTERS = {"address_of": address_of}


@competitions.get("/competitions/<name>")
def competition(name: str) -> str | Response:
    """What every kind has: who is in it, what they did, and what is being played."""
    with reading() as session:
        found = find_competition(session, name)
        address = address_of(found)
        if address != url_for("competitions.competition", name=found.name):
            return redirect(address)  # type: ignore[return-value]
        entrants = session.scalars(
            sa.select(Entrant)
            .where(Entrant.competition_id == found.id)
            .order_by(Entrant.number, Entrant.id)
            .options(joinedload(Entrant.version).joinedload(BotVersion.bot))
        ).all()
        kind = kind_of(found)
        running = queries.running_matches(session, ladder=found)
        quiet = None if running else why_idle(session, found, settings(), datetime.now(UTC))
        return render_template(
            "competition.html",
            competition=found,
            kind=kind,
            end=kind.conclusion(session, found) if found.finished else None,
            entrants=entrants,
            running=running,
            quiet=quiet,
        )
