"""Analyses are kept under names, shared by addresses that nobody can guess, and kept anew."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from arena.analyses import analysis_deeds
from arena.ground.db import Database
from arena.keeping.packing import pack, unpack
from arena.models import BotAnswer, PlayedGame, Question
from engine.analysis import Tree
from engine.games import find_variant
from tests.arena.simulator import CALM, Simulation
from tests.arena.test_sittings import SMALL, Table
from tests.arena.web.signing_in import Browser, pages, person, signed_in

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)
GAME = "clobber size=4x3"
START = "/analysis?game=clobber+size%3D4x3"


class Desk(Table):
    """An arena with its pages, and two people at their browsers."""

    def __init__(self, database: Database) -> None:
        super().__init__(database, [SMALL])
        self.app = pages(database)
        person(database, "ada")
        person(database, "eve")
        self.ada, self.eve = signed_in(self.app, "ada"), signed_in(self.app, "eve")

    def keep(self, browser: Browser, **fields: str) -> str:
        """Keeps an analysis by the form, and gives its address."""
        answer = browser.post("/analyses", {"game": GAME, "shared": "yes", **fields}, page=START)
        assert answer.status_code == 303, answer.text
        return str(answer.location).partition("?")[0]


@pytest.fixture
def desk(database: Database) -> Desk:
    """One small ladder."""
    return Desk(database)


def line(count: int) -> list[str]:
    """First legal moves, one after the other."""
    tree = Tree.begin(find_variant("clobber", ["size=4x3"]))
    for number in range(count):
        tree = tree.played(number, tree.states[number].legal_moves()[0])
    return tree.text().split()


def test_kept_and_kept_anew(desk: Desk) -> None:
    """What is added to it stands behind its address, and then at it; others see it, too."""
    moves = line(3)
    address = desk.keep(desk.ada, name="a blunder", moves=" ".join(moves[:2]), comment="2:why?")
    page = desk.eve.get(address).text
    assert "a blunder" in page
    assert "why?" in page
    assert "Remove it" not in page
    added = f"{address}?moves={moves[2]}&node=3"
    assert "move 3 of 3" in desk.eve.get(added).text
    assert "keep it to have it at" in desk.ada.get(added).text
    again = desk.keep(desk.ada, name="a blunder", moves=" ".join(moves), comment="3:so")
    assert again == address
    page = desk.ada.get(f"{address}?node=3").text
    assert "move 3 of 3" in page
    assert "why?" not in page
    assert "a blunder" in desk.ada.get("/analysis").text
    assert "a blunder" not in desk.eve.get("/analysis").text
    # Whoever else keeps it has one of their own.
    assert desk.keep(desk.eve, name="a blunder", moves=moves[0]) != address


def test_for_oneself(desk: Desk) -> None:
    """What is not shared is there for nobody else, and nobody removes another's."""
    address = desk.keep(desk.ada, name="secret", shared="no")
    assert desk.ada.get(address).status_code == 200
    for browser in (desk.eve, Browser(desk.app)):
        assert browser.get(address).status_code == 404
        assert browser.get(f"/api/v1{address}").status_code == 404
    assert desk.eve.post(f"{address}/remove", {}, page=START).status_code == 404
    shared = desk.keep(desk.ada, name="open")
    assert desk.eve.post(f"{shared}/remove", {}, page=START).status_code == 403
    assert desk.ada.post(f"{shared}/remove", {}, page=START).status_code == 302
    assert desk.ada.get(shared).status_code == 404


