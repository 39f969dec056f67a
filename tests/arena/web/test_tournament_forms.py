"""Organisers make tournaments by a form, pause them, and open them again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from arena.audit import entries
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import Bot, Entrant, Ladder, OpeningPolicy, Role, Tournament, User
from arena.schedule.matchmaking import new_matches
from arena.schedule.workers import note_alive
from arena.web.app import create_app
from engine.reporting import SignOfLife
from tests.arena.competitions.tournament_simulation import TournamentSimulation
from tests.arena.simulator import CALM, START
from tests.arena.web.signing_in import Browser, now, person, signed_in
from tests.arena.web.test_pages import read


@dataclass(frozen=True, slots=True)
class Office:
    """An organiser at a browser, and the database behind it."""

    browser: Browser
    database: Database

    def make(self, **fields: Any) -> tuple[int, str]:
        """Sends the form, and gives the status and the text of the answer."""
        complete = {"name": "cup", "format": "swiss", "ladder": "ladder-0"} | fields
        answer = self.browser.post("/new-tournament", complete, page="/new-tournament")
        return answer.status_code, answer.text


@pytest.fixture
def office(sqlite_database: Database, tmp_path: Path) -> Iterator[Office]:
    """A ladder of five bots, paused, and nothing else."""
    TournamentSimulation(sqlite_database, 1, CALM, "clobber", 5, size="4x3")
    person(sqlite_database, "organiser", Role.ORGANISER)
    app = create_app(Settings(data=tmp_path, database=sqlite_database.url))
    app.testing = True
    yield Office(signed_in(app, "organiser"), sqlite_database)
    app.extensions["arena.database"].close()


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
    ({"ladder": "nowhere"}, "There is no ladder &#39;nowhere&#39;; there are: ladder-0."),
    ({"format": "balanced"}, "Balanced is not for matches of 2 bots"),
    ({"rounds": "9"}, "Rounds is 9, and in this field it can be from 1 to 5."),
    ({"rounds": "0"}, "Rounds is 0, and in this field it can be from 1 to 5."),
    ({"rounds": "many"}, "Not a valid integer value."),
    ({"cycles": "2"}, "Swiss has no setting &#39;cycles&#39;; it has rounds."),
    ({"bots": "bot-0 nobody"}, "There is no bot &#39;nobody&#39; that is ready."),
    ({"top": "1"}, "Give a number from 2 to 1,000."),
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
        assert answer.status_code == 422


def test_a_tournament_is_called_off(office: Office) -> None:
    """With a word on why, and a tick that it is meant; then every page says so, and it is over."""
    office.make(title="The cup")
    where, off = "/tournaments/cup/change", "/tournaments/cup/call-off"
    assert f'href="{where}"' in office.browser.get("/tournaments/cup").text
    for fields, words in (
        ({"note": "", "confirmed": "y"}, "This is needed."),
        ({"note": "too few bots"}, "never goes on: tick that this is meant."),
    ):
        answer = office.browser.post(off, fields, page=where)
        assert (answer.status_code, words in answer.text) == (422, True)
        assert read(answer.text).verdict() == []
    meant = {"note": "too <few> bots", "confirmed": "y"}
    assert office.browser.post(off, meant, page=where).status_code == 302
    page = office.browser.get("/tournaments/cup").text
    assert "It was called off, and nobody won it: <bdi>too &lt;few&gt; bots</bdi>" in page
    assert '<span class="badge">called off</span>' in page
    assert "not played" in page
    assert "Go on" not in page
    assert where not in page
    assert read(page).verdict() == []
    assert "called off" in office.browser.get("/tournaments").text
    answer = office.browser.post(off, meant, page="/new-tournament")
    assert (answer.status_code, "The tournament cup was called off." in answer.text) == (422, True)


def test_a_field_is_changed_before_the_start(office: Office) -> None:
    """A tournament that waits is given bots and loses some; nonsense comes back with a sentence."""
    assert office.make(title="The cup", top="3", paused="y")[0] == 302
    where = "/tournaments/cup/change"
    assert '<span class="badge">paused</span>' in office.browser.get("/tournaments/cup").text
    for what, fields, words in (
        ("enter", {"bots": " "}, "This is needed."),
        ("enter", {"bots": "bot-0"}, "The version bot-0 v1 stands in the field twice."),
        ("withdraw", {"bot": "bot-4"}, "&#39;bot-4&#39; is not in the tournament cup."),
    ):
        answer = office.browser.post(f"/tournaments/cup/{what}", fields, page=where)
        assert (answer.status_code, words in answer.text) == (422, True)
        assert read(answer.text).verdict() == []
    for what, fields in (("enter", {"bots": "bot-4, bot-3:1"}), ("withdraw", {"bot": "bot-0:1"})):
        answer = office.browser.post(f"/tournaments/cup/{what}", fields, page=where)
        assert answer.status_code == 302
    rows = office.browser.get("/tournaments/cup.json").json["standings"]
    assert {row["seeding"]: row["bot"] for row in rows} == {
        1: "bot-1",
        2: "bot-2",
        3: "bot-4",
        4: "bot-3",
    }


@pytest.mark.parametrize(
    "fields",
    [{"format": "round-robin"}, {"format": "gauntlet", "candidates": "2"}],
    ids=["round robin", "gauntlet"],
)
def test_an_owner_withdraws_a_bot_of_ones_own(office: Office, fields: dict[str, str]) -> None:
    """And no other; once it began with a word on why, which the tournament's page tells."""
    office.make(title="The cup", **fields)
    with office.database.begin() as session:
        owner = session.scalars(sa.select(Bot).where(Bot.name == "bot-0")).one().owner
        session.scalars(sa.select(Bot).where(Bot.name == "bot-1")).one().owner_id = session.scalars(
            sa.select(User.id).where(User.name == "organiser")
        ).one()
        assert next(new_matches(session, START))
        name = owner.name
    person(office.database, name)
    person(office.database, "stranger")
    app = office.browser.client.application
    mine, stranger = signed_in(app, name), signed_in(app, "stranger")
    where, page = "/tournaments/cup/change", "/tournaments/cup"
    assert "Withdraw a bot of yours" in mine.get(page).text
    assert "Withdraw a bot of yours" not in stranger.get(page).text
    assert stranger.get(where).status_code == 403
    shown = mine.get(where).text
    assert ("bot-0 v1" in shown, "bot-1 v1" in shown, "Call it off" in shown) == (
        True,
        False,
        False,
    )
    assert "What it has not begun it forfeits." in shown
    assert read(shown).verdict() == []
    for bot, note, status in (
        ("bot-1:1", "x", 403),
        ("bot-0:1", "", 422),
        ("bot-0:1", "<hurt>", 302),
    ):
        fields = {"bot": bot, "note": note}
        assert mine.post("/tournaments/cup/withdraw", fields, page=where).status_code == status
    assert mine.post("/tournaments/cup/call-off", {"note": "x"}, page=where).status_code == 403
    text = mine.get(page).text
    assert "<bdi>bot-0 v1</bdi> was withdrawn: <bdi>&lt;hurt&gt;</bdi>. What it has not" in text
    assert "walkover" in text
    assert read(text).verdict() == []


