"""The operator's page and its deeds, /metrics, /readyz and security.txt."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa
from flask import Flask
from prometheus_client.parser import text_string_to_metric_families

from arena.ground.db import Database
from arena.ground.refusals import Refusal
from arena.models import JobStatus, Ladder, Match, Role, Worker
from arena.operation import health
from arena.operation.notice import GiveNotice
from tests.arena.doing import do
from tests.arena.simulator import CALM, Simulation
from tests.arena.web.signing_in import Browser, deeds, now, pages, person, signed_in
from tests.conftest import on_both
from tests.furnished import furnished_database


def play(database: Database) -> None:
    """Lets an arena play, and sets three matches and a worker aside."""
    simulation = Simulation(database, 1, CALM)
    simulation.furnish([("clobber", {"size": "4x3"})], bots=4)
    simulation.alive()
    simulation.tick()
    simulation.run(10)
    person(database, "organiser", Role.ORGANISER)
    with database.begin() as session:
        for match in session.scalars(sa.select(Match).order_by(Match.id).limit(3)):
            match.status, match.seq, match.problem = JobStatus.SET_ASIDE, None, "<b>no space</b>"
            match.ticket = match.lease_ends = match.worker = None
        session.get_one(Worker, "one").set_aside = now()


@pytest.fixture
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """The database of such an arena."""
    with furnished_database(request, tmp_path, play) as (database, _):
        yield database


@pytest.fixture
def app(database: Database) -> Iterator[Flask]:
    """Its pages."""
    app = pages(database)
    yield app
    app.extensions["arena.database"].close()


def statuses(database: Database) -> list[str]:
    with database.read() as session:
        return [
            str(one) for one in session.scalars(sa.select(Match.status).order_by(Match.id).limit(3))
        ]


@on_both("database")
def test_the_page_shows_what_is_wrong_and_mends_it(database: Database, app: Flask) -> None:
    """Matches are tried again or void, a worker is readmitted, a ladder is frozen; all is noted."""
    browser = signed_in(app, "organiser")
    text = browser.get("/operator").text
    assert "3 matches are set aside" in text
    assert "&lt;b&gt;no space&lt;/b&gt;" in text
    assert "/users" not in text
    with database.read() as session:
        ids = list(session.scalars(sa.select(Match.id).order_by(Match.id).limit(3)))
    again = {"deed": "requeue", "match": [str(ids[0]), str(ids[1])]}
    assert browser.post("/operator/matches", again, page="/operator").status_code == 302
    assert statuses(database) == ["open", "open", "set aside"]
    void = {"deed": "void", "match": str(ids[2])}
    assert browser.post("/operator/matches", void, page="/operator").status_code == 422
    void["note"] = "the host broke"
    assert browser.post("/operator/matches", void, page="/operator").status_code == 302
    assert statuses(database) == ["open", "open", "void"]
    one, two = {"worker": "one"}, {"worker": "rack/2"}
    assert browser.post("/operator/workers/readmit", one, page="/operator").status_code == 302
    with database.begin() as session:
        session.get_one(Worker, "one").last_seen = datetime.now(UTC)
        session.get_one(Worker, "two").name = "rack/2"
    there = browser.post("/operator/workers/forget", one, page="/operator")
    assert (there.status_code, "one is there: stop it" in there.text) == (409, True)
    text = browser.get("/operator").text
    assert '<input type="hidden" name="worker" value="rack/2">' in text
    assert "Forget rack/2" in text
    assert "Forget one" not in text
    assert browser.post("/operator/workers/forget", two, page="/operator").status_code == 302
    frozen = browser.post("/operator/ladders/ladder-0", {"deed": "freeze"}, page="/operator")
    assert frozen.status_code == 302
    with database.read() as session:
        assert session.get_one(Worker, "one").set_aside is None
        assert session.get(Worker, "rack/2") is None
        assert session.scalars(sa.select(Ladder.state)).one() == "frozen"
    done = [deed for deed in deeds(database) if deed.startswith("organiser")]
    assert [deed.partition(": ")[2] for deed in done][-6:] == [
        "requeue match",
        "requeue match",
        "void match",
        "readmit",
        "forget",
        "change ladder",
    ]


@pytest.mark.parametrize(
    "fields",
    [{}, {"deed": "void"}, {"deed": "eat", "match": "1"}, {"deed": "void", "match": "one"}],
)
def test_a_deed_that_is_none_is_refused(app: Flask, fields: dict[str, str]) -> None:
    """With 400."""
    browser = signed_in(app, "organiser")
    assert browser.post("/operator/matches", fields, page="/operator").status_code == 400


def test_metrics_are_what_prometheus_reads(database: Database, app: Flask) -> None:
    """Every number by the name that docs/operating.md gives it."""
    when = datetime.now(UTC)
    with database.begin() as session:
        health.note_tick(session, when, when - timedelta(seconds=5), {"stale": 3})
        health.note_backup(session, when - timedelta(seconds=9))
    browser = Browser(app)
    browser.get("/")
    found = {}
    for family in text_string_to_metric_families(browser.get("/metrics").text):
        for sample in family.samples:
            found[sample.name, *sorted(sample.labels.values())] = sample.value
    assert found["arena_matches", "set aside"] == 3
    assert found["arena_workers", "set aside"] == 1
    assert found["arena_alarms", "set aside"] == 1
    assert found["arena_messages_total", "stale"] == 3
    assert found["arena_jobs_came_back_total", "not taken up"] == 0
    assert 5 <= found["arena_oldest_message_seconds",] < 60
    assert 9 <= found["arena_backup_age_seconds",] < 60
    assert found["arena_page_seconds_count", "200", "front.first_page"] == 1


@pytest.mark.parametrize(
    ("settings", "address", "headers", "status"),
    [
        ({}, "127.0.0.1", {}, 200),
        ({}, "::1", {}, 200),
        ({}, "10.1.2.3", {}, 403),
        ({}, "127.0.0.1", {"X-Forwarded-For": "10.1.2.3"}, 403),
        ({}, "127.0.0.1", {"X-Real-IP": "10.1.2.3"}, 403),
        ({}, "127.0.0.1", {"Via": "1.1 varnish"}, 403),
        ({}, "127.0.0.1", {"Host": "127.0.0.1:8000"}, 200),
        ({}, "::1", {"Host": "[::1]:8000"}, 200),
        ({}, "127.0.0.1", {"Host": "arena.example.org"}, 403),
        ({"metrics_token": "hush"}, "127.0.0.1", {}, 403),
        ({"metrics_token": "hush"}, "10.1.2.3", {"Authorization": "Bearer hush"}, 200),
        ({"metrics_token": "hush"}, "10.1.2.3", {"Authorization": "Bearer hus"}, 403),
        ({"metrics_token": "hush"}, "10.1.2.3", {"Authorization": "Bearer \xe9"}, 403),
    ],
)
def test_metrics_are_not_for_everybody(  # type: ignore[no-untyped-def]
    database: Database, settings, address: str, headers, status: int
) -> None:
    """They are for this machine; or, if there is a token, for whoever shows it."""
    app = pages(database, **settings)
    answer = Browser(app, address).get("/metrics", headers=headers)
    assert answer.status_code == status
    app.extensions["arena.database"].close()


def test_metrics_are_not_for_a_proxy_that_adds_nothing(database: Database) -> None:
    """Nginx, of which nobody asked for more, passes on no name, and speaks HTTP/1.0."""
    app = pages(database)
    for protocol, status in (("HTTP/1.0", 403), ("HTTP/1.1", 200)):
        answer = app.test_client().get("/metrics", environ_overrides={"SERVER_PROTOCOL": protocol})
        assert answer.status_code == status
    app.extensions["arena.database"].close()


def test_readiness_tells_what_is_away(database: Database) -> None:
    """The broker, or the database."""
    with database.begin() as session:
        health.note_tick(session, datetime.now(UTC))
    app = pages(database)
    assert Browser(app).get("/readyz").text == "ready\n"
    app.extensions["arena.database"].close()
    for settings, words in (
        ({"broker": "redis://127.0.0.1:1"}, "the broker does not answer\n"),
        ({}, "the database does not answer\n"),
    ):
        app = pages(database, **settings)
        if not settings:
            app.extensions["arena.database"].close()
            app.extensions["arena.database"] = Database("sqlite:////nowhere/arena.db")
        answer = Browser(app).get("/readyz")
        assert (answer.status_code, answer.text) == (503, words)
        app.extensions["arena.database"].close()


@pytest.mark.parametrize(
    ("ticked", "heard", "words"),
    [
        (None, None, "the recorder has not begun yet"),
        (2, 2, "ready"),
        (2, 20, "ready"),
        (2, 90, r"the recorder is \d+ s behind with what workers say"),
        (
            90,
            90,
            r"the recorder was not heard of for \d+ s: it is stopped, hangs, or its database .*",
        ),
        (-90, 2, r"the recorder's last tick is of \d\d s to come: a clock was set back"),
    ],
)
def test_readiness_tells_whether_results_are_recorded(
    database: Database, ticked: int | None, heard: int, words: str
) -> None:
    """What the recorder last wrote tells: so a disk that is full or read-only is seen, too."""
    when = datetime.now(UTC)
    if ticked is not None:
        with database.begin() as session:
            ago = timedelta(seconds=heard)
            health.note_tick(session, when - timedelta(seconds=ticked), when - ago)
    app = pages(database)
    answer = Browser(app).get("/readyz")
    assert re.fullmatch(f"{words}\n", answer.text)
    assert answer.status_code == (200 if words == "ready" else 503)
    app.extensions["arena.database"].close()


def test_security_txt_names_the_contact(database: Database) -> None:
    """As RFC 9116 has it: a contact, and a date by which to look again."""
    app = pages(database, contact="mailto:security@example.org")
    text = Browser(app).get("/.well-known/security.txt").text
    assert re.fullmatch(
        r"Contact: mailto:security@example\.org\nExpires: \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\n", text
    )
    app.extensions["arena.database"].close()


def test_a_notice_is_on_every_page(database: Database, app: Flask) -> None:
    """Escaped, until it is cleared; those of errors are pages, too."""
    said = "Maintenance  on\nSaturday <18:00>"
    with database.begin() as session:
        do(session, GiveNotice(said), datetime.now(UTC))
    browser = Browser(app)
    for address in ("/", "/sign-in", "/nowhere"):
        assert "<bdi>Maintenance on Saturday &lt;18:00&gt;</bdi>" in browser.get(address).text
    there = browser.get("/api/v1/notice").get_json()
    assert there == {"text": "Maintenance on Saturday <18:00>"}
    with database.begin() as session:
        do(session, GiveNotice(""), datetime.now(UTC))
    assert "Maintenance" not in browser.get("/").text
    assert [deed.partition(": ")[2] for deed in deeds(database)][-2:] == [
        "give notice",
        "clear notice",
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [("x" * 301, "at most 300 characters"), ("a\x1b[31m", "can't be seen")],
)
def test_a_notice_is_a_short_line(database: Database, text: str, problem: str) -> None:
    """Its operator is told why else."""
    with database.begin() as session, pytest.raises(Refusal, match=problem):
        do(session, GiveNotice(text), datetime.now(UTC))
