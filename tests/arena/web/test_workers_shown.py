"""Which worker played a match: organisers are told and can filter by it, and nobody else is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from flask import Flask

from arena.audit import ARENA
from arena.competitions import strength_tallies
from arena.competitions.strength_deeds import CreateTest
from arena.deeds import By, perform
from arena.ground.db import Database
from arena.models import Ladder, ListedSeat, Match, PlayedGame, Role, Scope, Selection
from tests.arena.simulator import CALM, Simulation
from tests.arena.web.signing_in import Browser, now, pages, person, signed_in
from tests.conftest import on_both
from tests.furnished import furnished_database

WORKER = "box-xylophone"


def play(database: Database) -> None:
    """Has some matches played, of which one worker's name stands nowhere by chance."""
    simulation = Simulation(database, 3, CALM)
    simulation.furnish([("clobber", {"size": "4x3"})], bots=3)
    simulation.play(8)
    owner = person(database, "owner")
    person(database, "organiser", Role.ORGANISER)
    with database.begin() as session:
        its = sa.select(PlayedGame.id).join(PlayedGame.match).where(Match.played_by == "two")
        named = sa.update(ListedSeat).where(ListedSeat.game_id.in_(its)).values(worker=WORKER)
        session.execute(named)
        session.execute(sa.update(Match).where(Match.played_by == "two").values(played_by=WORKER))
        # An organiser's list by a worker, whose address is passed on.
        session.add(
            Selection(owner_id=owner.id, name="its", words=f"worker={WORKER}", created=now())
        )


@pytest.fixture
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """The database of such an arena."""
    with furnished_database(request, tmp_path, play) as (database, _):
        yield database


@pytest.fixture
def app(database: Database) -> Iterator[Flask]:
    """Its pages."""
    app = pages(database)
    yield app
    app.extensions["arena.database"].close()


def numbers(database: Database) -> tuple[int, int]:
    """A match that it played, and a game of that."""
    with database.read() as session:
        query = sa.select(Match.id, PlayedGame.id).join(PlayedGame.match)
        return tuple(session.execute(query.where(Match.played_by == WORKER)).first())  # type: ignore[return-value]


@pytest.mark.long
@on_both("database")
def test_organisers_alone_are_told(database: Database, app: Flask) -> None:
    """The match, the game, lists and the API tell them; others are told nothing of it."""
    match, game = numbers(database)
    told = {
        f"/matches/{match}": True,
        f"/games/{game}": True,
        "/games": True,
        f"/api/v1/matches/{match}": True,
        f"/api/v1/games/{game}": True,
        "/api/v1/matches": True,
        "/api/v1/games": True,
        f"/api/v1/games/{game}/record": False,
        f"/api/v1/games/{game}/pgn": False,
        "/api/v1/games.csv": False,
        "/api/v1/games.jsonl": False,
        "/api/v1/games/counts": False,
        "/games/charts": False,
        "/ladders/ladder-0": False,
    }
    readers = (Browser(app), signed_in(app, "owner"), signed_in(app, "organiser"))
    for address, is_shown in told.items():
        for reader in readers:
            answer = reader.get(address)
            assert answer.status_code in (200, 404), address
            organises = reader is readers[-1]
            assert (WORKER in answer.text) == (is_shown and organises), address
            if is_shown and organises:
                assert "private" in answer.headers["Cache-Control"]


def test_organisers_alone_look_for_it(database: Database, app: Flask) -> None:
    """A filter that names a worker is refused alike whether there is such a one or not."""
    stranger, organiser = Browser(app), signed_in(app, "organiser")
    for address in ("/games", "/games/charts", "/api/v1/games", "/api/v1/games/counts"):
        answers = [stranger.get(f"{address}?worker={name}") for name in (WORKER, "nobody")]
        assert len({answer.status_code for answer in answers}) == 1
        assert answers[0].status_code in (403, 422)
        assert answers[0].text.replace(WORKER, "nobody") == answers[1].text
        assert organiser.get(f"{address}?worker={WORKER}").status_code == 200
    found = organiser.get(f"/api/v1/games?worker={WORKER}").json["items"]
    assert {one["worker"] for one in found} == {WORKER}
    assert 'name="worker"' in organiser.get("/games").text
    assert 'name="worker"' not in stranger.get("/games").text
    assert "/operator/match-sets?worker=" in organiser.get(f"/games?worker={WORKER}").text
    assert "/games?worker=two" in organiser.get("/operator").text


def test_others_are_told_of_workers_by_numbers(database: Database, app: Flask) -> None:
    """How many there are and what a strength test says by each is for all, whose names are not."""
    organiser = signed_in(app, "organiser").get("/api/v1/workers").json["items"]
    others = Browser(app).get("/api/v1/workers").json["items"]
    assert [one["name"] for one in organiser] == ["one", "two"]
    assert [one["name"] for one in others] == ["worker 1", "worker 2"]
    with database.begin() as session:
        ladder = session.scalars(sa.select(Ladder)).one()
        by = By(ARENA, frozenset(Scope), now(), at_machine=True)
        made = perform(session, CreateTest("bot-0", "bot-1", ladder=ladder.name), by).answer
        tally = strength_tallies.empty_tally(made, WORKER)
        session.add(tally)
        session.flush()
        number = made.id
    addresses = (f"/tests/{number}", f"/tests/{number}.json", f"/api/v1/tests/{number}")
    for address in (*addresses, "/tests.json", "/api/v1/tests", f"/tests/{number}/live"):
        for reader in (Browser(app), signed_in(app, "owner")):
            assert WORKER not in reader.get(address).text, address
        assert WORKER in signed_in(app, "organiser").get(address).text, address
    assert "worker 1" in Browser(app).get(f"/tests/{number}").text
    without = f"/api/v1/tests/{number}/without?worker={WORKER}"
    assert Browser(app).get(without).status_code == 401