def test_a_tournament_is_played_as_its_ladder_is(office: Office) -> None:
    """Openings, clock and limits are the ladder's, whatever they are; the seed is the form's."""
    kept = {
        "openings": OpeningPolicy.EMPTY, "move_ms": 123, "memory_bytes": 2**27, "threads": 3,
        "log_bytes": 1000,
    }  # fmt: skip
    with office.database.begin() as session:
        ladder = session.scalars(sa.select(Ladder)).one()
        for name, value in kept.items():
            assert getattr(ladder, name) != value
            setattr(ladder, name, value)
    assert office.make(title=" The cup ", note=" a note ", seed="7")[0] == 302
    with office.database.read() as session:
        made = session.scalars(sa.select(Tournament)).one()
        assert {name: getattr(made, name) for name in kept} == kept
        assert (made.seed, made.title, made.note) == (7, "The cup", "a note")
    text = office.make(name="other", seed=str(2**48))[1]
    assert "Give a number from 0 to 281,474,976,710,655." in text


@pytest.mark.parametrize(
    ("as_given", "order"),
    [({}, ["bot-3", "bot-2", "bot-1"]), ({"as_given": "y"}, ["bot-1", "bot-3", "bot-2"])],
    ids=["by ratings", "as given"],
)
def test_named_bots_are_seeded(office: Office, as_given: dict[str, str], order: list[str]) -> None:
    """They are by their ratings on the ladder, or as they are named."""
    with office.database.begin() as session:
        for entrant in session.scalars(sa.select(Entrant)):
            entrant.mu = 20.0 + int(entrant.version.bot.name[-1])
    assert office.make(bots="bot-1 bot-3 bot-2", **as_given)[0] == 302
    rows = office.browser.get("/tournaments/cup.json").json["standings"]
    assert [row["bot"] for row in sorted(rows, key=lambda row: row["seeding"])] == order


def test_what_comes_next_is_said(office: Office) -> None:
    """Whether a new tournament waits; and that one which is over can't be opened again."""
    office.make(title="The cup", paused="y")
    assert (
        "The tournament cup waits until you open it: "
        in office.browser.get("/tournaments/cup").text
    )
    office.make(name="other", title="Another")
    text = office.browser.get("/tournaments/other").text
    assert "The tournament other begins as soon as a worker is free: swiss of 5 bots" in text
    meant = {"note": "rain", "confirmed": "y"}
    where = "/tournaments/cup/change"
    assert office.browser.post("/tournaments/cup/call-off", meant, page=where).status_code == 302
    answer = office.browser.post("/tournaments/cup/state", {"state": "open"}, page="/account")
    assert (answer.status_code, "called off" in answer.text) == (409, True)


