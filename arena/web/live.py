"""Watching matches under way: their streams, and the page that shows the best one after the other.

A stream is handed over to the process of live matches (`arena.live`), and so is the question of a
page that asks again and again where streams do not come through. What they tell the pages of
matches and games show as well, to everybody; but for what bots log, which their owners are told.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import sqlalchemy as sa
from flask import Blueprint, abort, render_template, request
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from arena.models import Entrant, JobStatus, Match, Place
from arena.web.games import TABS, live_game
from arena.web.handover import can_hand_over, give
from arena.web.identity import settings
from arena.web.lookup import find_match, reading
from arena.web.permissions import may_follow, refuse_reading
from arena.web.queries import latest_of_each
from engine.translation import N_, gettext, spoken, translated

live = Blueprint("live", __name__)

LONGEST_SEEN = 60
MOST_LOGS = 100
"""The most logs that one may ask for at once."""
AFTERGLOW = timedelta(minutes=2)
"""How long a match that has ended is shown as the running ones are, at its end."""
NOTHING_PLAYED = N_("no match is being played just now")
ABSENT = N_("Nobody tells of running matches just now: try again soon.")


def has_streams() -> bool:
    """Whether pages of this server may offer a stream."""
    return can_hand_over() and settings().live_socket.exists()


def ended_lately(match: Match) -> bool:
    """Whether a match ended so short a time ago that who was told of it as running comes to it."""
    fixed = match.fixed if match.status is JobStatus.FIXED else None
    return fixed is not None and datetime.now(UTC) - fixed < AFTERGLOW


live.add_app_template_global(has_streams)
live.add_app_template_global(lambda: TABS, "board_tabs")
live.add_app_template_filter(ended_lately)


@live.get("/matches/<int:number>/stream")
def stream(number: int) -> Response:
    """What happens in a match, ply by ply, as Server-Sent Events; ``?once=1`` for what happened
    since ``?after=``, the id of an event, as JSON. ``?log=0`` for what the match's first player
    logs, too, for its owner; there may be several.
    """
    with reading() as session:
        reads = _logs(find_match(session, number))
    after = request.headers.get("Last-Event-ID") or request.args.get("after", "")
    letter = {
        "match": number,
        "after": after[:LONGEST_SEEN],
        "once": bool(request.args.get("once")),
        "client": request.remote_addr or "",
        "reads": reads,
        "language": spoken().language,
    }
    if request.method == "HEAD":
        return Response(content_type="text/event-stream")
    return give(letter, settings().live_socket, translated(ABSENT))


def _logs(match: Match) -> list[int]:
    """The players whose logs are asked for, and may be read by who asks."""
    asked = request.args.getlist("log")
    if not asked:
        return []
    players = {str(number): place for number, place in enumerate(match.places)}
    for one in asked[:MOST_LOGS]:
        if one not in players:
            last = len(players) - 1
            abort(
                404,
                gettext(
                    "?log=%(asked)s: match %(match)s has the players 0 to %(last)s.",
                    asked=one[:20],
                    match=match.id,
                    last=last,
                ),
            )
        bot = players[one].entrant.version.bot
        if not may_follow(bot):
            refuse_reading(
                bot,
                gettext("What %(bot)s logs is its owner's alone while it plays.", bot=bot.name),
            )
    return sorted(set(map(int, asked[:MOST_LOGS])))


@live.get("/tv")
def best() -> str:
    """The match under way whose players are rated highest; when it is over, the next one.

    Where none is under way, the game that ended last.
    """
    with reading() as session:
        number = best_running(session)
        if number is None:
            return render_template(
                "tv.html", last=next(iter(latest_of_each(session, count=1)), None)
            )
        match = find_match(session, number)
        return render_template("tv.html", match=match, live=live_game(match))


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
