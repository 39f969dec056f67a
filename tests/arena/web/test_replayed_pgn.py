"""PGN that is dropped on the page of replays: games of chess, proven by the rules of chess."""

from __future__ import annotations

import io
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from arena.ground.config import Settings
from arena.ground.db import Database
from arena.web.app import create_app
from tests.arena.simulator import CALM, Simulation
from tests.arena.web.signing_in import Browser
from tests.conftest import copied
from tests.requirements import need_openspiel

MATE = '[White "Ann"]\n[Black "Bob"]\n[Result "0-1"]\n\n1. f3 e5 2. g4 $2 Qh4# {fool\'s} 0-1\n'
RESIGNED = '[White "Cid"]\n[Black "Dora"]\n[Result "1-0"]\n\n1. e4 e5 (1... c5) 2. Qh5 1-0\n'
POSITION = '[FEN "4k3/8/8/8/8/8/8/4K2R b K - 3 17"]\n[SetUp "1"]\n\n17... Kd7 *\n'

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


@pytest.fixture(scope="module")
def chess(sqlite_like: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A browser on an arena with a ladder of chess."""
    need_openspiel()
    folder = tmp_path_factory.mktemp("chess")
    with copied("sqlite", sqlite_like, folder) as database:
        arena = Simulation(database, 1, CALM)
        arena.furnish([("clobber", {"size": "4x3"}), ("openspiel:chess", {})], bots=1)
        app = create_app(Settings(data=folder, database=database.url))
        app.testing = True
        yield Browser(app)
        app.extensions["arena.database"].close()


def sent(browser: Browser, **fields: Any) -> Any:
    return browser.post("/replay", fields, page="/replay", content_type="multipart/form-data")


@pytest.mark.extras
@pytest.mark.parametrize(
    ("text", "words"),
    [
        (MATE, ["Confirmed by the rules.", "<bdi>Ann</bdi>", "ply 4 of 4", "Qh4"]),
        (RESIGNED, ["Confirmed by the rules.", "<bdi>Dora</bdi>", "ply 3 of 3"]),
        ("1. e4 e5 2. Qh5 *", ["It goes on.", "ply 3 of 3"]),
        (f'[FEN "{START}"]\n\n1. e4 e5 *', ["It goes on.", "ply 2 of 2"]),
        (
            MATE.replace("0-1", "1-0"),
            ["Not proven: <bdi>the result is ranks [2, 1]"],
        ),
        (
            RESIGNED.replace("1-0", "1/2-1/2"),
            ["Not proven: <bdi>the game is not over after 3 plies"],
        ),
        (MATE.replace("Ann", "<b>Ann"), ["<bdi>&lt;b&gt;Ann</bdi>"]),
    ],
    ids=["mate", "resigned", "no result", "the usual start", "another result", "agreed", "hostile"],
)
def test_a_game_is_shown_and_what_it_claims_is_proven(
    chess: Browser, text: str, words: list[str]
) -> None:
    """The rules of the game that is played here prove it."""
    answer = sent(chess, text=text)
    assert answer.status_code == 200
    for word in words:
        assert word in answer.text


@pytest.mark.extras
def test_a_file_in_latin_1_has_several(chess: Browser) -> None:
    """As PGN may be; one after the other."""
    text = f"{MATE}\n{RESIGNED}".replace("Bob", "Bj\xf6rn").encode("latin-1")
    first = sent(chess, file=(io.BytesIO(text), "games.pgn"))
    assert "<bdi>Bj\xf6rn</bdi>" in first.text
    assert "Another of its 2 games" in first.text
    assert "<bdi>Cid</bdi>" in sent(chess, text=text.decode("latin-1"), game="2").text


@pytest.mark.extras
@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("1. e4 e6 2. Bc9", "penspiel:chess fen=startpos: line 1: ply 3: 'Bc9' is not legal"),
        ("1. e4 {never closed", "Line 1: a comment is not closed by }"),
        (POSITION, "No game is played here that PGN has and that begins at 4k3/8/8/8/8/8/8/4K2R"),
        ("1. " + "Nf3 Nf6 Ng1 Ng8 " * 251, "This game has 1004 plies"),
    ],
    ids=["illegal", "damaged", "a position", "long"],
)
def test_what_can_not_be_shown_is_refused(chess: Browser, text: str, error: str) -> None:
    """It is refused in a line, above the form."""
    answer = sent(chess, text=text)
    assert (answer.status_code, error in unescape(answer.text)) == (422, True)


def test_where_no_game_has_pgn(sqlite_database: Database, tmp_path: Path) -> None:
    """It is said so."""
    Simulation(sqlite_database, 1, CALM).furnish([("clobber", {"size": "4x3"})], bots=1)
    app = create_app(Settings(data=tmp_path, database=sqlite_database.url))
    app.testing = True
    answer = sent(Browser(app), text=MATE)
    assert (answer.status_code, "No game is played here that PGN has" in answer.text) == (422, True)
    app.extensions["arena.database"].close()
