"""Watching matches under way: their streams, and the page that shows the best one after the other.

A stream is handed over to the process of live matches (`arena.live`), and so is the question of a
page that asks again and again where streams do not come through. What they tell the pages of
matches and games show as well, to everybody.
"""

from __future__ import annotations

import sqlalchemy as sa
from flask import Blueprint, render_template, request
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from arena.models import Entrant, JobStatus, Match, Place
from arena.web.games import live_game
from arena.web.handing_over import can_hand_over, give
from arena.web.identity import settings
from arena.web.lookup import find_match, reading

live = Blueprint("live", __name__)

LONGEST_SEEN = 60
ABSENT = "Nobody tells of running matches just now: try again soon."


def has_streams() -> bool:
    """Whether pages of this server may offer a stream."""
    return can_hand_over() and settings().live_socket.exists()


live.add_app_template_global(has_streams)


@live.get("/matches/<int:number>/stream")
def stream(number: int) -> Response:
    """What happens in a match, ply by ply, as Server-Sent Events; ``?once=1`` for what happened
    since ``?after=``, the id of an event, as JSON.
    """
    with reading() as session:
        find_match(session, number)
    after = request.headers.get("Last-Event-ID") or request.args.get("after", "")
    letter = {
        "match": number,
        "after": after[:LONGEST_SEEN],
        "once": bool(request.args.get("once")),
        "client": request.remote_addr or "",
    }
    if request.method == "HEAD":
        return Response(content_type="text/event-stream")
    return give(letter, settings().live_socket, ABSENT)


@live.get("/tv")
def best() -> str:
    """The match under way whose players are rated highest; when it is over, the next one."""
    with reading() as session:
        number = best_running(session)
        match = None if number is None else find_match(session, number)
        return render_template("tv.html", match=match, live=match and live_game(match))


def best_running(session: Session) -> int | None:
    """The match under way whose players are rated highest on the average; None if there is none.

    Ratings are taken as leaderboards rank by them.
    """
    query = (
        sa.select(Match.id)
        .join(Place, Place.match_id == Match.id)
        .join(Entrant, Entrant.id == Place.entrant_id)
        .where(Match.status == JobStatus.ISSUED, Match.worker.is_not(None))
        .group_by(Match.id)
        .order_by(sa.func.avg(Entrant.conservative).desc(), Match.id)
        .limit(1)
    )
    return session.scalar(query)
