"""Registering, and setting a new password by a link."""

from __future__ import annotations

import html
import re
from datetime import timedelta

import pytest
from flask import Flask

from arena.audit import ARENA
from arena.ground.db import Database
from arena.models import Role
from arena.people import accounts
from tests.arena.web.conftest import HOSTILE
from tests.arena.web.signing_in import (
    NEW,
    Browser,
    complaints,
    deeds,
    now,
    pages,
    person,
    signed_in,
)


def test_registering(app: Flask, database: Database) -> None:
    """Whoever registers is a participant, and signed in."""
    browser = Browser(app, "192.0.2.1")
    answer = browser.post("/register", {"name": "bob", **NEW}, page="/register")
    assert answer.location == "/submit"
    assert "Welcome" in browser.get("/submit").text
    with database.read() as session:
        assert accounts.get(session, "bob").role is Role.PARTICIPANT
    assert deeds(database)[-1] == "bob: add user"


def test_who_registers_goes_where_they_were_going(app: Flask) -> None:
    """A page asked them to sign in; and only ever a page of the arena is gone to."""
    browser = Browser(app)
    asked = browser.get("/submit?ladder=x").location
    page = html.unescape(re.findall(r'href="(/register[^"]*)"', browser.get(asked).text)[0])
    wanted = re.findall(r'name="next"[^>]*value="([^"]*)"', browser.get(page).text)[0]
    assert wanted == "/submit?ladder=x"
    fields = {"name": "bob", "next": wanted, **NEW}
    assert browser.post("/register", fields, page=page).location == wanted
    fields = {"name": "eve", "next": "//elsewhere.example/", **NEW}
    assert Browser(app).post("/register", fields, page="/register").location == "/account"


def test_the_first_wrong_field_has_the_focus(app: Flask) -> None:
    """Whoever hears the page read hears what is wrong, too."""
    fields = {"name": "bob", **NEW, "again": "not the same"}
    shown = [
        Browser(app).get("/register").text,
        Browser(app).post("/register", fields, page="/register").text,
    ]
    focused = [re.findall(r"<input[^>]* autofocus[^>]*>", text) for text in shown]
    assert [re.findall(r'name="(\w+)"', " ".join(each)) for each in focused] == [
        ["name"],
        ["again"],
    ]


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"name": "ADA", **NEW}, "The name ADA is taken: choose another."),
        ({"name": "arena", **NEW}, "is taken: choose another"),
        ({"name": "<b>bob</b>", **NEW}, "is no name"),
        ({"name": "\N{RIGHT-TO-LEFT OVERRIDE}bob", **NEW}, "is no name"),
        ({"name": "x" * 1000, **NEW}, "A name has at most 40 characters."),
        ({"name": HOSTILE[:40], **NEW}, "is no name"),
        ({"name": "", **NEW}, "This is needed."),
        ({"name": "bob", "password": "x", "again": "x"}, "at least 10"),
        (
            {"name": "bob", "password": "long" * 75, "again": "long" * 75},
            "A password has at most 200 characters.",
        ),
        ({"name": "longerthan", "password": "longerthan10", "again": "longerthan10"}, "the name"),
        ({"name": "bob", **NEW, "again": "not the same"}, "The two are not the same."),
    ],
)
def test_registrations_that_are_refused(app: Flask, fields: dict[str, str], complaint: str) -> None:
    """Each with one clear line; the name that was typed is kept, as text."""
    answer = Browser(app).post("/register", fields, page="/register")
    assert answer.status_code == 422
    found = " ".join(complaints(answer)).replace("&#39;", "'")
    assert complaint in found
    assert found.replace("'.'", "").count(".") <= 1
    assert "<b>bob" not in answer.text
    assert "<script>alert" not in answer.text


def test_all_that_is_wrong_is_told_at_once(app: Flask) -> None:
    """And what a name and a password may be before anything is, and after."""
    browser = Browser(app)
    rules = "a letter or digit first; everybody", "10 to 200 characters, and not with your name"
    fields = {"name": "-ada", "password": "x-ada", "again": "y"}
    answer = browser.post("/register", fields, page="/register")
    name, password, again = complaints(answer)
    assert "is no name" in name
    assert "at least 10" in password
    assert "must not have the name in it" in password
    assert again == "The two are not the same."
    for page in (browser.get("/register").text, answer.text):
        assert all(rule in page for rule in rules)


@pytest.mark.parametrize(
    ("how", "words"), [("closed", "takes no new accounts"), ("invitation", "by invitation")]
)
def test_an_arena_that_is_not_open(database: Database, how: str, words: str) -> None:
    """Says so, on the page for signing in too; an invitation lets one person in."""
    app = pages(database, registration=how)
    browser = Browser(app)
    answer = browser.get("/register")
    assert answer.status_code == 403
    assert words in answer.text
    assert words in browser.get("/sign-in").text
    assert browser.post("/register", {"name": "bob", **NEW}).status_code == 403
    with database.begin() as session:
        secret = accounts.invite(session, ARENA, Role.ORGANISER, now())
    page = f"/register?invitation={secret}"
    fields = {"name": "bob", "invitation": secret, **NEW}
    assert browser.post("/register", fields, page=page).location == "/submit"
    with database.read() as session:
        assert accounts.get(session, "bob").role is Role.ORGANISER
    again = Browser(app).post("/register", {**fields, "name": "eve"})
    assert again.status_code == 403
    assert "This link was used or is too old" in again.text
    app.extensions["arena.database"].close()


def test_a_reset_link_sets_a_password_once(app: Flask, database: Database) -> None:
    """It is an administrator's to give."""
    person(database, "root", Role.ADMINISTRATOR)
    shown = signed_in(app, "root").post("/users/ada/reset", page="/users").text
    link = re.search(r"http://localhost(/reset/[\w-]+)", shown)
    assert link
    browser = Browser(app)
    assert browser.post(link[1], NEW, page=link[1]).location == "/account"
    assert browser.get("/account").status_code == 200
    assert Browser(app).get(link[1]).status_code == 403
    assert deeds(database)[-2:] == ["ada: reset password", "ada: sign in"]


def test_an_old_reset_link_is_refused(app: Flask, database: Database) -> None:
    """After a day."""
    with database.begin() as session:
        ada = accounts.get(session, "ada")
        secret = accounts.reset_link(session, ARENA, ada, now() - timedelta(days=1))
    assert "too old" in Browser(app).get(f"/reset/{secret}").text
