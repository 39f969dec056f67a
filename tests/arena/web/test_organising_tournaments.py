"""Organisers make tournaments by a form, pause them, and open them again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import sqlalchemy as sa

from arena.audit import entries
from arena.config import Settings
from arena.db import Database
from arena.models import Entrant, Role, Tournament
from arena.web.app import create_app
from tests.arena.competitions.tournament_simulation import TournamentSimulation
from tests.arena.simulator import CALM
from tests.arena.web.signing_in import Browser, person, signed_in
from tests.arena.web.test_pages import read


@dataclass(frozen=True, slots=True)
class Office:
    """An organiser at a browser, and the database behind it."""

    browser: Browser
    database: Database

    def make(self, **fields: str) -> tuple[int, str]:
        """Sends the form, and gives the status and the text of the answer."""
        complete = {"name": "cup", "format": "swiss", "ladder": "ladder-0"} | fields
        answer = self.browser.post("/new-tournament", complete, page="/new-tournament")
        return answer.status_code, answer.text


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    """A ladder of five bots, paused, and nothing else."""
    database = Database(f"sqlite:///{tmp_path}/arena.db")
    database.upgrade()
    TournamentSimulation(database, 1, CALM, "clobber", 5, size="4x3")
    person(database, "organiser", Role.ORGANISER)
    app = create_app(Settings(data=tmp_path, database=database.url))
    app.testing = True
    yield Office(signed_in(app, "organiser"), database)
    app.extensions["arena.database"].close()
    database.close()


MADE = [
    ({}, ["bot-0", "bot-1", "bot-2", "bot-3", "bot-4"], {"rounds": 3}),
    ({"rounds": "2", "top": "3"}, ["bot-0", "bot-1", "bot-2"], {"rounds": 2}),
    (
        {"format": "knockout", "bots": "bot-3, bot-1:1\n bot-2", "as_given": "y", "double": "y"},
        ["bot-3", "bot-1", "bot-2"],
        {"legs": 1, "extra_legs": 2, "double": 1, "third_place": 0},
    ),
    (
        {"format": "knockout", "extra_legs": "0"},
        ["bot-0", "bot-1", "bot-2", "bot-3", "bot-4"],
        {"extra_legs": 0},
    ),
]


@pytest.mark.parametrize(("fields", "bots", "settings"), MADE, ids=["all", "top", "named", "zero"])
def test_the_form_makes_a_tournament(
    office: Office, fields: dict[str, str], bots: list[str], settings: dict[str, int]
) -> None:
    """It is open at once, its page is there, and who made it is written down."""
    assert office.make(title="The cup", note="a note", **fields)[0] == 302
    with office.database.read() as session:
        made = session.scalars(sa.select(Tournament)).one()
        assert (made.title, made.note, str(made.state)) == ("The cup", "a note", "open")
        assert {key: made.settings[key] for key in settings} == settings
        entrants = session.scalars(sa.select(Entrant).where(Entrant.competition_id == made.id))
        order = sorted(entrants, key=lambda entrant: entrant.number)
        assert [entrant.version.bot.name for entrant in order] == bots
        noted = entries(session, action="create tournament")
        assert [(one.actor, one.subject) for one in noted] == [("organiser", "tournament cup")]
    page = office.browser.get("/tournaments/cup").text
    assert "a note" in page
    assert read(page).verdict() == []


REFUSED = [
    ({"name": ""}, "This is needed."),
    ({"name": "Cup"}, "is no name for a tournament"),
    ({"name": "ladder-0"}, "choose another name."),
    ({"title": "two\nlines"}, "The title is to be a line of 120 printable characters at most."),
    ({"ladder": "nowhere"}, "Choose one of the ladders."),
    ({"format": "balanced"}, "Balanced is not for matches of 2 bots"),
    ({"rounds": "9"}, "Rounds is 9, and in this field it can be from 1 to 5."),
    ({"rounds": "0"}, "Rounds is 0, and in this field it can be from 1 to 5."),
    ({"rounds": "many"}, "Not a valid integer value."),
    ({"cycles": "2"}, "Swiss has no setting &#39;cycles&#39;; it has rounds."),
    ({"bots": "bot-0 nobody"}, "There is no bot &#39;nobody&#39; that is ready."),
    ({"top": "1"}, "Number must be between 2 and 1000."),
]


@pytest.mark.parametrize(("fields", "words"), REFUSED, ids=[words for _, words in REFUSED])
def test_a_form_that_can_not_be_comes_back(
    office: Office, fields: dict[str, str], words: str
) -> None:
    """With what is wrong and all that was typed; nothing is made."""
    status, text = office.make(note="what was typed", **fields)
    assert (status, words in text, "what was typed" in text) == (422, True, True)
    assert read(text).verdict() == []
    with office.database.read() as session:
        assert session.scalars(sa.select(Tournament)).all() == []


def test_a_tournament_is_paused_and_opened(office: Office) -> None:
    """The page offers what can be done next; nonsense is refused."""
    office.make()
    for state, offered in (("paused", "Go on"), ("open", "Pause")):
        answer = office.browser.post(
            "/tournaments/cup/state", {"state": state}, page="/tournaments/cup"
        )
        assert answer.status_code == 302
        assert f">{offered}</button>" in office.browser.get("/tournaments/cup").text
    for state in ("closed", "frozen", "", "x"):
        answer = office.browser.post(
            "/tournaments/cup/state", {"state": state}, page="/tournaments/cup"
        )
        assert answer.status_code == 400


def test_a_tournament_is_called_off(office: Office) -> None:
    """With a word on why, and a tick that it is meant; then every page says so, and it is over."""
    office.make(title="The cup")
    where = "/tournaments/cup/change"
    assert f'href="{where}"' in office.browser.get("/tournaments/cup").text
    for fields, words in (
        ({"note": "", "confirmed": "y"}, "This is needed."),
        ({"note": "too few bots"}, "never goes on: tick that this is meant."),
    ):
        answer = office.browser.post(where, fields, page=where)
        assert (answer.status_code, words in answer.text) == (422, True)
        assert read(answer.text).verdict() == []
    meant = {"note": "too <few> bots", "confirmed": "y"}
    assert office.browser.post(where, meant, page=where).status_code == 302
    page = office.browser.get("/tournaments/cup").text
    assert "It was called off, and nobody won it: <bdi>too &lt;few&gt; bots</bdi>" in page
    assert '<span class="badge">called off</span>' in page
    assert "not played" in page
    assert "Go on" not in page
    assert where not in page
    assert read(page).verdict() == []
    assert "called off" in office.browser.get("/tournaments").text
    answer = office.browser.post(where, meant, page="/new-tournament")
    assert (answer.status_code, "The tournament cup was called off." in answer.text) == (422, True)
