"""The first page."""

from __future__ import annotations

from datetime import UTC, datetime

from flask import Blueprint, render_template

from arena.web import leaderboards, queries
from arena.web.lookup import reading

front = Blueprint("front", __name__)

GALLERY_GAMES = 8


@front.get("/")
def first_page() -> str:
    """What is running, the ladders with their leaders, the latest games."""
    with reading() as session:
        ladders = queries.ladders(session)
        return render_template(
            "front.html",
            ladders=ladders,
            leaders=leaderboards.leaders(session, ladders),
            running=queries.running_matches(session),
            latest=queries.latest_of_each(session, ladders, count=GALLERY_GAMES),
            workers=queries.living_workers(session, datetime.now(UTC)),
        )
