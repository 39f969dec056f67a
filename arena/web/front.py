"""The first page: what this is, what is played now, which games there are, and one's own bots."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from flask import Blueprint, render_template
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from arena.competitions.dates import coming
from arena.models import Match, PlayedGame
from arena.web import docs, leaderboards, queries
from arena.web.games import live_game
from arena.web.identity import current
from arena.web.live import best_running
from arena.web.live_parts import live_part, part
from arena.web.lookup import find_match, reading
from arena.web.own_bots import own_bots
from arena.web.rules import cards
from arena.web.traces import Looked, Trace
from engine.game import Termination

front = Blueprint("front", __name__)

GALLERY_GAMES = 4
DATES = 5
"""So many of the next dates of all competitions stand there."""


@front.get("/")
def first_page() -> str:
    """What this is, the best running game, the games with their leaders, the latest games."""
    account, now = current(), datetime.now(UTC)
    with reading() as session:
        ladders = queries.main_ladders(session)
        latest = queries.latest_of_each(session, count=GALLERY_GAMES)
        return render_template(
            "front.html",
            bot=docs.first_code("writing-a-bot", "python"),
            cards=cards(ladders),
            leaders=leaderboards.leaders(session, ladders),
            today=queries.games_of_day(session, now),
            mine=own_bots(session, account.id) if account else None,
            **_watched(_best(session), latest),
            **_now(session, latest, now),
        )


@front.get("/now")
@live_part()
def now() -> Response:
    """The part of the first page that tells what is running, and what has ended."""
    with reading() as session:

        def make() -> str:
            latest = queries.latest_of_each(session, count=GALLERY_GAMES)
            return render_template("_now.html", **_now(session, latest, datetime.now(UTC)))

        return part(session, Trace(Looked.SITE), make)


@front.get("/watch")
@live_part()
def watch() -> Response:
    """The part of the first page with the best running match, or with a fine game."""
    with reading() as session:

        def make() -> str:
            match = _best(session)
            latest = [] if match else queries.latest_of_each(session, count=GALLERY_GAMES)
            return render_template("_watch.html", **_watched(match, latest))

        return part(session, Trace(Looked.SITE_PLIES), make)


def _watched(match: Match | None, latest: Sequence[PlayedGame]) -> dict[str, Any]:
    return {
        "match": match,
        "live": match and live_game(match),
        "fine": None if match else _finest(latest),
    }


def _now(session: Session, latest: Sequence[PlayedGame], now: datetime) -> dict[str, Any]:
    return {
        "running": queries.running_matches(session),
        "latest": latest,
        "coming": coming(session, DATES),
        "workers": queries.living_workers(session, now),
    }


def _best(session: Session) -> Match | None:
    """The running match to be watched."""
    number = best_running(session)
    return None if number is None else find_match(session, number)


def _finest(games: Sequence[PlayedGame]) -> PlayedGame | None:
    """The game of the strongest bots, if one can: one that ended by the rules."""

    def fineness(game: PlayedGame) -> tuple[bool, float]:
        ratings = [seat.mu_before or 0.0 for seat in game.seats]
        return game.termination is Termination.NORMAL, sum(ratings) / max(len(ratings), 1)

    return max(games, key=fineness, default=None)
