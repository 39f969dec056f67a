"""Games whose rules raise or hang while a page shows them: it is told which game that is."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient

from arena import sittings
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import BotVersion, Ladder, PlayedGame
from arena.sittings import Person, Wish
from arena.web import boards
from arena.web.app import create_app
from engine import faulty_rules
from engine.faulty_rules import break_off_hangs
from engine.games import GAMES
from tests import faulty
from tests.arena.competitions.tournament_simulation import TournamentSimulation
from tests.arena.simulator import CALM
from tests.packages import Installer

METHODS = """
    def play(self, move):
        fail()
        return super().play(move)
    def legal_moves(self):
        fail()
        return super().legal_moves()
"""
FAILING = """
fault = ""

def fail():
    while fault == "HANG":
        pass
    if fault:
        raise eval(fault)
"""
SHOWING = [
    "/games/{game}",
    "/games/{game}/1/board",
    "/games/{game}/1.svg",
    "/games/{game}/1.png",
    "/games/{game}.gif",
    "/games/{game}/embed",
    "/games/{game}.txt",
    "/api/v1/sittings/{sitting}",
]
WORDS = "The rules of the game faulty (faulty-games 1.5) failed, so this can"


@pytest.fixture
def shown(sqlite_database: Database, packages: Installer) -> dict[str, int]:
    """A game that was played and one that goes on."""
    code = faulty.CODE.format(methods=METHODS) + FAILING
    packages.install("faulty-games", code, faulty.ENTRY)
    arena = TournamentSimulation(sqlite_database, 1, CALM, "faulty", 2)
    arena.create("cup", "round-robin")
    arena.play_out(30)
    with sqlite_database.begin() as session:
        ladder = session.scalars(sa.select(Ladder)).one()
        opponent = session.scalars(sa.select(BotVersion.id).limit(1)).one()
        wish = Wish(ladder, 0, (opponent,), False, "form", 1)
        person = Person("somebody", guest="x")
        begun = sittings.begin(session, person, wish, arena.now, most_open=3)
        played = session.scalars(sa.select(PlayedGame.id).limit(1)).one()
        return {"game": played, "sitting": begun.id}


@pytest.fixture
def client(
    sqlite_database: Database, shown: dict[str, int], tmp_path: Path
) -> Iterator[FlaskClient]:
    """Whoever looks."""
    app = create_app(Settings(data=tmp_path, database=sqlite_database.url))
    yield app.test_client()
    app.extensions["arena.database"].close()


def refused(client: FlaskClient, address: str) -> None:
    """It is answered by the line about the rules, on a page like all others or as JSON."""
    answer = client.get(address)
    assert answer.status_code == 500, address
    assert "<b>" not in answer.text
    assert "no-cache" in answer.headers["Cache-Control"]
    if address.startswith("/api"):
        assert answer.mimetype == "application/problem+json"
        assert answer.json["detail"].startswith(WORDS)
    else:
        assert WORDS in answer.text
        assert "<nav" in answer.text


@pytest.mark.parametrize("error", ["ZeroDivisionError('<b>')", "OSError(5, '<b>')"])
def test_rules_that_raise(
    client: FlaskClient, shown: dict[str, int], caplog: pytest.LogCaptureFixture, error: str
) -> None:
    """Any page, picture or answer of it says whose they are, the log where it was."""
    rules = sys.modules["faulty_games"]
    assert all(client.get(address.format(**shown)).status_code == 200 for address in SHOWING)
    boards._reached.cache_clear()
    for film in client.application.extensions["arena.films"].folder.glob("*.gif"):
        film.unlink()  # or it would be shown
    rules.fault = error  # type: ignore[attr-defined]
    for address in SHOWING:
        caplog.clear()
        refused(client, address.format(**shown))
        (line,) = [one.getMessage() for one in caplog.records if one.name == "arena.web"]
        assert re.match(r"a page failed: the game faulty: its rules raise \w+Error: .*<b>", line)
        assert re.search(r" in \S+faulty_games.py:\d+$", line)
    assert client.get(f"/games/{shown['game']}.json").status_code == 200, "what was played is there"
    assert "faulty" in GAMES


def test_rules_that_hang(
    client: FlaskClient, shown: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One page fails; then the game is not shown here, with the reason."""
    monkeypatch.setattr(faulty_rules, "LOOK_SECONDS", 0.05)
    rules = sys.modules["faulty_games"]
    rules.fault = "HANG"  # type: ignore[attr-defined]
    address = f"/games/{shown['game']}/1.svg"
    ended = break_off_hangs(GAMES, 0.2)
    try:
        refused(client, address)
    finally:
        ended.set()
    answer = client.get(address)
    assert answer.status_code == 200
    assert "its rules hang" in answer.text
