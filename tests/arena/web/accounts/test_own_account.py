"""What is changed about an account is changed by its person, and not by a program for its bots."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

import pytest
import sqlalchemy as sa
from flask import Flask

from arena.audit import ARENA
from arena.bots import discarding
from arena.ground.db import Database
from arena.models import BrowserSession, Hook, Role, Scope, User
from arena.people import accounts
from tests.arena.web.signing_in import PASSWORD, now, person, signed_in

ADDRESS = "https://hooks.example.org/x"
CHANGES = [
    ("people/ada/delete", {"confirm": "ada"}),
    ("people/ada/rename", {"to": "eve"}),
    ("people/ada/describe", {"description": "I am eve."}),
    ("hooks", {"url": ADDRESS}),
    ("hooks/1/test", None),
    ("hooks/1/remove", None),
    ("account/told", {"mail": "never"}),
]
PAGES = [
    *CHANGES[:-1],
    ("notifications/choices", {"mail": "never"}),
    ("notifications/feed", None),
]


def token(database: Database, name: str, scopes: Iterable[Scope]) -> dict[str, str]:
    """The header of a new token of somebody."""
    with database.begin() as session:
        user = accounts.get(session, name)
        made = accounts.add_token(session, ARENA, user, "ci", scopes, now())
    return {"Authorization": f"Bearer {made}"}


def test_a_token_for_bots_is_none_for_the_account(app: Flask, database: Database) -> None:
    """Neither by the API nor by the forms of pages; and it reads no hook's secret."""
    bearer, client = token(database, "ada", [Scope.READ, Scope.SUBMIT]), app.test_client()
    with database.begin() as session:
        ada = accounts.get(session, "ada")
        session.add(Hook(user_id=ada.id, url=ADDRESS, format="json", created=now()))
    for path, said in CHANGES:
        answer = client.post(f"/api/v1/{path}", json=said, headers=bearer)
        assert answer.status_code == 403, path
    for path, said in PAGES:
        answer = client.post(f"/{path}", data={**(said or {}), "confirmed": "y"}, headers=bearer)
        assert answer.status_code == 403, path
    for path in ("/api/v1/hooks", "/hooks", "/hooks/1"):
        assert client.get(path, headers=bearer).status_code == 403, path
    with database.read() as session:
        assert accounts.get(session, "ada").description == ""
        assert len(session.scalars(sa.select(Hook)).all()) == 1


def test_a_token_of_an_administrator_changes_accounts(app: Flask, database: Database) -> None:
    """But a session does not by the API, which asks for no password."""
    person(database, "root", Role.ADMINISTRATOR)
    said = {"confirm": "ada"}
    browser = signed_in(app, "root")
    proof = {"X-CSRFToken": browser.secret("/account")}
    there = "/api/v1/people/ada/delete"
    assert browser.client.post(there, json=said, headers=proof).status_code == 403
    bearer = token(database, "root", [Scope.SUBMIT, Scope.ADMIN])
    assert app.test_client().post(there, json=said, headers=bearer).status_code == 200


@pytest.mark.parametrize("has_password", [True, False])
def test_an_account_goes_by_its_password_and_a_new_session(
    app: Flask, database: Database, has_password: bool
) -> None:
    """Who finds a browser open can't end the account; where it leads one comes back from."""
    browser, there = signed_in(app, "ada"), "/people/ada/delete"
    fields = {"confirm": "ada", "confirmed": "y"} | ({"password": PASSWORD} if has_password else {})
    with database.begin() as session:
        if not has_password:
            accounts.get(session, "ada").password = None
        session.execute(sa.update(BrowserSession).values(created=now() - timedelta(hours=2)))
    answer = browser.send(there, fields, page="/account")
    assert answer.headers["Location"].startswith("/sign-in?next=/people/ada/profile")
    with database.read() as session:
        assert accounts.get(session, "ada").active
    person(database, "ada")
    browser = signed_in(app, "ada")
    if not has_password:
        with database.begin() as session:
            accounts.get(session, "ada").password = None
    assert browser.send(there, fields, page="/account").headers["Location"] == "/"
    with database.read() as session:
        assert session.scalar(sa.select(User.deleted).where(User.deleted.is_not(None)))


def test_files_are_looked_for_when_something_was_deleted(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not for whoever only asks for it."""
    swept: list[str] = []
    monkeypatch.setattr(discarding, "sweep", lambda *_: swept.append("sweep"))
    fields, there = {"confirm": "ada", "confirmed": "y", "password": PASSWORD}, "/people/ada/delete"
    app.test_client().post(there, data=fields)
    browser = signed_in(app, "ada")
    browser.send(there, {**fields, "password": "wrong"}, page="/account")
    assert swept == []
    browser.send(there, fields, page="/account")
    assert swept == ["sweep"]


def test_nobody_guesses_the_password_at_the_end_of_an_account(app: Flask) -> None:
    browser = signed_in(app, "ada")
    fields = {"confirm": "ada", "password": "wrong"}
    tries = [browser.send("/people/ada/delete", fields, page="/account") for _ in range(11)]
    assert [one.status_code for one in tries] == [422] * 10 + [429]
