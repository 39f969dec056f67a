"""Whoever fails too often has to wait, and is told how long."""

from __future__ import annotations

from pathlib import Path

import pytest
from flask import Flask
from limits import parse

from arena.ground.db import Database
from arena.people import accounts
from arena.web.limits import LIMITS, storage
from tests.arena.web.signing_in import (
    NEW,
    Browser,
    now,
    pages,
    person,
)
from workers.home.program import GRACE_NS


def test_who_polls_too_often_loses_no_game(app: Flask) -> None:
    """It waits for far less than a game bears, and another bot of the same person for nothing."""
    (limit,) = LIMITS["api.poll_link"]
    assert parse(limit.often).get_expiry() < GRACE_NS / 1e9 / 10
    keys = set()
    for version in ("1", "2", "nonsense"):
        with app.test_request_context(f"/?version={version}"):
            keys.add(limit.key())
    assert len(keys) == 3


def test_an_account_waits_after_failures(app: Flask) -> None:
    """The right password too, for as long as is said; other accounts do not."""
    for number in range(10):
        assert Browser(app, f"192.0.2.{number}").sign_in("ada", "wrong").status_code == 422
    answer = Browser(app, "192.0.2.99").sign_in("ADA")
    assert answer.status_code == 429
    assert "too many failed sign-ins to this account: wait 15 minutes." in answer.text
    assert 0 < int(answer.headers["Retry-After"]) <= 15 * 60
    assert Browser(app, "192.0.2.99").sign_in("nobody").status_code == 422


def test_nobody_keeps_out_who_was_there_before(app: Flask, database: Database) -> None:
    """Whatever others fail at; but that browser has no more tries than anybody, nor elsewhere."""
    known = Browser(app, "192.0.2.50")
    assert known.sign_in("ada").status_code == 302
    cookie = known.client.get_cookie("arena-known", path="/sign-in")
    assert cookie is not None
    assert (cookie.http_only, cookie.same_site) == (True, "Lax")
    known.post("/sign-out", page="/account")
    for number in range(10):
        assert Browser(app, f"192.0.2.{number}").sign_in("ada", "wrong").status_code == 422
    assert Browser(app, "192.0.2.98").sign_in("ada").status_code == 429
    for _ in range(10):
        assert known.sign_in("Ada", "wrong").status_code == 422
    assert known.sign_in("ada").status_code == 429
    forger = Browser(app, "192.0.2.97")
    forger.client.set_cookie("arena-known", "WyJhZGEiLCIxIl0.forged", path="/sign-in")
    assert forger.sign_in("ada").status_code == 429
    person(database, "eve")
    other = Browser(app, "192.0.2.96")
    assert other.sign_in("eve").status_code == 302
    other.post("/sign-out", page="/account")
    assert other.sign_in("ada").status_code == 429  # it is known, but not at this account


def test_a_browser_is_known_by_a_name_in_any_letters(app: Flask, database: Database) -> None:
    """So is that of an account with capitals."""
    person(database, "Grace")
    known = Browser(app, "192.0.2.50")
    assert known.sign_in("GRACE").status_code == 302
    known.post("/sign-out", page="/account")
    for number in range(10):
        assert Browser(app, f"192.0.2.{number}").sign_in("Grace", "wrong").status_code == 422
    assert Browser(app, "192.0.2.98").sign_in("grace").status_code == 429
    assert known.sign_in("gRACE").status_code == 302


def test_an_address_keeps_out_none_who_was_there_before(app: Flask) -> None:
    """Many may have one address, and a stranger among them may fail on purpose."""
    known = Browser(app)
    assert known.sign_in("ada").status_code == 302
    known.post("/sign-out", page="/account")
    stranger = Browser(app)
    for number in range(30):
        assert stranger.sign_in(f"nobody{number}").status_code == 422
    assert stranger.sign_in("ada").status_code == 429
    assert known.sign_in("ada").status_code == 302


@pytest.mark.parametrize(
    ("one", "another", "waits"),
    [
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", True),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
        ("::ffff:192.0.2.7", "192.0.2.7", True),
        ("192.0.2.7", "192.0.2.8", False),
    ],
)
def test_a_network_is_an_address(app: Flask, one: str, another: str, waits: bool) -> None:
    """It is of IPv6, where anybody has more addresses than there are tries."""
    first, second = Browser(app, one), Browser(app, another)
    for _ in range(20):
        assert first.post("/reset/guessed").status_code == 403
    assert second.post("/reset/guessed").status_code == (429 if waits else 403)


def test_a_class_in_one_room_chooses_its_passwords(app: Flask, database: Database) -> None:
    """They come by links, as many as there are; what is chosen wrong counts as little."""
    people = [person(database, f"user{number}") for number in range(22)]
    with database.begin() as session:
        links = [accounts.first_link(session, user, now()) for user in people]
    assert Browser(app).post(f"/reset/{links[0]}", {"password": "short"}).status_code == 422
    for link in links:
        assert Browser(app).post(f"/reset/{link}", NEW).status_code == 302


def test_an_address_waits_after_failures(app: Flask, database: Database) -> None:
    """Whatever names it tries; what succeeds does not count."""
    browser = Browser(app)
    for number in range(30):
        person(database, f"user{number}")
        assert browser.sign_in(f"user{number}", "wrong").status_code == 422
        if number < 3:
            assert Browser(app).sign_in("ada").status_code == 302
    answer = browser.sign_in("ada")
    assert answer.status_code == 429
    assert "from your address" in answer.text
    assert Browser(app, "192.0.2.2").sign_in("ada").status_code == 302


def test_an_address_makes_few_accounts(app: Flask) -> None:
    """Ten a day."""
    for number in range(10):
        answer = Browser(app).post("/register", {"name": f"n{number}", **NEW}, page="/register")
        assert answer.status_code == 302
    answer = Browser(app).post("/register", {"name": "one-more", **NEW}, page="/register")
    assert answer.status_code == 429
    assert "new accounts from your address" in answer.text


def test_limits_go_on_without_the_broker(database: Database, tmp_path: Path) -> None:
    """Then each server counts for itself; nobody is kept out, or let in, by that."""
    person(database, "ada")
    app = pages(database, broker=f"redis+socket://{tmp_path}/none")
    for _ in range(10):
        assert Browser(app).sign_in("ada", "wrong").status_code == 422
    assert Browser(app).sign_in("ada").status_code == 429
    app.extensions["arena.database"].close()


@pytest.mark.parametrize(
    ("broker", "counted_in"),
    [
        ("", "memory://"),
        ("redis+socket:///a/socket", "redis+unix:///a/socket"),
        ("redis://host:6379/0", "redis://host:6379/0"),
    ],
)
def test_limits_are_counted_in_the_broker(broker: str, counted_in: str) -> None:
    """Named as the library that counts names it."""
    assert storage(broker) == counted_in
