"""Pages mark what does not count, and say what is wrong with ratings."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa

from arena.audit import ARENA
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import CompetitionState, Entrant, EntrantState, Ladder, Match, User
from arena.schedule import verdicts
from arena.schedule.requests import request_matches
from arena.web.app import create_app
from tests.arena.simulator import CALM, START, Simulation


def test_what_does_not_count_is_marked(database: Database, tmp_path: Path) -> None:
    """A void match with the organiser's note, an unrated one, a suspended bot, an alarm."""
    simulation = Simulation(database, 3, CALM)
    simulation.furnish([("clobber", {"size": "4x3"})], bots=3)
    simulation.play(3)
    with database.begin() as session:
        ladder = session.scalars(sa.select(Ladder)).one()
        ladder.state = CompetitionState.OPEN
        user = session.scalars(sa.select(User)).one()
        asked = request_matches(session, user, ladder, ["bot-0", "bot-1"], START)[0].id
        ladder.state = CompetitionState.PAUSED
        verdicts.void(session, ARENA, 1, "the <lamp> fell", now=START)
        void = session.get_one(Match, 1).games[0].id
    simulation.run(20)
    with database.begin() as session:
        ladder = session.scalars(sa.select(Ladder)).one()
        ladder.alarm, ladder.rebuild_due, ladder.ties = "something", True, 5
        third = session.scalars(sa.select(Entrant).order_by(Entrant.id.desc())).first()
        assert third is not None
        third.state, third.reason = EntrantState.SUSPENDED, "6 of its last 10 games ended"
    app = create_app(Settings(database=database.url, data=tmp_path))
    app.testing = True
    client = app.test_client()
    try:
        for address, words in {
            "/matches/1": ["Void, so that it counts for nothing: the &lt;lamp&gt; fell", ">void<"],
            f"/games/{void}": ["Void, so that it counts for nothing", "the &lt;lamp&gt; fell"],
            f"/matches/{asked}": [">unrated<"],
            "/ladders/ladder-0": [
                ">unrated<",
                "The ladder is paused: no matches are made for now.",
                "The ratings are being made anew.",
                "Something is wrong with these ratings; the operator was told.",
                "to be as likely as 10.0 %",
            ],
            "/bots/bot-2": ["It is suspended: 6 of its last 10 games ended."],
        }.items():
            answer = client.get(address)
            assert answer.status_code == 200, address
            for word in words:
                assert word in answer.text, (address, word)
    finally:
        app.extensions["arena.database"].close()
