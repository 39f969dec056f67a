"""Pages about a variant that a new version of its package lacks: what was played, what waits."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient

from arena import sittings
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import BotVersion, JobStatus, Ladder, Match, PlayedGame
from arena.schedule import leases
from arena.schedule.matchmaking import new_matches
from arena.sittings import Person, Wish
from arena.web.app import create_app
from tests.arena.competitions.tournament_simulation import TournamentSimulation
from tests.arena.simulator import CALM
from tests.packages import Installer

ONE = "one = other_games:ONE"
NARROWER = """
import dataclasses
ONE = dataclasses.replace(game('one'), options={'size': board_size('5x5', 5, 9)})
"""
LACKS = "one has no size=4x3"
SHOWN = {
    "/play": "",
    "/play/{over}": LACKS,
    "/play/{over}/0": LACKS,
    "/play/{over}/0/board": LACKS,
    "/play/{over}/0.svg": LACKS,
    "/play/{over}/moves": "",
    "/play/{over}.json": "resign",
    "/api/v1/sittings/{over}": '"to_move":null',
    "/play/{begun}": LACKS,
    "/games/{game}": LACKS,
    "/games/{game}/1.svg": LACKS,
    "/games/{game}.json": "one",
    "/ladders/ladder-0": "",
    "/matches/{waits}": "Matches of one size=4x3 wait for other rules than those of other-games",
    "/matches/{waits}/live": LACKS,
    "/matches/{running}": "",
    "/api/v1/matches/{waits}": LACKS,
    "/api/v1/matches/{running}": '"waits":null',
}
"""What is asked for, and what it says."""


@pytest.fixture
def shown(sqlite_database: Database, packages: Installer) -> dict[str, int]:
    """A game of a person that is over and one that goes on, a game of bots, and matches to come."""
    packages.install("other-games", "ONE = game('one')", ONE)
    arena = TournamentSimulation(sqlite_database, 1, CALM, "one", 2)
    arena.create("cup", "round-robin")
    arena.play_out(30)
    with sqlite_database.begin() as session:
        ladder = session.scalars(sa.select(Ladder)).one()
        opponent = session.scalars(sa.select(BotVersion.id).limit(1)).one()
        person = Person("somebody", guest="x")
        begun = [
            sittings.begin(
                session,
                person,
                Wish(ladder, 0, (opponent,), False, form, 1),
                arena.now,
                most_open=3,
            )
            for form in ("one", "other")
        ]
        sittings.resign(begun[0], 0, arena.now)
        ladder.state = "open"
        made = [next(new_matches(session, arena.now)) for _ in range(2)]
        session.flush()
        leases.issue(made[1], arena.settings, arena.now)
        made[1].worker = "one"
        made[1].progress = {"game": 0, "moves": ["1:a1a2"]}
        numbers = {
            "over": begun[0].id,
            "begun": begun[1].id,
            "waits": made[0].id,
            "running": made[1].id,
            "game": session.scalars(sa.select(PlayedGame.id).limit(1)).one(),
        }
    packages.install("other-games", NARROWER, ONE, version="1.6")
    return numbers


def test_all_of_it_is_shown_and_says_what_is_lacked(
    sqlite_database: Database, shown: dict[str, int], tmp_path: Path
) -> None:
    app = create_app(Settings(data=tmp_path, database=sqlite_database.url))
    client: FlaskClient = app.test_client()
    try:
        for address, words in SHOWN.items():
            answer = client.get(address.format(**shown))
            assert answer.status_code == 200, (address, answer.text)
            assert words in answer.text, address
    finally:
        app.extensions["arena.database"].close()
    with sqlite_database.read() as session:
        assert session.get_one(Match, shown["waits"]).status is JobStatus.OPEN
