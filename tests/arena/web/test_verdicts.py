"""Organisers make matches void, or have them tried again, on their pages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import sqlalchemy as sa

from arena.audit import entries
from arena.competitions.pairings import Pairing
from arena.ground.db import Database
from arena.models import CompetitionState, Entrant, JobStatus, Ladder, Match, PlayedGame, Role
from arena.schedule.matchmaking import make
from tests.arena.simulator import CALM, START, Simulation
from tests.arena.web.conftest import HOSTILE
from tests.arena.web.signing_in import Browser, pages_of_a_copy, person, signed_in
from tests.arena.web.test_pages import read

PLAYED, ASIDE = JobStatus.FIXED, JobStatus.SET_ASIDE


@dataclass(frozen=True, slots=True)
class Office:
    """An organiser at a browser, and the database behind it."""

    browser: Browser
    database: Database

    def send(self, number: int, what: str, **fields: str) -> tuple[int, str]:
        """Sends a form of a match's page, and gives the status and the text of the answer."""
        answer = self.browser.post(f"/matches/{number}/{what}", fields, page="/account")
        return answer.status_code, answer.text

    def first(self, status: JobStatus) -> int:
        """The first match that stands so."""
        with self.database.read() as session:
            query = sa.select(Match.id).where(Match.status == status).order_by(Match.id)
            return session.scalars(query.limit(1)).one()

    def game(self) -> int:
        """The first game of the first match that was played."""
        with self.database.read() as session:
            query = sa.select(PlayedGame.id).where(PlayedGame.match_id == self.first(PLAYED))
            return session.scalars(query.limit(1)).one()

    def match(self, number: int) -> Match:
        with self.database.read() as session:
            return session.get_one(Match, number)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of an arena with a match that was played and one that is set aside."""
    file = tmp_path_factory.mktemp("played") / "arena.db"
    database = Database(f"sqlite:///{file}")
    database.upgrade()
    simulation = Simulation(database, 1, CALM)
    simulation.furnish([("clobber", {"size": "4x3"})], bots=2)
    simulation.play(1)
    with database.begin() as session:
        ladder = session.scalars(sa.select(Ladder)).one()
        one, other = session.scalars(sa.select(Entrant.id).order_by(Entrant.id))
        aside = make(session, ladder, Pairing((one, other)), START)
        aside.status, aside.failures, aside.problem = JobStatus.SET_ASIDE, 3, HOSTILE
    person(database, "organiser", Role.ORGANISER)
    database.close()
    return file


@pytest.fixture
def office(played: Path, tmp_path: Path) -> Iterator[Office]:
    """An organiser at the pages of a copy of it."""
    with pages_of_a_copy(played, tmp_path) as (app, database):
        yield Office(signed_in(app, "organiser"), database)


@pytest.mark.parametrize("replay", [False, True], ids=["given up", "replayed"])
@pytest.mark.parametrize("status", [PLAYED, ASIDE], ids=["played", "set aside"])
def test_a_match_is_made_void(office: Office, status: JobStatus, replay: bool) -> None:
    """Its page and its games' pages show the note; the log has it; it is replayed if asked for."""
    more = {"replay": "y"} if replay else {}
    number, game = office.first(status), office.game()
    assert office.send(number, "void", note="The <lamp> fell", **more)[0] == 302
    found = office.match(number)
    assert (found.status, found.problem) == (JobStatus.VOID, "The <lamp> fell")
    for page in [f"/matches/{number}", *[f"/games/{game}"] * (status is PLAYED)]:
        text = office.browser.get(page).text
        assert "counts for nothing" in text
        assert "The &lt;lamp&gt; fell" in text
        assert "Make it" not in text
        assert "Make its match void" not in text
        assert read(text).verdict() == []
    with office.database.read() as session:
        (noted,) = entries(session, action="void match")
        assert (noted.actor, noted.subject) == ("organiser", f"match {number}")
        alike = session.scalars(sa.select(Match).where(Match.seed == found.seed)).all()
    assert len(alike) == 1 + replay


REFUSED = [
    ({}, "This is needed."),
    ({"note": "   "}, "This is needed."),
    ({"note": "x" * 2001}, "Give at most 2,000 characters."),
]


@pytest.mark.parametrize(("fields", "words"), REFUSED, ids=["none", "blank", "long"])
def test_a_void_without_a_reason_is_refused(
    office: Office, fields: dict[str, str], words: str
) -> None:
    """The form comes back with what is wrong, and the match counts as before."""
    number = office.first(PLAYED)
    status, text = office.send(number, "void", **fields)
    assert (status, words in text) == (422, True)
    assert fields.get("note", "") in text
    assert read(text).verdict() == []
    assert office.match(number).status is JobStatus.FIXED


def test_a_form_that_is_sent_twice_voids_once(office: Office) -> None:
    """The second is told so, makes no other match, and what was typed is still there."""
    number = office.first(PLAYED)
    assert office.send(number, "void", note="once", replay="y")[0] == 302
    status, text = office.send(number, "void", note="twice", replay="y")
    assert (status, f"Match {number} is void already." in text) == (422, True)
    assert 'value="twice"' in text
    with office.database.read() as session:
        seed = session.get_one(Match, number).seed
        assert len(session.scalars(sa.select(Match).where(Match.seed == seed)).all()) == 2
        assert len(entries(session, action="void match")) == 1


def test_what_a_ladders_state_forbids_is_said(office: Office) -> None:
    """Nothing is replayed on a frozen ladder, nor on a closed one, whose table is made anew."""
    number = office.first(PLAYED)
    for state, words in {
        CompetitionState.FROZEN: "is frozen: nothing is played there.",
        CompetitionState.CLOSED: "is closed: nothing is played there.",
    }.items():
        with office.database.begin() as session:
            session.scalars(sa.select(Ladder)).one().state = state
        status, text = office.send(number, "void", note="late", replay="y")
        assert (status, words in text) == (422, True)
    assert office.send(number, "void", note="late")[0] == 302


def test_a_match_that_is_set_aside_is_tried_again(office: Office) -> None:
    """Its page offers it, once; a match that was played is not tried again."""
    aside = office.first(ASIDE)
    assert ">Try it again</button>" in office.browser.get(f"/matches/{aside}").text
    assert office.send(aside, "requeue")[0] == 302
    assert office.match(aside).status is JobStatus.OPEN
    for number in (aside, office.first(PLAYED)):
        answer = office.browser.post(f"/matches/{number}/requeue", page="/account")
        assert (answer.status_code, "and not set aside." in answer.text) == (409, True)
    for what in ("requeue", "void"):
        answer = office.browser.post(f"/matches/{2**40}/{what}", {"note": "x"}, page="/account")
        assert answer.status_code == 404


def test_others_are_not_offered_it(office: Office) -> None:
    """Who is no organiser sees the match and no forms."""
    person(office.database, "ada")
    ada = signed_in(office.browser.client.application, "ada")
    game = f"/games/{office.game()}"
    for page in (f"/matches/{office.first(PLAYED)}", f"/matches/{office.first(ASIDE)}", game):
        text = ada.get(page).text
        assert "Organisers decide" not in text
        assert "Make its match void" not in text
    assert "Make its match void" in office.browser.get(game).text
