"""Where a competition of any kind is shown: on a page that its kind has, or on this one."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from flask import Blueprint, Response, redirect, render_template, request, url_for
from sqlalchemy.orm import Session, joinedload
from werkzeug.wrappers import Response as WsgiResponse

from arena.competitions.comparisons import ApproveComparison
from arena.competitions.dates import next_dates
from arena.competitions.gauntlets import Gauntlet
from arena.competitions.kind import CompetitionKind
from arena.competitions.kinds import kind_of
from arena.deeds import Done
from arena.ground.numbered_pages import page_of
from arena.models import (
    BotTuning,
    BotVersion,
    Competition,
    Entrant,
    Ladder,
    LadderRound,
    StrengthTest,
    Tournament,
)
from arena.web import queries
from arena.web.deeds import add_deed
from arena.web.identity import settings
from arena.web.live_parts import Whose, live_part, part
from arena.web.lookup import asked_page, find_competition, reading
from arena.web.traces import of_competition
from engine.translation import N_, gettext, translated

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
        case BotTuning():
            return url_for("tunings.tuning", number=competition.id, _external=external)
        case Gauntlet():
            return url_for("gauntlets.gauntlet", name=competition.name, _external=external)
    return url_for("competitions.competition", name=competition.name, _external=external)


FILTERS = {"address_of": address_of}


def _approved(done: Done, **_: Any) -> str:
    return address_of(done.answer)


add_deed(competitions, "/competitions/<name>/approve", ApproveComparison, then=_approved)


TITLES = (
    N_("Ladder"),
    N_("Tournament"),
    N_("Strength test"),
    N_("Tuning"),
    N_("Gauntlet"),
)
"""What the arena's kinds are called at the beginning of a line."""


def title_of(kind: CompetitionKind[Any]) -> str:
    """What a kind is called at the beginning of a line, to whoever reads it."""
    return translated(kind.word.capitalize())


@competitions.get("/competitions")
def listing() -> str:
    """The competitions of all kinds but rounds, or of one kind: ``?kind=tournament``."""
    wanted = sa.select(Competition).where(LadderRound.lists())
    if kind := request.args.get("kind"):
        wanted = wanted.where(Competition.kind == kind)
    with reading() as session:
        return list_page(
            session, gettext("Competitions"), wanted, lambda one: title_of(kind_of(one)), "kind"
        )


def list_page(
    session: Session,
    title: str,
    wanted: sa.Select[Any],
    words: Callable[[Any], str],
    *asked: str,
) -> str:
    """A page that lists competitions, the last made first.

    Args:
        wanted: selects them, in no order.
        words: what one of them is.
        asked: what the address narrows the list by, which its other pages keep.
    """
    found = page_of(session, wanted, [Competition.id.desc()], asked_page())
    sizes = sa.select(Entrant.competition_id, sa.func.count()).group_by(Entrant.competition_id)
    sizes = sizes.where(Entrant.competition_id.in_([one.id for one in found.items]))
    return render_template(
        "competitions.html",
        title=title,
        found=found,
        words={one.id: words(one) for one in found.items},
        sizes={row[0]: row[1] for row in session.execute(sizes)},
        next=next_dates(session, found.items),
        asked={key: request.args[key] for key in asked if request.args.get(key)},
    )


@competitions.get("/competitions/<name>")
def competition(name: str) -> str | Response:
    """What every kind has: who is in it, what they did, and what is being played."""
    with reading() as session:
        found = find_competition(session, name)
        address = address_of(found)
        if address != url_for("competitions.competition", name=found.name):
            return redirect(address)  # type: ignore[return-value]
        kind = kind_of(found)
        return render_template(
            "competition.html",
            kind=kind,
            end=kind.conclusion(session, found) if found.finished else None,
            **_stands(session, found),
        )


@competitions.get("/competitions/<name>/live")
@live_part(Whose.OWN)
def live(name: str) -> WsgiResponse:
    """The part of that page that changes while games are played."""
    with reading() as session:
        found = find_competition(session, name)

        def make() -> str:
            return render_template("_competition.html", **_stands(session, found))

        return part(session, of_competition(found), make)


def _stands(session: Session, found: Competition) -> dict[str, Any]:
    """What the live part of a competition's page tells."""
    entrants = session.scalars(
        sa.select(Entrant)
        .where(Entrant.competition_id == found.id)
        .order_by(Entrant.number, Entrant.id)
        .options(joinedload(Entrant.version).joinedload(BotVersion.bot))
    ).all()
    running, quiet = queries.happening(session, found, settings(), datetime.now(UTC))
    return {"competition": found, "entrants": entrants, "running": running, "quiet": quiet}
