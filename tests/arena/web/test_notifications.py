"""The pages of what people are told: the list, what they follow, their choices, and hooks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from types import SimpleNamespace
from xml.etree import ElementTree as ET

import pytest
import sqlalchemy as sa

from arena.ground.db import Database
from arena.models import (
    Bot,
    Delivery,
    DeliveryState,
    Follow,
    Hook,
    MailChoice,
    Notification,
    User,
    Wishes,
)
from arena.people.notifications import notify
from arena.signing import unsubscribe_path
from tests.arena.web.signing_in import now, pages, person, signed_in

ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.fixture
def arena(database: Database) -> Iterator[SimpleNamespace]:
    """Two people of an arena: ada, who was told three things and has a bot, and eve."""
    ada, eve = person(database, "ada"), person(database, "eve")
    with database.begin() as session:
        session.add(Bot(name="mine", owner_id=ada.id, created=now()))
        session.add(Bot(name="hers", owner_id=eve.id, created=now()))
        session.get_one(User, ada.id).mail = "ada@example.org"
        for number in (1, 2, 3):
            at = now() + timedelta(seconds=number)
            notify(session, [ada.id], "what <%(number)s>", {"number": number}, "/bots/mine", at)
    app = pages(database, mail="smtp+plain://localhost", mail_from="arena@example.org")
    yield SimpleNamespace(
        database=database, app=app, ada=ada, eve=eve, browser=signed_in(app, "ada")
    )
    app.extensions["arena.database"].close()


def test_what_one_was_told_and_has_not_read(arena: SimpleNamespace) -> None:
    """Its count is in the head of every page; others see nothing of it."""
    page = arena.browser.get("/bots/mine").text
    assert 'aria-label="What you are told: 3 unread"' in page
    page = arena.browser.get("/notifications").text
    assert [int(one) for one in re.findall(r"what &lt;(\d)&gt;", page)] == [3, 2, 1]
    page = arena.browser.get("/notifications?before=2").text
    assert re.findall(r"what &lt;(\d)&gt;", page) == ["1"]
    assert arena.browser.get("/notifications/2").headers["Location"] == "/bots/mine"
    eve = signed_in(arena.app, "eve")
    assert "what &lt;" not in eve.get("/notifications").text
    assert eve.get("/notifications/2").status_code == 404
    answer = arena.browser.post("/notifications/read", {"until": "2"}, page="/notifications")
    assert answer.status_code == 302
    assert "What you are told: 1 unread" in arena.browser.get("/notifications").text
    assert eve.post("/notifications/read", {"until": "3"}, page="/hooks").status_code == 404
    arena.browser.post("/notifications/read", {}, page="/notifications")
    assert 'aria-label="What you are told"' in arena.browser.get("/notifications").text


def test_a_bot_is_followed_and_muted_by_its_button(arena: SimpleNamespace) -> None:
    """The page says which it is; back to the list goes who came from there."""
    assert "Hear no more of it" in arena.browser.get("/bots/mine").text
    assert ">Follow</button>" in arena.browser.get("/bots/hers").text
    answer = arena.browser.post("/bots/hers/follow", {}, page="/bots/hers")
    assert answer.headers["Location"] == "/bots/hers"
    assert "Hear no more of it" in arena.browser.get("/bots/hers").text
    said = {"next": "/following"}
    answer = arena.browser.post("/bots/mine/unfollow", said, page="/following")
    assert answer.headers["Location"] == "/following"
    said = {"next": "https://elsewhere.example/"}
    answer = arena.browser.post("/bots/mine/unfollow", said, page="/following")
    assert answer.headers["Location"] == "/bots/mine"
    page = arena.browser.get("/following").text
    assert "no, it is muted" in page
    assert "Follow hers no more" in page
    with arena.database.read() as session:
        rows = session.execute(sa.select(Follow.user_id, Follow.muted).order_by(Follow.id)).all()
        assert rows == [(arena.ada.id, False), (arena.ada.id, True)]


def test_one_chooses_how_one_is_told(arena: SimpleNamespace) -> None:
    """Which topics, when by mail, and in which language; mail needs an address."""
    said = {"hears": ["test", "ladder"], "mail": "daily", "language": "it"}
    answer = arena.browser.post("/notifications/choices", said, page="/notifications/choices")
    assert answer.status_code == 302
    with arena.database.read() as session:
        wishes = session.get_one(Wishes, arena.ada.id)
        assert wishes.mail is MailChoice.DAILY
        assert wishes.silenced == ["check", "suspension", "tournament", "match"]
        assert session.get_one(User, arena.ada.id).language == "it"
    page = arena.browser.get("/notifications/choices").text
    assert re.findall(r'value="(\w+)" checked', page) == ["test", "ladder"]
    assert '<option selected value="daily">' in page
    eve = signed_in(arena.app, "eve")
    assert "By mail" not in eve.get("/notifications/choices").text
    answer = eve.post("/notifications/choices", said, page="/notifications/choices")
    assert answer.status_code == 422
    assert "no mail address yet" in answer.text
    assert re.findall(r'value="(\w+)" checked', answer.text) == ["test", "ladder"]


def test_a_letter_s_link_ends_letters(arena: SimpleNamespace) -> None:
    """Who has it needs nothing else, no signing in; a mail program does it by one click."""
    with arena.database.begin() as session:
        session.add(Wishes(user_id=arena.ada.id, mail=MailChoice.AT_ONCE))
        session.execute(sa.update(Notification).values(mail_waits=True))
        path = unsubscribe_path(session, arena.ada.id)
    stranger = arena.app.test_client()
    assert "End these letters" in stranger.get(path).text
    for wrong in (path[:-1], f"{path}x", "/unsubscribe/1"):
        assert stranger.post(wrong).status_code == 404
    with arena.database.read() as session:
        assert session.get_one(Wishes, arena.ada.id).mail is MailChoice.AT_ONCE
    # As RFC 8058 has it sent.
    answer = stranger.post(path, data={"List-Unsubscribe": "One-Click"})
    assert answer.status_code == 200
    with arena.database.read() as session:
        assert session.get_one(Wishes, arena.ada.id).mail is MailChoice.NEVER
        assert session.scalars(sa.select(Notification.mail_waits).distinct()).all() == [False]


def test_what_one_is_told_is_a_feed_at_a_secret_address(arena: SimpleNamespace) -> None:
    """It is shown once; another makes it worthless, and no cache keeps it."""
    page = arena.browser.post("/notifications/feed", {}, page="/notifications/choices").text
    (path,) = re.findall(r"http://localhost(/feeds/[\w-]+\.atom)", page)
    reader = arena.app.test_client()
    answer = reader.get(path)
    assert answer.headers["Cache-Control"] == "private, no-store"
    titles = [
        one.findtext(f"{ATOM}title") for one in ET.fromstring(answer.text).iter(f"{ATOM}entry")
    ]
    assert titles == ["what <3>", "what <2>", "what <1>"]
    assert path not in arena.browser.get("/notifications/choices").text
    arena.browser.post("/notifications/feed", {}, page="/notifications/choices")
    assert reader.get(path).status_code == 404


def test_a_hook_has_a_page_for_its_owner_alone(arena: SimpleNamespace) -> None:
    """With its secret and what was sent, which can be sent again; removing it is asked about."""
    said = {"url": "https://hooks.example.org/x", "format": "json"}
    there = arena.browser.post("/hooks", said, page="/hooks").headers["Location"]
    answer = arena.browser.post("/hooks", {**said, "url": "https://a@b.example"}, page="/hooks")
    assert answer.status_code == 422
    assert "Leave the name and the password out of the address." in answer.text
    assert arena.browser.post(f"{there}/test", {}, page=there).status_code == 302
    with arena.database.begin() as session:
        sent = session.scalars(sa.select(Delivery)).one()
        sent.state, sent.answer = DeliveryState.GIVEN_UP, "<b>no</b>"
        secret = session.scalars(sa.select(Hook.secret)).one()
    page = arena.browser.get(there).text
    assert secret.replace("+", "&#43;") in page or secret in page
    assert "&lt;b&gt;no&lt;/b&gt;" in page
    eve = signed_in(arena.app, "eve")
    assert eve.get(there).status_code == 404
    for does in ("test", "remove"):
        assert eve.post(f"{there}/{does}", {}, page="/hooks").status_code == 404
    again = f"{there}/deliveries/{sent.id}/again"
    assert arena.browser.post(again, {}, page=there).status_code == 302
    with arena.database.read() as session:
        assert session.scalars(sa.select(Delivery.state)).all() == [DeliveryState.WAITS]
    asked = arena.browser.send(f"{there}/remove", {}, page=there)
    assert "its secret" in asked.text
    arena.browser.post(f"{there}/remove", {"confirmed": "y"}, page=there)
    assert arena.browser.get(there).status_code == 404
