"""Passkeys by an authenticator without a browser; `tests/browser` has one with."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest
from flask import Flask

from arena.ground.db import Database
from arena.people import accounts
from tests.arena.web.accounts.authenticator import PRESENT, Authenticator
from tests.arena.web.signing_in import Browser, complaints, deeds, person, signed_in

MAKE, SECOND, ALONE = "/account/passkeys/new", "/sign-in/second", "/sign-in/passkey"


def asked_at(browser: Browser, page: str) -> dict[str, Any]:
    """What a page asks a browser."""
    found = re.search(r'data-asked="(.*?)"', browser.get(page).text)
    assert found, page
    asked: dict[str, Any] = json.loads(html.unescape(found[1]))
    return asked


def make(app: Flask, name: str = "ada", **more: Any) -> Authenticator:
    """A passkey that somebody has made."""
    browser, made = signed_in(app, name), Authenticator(**more)
    credential = made.make(asked_at(browser, MAKE))
    answer = browser.post(MAKE, {"name": "key", "credential": credential}, page=MAKE)
    assert "lets you in from now on" in answer.text
    return made


def test_a_passkey_lets_in_alone(app: Flask, database: Database) -> None:
    """Once it has proven its user, to where one was going; no second factor is asked for."""
    made = make(app)
    browser = Browser(app)
    asked = asked_at(browser, "/sign-in")
    assert (asked["rpId"], asked["userVerification"]) == ("localhost", "required")
    assert asked.get("allowCredentials", []) == []
    fields = {"credential": made.answer(asked), "next": "/submit?bot=x"}
    assert browser.post(ALONE, fields).location == "/submit?bot=x"
    assert browser.get("/account").status_code == 200
    assert deeds(database)[-1] == "ada: sign in"
    # What was answered once is worth nothing again, from wherever.
    again = Browser(app).post(ALONE, fields)
    assert (again.status_code, "was not proven" in again.text) == (403, True)


def test_a_passkey_is_the_second_factor(app: Flask, database: Database) -> None:
    """After the password; of the account that waits, and no other."""
    person(database, "eve")
    made, eves = make(app), make(app, "eve")
    browser = Browser(app)
    assert browser.sign_in("ada").location == SECOND
    wrong = browser.post(
        SECOND, {"credential": eves.answer(asked_at(browser, SECOND))}, page=SECOND
    )
    assert (wrong.status_code, complaints(wrong)) == (
        422,
        ["This is no passkey of yours, or the page is too old: try again."],
    )
    made.flags = PRESENT  # a password was there before, so that this is enough
    sent = {"credential": made.answer(asked_at(browser, SECOND))}
    assert browser.post(SECOND, sent, page=SECOND).location == "/account"


@pytest.mark.parametrize(
    "wrong",
    [
        {"origin": "https://localhost"},
        {"origin": "http://localhost.elsewhere.example"},
        {"site": "elsewhere.example"},
        {"flags": 0},
        {"flags": PRESENT},
        {"counter": 4},
        {"counter": 5},
        {"credential": b"another"},
    ],
    ids=str,
)
def test_what_is_not_proven_lets_nobody_in(app: Flask, wrong: dict[str, Any]) -> None:
    """One of another site or page, without its user, or copied; by one line."""
    made = make(app, counter=5)
    for name, value in wrong.items():
        setattr(made, name, value)
    if not wrong.keys() & {"counter"}:
        made.counter = 6
    browser = Browser(app)
    answer = browser.post(ALONE, {"credential": made.answer(asked_at(browser, "/sign-in"))})
    assert answer.status_code == 403
    assert "passkey was not proven" in answer.text or "is not known here" in answer.text
    assert browser.get("/account").status_code == 302


def test_a_challenge_is_for_one_use(app: Flask) -> None:
    """What was asked to make one, or of another account, is no answer to the page to sign in."""
    made = make(app)
    browser = Browser(app)
    browser.sign_in("ada")
    asked = asked_at(browser, SECOND)
    answer = Browser(app).post(ALONE, {"credential": made.answer(asked)})
    assert (answer.status_code, "is too old" in answer.text) == (403, True)
    invented = asked | {"challenge": "aW52ZW50ZWQ"}
    assert Browser(app).post(ALONE, {"credential": made.answer(invented)}).status_code == 403


@pytest.mark.parametrize(
    "sent",
    [
        "",
        "nonsense",
        "{}",
        "[]",
        "7",
        '{"response": []}',
        '{"response": {"clientDataJSON": 7}}',
        '{"response": {"clientDataJSON": "e30"}}',
        "[" * 10_000,
        '"' + "x" * 30_000 + '"',
    ],
    ids=lambda text: text[:40],
)
def test_nonsense_is_refused(app: Flask, sent: str) -> None:
    """Whatever is sent, and to whichever page."""
    assert Browser(app).post(ALONE, {"credential": sent}).status_code == 403
    browser = signed_in(app, "ada")
    assert browser.post(MAKE, {"name": "key", "credential": sent}, page=MAKE).status_code == 422


def test_parts_that_no_browser_sends_are_refused(app: Flask) -> None:
    """Each part of a right answer cut, emptied or of another type is wrong."""
    made = make(app)
    browser = Browser(app)
    right = json.loads(made.answer(asked_at(browser, "/sign-in")))
    secret = browser.secret()
    for name, value in right["response"].items():
        for other in (value[: len(value) // 2], "", None, 7, [], "AAAA"):
            sent = json.dumps(right | {"response": right["response"] | {name: other}})
            data = {"credential": sent, "csrf_token": secret}
            address = f"192.0.2.{len(str(other)) % 200}"
            answer = browser.client.post(ALONE, data=data, environ_base={"REMOTE_ADDR": address})
            assert answer.status_code == 403, (name, other)


def test_a_passkey_goes_unless_nothing_else_lets_in(app: Flask, database: Database) -> None:
    """Its owner alone takes it away; the recovery codes go with the last."""
    person(database, "eve")
    made = make(app)
    browser = Browser(app)
    browser.post(ALONE, {"credential": made.answer(asked_at(browser, "/sign-in"))})
    number = browser.get("/account/safety.json").json["passkeys"][0]["id"]
    remove = f"/account/passkeys/{number}/remove"
    assert signed_in(app, "eve").post(remove, page="/account/safety").status_code == 404
    with database.begin() as session:
        accounts.get(session, "ada").password = None
    assert browser.post(remove, page="/account/safety").status_code == 409
    person(database, "ada")
    assert browser.post(remove, page="/account/safety").location == "/account/safety"
    listed = browser.get("/account/safety.json").json
    assert (listed["passkeys"], listed["recovery_codes"]) == ([], 0)
    assert Browser(app).sign_in("ada").location == "/account"


def test_the_same_passkey_is_not_made_twice(app: Flask, database: Database) -> None:
    """Nor for somebody else; what a person has is told to the device, which refuses by itself."""
    person(database, "eve")
    made = make(app)
    browser = signed_in(app, "eve")
    again = browser.post(
        MAKE, {"name": "mine", "credential": made.make(asked_at(browser, MAKE))}, page=MAKE
    )
    assert (again.status_code, "known already" in again.text) == (422, True)
