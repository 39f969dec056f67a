"""The second step of signing in, and the page on which it is set up."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
import sqlalchemy as sa
from flask import Flask
from passlib.totp import TOTP

from arena.ground.db import Database
from arena.models import BrowserSession, Role, Scope, User
from arena.people import accounts, second_factor
from tests.arena.web.signing_in import (
    NEW,
    PASSWORD,
    Browser,
    complaints,
    deeds,
    now,
    pages,
    person,
    signed_in,
)

SECOND = "/sign-in/second"


def set_up(app: Flask, name: str = "ada") -> tuple[str, list[str]]:
    """Has somebody set up an app by the pages.

    Returns:
        the app's secret, and the recovery codes.
    """
    browser = signed_in(app, name)
    page = browser.get("/account/app").text
    found = re.search(r"Key: <code>(.*?)</code>", page)
    assert found
    secret = found[1].replace(" ", "")
    assert browser.post("/account/app", {"code": "000000"}, page="/account/app").status_code == 422
    code = TOTP(key=secret).generate(now()).token
    shown = browser.post("/account/app", {"code": code}, page="/account/app")
    codes = re.findall(r"[a-z2-7]{4}(?:-[a-z2-7]{4}){3}", shown.text)
    assert len(codes) == second_factor.CODES
    return secret, codes


def present(secret: str) -> str:
    """The code after that by which the app was set up, which a clock that is ahead shows now."""
    return str(TOTP(key=secret).generate(now() + timedelta(seconds=30)).token)


def test_the_code_is_asked_for_after_the_password(app: Flask, database: Database) -> None:
    """Until then nothing is open; then one is where one was going."""
    secret, codes = set_up(app)
    browser = Browser(app)
    answer = browser.sign_in("ada", next="/submit?bot=x")
    assert answer.location == SECOND
    assert browser.get("/account").location == "/sign-in?next=/account"
    wrong = browser.post(SECOND, {"code": "abc"}, page=SECOND)
    assert (wrong.status_code, complaints(wrong)) == (
        422,
        ["This is no code of yours, or it was used already."],
    )
    code = present(secret)
    assert browser.post(SECOND, {"code": code}, page=SECOND).location == "/submit?bot=x"
    assert browser.get("/account").status_code == 200
    assert deeds(database)[-2:] == ["ada: fail sign-in", "ada: sign in"]
    # The same code lets nobody in again, and a recovery code once.
    for typed, status in ((code, 422), (codes[3], 302), (codes[3], 422)):
        other = Browser(app)
        other.sign_in("ada")
        assert other.post(SECOND, {"code": typed}, page=SECOND).status_code == status


def test_another_password_ends_what_was_half_a_sign_in(app: Flask, database: Database) -> None:
    secret, _ = set_up(app)
    browser = Browser(app)
    assert browser.sign_in("ada").location == SECOND
    proof = browser.secret(SECOND)
    with database.begin() as session:
        accounts.set_password(session, accounts.get(session, "ada"), "another hash")
    fields = {"csrf_token": proof, "code": present(secret)}
    assert browser.client.post(SECOND, data=fields).location == "/sign-in"
    assert browser.get("/account").location == "/sign-in?next=/account"


def test_the_second_step_alone_is_nothing(app: Flask) -> None:
    """Who has shown no password is sent to do so; who waits for too long, too."""
    secret, _ = set_up(app)
    browser = Browser(app)
    assert browser.get(SECOND).location == "/sign-in"
    assert browser.post(SECOND, {"code": present(secret)}).location == "/sign-in"
    browser.sign_in("ada")
    with browser.client.session_transaction() as session:
        session["half"] = session["half"] | {"until": 0}
    assert browser.get(SECOND).location == "/sign-in"


def test_it_is_asked_for_after_a_reset_too(app: Flask, database: Database) -> None:
    """A link that somebody took out of a letter is not enough."""
    secret, _ = set_up(app)
    person(database, "root", Role.ADMINISTRATOR)
    shown = signed_in(app, "root").post("/users/ada/reset", page="/users").text
    link = re.search(r"http://localhost(/reset/[\w-]+)", shown)
    assert link
    browser = Browser(app)
    assert browser.post(link[1], NEW, page=link[1]).location == SECOND
    assert browser.get("/account").status_code == 302
    assert browser.post(SECOND, {"code": present(secret)}, page=SECOND).location == "/account"


def test_tries_are_counted_by_account(app: Flask) -> None:
    """Whoever begins anew, from wherever, has no more of them."""
    set_up(app)
    for number in range(10):
        browser = Browser(app, f"192.0.2.{number}")
        browser.sign_in("ada")
        assert browser.post(SECOND, {"code": "000000"}, page=SECOND).status_code == 422
    browser = Browser(app, "192.0.2.99")
    browser.sign_in("ada")
    assert browser.post(SECOND, {"code": "000000"}, page=SECOND).status_code == 429


def test_an_administrator_takes_it_off(app: Flask, database: Database) -> None:
    """The page of users shows who has one; the sessions end."""
    set_up(app)
    person(database, "root", Role.ADMINISTRATOR)
    root, ada = signed_in(app, "root"), "/users/ada/second-factor"
    assert "/users/root/second-factor" not in root.get("/users").text
    assert ada in root.get("/users").text
    root.post(ada, page="/users")
    assert deeds(database)[-1] == "root: reset second factor"
    assert Browser(app).sign_in("ada").location == "/account"


def test_it_is_given_up(app: Flask) -> None:
    """Who is signed in does so, after being asked; the recovery codes go with it."""
    secret, codes = set_up(app)
    browser = Browser(app)
    browser.sign_in("ada")
    browser.post(SECOND, {"code": present(secret)}, page=SECOND)
    assert "10 recovery codes left" in browser.get("/account/safety").text
    fresh = browser.post("/account/recovery-codes", page="/account/safety").text
    assert codes[0] not in fresh
    browser.post("/account/app/remove", page="/account/safety")
    assert Browser(app).sign_in("ada").location == "/account"
    assert browser.post("/account/recovery-codes", page="/account/safety").status_code == 409


@pytest.mark.parametrize("address", ["/account/app", "/account/app/remove"])
def test_only_who_signed_in_lately_changes_it(app: Flask, database: Database, address: str) -> None:
    """Others do so once more, and are led back."""
    browser = signed_in(app, "ada")
    secret = browser.secret("/account")
    with database.begin() as session:
        ago = now() - timedelta(hours=2)
        session.execute(sa.update(BrowserSession).values(created=ago))
    answer = browser.client.post(address, data={"csrf_token": secret, "confirmed": "y"})
    assert answer.location == "/sign-in?next=/account/safety"
    assert "sign in once more" in browser.get("/sign-in").text
    assert browser.get("/account").status_code == 302


def test_who_must_have_one_sets_it_up_first(database: Database) -> None:
    """All else leads there, as from a one-time password; tokens go on."""
    person(database, "root", Role.ADMINISTRATOR)
    app = pages(database, second_factor="administrators")
    with database.begin() as session:
        root = accounts.get(session, "root")
        token = accounts.add_token(session, accounts.audit.ARENA, root, "ci", [Scope.READ], now())
        root.must_change = True
    browser = signed_in(app, "root")
    assert browser.get("/account/safety").location == "/account/password"
    browser.post("/account/password", NEW, page="/account/password")
    assert browser.get("/users").location == "/account/safety"
    assert "asks for a second factor" in browser.get("/account/safety").text
    bearer = {"Authorization": f"Bearer {token}"}
    assert app.test_client().get("/account", headers=bearer).status_code == 200
    with database.begin() as session:
        user = session.get_one(User, root.id)
        secret = second_factor.new_secret()
        second_factor.turn_on(session, accounts.audit.ARENA, user, secret, present(secret), now())
    assert browser.get("/users").status_code == 200
    app.extensions["arena.database"].close()


def test_sessions_are_listed_and_ended_one_by_one(app: Flask, database: Database) -> None:
    """One's own alone, with browser and address; to sign out ends one, also for a copied cookie."""
    person(database, "eve")
    firefox = {"User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133"}
    here, there = signed_in(app, "ada"), Browser(app, "192.0.2.7")
    there.post("/sign-in", {"name": "ada", "password": PASSWORD}, headers=firefox)
    listed = here.get("/account/safety.json").json["sessions"]
    assert [(one["browser"], one["address"], one["this"]) for one in listed] == [
        ("Firefox, Linux", "192.0.2.7", False),
        ("Werkzeug", "127.0.0.1", True),
    ]
    end = f"/account/sessions/{listed[0]['id']}/end"
    assert "Firefox, Linux" in here.get("/account/safety").text
    assert signed_in(app, "eve").post(end, page="/account/safety").status_code == 404
    assert there.get("/account").status_code == 200
    assert here.post(end, page="/account/safety").status_code == 302
    assert there.get("/account").status_code == 302
    assert here.get("/account").status_code == 200
    copied = here.client.get_cookie("arena")
    assert copied is not None
    here.post("/sign-out", page="/account")
    thief = app.test_client()
    thief.set_cookie("arena", copied.value)
    assert thief.get("/account").status_code == 302
