"""Tests of the doors with two more formats in the catalogue: run by test_newcomers.py, alone.

Commands, forms and the API's document are made of the catalogue when they are imported, so the
lines have to be there before that.
"""

# ruff: noqa: E402

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from arena.formats.catalogue import FORMATS
from tests.arena.formats.newcomers import NEWCOMERS

FORMATS.update(NEWCOMERS)

from arena.audit import ARENA
from arena.cli import run
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import Role, Scope
from arena.people.accounts import add_token
from arena.web.app import create_app
from tests.arena.competitions.tournament_simulation import TournamentSimulation
from tests.arena.simulator import CALM
from tests.arena.web.signing_in import person, signed_in
from tests.arena.web.test_pages import read


def test_newcomers_are_offered_and_played(
    sqlite_database: Database, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Commands, forms and the API do so; pages, tables and programs are told the same.

    Eight bots have four matches in each of three rounds, or seven of which the winner stays.
    """
    arena = TournamentSimulation(sqlite_database, 1, CALM, "clobber", 8, size="4x3")
    organiser = person(sqlite_database, "organiser", Role.ORGANISER)
    app = create_app(Settings(data=tmp_path, database=sqlite_database.url))
    app.testing = True
    browser = signed_in(app, "organiser")

    make = ["tournament", "create", "by-command", "--ladder", "ladder-0", "--rounds", "3"]
    assert run([*make, "--format", "danish", "--data", str(tmp_path)]) == 0
    assert ": danish of 8 bots, 12 matches;" in capsys.readouterr().out
    assert run(["tournament", "create", "--help"]) == 0
    assert "danish" in capsys.readouterr().out

    assert 'value="danish"' in browser.get("/new-tournament").text
    fields = {"name": "by-form", "format": "hill", "ladder": "ladder-0"}
    assert browser.post("/new-tournament", fields, page="/new-tournament").status_code == 302

    with sqlite_database.begin() as session:
        token = add_token(session, ARENA, organiser, "ci", [Scope.ORGANISE], datetime.now(UTC))
    asked = {"name": "by-api", "format": "danish", "ladder": "ladder-0", "top": 2}
    asked["settings"] = {"rounds": 2}
    answer = app.test_client().post(
        "/api/v1/tournaments", json=asked, headers={"Authorization": f"Bearer {token}"}
    )
    assert (answer.status_code, answer.json["settings"]) == (201, {"rounds": 2})
    document = browser.get("/api/v1/openapi.json").text
    assert ", danish, hill." in document
    assert "danish: rounds (how many rounds)." in document

    arena.play_out(5)
    for name, title, matches in (
        ("by-command", "Danish", 12),
        ("by-form", "King of the hill", 7),
    ):
        told = browser.get(f"/tournaments/{name}.json").json
        assert (told["format_title"], told["matches"], told["planned"]) == (title, matches, matches)
        assert (told["state"], len(told["bracket"] or [])) == ("closed", 7 * (name == "by-form"))
        assert [row["place"] for row in told["standings"]] == list(range(1, 9))
        page = browser.get(f"/tournaments/{name}").text
        assert read(page).verdict() == []
        assert f"<p>{title}" in page
        assert f'{matches} <small class="faint">of {matches}</small>' in page
        for words in ("Who has won the last match is first", "Bracket of the round 1"):
            assert (words in page) is (name == "by-form")
        assert ("Points after each round" in page) is (name == "by-command")
    assert run(["tournament", "show", "by-form", "--rounds", "--data", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "by-form: king of the hill, clobber size=4x3" in shown
    assert "closed, 7 of 7 matches, 14 games" in shown
