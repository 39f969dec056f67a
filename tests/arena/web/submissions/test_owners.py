"""What an owner does with a bot by its pages."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from flask import Flask

from arena import audit
from arena.ground.db import Database
from arena.models import BARRED, Bot, Entrant, EntrantState, Ladder
from arena.people import accounts
from tests.arena.web.conftest import HOSTILE
from tests.arena.web.signing_in import Browser, signed_in
from tests.arena.web.submissions.conftest import (
    BOT,
    LADDER,
    OTHER_LADDER,
    end_checks,
    states,
    submit,
)
from tests.arena.web.test_pages import read


@pytest.mark.parametrize("kept", [True, False])
def test_these_pages_keep_what_all_pages_keep(ada: Browser, database: Database, kept: bool) -> None:
    """No inline script or style, whole tags, headings in order."""
    submit(ada, (BOT, "mine.py"), note=HOSTILE)
    for address in ("/submit", "/checks/1", "/bots/mine"):
        assert read(ada.get(address).text).verdict() == []
    end_checks(database, kept=kept)
    for address in ("/account", "/checks/1", "/bots/mine"):
        assert read(ada.get(address).text).verdict() == []


def test_an_owner_enters_retires_and_withdraws(ada: Browser, database: Database) -> None:
    """It is on more ladders, with an older version again, and then on none."""
    submit(ada, (BOT, "mine.py"))
    end_checks(database)
    submit(ada, (BOT + b"#2", "mine.py"))
    end_checks(database)
    asked = ada.post("/bots/mine/enter", {"version": 1, "ladder": LADDER}, page="/bots/mine")
    assert asked.location == f"/bots/mine?ladder={LADDER}"
    assert "with the rating that it had" in ada.get(asked.location).text
    assert states(database) == {
        f"mine v1 on {LADDER}": "active",
        f"mine v2 on {LADDER}": "retired",
    }
    asked = ada.post("/bots/mine/enter", {"version": 2, "ladder": OTHER_LADDER}, page="/bots/mine")
    twice = ada.post("/bots/mine/enter", {"version": 2, "ladder": OTHER_LADDER}, page="/bots/mine")
    assert asked.location == twice.location == "/checks/3"
    end_checks(database)
    off = ada.post("/bots/mine/retire", {"ladder": LADDER, "version": 1}, page="/bots/mine")
    assert off.location == f"/bots/mine?ladder={LADDER}"
    assert list(states(database).values()).count("active") == 1
    ada.post("/bots/mine/withdraw", page="/bots/mine")
    assert set(states(database).values()) == {"retired"}
    # From a page that was opened before.
    late = ada.post("/bots/mine/retire", {"ladder": LADDER, "version": 1}, page="/bots/mine")
    assert (late.status_code, f"is not on the ladder {LADDER}." in late.text) == (409, True)
    with database.read() as session:
        deeds = [one.action for one in audit.entries(session, subject="bot mine")]
    assert deeds == ["withdraw", "retire", "enter", "enter", "enter", "submit", "submit"]


def test_a_bots_page_brings_versions_back(ada: Browser, app: Flask, database: Database) -> None:
    """Its owner alone sees each version's rating on a ladder, why it is off, and a way back."""
    for code in (BOT, BOT + b"#2"):
        submit(ada, (code, "mine.py"))
        end_checks(database)
    with database.begin() as session:
        newer = session.scalars(sa.select(Entrant).where(Entrant.state == "active")).one()
        newer.state, newer.reason = EntrantState.SUSPENDED, "6 of its last 10 <b>"
    page = ada.get("/bots/mine").text
    assert read(page).verdict() == []
    for words in ("6 of its last 10 &lt;b&gt;", "version 2 took its place", "faults from before"):
        assert words in page
    assert [word for word in (">Bring back<", ">Activate<", ">Retire<") if word in page] == [
        ">Bring back<",
        ">Activate<",
    ]
    assert ">suspended</a>" in ada.get("/account").text
    others = signed_in(app, "eve").get("/bots/mine").text
    assert ">Bring back<" not in others
    back = {"version": "2", "ladder": LADDER}
    assert ada.post("/bots/mine/enter", back, page="/bots/mine").status_code == 302
    assert states(database)[f"mine v2 on {LADDER}"] == "active"
    page = ada.get("/bots/mine").text
    assert (">Bring back<" in page, ">Retire<" in page) == (False, True)
    with database.begin() as session:
        session.scalars(sa.select(Ladder).where(Ladder.name == LADDER)).one().state = "frozen"
    page = ada.get("/bots/mine").text
    assert (">Activate<" in page, "the ladder is frozen" in page) == (False, True)


