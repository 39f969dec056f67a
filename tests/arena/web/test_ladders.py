"""Organisers make ladders by a form, change them, and say when they play."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import sqlalchemy as sa

from arena.audit import entries
from arena.ground.db import Database
from arena.models import CompetitionState, Ladder, Role
from engine.games import GAMES
from tests.arena.simulator import CALM, Simulation
from tests.arena.web.conftest import HOSTILE
from tests.arena.web.signing_in import Browser, deeds, pages_of_a_copy, person, signed_in
from tests.arena.web.test_pages import read
from tests.requirements import need


@dataclass(frozen=True, slots=True)
class Office:
    """An organiser at a browser, and the database behind it."""

    browser: Browser
    database: Database

    def make(self, game: str = "clobber", **fields: str) -> tuple[int, str]:
        """Sends the form for a new ladder, and gives the status and the text of the answer."""
        page = f"/new-ladder/{game}"
        answer = self.browser.post(page, {"name": "blitz"} | fields, page=page)
        return answer.status_code, answer.text

    def change(self, name: str, what: str = "settings", **fields: str) -> tuple[int, str]:
        """Sends a form of a ladder's page of settings."""
        answer = self.browser.post(
            f"/ladders/{name}/{what}", fields, page=f"/ladders/{name}/settings"
        )
        return answer.status_code, answer.text

    def ladder(self, name: str) -> Ladder | None:
        with self.database.read() as session:
            return session.scalar(sa.select(Ladder).where(Ladder.name == name))


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of an arena with a ladder on which a match was played, and an organiser."""
    file = tmp_path_factory.mktemp("played") / "arena.db"
    database = Database(f"sqlite:///{file}")
    database.upgrade()
    simulation = Simulation(database, 1, CALM)
    simulation.furnish([("clobber", {"size": "4x3"})], bots=2)
    simulation.play(1)
    person(database, "organiser", Role.ORGANISER)
    database.close()
    return file


@pytest.fixture
def office(played: Path, tmp_path: Path) -> Iterator[Office]:
    """An organiser at the pages of a copy of it."""
    with pages_of_a_copy(played, tmp_path) as (app, database):
        yield Office(signed_in(app, "organiser"), database)


MADE = [
    ({}, "clobber size=6x7", "100 ms of CPU time a move"),
    ({"option-size": "5x6", "time": "5+0.05"}, "clobber size=5x6", "5 s of CPU time and 0.05 s"),
    ({"move": "50", "charge": "wall", "openings": "empty"}, "clobber size=6x7", "50 ms a move"),
]


@pytest.mark.parametrize(("fields", "variant", "time"), MADE, ids=["plain", "time", "move"])
def test_the_form_makes_a_ladder(
    office: Office, fields: dict[str, str], variant: str, time: str
) -> None:
    """It is open at once, its page says what it is, and who made it is written down."""
    status, text = office.make(
        title="Blitz", note="Quick & <b>", draws="0.1", memory="128M", **fields
    )
    assert status == 302, text
    made = office.ladder("blitz")
    assert made is not None
    assert (str(made.variant), made.title, str(made.state)) == (variant, "Blitz", "open")
    assert (made.draw_probability, made.memory_bytes) == (0.1, 128 * 2**20)
    assert str(made.openings) == fields.get("openings", "random")
    page = office.browser.get("/ladders/blitz").text
    for words in (variant, "Quick &amp; &lt;b&gt;", "The ladder blitz is open: "):
        assert words in page
    assert read(page).verdict() == []
    with office.database.read() as session:
        noted = entries(session, action="create ladder")
        assert [(one.actor, one.subject) for one in noted] == [("organiser", "ladder blitz")]


@pytest.mark.parametrize("game", ["clobber", "blokus", "puzzle", "oxoxo", "siege", "openspiel:hex"])
def test_each_game_has_its_own_options(office: Office, game: str) -> None:
    """Every option is a field with its default, and what else it may be beside it."""
    need(game in GAMES, f"{game} is not here")
    page = office.browser.get(f"/new-ladder/{game}").text
    assert read(page).verdict() == []
    assert office.make(game)[0] == 302
    made = office.ladder("blitz")
    assert made is not None
    for key, value in made.options.items():
        assert re.search(rf'name="option-{key}"[^>]* value="{value}"', page)


REFUSED_NEW = [
    ({"name": ""}, "This is needed."),
    ({"name": "Blitz"}, "is no name for a ladder"),
    ({"name": "ladder-0"}, "There is a competition ladder-0 already: choose another name."),
    ({"option-size": "1x99"}, "Clobber has no size=1x99; allowed for size: WxH"),
    ({"time": "5", "move": "100"}, "Choose time or move, not both."),
    ({"time": "soon"}, "Time=soon can&#39;t be"),
    ({"draws": "0"}, "Draws=0 can&#39;t be: draws is a number from 0.001 to 0.95."),
    ({"draws": "nan"}, "Draws=nan can&#39;t be"),
    ({"memory": "1k"}, "Memory=1k can&#39;t be: memory is bytes such as 512k or 256M"),
    ({"weight": "inf"}, "Weight=inf can&#39;t be"),
    ({"openings": "mine"}, "There is no book &#39;mine&#39;; there are: none."),
    ({"title": "x" * 121}, "title is a line of 120 printable characters at most"),
    ({"title": HOSTILE[:100]}, "title is a line of 120 printable characters at most"),
]


@pytest.mark.parametrize(("fields", "words"), REFUSED_NEW, ids=[words for _, words in REFUSED_NEW])
def test_a_ladder_that_can_not_be_comes_back(
    office: Office, fields: dict[str, str], words: str
) -> None:
    """With what is wrong and all that was typed; nothing is made."""
    status, text = office.make(**{"note": "what was typed"} | fields)
    assert (status, words in text, "what was typed" in text) == (422, True, True)
    assert read(text).verdict() == []
    assert "<script>alert" not in text
    assert office.ladder("blitz") is None


def test_a_form_that_is_sent_twice_makes_one_ladder(office: Office) -> None:
    """The second is told that the first is there."""
    assert office.make()[0] == 302
    status, text = office.make()
    assert (status, "There is a competition blitz already" in text) == (422, True)


def test_there_is_no_ladder_of_no_game(office: Office) -> None:
    answer = office.browser.get("/new-ladder/chess")
    assert (answer.status_code, "There is no game chess." in answer.text) == (404, True)


def test_settings_are_changed(office: Office) -> None:
    """What is different is said, and that nothing is; what its matches go by is no field."""
    page = office.browser.get("/ladders/ladder-0/settings").text
    assert read(page).verdict() == []
    assert 'name="draws"' in page
    assert 'name="openings"' not in page
    assert "make another ladder" in page
    assert office.change("ladder-0", title="A & B", threads="4", note="")[0] == 302
    said = office.browser.get("/ladders/ladder-0").text
    assert "threads: " in said
    assert "→ 4" in said
    found = office.ladder("ladder-0")
    assert found is not None
    assert (found.title, found.threads) == ("A & B", 4)
    assert office.change("ladder-0", title="A & B", threads="4")[0] == 302
    assert "Nothing is different" in office.browser.get("/ladders/ladder-0").text
    assert deeds(office.database).count("organiser: change ladder") == 1


def test_two_forms_do_not_undo_each_other(office: Office) -> None:
    """The page was asked for before another change: only what was typed over is written."""
    page = office.browser.get("/ladders/ladder-0/settings").text
    shown = dict(re.findall(r'<input type="hidden" name="(shown-.+?)" value="(.*?)">', page))
    old = {name.removeprefix("shown-"): text for name, text in shown.items()}
    assert office.change("ladder-0", title="T", threads="4", note="first")[0] == 302
    # One that is refused comes back with what stood there at first.
    status, text = office.change("ladder-0", **old | shown | {"threads": "many"})
    assert (status, f'name="shown-title" value="{old["title"]}"' in text) == (422, True)
    assert office.change("ladder-0", **old | shown | {"memory": "64M", "note": "second"})[0] == 302
    found = office.ladder("ladder-0")
    assert found is not None
    assert (found.title, found.threads, found.memory_bytes) == ("T", 4, 64 * 2**20)
    assert found.note == "second"


REFUSED_CHANGES = [
    ({"title": ""}, "The title is empty."),
    ({"threads": "many"}, "Threads=many can&#39;t be: threads is a number from 1 to 1024."),
    ({"draws": "1"}, "Draws=1 can&#39;t be"),
]


@pytest.mark.parametrize(
    ("fields", "words"), REFUSED_CHANGES, ids=[words for _, words in REFUSED_CHANGES]
)
def test_a_change_that_can_not_be_comes_back(
    office: Office, fields: dict[str, str], words: str
) -> None:
    """With what is wrong and all that was typed; the ladder is as it was."""
    status, text = office.change("ladder-0", **{"title": "T", "note": "typed"} | fields)
    assert (status, words in text, 'value="typed"' in text) == (422, True, True)
    found = office.ladder("ladder-0")
    assert found is not None
    assert found.note == ""


def test_fields_that_are_not_offered_change_nothing(office: Office) -> None:
    """Whoever forges the form can't change by what the ladder's matches were played."""
    before = office.ladder("ladder-0")
    assert (
        office.change("ladder-0", title="T", move="7", openings="empty", state="closed")[0] == 302
    )
    after = office.ladder("ladder-0")
    assert before is not None
    assert after is not None
    assert (after.move_ms, after.openings, after.state) == (
        before.move_ms,
        before.openings,
        before.state,
    )


def test_the_state_goes_where_the_page_offers_it(office: Office) -> None:
    """It goes to and fro, and is closed for ever."""
    office.change("ladder-0", "state", state="open")
    assert ">Pause</button>" in office.browser.get("/ladders/ladder-0").text
    for state in ("paused", "frozen", "open", "paused"):
        assert office.change("ladder-0", "state", state=state)[0] == 302
        found = office.ladder("ladder-0")
        assert found is not None
        assert found.state == state
    assert ">Go on</button>" in office.browser.get("/ladders/ladder-0").text
    for state, words in {
        "ajar": "State=ajar can&#39;t be: state is one of open, paused, frozen, closed.",
        "": "State= can&#39;t be",
    }.items():
        status, text = office.change("ladder-0", "state", state=state)
        assert (status, words in text) == (422, True)
    assert office.change("ladder-0", "state", state="closed")[0] == 302
    found = office.ladder("ladder-0")
    assert found is not None
    assert found.state is CompetitionState.CLOSED
    status, text = office.change("ladder-0", "state", state="open")
    assert (status, "is closed, and its table final" in text) == (422, True)
    page = office.browser.get("/ladders/ladder-0/settings").text
    assert 'name="draws"' not in page
    assert office.change("ladder-0", title="The old one")[0] == 302
