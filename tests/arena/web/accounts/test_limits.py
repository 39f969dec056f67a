"""Whoever fails too often has to wait, and is told how long."""

from __future__ import annotations

from pathlib import Path

import pytest
from flask import Flask

from arena.db import Database
from arena.web.limits import storage
from tests.arena.web.signing_in import (
    NEW,
    Browser,
    pages,
    person,
)


def test_an_account_waits_after_failures(app: Flask) -> None:
    """The right password too, for as long as is said; other accounts do not."""
    for number in range(10):
        assert Browser(app, f"192.0.2.{number}").sign_in("ada", "wrong").status_code == 422
    answer = Browser(app, "192.0.2.99").sign_in("ADA")
    assert answer.status_code == 429
    assert "too many failed sign-ins to this account: wait 15 minutes." in answer.text
    assert 0 < int(answer.headers["Retry-After"]) <= 15 * 60
    assert Browser(app, "192.0.2.99").sign_in("nobody").status_code == 422


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
