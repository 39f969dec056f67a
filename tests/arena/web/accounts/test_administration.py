"""What administrators do and see, and what all these pages keep."""

from __future__ import annotations

from datetime import timedelta

import pytest
import sqlalchemy as sa
from flask import Flask

from arena import audit
from arena.audit import ARENA
from arena.ground.db import Database
from arena.models import SCOPES, AccountLink, Role
from arena.people import accounts
from tests.arena.web.conftest import HOSTILE
from tests.arena.web.signing_in import (
    Browser,
    at_rest,
    now,
    person,
    signed_in,
)
from tests.arena.web.test_pages import read


def test_an_administrator_changes_roles_and_shuts_out(app: Flask, database: Database) -> None:
    """What is done shows at once, and in the log."""
    person(database, "root", Role.ADMINISTRATOR)
    browser = Browser(app, "192.0.2.7")
    browser.sign_in("root")
    browser.post("/users/ada/role", {"role": "organiser"}, page="/users")
    assert "The user ada is organiser now" in browser.get("/users").text
    browser.post("/users/ada/deactivate", page="/users")
    listed = {one["name"]: one for one in browser.get("/users.json").json}
    assert (listed["ada"]["role"], listed["ada"]["active"]) == ("organiser", False)
    refused = browser.post("/users/root/role", {"role": "participant"}, page="/users")
    assert refused.status_code == 409
    assert "only administrator: make another one first" in refused.text
    log = browser.get("/audit.json?actor=Root&action=change+role").json
    assert [(one["subject"], one["detail"], one["origin"]) for one in log["entries"]] == [
        ("user ada", "participant to organiser", "192.0.2.7")
    ]
    assert "deactivate user" in browser.get("/audit").text


@pytest.mark.parametrize(
    ("role", "status"), [(None, 401), (Role.ORGANISER, 403), (Role.ADMINISTRATOR, 200)]
)
def test_a_view_that_says_nothing_is_for_administrators(
    app: Flask, database: Database, role: Role | None, status: int
) -> None:
    """Every method that changes something is theirs; everybody may read it."""
    methods = ["GET", "POST", "PUT", "PATCH", "DELETE"]
    app.add_url_rule("/unmarked", view_func=lambda: "reached", methods=methods)
    bearer = {}
    if role is not None:
        person(database, "someone", role)
        with database.begin() as session:
            someone = accounts.get(session, "someone")
            token = accounts.add_token(session, ARENA, someone, "ci", list(SCOPES[role]), now())
        bearer = {"Authorization": f"Bearer {token}"}
    client = app.test_client()
    found = [client.open("/unmarked", method=one, headers=bearer).status_code for one in methods]
    assert found == [200, status, status, status, status]
    assert client.head("/unmarked", headers=bearer).status_code == 200


def test_the_log_is_read_page_by_page(app: Flask, database: Database) -> None:
    """A hundred at a time, none twice, none left out."""
    person(database, "root", Role.ADMINISTRATOR)
    with database.begin() as session:
        for number in range(250):
            audit.note(session, ARENA, "count", f"number {number}", HOSTILE, now=now())
    browser = signed_in(app, "root")
    found, before = [], ""
    while before is not None:
        page = browser.get(f"/audit.json?action=count&before={before}").json
        found += [entry["subject"] for entry in page["entries"]]
        before = page["next"]
    assert found == [f"number {number}" for number in reversed(range(250))]
    text = browser.get("/audit?before=999999999999999999999999").text
    assert "<script>alert" not in text
    assert "Older entries" in text


def test_a_reader_costs_nothing(app: Flask, database: Database) -> None:
    """Who has no session is not looked for, and gets no cookie."""
    statements: list[str] = []
    engine = at_rest(app)
    sa.event.listen(engine, "before_cursor_execute", lambda *args: statements.append(args[2]))
    answer = app.test_client().get("/")
    assert "Set-Cookie" not in answer.headers
    assert not [one for one in statements if "FROM user" in one or 'FROM "user"' in one]
    browser = signed_in(app, "ada")
    at_rest(app)
    statements.clear()
    # What is the same for everybody is not kept for each reader, and nobody is looked for.
    assert "Cookie" not in browser.get("/healthz").headers.get("Vary", "")
    assert statements == []


@pytest.mark.parametrize(
    "address", ["/sign-in", "/register", "/account", "/account/password", "/users", "/audit"]
)
def test_these_pages_keep_what_all_pages_keep(app: Flask, database: Database, address: str) -> None:
    """No inline script or style, whole tags, headings in order; and no cache keeps them."""
    person(database, "root", Role.ADMINISTRATOR)
    browser = signed_in(app, "root") if address not in ("/sign-in", "/register") else Browser(app)
    browser.post("/account/tokens", {"name": HOSTILE[:60], "scopes": "read"}, page="/account")
    answer = browser.get(address)
    assert answer.status_code == 200
    assert read(answer.text).verdict() == []
    assert "no-store" in answer.headers["Cache-Control"]


def test_links_are_kept_as_digests_and_thrown_away(app: Flask, database: Database) -> None:
    """The database alone opens no door, and old ones do not heap up."""
    with database.begin() as session:
        old = accounts.invite(session, ARENA, Role.PARTICIPANT, now() - timedelta(days=8))
        accounts.invite(session, ARENA, Role.PARTICIPANT, now())
        (link,) = session.scalars(sa.select(AccountLink))
        assert link.digest != accounts.digest(old)