def test_there_is_a_most(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """One more is refused; one that is there may be kept anew."""
    monkeypatch.setattr(analysis_deeds, "MOST", 1)
    desk.keep(desk.ada, name="one")
    desk.keep(desk.ada, name="one", moves=line(1)[0])
    answer = desk.ada.post("/analyses", {"game": GAME, "name": "two"}, page=START)
    assert answer.status_code == 409
    assert "as many as one may" in answer.text


def test_bots_are_asked_by_the_form(desk: Desk) -> None:
    """What they answered is seen by who is sent the address, with the curve and what swung."""
    moves = line(4)
    there = f"{START}&moves={'+'.join(moves)}&node=2"
    fields = {
        "game": GAME,
        "bot": "bot-0",
        "moves": " ".join(moves[:2]),
        "line": " ".join(moves),
        "whole": "yes",
        "back": there,
    }
    answer = desk.ada.post("/analysis/ask", fields, page=START)
    assert (answer.status_code, answer.location) == (303, there)
    page = desk.ada.get(there).text
    assert "1 bot is asked when a worker is free" in page
    assert 'hx-trigger="every 2s"' in page
    tree = Tree.begin(find_variant("clobber", ["size=4x3"])).reading(" ".join(moves))
    with desk.database.begin() as session:
        (asked,) = session.query(Question).all()
        assert asked.plies == [0, 1, 2, 3, 4]
        asked.end_lease(asked.status.FIXED)
        # White, who is to move at first, thinks that it is ahead until its second move.
        for ply, share in enumerate([0.7, 0.3, 0.7, 0.9, 0.1]):
            best = tree.states[ply].legal_moves()[-1]
            session.add(
                BotAnswer(
                    question_id=asked.id,
                    ply=ply,
                    key=tree.keys[ply],
                    version_id=asked.version_id,
                    seat=ply % 2,
                    move=best,
                    detail="",
                    text="<so>",
                    share=share,
                    pv=[best, "z9"],
                    cpu_us=5,
                    move_ms=1000,
                    answered=desk.now,
                )
            )
    page = Browser(desk.app).get(there).text
    assert "70 %" in page
    assert "&lt;so&gt;" in page
    assert "hx-trigger" not in page
    (swing,) = re.findall(r'<ol class="swings">(.*?)</ol>', page, re.S)
    assert "move 3" in swing
    assert "gave 60 % away" in swing
    assert "from 70 to 10 %" in swing
    assert 'class="chart"' in page
    assert 'aria-label="Expected: White 70% and Black 30%"' in page
    # A page elsewhere can't be led to.
    fields |= {"back": "//example.org/", "bot": "bot-1"}
    assert desk.ada.post("/analysis/ask", fields, page=START).location == "/analysis"


def test_what_was_said_is_kept_with_it(database: Database) -> None:
    """What its players expected of a game that was played here, as far as its moves are those of
    the analysis; and what bots have answered by then.
    """
    simulation = Simulation(database, 1, CALM)
    simulation.furnish([SMALL], bots=2)
    simulation.alive()
    simulation.tick()
    simulation.run(20)
    with database.begin() as session:
        found = session.get_one(PlayedGame, 1)
        record = unpack(found.record)
        said = [
            ply._replace(values={"eval": 0.625} if at == 4 else {})
            for at, ply in enumerate(record.plies)
        ]
        found.record = pack(replace(record, plies=tuple(said)))
    app = pages(database)
    person(database, "ada")
    ada, anybody = signed_in(app, "ada"), Browser(app)
    # Of the fifth move, which is White's: five eighths for it.
    expected = 'aria-label="Expected: White 62% and Black 38%"'
    page = ada.get("/games/1/analysis?node=4").text
    assert expected in page
    assert 'name="of_game" value="1"' in page
    moves = Tree.of_record(record).text().split()
    tree = Tree.of_record(record)
    other = next(move for move in tree.states[4].legal_moves() if move != moves[4])

    def keep(**fields: str) -> str:
        sent = {"game": GAME, "name": "mine", "shared": "yes", "of_game": "1", **fields}
        answer = ada.post("/analyses", sent, page=START)
        assert answer.status_code == 303, answer.text
        return anybody.get(f"{str(answer.location).partition('?')[0]}?node=4").text

    assert expected in keep(moves=" ".join(moves))
    assert expected in keep(moves=" ".join([*moves, f"4:{other}"]))
    assert "Expected:" not in keep(moves=" ".join([*moves[:4], other]))
    assert "Expected:" not in keep(moves=" ".join(moves), of_game="")
    assert "Expected:" not in keep(moves=" ".join(line(6)))
    refused = ada.post("/analyses", {"game": GAME, "name": "x", "of_game": "99"}, page=START)
    assert (refused.status_code, "There is no game 99" in refused.text) == (404, True)
