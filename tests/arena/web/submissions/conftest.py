"""An arena of one game whose pages take bots in."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from arena.bots.first_tests import admit
from arena.bots.furnish import furnish
from arena.cli.bundle_intake import BundleIntake
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import Check, Entrant, JobStatus, VersionStatus
from arena.web.app import create_app
from engine.games import GAMES
from tests.arena.web.conftest import HOSTILE
from tests.arena.web.signing_in import Browser, now, person, signed_in

BOT = b"import sys\nfor line in sys.stdin:\n    print('ready', flush=True)\n"
LADDER, OTHER_LADDER = "clobber-6x7", "clobber-8x8"


@pytest.fixture
def database(sqlite_database: Database) -> Database:
    """A fresh arena of one game, with ada and eve."""
    with sqlite_database.begin() as session:
        furnish(session, [], now(), games=[GAMES["clobber"]])
    person(sqlite_database, "ada")
    person(sqlite_database, "eve")
    return sqlite_database


@pytest.fixture
def app(database: Database, tmp_path: Path) -> Iterator[Flask]:
    """Its pages."""
    settings = Settings(data=tmp_path, database=database.url)
    app = create_app(settings, BundleIntake(settings.bundles))
    app.testing = True
    yield app
    app.extensions["arena.database"].close()


@pytest.fixture
def ada(app: Flask) -> Browser:
    return signed_in(app, "ada")


def submit(browser: Browser, *files: tuple[bytes, str], field: str = "file", **fields: Any):
    """Sends the form with files."""
    data = {"ladder": LADDER, **fields}
    if files:
        data[field] = [(io.BytesIO(content), name) for content, name in files]
    return browser.post("/submit", data, page="/submit")


def end_checks(database: Database, *, kept: bool = True, backwards: bool = False) -> None:
    """Lets every check have ended, as the recorder does, the first or the last first."""
    waiting = sa.select(Check).where(Check.status == JobStatus.OPEN)
    order = Check.id.desc() if backwards else Check.id
    with database.begin() as session:
        for check in session.scalars(waiting.order_by(order)).all():
            check.status = JobStatus.FIXED
            check.log = HOSTILE
            check.findings = [
                {"kept": kept, "clause": "hello", "words": HOSTILE, "lines": ["> hello", HOSTILE]}
            ]
            check.version.status = VersionStatus.READY if kept else VersionStatus.REFUSED
            if kept:
                admit(session, check, now())


def states(database: Database) -> dict[str, str]:
    """Each entrant of the arena with its state."""
    with database.read() as session:
        return {
            f"{one.version.label} on {one.competition.name}": str(one.state)
            for one in session.scalars(sa.select(Entrant))
        }
