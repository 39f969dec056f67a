"""Books of openings at the pages and the API: added, listed, downloaded, played by."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from arena.competitions.ladder_deeds import ChangeLadder
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.keeping.packing import unpack
from arena.models import Match, OpeningBook, PlayedGame, User
from arena.web.app import create_app
from engine.games import GAMES
from engine.pgn import read_games
from tests.arena.competitions.tournament_simulation import TournamentSimulation
from tests.arena.doing import do
from tests.arena.simulator import CALM, START, give_sign
from tests.arena.web.signing_in import Browser, complaints, person, signed_in
from tests.arena.web.test_pages import read
from tests.requirements import need_openspiel

GAME = "clobber size=4x3"
ENDGAME = "4k3/8/8/8/8/8/8/4K2R b K - 0 1"


@pytest.fixture
def arena(sqlite_database: Database) -> TournamentSimulation:
    """A ladder of two bots."""
    return TournamentSimulation(sqlite_database, 1, CALM, "clobber", 2, size="4x3")


@pytest.fixture
def browser(arena: TournamentSimulation, tmp_path: Path) -> Iterator[Browser]:
    """Somebody who may submit bots."""
    yield from browsing(arena, tmp_path)


def browsing(arena: TournamentSimulation, folder: Path) -> Iterator[Browser]:
    person(arena.database, "ada")
    app = create_app(Settings(data=folder, database=arena.database.url))
    app.testing = True
    yield signed_in(app, "ada")
    app.extensions["arena.database"].close()


def test_a_file_is_added_listed_and_downloaded(
    browser: Browser, arena: TournamentSimulation
) -> None:
    """As it was sent; what was typed besides counts for nothing."""
    file = "a2a1\r\nb1a1 # caf\xe9\r\n".encode("latin-1")
    fields = {
        "name": "mine", "game": GAME, "text": "typed", "file": (io.BytesIO(file), "x.txt"),
    }  # fmt: skip
    answer = browser.post("/books/add", fields, page="/books", follow_redirects=True)
    assert "The book mine of 2 openings is there for clobber size=4x3" in answer.text
    assert read(answer.text).verdict() == []
    assert 'href="/books/mine"' in answer.text
    sent = browser.get("/books/mine")
    assert sent.text == "a2a1\nb1a1 # caf\xe9\n"
    assert sent.headers["Content-Disposition"] == 'attachment; filename="mine.txt"'
    assert browser.get("/api/v1/books/mine").text == sent.text
    (told,) = browser.get("/api/v1/books").json["items"]
    assert (told["name"], told["variant"], told["openings"]) == ("mine", GAME, 2)
    with arena.database.begin() as session:
        book = session.scalars(sa.select(OpeningBook)).one()
        ada = session.scalars(sa.select(User).where(User.name == "ada")).one()
        assert book.creator_id == ada.id
        do(session, ChangeLadder(name="ladder-0", settings={"openings": "mine"}), START)
    page = browser.get("/ladders/ladder-0").text
    assert 'Openings of the book <a href="/books/mine">mine</a>' in page
    assert browser.get("/api/v1/ladders/ladder-0").json["book"] == "mine"
    answer = browser.post("/books/mine/remove", {}, page="/books")
    assert (answer.status_code, "close first" in answer.text) == (409, True)
    with arena.database.begin() as session:
        do(session, ChangeLadder(name="ladder-0", settings={"state": "closed"}), START)
    answer = browser.post("/books/mine/remove", {}, page="/books", follow_redirects=True)
    assert "The book mine is removed" in answer.text
    assert 'href="/books/mine"' not in answer.text
    assert browser.get("/api/v1/books").json["items"] == []
    assert browser.get("/books/mine").text == sent.text


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"text": "a2a1\n<b>"}, "Mine, line 2: ply 1: &#39;&lt;b&gt;&#39; is not legal here"),
        ({"name": "<b>"}, "&#39;&lt;b&gt;&#39; is no name for a book"),
        ({"game": "chess"}, "There is no game &#39;chess&#39;"),
        ({"text": ""}, "This is needed"),
        ({"text": "a2a1 " * 40_001}, "Give at most 200,000 characters"),
    ],
)
def test_what_is_no_book_comes_back(browser: Browser, fields: dict[str, str], words: str) -> None:
    complete = {"name": "mine", "game": GAME, "text": "a2a1"} | fields
    answer = browser.post("/books/add", complete, page="/books")
    empty = browser.post("/books/add", {"name": "x" * 81}, page="/books")
    assert complaints(empty) == [
        "Give at most 80 characters.", "This is needed.", "This is needed."
    ]  # fmt: skip
    assert (answer.status_code, words in answer.text) == (422, True)
    assert read(answer.text).verdict() == []


class ChessSimulation(TournamentSimulation):
    """One whose workers have chess."""

    def alive(self) -> None:
        games = (str(GAMES.edition("openspiel:chess")),)
        for name in self.workers:
            self.tell(
                lambda session, name=name: give_sign(session, name, self.now, slots=2, games=games)
            )


def test_a_game_of_chess_from_a_book_is_there_as_pgn(
    sqlite_database: Database, tmp_path: Path
) -> None:
    """Its page and the API have it; from the position of the book, with what was played."""
    need_openspiel()
    arena = ChessSimulation(sqlite_database, 1, CALM, "openspiel:chess", 2)
    (browser,) = [next(opened := browsing(arena, tmp_path))]
    fields = {"name": "endgame", "game": "openspiel:chess", "text": ENDGAME}
    assert browser.post("/books/add", fields, page="/books").status_code == 302
    with arena.database.begin() as session:
        settings = {"openings": "endgame", "state": "open"}
        do(session, ChangeLadder(name="ladder-0", settings=settings), START)
    arena.alive()
    arena.tick()
    arena.run(30)
    with arena.database.read() as session:
        game = session.scalars(sa.select(PlayedGame).limit(1)).one()
        record = unpack(game.record)
        match = session.get_one(Match, game.match_id)
        assert match.options == {"fen": ENDGAME.replace(" ", "_")}
    page = browser.get(f"/games/{game.id}").text
    assert f'href="/games/{game.id}.pgn"' in page
    answer = browser.get(f"/games/{game.id}.pgn")
    (read_back,) = read_games(answer.text)
    assert [word.text for word in read_back.moves] == list(record.moves)
    assert read_back.tags["FEN"] == ENDGAME
    assert read_back.tags["Site"].endswith(f"/games/{game.id}")
    assert browser.get(f"/api/v1/games/{game.id}/pgn").text == answer.text
    opened.close()
