"""People at the pages, as tests need them: with accounts, sessions and forms."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from math import inf
from pathlib import Path
from typing import Any

from argon2 import PasswordHasher
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import Engine
from werkzeug.test import TestResponse

from arena import audit
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import Role, User
from arena.people import accounts
from arena.people.accounts import PeopleError
from arena.web.app import create_app

PASSWORD = "correct horse battery"
# The cheapest that argon2 allows; what it hashes is read like any other.
CHEAPEST = {"time_cost": 1, "memory_cost": 8, "parallelism": 1}
HASHED = PasswordHasher(**CHEAPEST).hash(PASSWORD)
NEW = {"password": "a new and long one", "again": "a new and long one"}
"""A password that is chosen."""


def now() -> datetime:
    return datetime.now(UTC)


def person(database: Database, name: str, role: Role = Role.PARTICIPANT, **more: Any) -> User:
    """Somebody with an account, made if need be."""
    with database.begin() as session:
        try:
            user = accounts.get(session, name)
        except PeopleError:
            user = accounts.add(session, audit.ARENA, name, role=role, now=now())
        user.password = HASHED
        for key, value in more.items():
            setattr(user, key, value)
        return user


class Browser:
    """Somebody at a browser, who fills in the forms that pages have."""

    def __init__(self, app: Flask, address: str = "127.0.0.1") -> None:
        self.client: FlaskClient = app.test_client()
        self._address = {"REMOTE_ADDR": address}

    def get(self, address: str, **more: Any) -> TestResponse:
        return self.client.get(address, environ_base=self._address, **more)

    def get_renewed(self, address: str) -> TestResponse:
        """A page that renews a part of itself; what comes for that is what it has already."""
        # Ages and forms tell seconds, and one may end between the two requests.
        for _ in range(3):
            page, part = self.get(address), self.get(f"{address}/live")
            if part.text.strip() in page.text:
                return page
        raise AssertionError(f"not in its page: {part.text}")

    def secret(self, page: str = "/sign-in") -> str:
        """What a form of a page proves with where it is from."""
        text = self.get(page, follow_redirects=True).text
        found = re.search(r'name="csrf_token" value="([^"]+)"', text)
        assert found, page
        return found[1]

    def post(
        self, address: str, fields: dict[str, Any] | None = None, *, page: str = "/sign-in", **more
    ) -> TestResponse:
        """Sends a form with the secret of a page, and says that it is meant where that is asked."""
        answer = self.send(address, fields, page=page, **more)
        if 'id="ask"' in answer.text:
            meant = {**(fields or {}), "confirmed": "y"}
            return self.send(address, meant, page=page, **more)
        return answer

    def send(
        self, address: str, fields: dict[str, Any] | None = None, *, page: str = "/sign-in", **more
    ) -> TestResponse:
        """Sends a form with the secret of a page."""
        data = {"csrf_token": self.secret(page), **(fields or {})}
        return self.client.post(address, data=data, environ_base=self._address, **more)

    def sign_in(self, name: str, password: str = PASSWORD, **more: Any) -> TestResponse:
        return self.post("/sign-in", {"name": name, "password": password, **more})


def signed_in(app: Flask, name: str) -> Browser:
    """A browser with a session of somebody."""
    browser = Browser(app)
    answer = browser.sign_in(name)
    assert answer.status_code == 302, answer.text
    return browser


def complaints(answer: TestResponse) -> list[str]:
    """What a form that came back says is wrong."""
    return re.findall(r'role="alert">(.*?)</small>', answer.text)


def pages(database: Database, **settings: Any) -> Flask:
    """The pages of an arena, which hash new passwords as cheaply as those of here."""
    app = create_app(Settings(database=database.url, **settings))
    hashing = app.extensions["security"].pwd_context
    hashing.update(**{f"argon2__{name}": cost for name, cost in CHEAPEST.items()})
    app.testing = True
    return app


def at_rest(app: Flask) -> Engine:
    """The engine of an application that does not look any more what holds at present, for who
    counts its statements."""
    watch = app.extensions["arena.present"]
    watch.now()
    watch.until = inf
    found: Engine = app.extensions["arena.database"].engine
    return found


@contextmanager
def pages_of_a_copy(file: Path, folder: Path, **settings: Any) -> Iterator[tuple[Flask, Database]]:
    """The pages of a copy of an arena's database, and the copy, which is made in a folder."""
    database = Database(f"sqlite:///{shutil.copy(file, folder / 'arena.db')}")
    app = pages(database, data=folder, **settings)
    yield app, database
    app.extensions["arena.database"].close()
    database.close()


def deeds(database: Database) -> list[str]:
    """Who did what, by the audit log."""
    with database.read() as session:
        return [f"{one.actor}: {one.action}" for one in reversed(audit.entries(session))]