def test_the_form_knows_the_ladder_that_one_comes_from(office: Office) -> None:
    """It is chosen already."""
    for address, chosen in (("?ladder=ladder-0", True), ("", False)):
        text = office.browser.get(f"/new-tournament{address}").text
        assert ('<option selected value="ladder-0">' in text) is chosen


def test_tournaments_are_listed(office: Office) -> None:
    """The last made first, each with the number of its bots."""
    office.make(name="first", title="The first", top="4")
    office.make(name="second", title="The second", top="3")
    text = office.browser.get("/tournaments").text
    rows = re.findall(
        r"<bdi>(The \w+)</bdi>.*?<td class=\"number wide\">(\d+)</td>", text, re.DOTALL
    )
    assert rows == [("The second", "3"), ("The first", "4")]


def test_whose_only_bot_is_withdrawn_has_none_to_withdraw(office: Office) -> None:
    """The page offers it no more, and to ask for it is refused."""
    with office.database.begin() as session:
        owner = User(name="ada", created=START)
        session.add(owner)
        session.scalars(sa.select(Bot).where(Bot.name == "bot-0")).one().owner = owner
    person(office.database, "ada")
    office.make(format="round-robin")
    with office.database.begin() as session:
        assert next(new_matches(session, START))
    ada, page = signed_in(office.browser.client.application, "ada"), "/tournaments/cup"
    assert "Withdraw a bot of yours" in ada.get(page).text
    fields = {"bot": "bot-0", "note": "it hangs"}
    answer = ada.post(f"{page}/withdraw", fields, page=f"{page}/change")
    assert answer.status_code == 302
    assert "Withdraw a bot of yours" not in ada.get(page).text
    assert ada.get(f"{page}/change").status_code == 403


def test_bots_are_picked_from_those_of_the_ladder(office: Office) -> None:
    """The form lists them; who is ticked plays, together with who is named."""
    page = office.browser.get("/new-tournament").text
    values = re.findall(r'name="picked" value="([^"]+)"', page)
    assert values == [f"bot-{number}:1" for number in range(5)]
    fields = {"picked": ["bot-3:1", "bot-1:1"], "bots": "bot-2", "as_given": "y"}
    assert office.make(**fields)[0] == 302
    with office.database.read() as session:
        entrants = session.scalars(
            sa.select(Entrant).join(Tournament, Tournament.id == Entrant.competition_id)
        )
        order = sorted(entrants, key=lambda entrant: entrant.number)
        assert [entrant.version.bot.name for entrant in order] == ["bot-3", "bot-1", "bot-2"]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        # 5 bots: 5 * 4 / 2 pairings; half a minute each on two places.
        ({"format": "round-robin"}, "10 matches, about 2 min 30 s with 1 worker, 2 at a time"),
        ({"format": "round-robin", "picked": ["bot-0:1", "bot-1:1"]}, "1 match, about 15 s"),
        ({"format": "knockout"}, "at least 4 matches, about 1 min"),
        ({"format": "knockout", "double": "y", "legs": "3"}, "at least 16 matches, about 4 min"),
    ],
)
def test_a_forecast_makes_nothing_and_is_told_again_of_what_is_made(
    office: Office, fields: dict[str, Any], words: str
) -> None:
    """How many matches, and how long by those of the ladder; what was filled in stays."""
    with office.database.begin() as session:
        ladder = session.scalars(sa.select(Ladder)).one()
        ladder.worker_seconds, ladder.matches_made = 300.0, 10
        note_alive(
            session, SignOfLife("w", slots=2, isolation="full", languages=("Python",)), now()
        )
    status, text = office.make(**fields, name="", forecast="yes", title="Spring")
    assert (status, words in text) == (200, True)
    assert 'value="Spring"' in text
    with office.database.read() as session:
        assert session.scalars(sa.select(Tournament)).all() == []
    assert office.make(**fields)[0] == 302
    assert f"of {len(fields.get('picked', range(5)))} bots, {words}" in office.browser.get("/").text


def test_a_forecast_says_what_it_does_not_know(office: Office) -> None:
    """How long matches take before one was played, and what can't be made at all."""
    assert (
        "10 matches; how long one takes is known"
        in office.make(format="round-robin", forecast="yes")[1]
    )
    status, text = office.make(format="swiss", rounds="9", forecast="yes")
    assert (status, "Rounds is 9, and in this field it can be from 1 to" in text) == (422, True)