def test_why_an_organiser_took_a_bot_off_is_told_to_its_owners(
    ada: Browser, app: Flask, database: Database
) -> None:
    """Others see that it was one, on its page and by the API."""
    submit(ada, (BOT, "mine.py"))
    end_checks(database)
    with database.begin() as session:
        its = session.scalars(sa.select(Entrant).where(Entrant.state == "active")).one()
        its.state, its.reason = EntrantState.RETIRED, f"{BARRED}: it is a copy"
    for browser, knows in ((ada, True), (signed_in(app, "eve"), False)):
        for path in ("/bots/mine", f"/api/v1/ladders/{LADDER}/entrants"):
            told = browser.get(path).text
            assert (BARRED in told, "it is a copy" in told) == (True, knows), path


@pytest.mark.parametrize(
    ("address", "fields", "status"),
    [
        ("/bots/mine/enter", {"version": "9", "ladder": LADDER}, 404),
        ("/bots/mine/enter", {"version": "-1", "ladder": LADDER}, 422),
        ("/bots/mine/enter", {"version": "9" * 30, "ladder": LADDER}, 422),
        ("/bots/mine/enter", {"version": "\N{SUPERSCRIPT TWO}", "ladder": LADDER}, 422),
        ("/bots/mine/enter", {"version": "1", "ladder": "nowhere"}, 404),
        ("/bots/mine/enter", {"version": "1", "ladder": "\0"}, 400),
        ("/bots/mine/retire", {"ladder": "nowhere"}, 404),
        ("/bots/mine/retire", {"ladder": LADDER, "version": "9" * 30}, 422),
        ("/bots/mine/retire", {}, 422),
        ("/bots/nobody/retire", {"ladder": LADDER}, 404),
        ("/bots/theirs/enter", {"version": "1", "ladder": LADDER}, 403),
        ("/bots/theirs/retire", {"ladder": LADDER}, 403),
        ("/bots/mine/retire", {"ladder": OTHER_LADDER}, 409),
    ],
)
def test_forged_ids_reach_nothing(
    ada: Browser, app: Flask, database: Database, address: str, fields: dict[str, str], status: int
) -> None:
    """What is not there is said; what is another's stays as it was."""
    submit(signed_in(app, "eve"), (BOT, "theirs.py"))
    end_checks(database)
    submit(ada, (BOT + b"#", "mine.py"))
    before = states(database)
    assert ada.post(address, fields, page="/account").status_code == status
    assert states(database) == before == {f"theirs v1 on {LADDER}": "active"}


def test_code_is_opened_and_closed_by_its_owner(
    ada: Browser, app: Flask, database: Database
) -> None:
    """It is so for everybody, not signed in too; and back."""
    submit(ada, (BOT, "mine.py"))
    reader, code = Browser(app), "/bots/mine/versions/1.tar"
    assert reader.get(code).status_code == 302
    ada.post("/bots/mine/settings", {"open_source": "y"}, page="/bots/mine")
    for anybody in (reader, signed_in(app, "eve")):
        with anybody.get(code) as answer:
            assert answer.status_code == 200
    page = reader.get("/bots/mine").text
    assert "open source" in page
    assert code in page
    assert "Yours to decide" not in page
    ada.post("/bots/mine/settings", {}, page="/bots/mine")
    assert reader.get(code).status_code == 302
    assert code not in reader.get("/bots/mine").text
    assert ada.get("/bots/mine/versions/9.tar").status_code == 404


def test_a_closed_ladder_keeps_its_bots(ada: Browser, database: Database) -> None:
    """Its table is final: nobody leaves it, by a withdrawal neither."""
    submit(ada, (BOT, "mine.py"))
    submit(ada, (BOT, "mine.py"), ladder=OTHER_LADDER)
    end_checks(database)
    with database.begin() as session:
        session.execute(sa.update(Ladder).where(Ladder.name == LADDER).values(state="closed"))
    refused = ada.post("/bots/mine/retire", {"ladder": LADDER, "version": 1}, page="/bots/mine")
    assert refused.status_code == 409
    assert "is closed, and its table final" in refused.text
    assert "the ladder is closed" in ada.get("/bots/mine").text
    ada.post("/bots/mine/withdraw", page="/bots/mine")
    assert states(database) == {
        f"mine v1 on {LADDER}": "active",
        f"mine v1 on {OTHER_LADDER}": "retired",
    }


def test_the_account_lists_its_bots(ada: Browser, database: Database) -> None:
    """Each with its last version and where it plays."""
    assert "None yet." in ada.get("/account").text
    submit(ada, (BOT, "mine.py"))
    end_checks(database)
    submit(ada, (BOT + b"#2", "mine.py"), note="second")
    text = ada.get("/account").text
    assert "v2" in text
    assert "not checked yet" in text
    assert "Clobber 6x7" in text
    with database.read() as session:
        user = accounts.get(session, "ada")
        assert session.scalars(sa.select(Bot.owner_id)).all() == [user.id]
