"""Settings that are changed while the arena runs, and maintenance, on pages and beneath them."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask

from arena import present
from arena.audit import ARENA
from arena.deeds import By, perform
from arena.ground.config import CHANGEABLE, Settings
from arena.ground.db import Database
from arena.ground.refusals import UnderMaintenance
from arena.models import ChangedSetting, Role, Scope
from arena.operation.maintenance import SetMaintenance
from arena.operation.notice import GiveNotice
from arena.operation.settings import ChangeSetting, states
from arena.recorder.writer import Writer
from arena.web.identity import settings
from tests.arena.simulator import CALM, Simulation
from tests.arena.web.signing_in import Browser, deeds, now, pages, person, signed_in
from tests.conftest import on_both
from tests.furnished import furnished_database

PAGE = "/operator/settings"
ADMIN = By(ARENA, frozenset(Scope), now())


def play(database: Database) -> None:
    """Makes an arena with a ladder and people."""
    Simulation(database, 1, CALM).furnish([("clobber", {"size": "4x3"})], bots=2)
    person(database, "administrator", Role.ADMINISTRATOR)
    person(database, "ada")


@pytest.fixture
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """The database of such an arena."""
    with furnished_database(request, tmp_path, play) as (database, _):
        yield database


@pytest.fixture
def apps(database: Database, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Flask, Flask]]:
    """Two servers of its pages, which ask each time what holds."""
    monkeypatch.setattr(present, "GOOD_SECONDS", 0.0)
    both = pages(database, quota_mib=7.0), pages(database, quota_mib=7.0)
    yield both
    for app in both:
        app.extensions["arena.database"].close()


def of(app: Flask) -> Settings:
    with app.app_context():
        return settings()


@on_both("database")
def test_a_setting_is_changed_while_all_run(database: Database, apps: tuple[Flask, Flask]) -> None:
    """The page does it; the other server and the recorder go by it, and it says who changed it."""
    here, there = apps
    writer = Writer(Settings(database=database.url))
    browser = signed_in(here, "administrator")
    before = of(there).log_days
    for name, value in (("registration", "open"), ("log_days", "3"), ("licence", "CC0-1.0")):
        answer = browser.post(f"{PAGE}/{name}/change", {"value": value}, page=PAGE)
        assert answer.status_code == 302, answer.text
    assert "icence is CC0-1.0 now" in html.unescape(browser.get(PAGE).text)
    writer.look()
    for found in (of(here), of(there), writer.settings):
        assert (found.registration, found.log_days, found.licence) == ("open", 3.0, "CC0-1.0")
    assert of(there).quota_mib == 7.0, "what nobody changed is the environment's"
    assert Browser(there).get("/register").status_code == 200
    text = html.unescape(browser.get(PAGE).text)
    assert len(re.findall("changed by <bdi>administrator</bdi>", text)) == 3
    answer = browser.post(f"{PAGE}/log_days/change", {"reset": "1"}, page=PAGE)
    assert answer.status_code == 302
    assert of(there).log_days == before
    # An empty licence is none, and not the environment's.
    browser.post(f"{PAGE}/licence/change", {"value": ""}, page=PAGE)
    with database.read() as session:
        assert session.get_one(ChangedSetting, "licence").value == ""
    assert deeds(database)[-5:] == ["administrator: change setting"] * 5
    writer.database.close()


@pytest.mark.parametrize(
    ("name", "value", "status", "words"),
    [
        ("registration", "everybody", 422, "it is one of open, invitation, closed"),
        ("requests_a_day", "many", 422, "is no whole number"),
        ("quota_mib", "nan", 422, "is not allowed: MiB, from 0 to 1073741824"),
        ("log_days", "-1", 422, "days, from 0 to 3650"),
        ("contact", "me", 422, "it begins with mailto: or https://"),
        ("abandoned_days", "0", 422, "more than 0"),
        ("play", "", 422, "it is one of people, everybody, nobody"),
        ("port", "80", 422, "is read as a process starts"),
        ("database", "sqlite:///x", 422, "is read as a process starts"),
        ("quota_mb", "1", 404, "there is no setting quota_mb"),
    ],
)
def test_a_bad_value_is_refused_as_in_the_environment(
    apps: tuple[Flask, Flask], name: str, value: str, status: int, words: str
) -> None:
    """It is one line beside its field, and nothing is changed."""
    browser = signed_in(apps[0], "administrator")
    before = of(apps[1])
    answer = browser.post(f"{PAGE}/{name}/change", {"value": value}, page=PAGE)
    assert answer.status_code == status
    assert words.casefold() in html.unescape(answer.text).casefold()
    assert of(apps[1]) == before


def test_what_an_arena_of_another_release_stored_does_not_hold(
    database: Database, apps: tuple[Flask, Flask]
) -> None:
    """A value that is not allowed, or for what can't be changed: the environment's holds."""
    with database.begin() as session:
        for name, value in (("quota_mib", "-1"), ("port", "1"), ("gone", "1")):
            session.add(ChangedSetting(name=name, value=value, changed_by="x", at=now()))
    assert of(apps[0]).quota_mib == 7.0
    assert of(apps[0]).port == Settings().port
    text = signed_in(apps[0], "administrator").get(PAGE).text
    assert "What was stored does not hold: ARENA_QUOTA_MIB=-1.0 is not allowed" in text


def test_secrets_are_not_shown(database: Database) -> None:
    """Nor are the logins in addresses; that there is one is."""
    own = Settings(
        database="postgresql://u:hunter2@h/d",
        broker="redis://u:hunter2@h/0",
        metrics_token="hunter2",
        indexes="own=https://u:hunter2@h/simple",
    )
    with database.read() as session:
        found = {one.name: one for one in states(session, own)}
    assert "hunter2" not in repr(found)
    hidden = [found[name].value for name in ("database", "broker", "metrics_token", "indexes")]
    assert hidden == ["…", "…", "…", "own=https://…@h/simple"]
    assert {name for name, one in found.items() if one.is_changeable} == set(CHANGEABLE)


# Maintenance.

OPEN = {
    "accounts.sign_in",
    "accounts.sign_out",
    "accounts.password",
    "safety.app",  # who lacks a second factor gets in by it
    "safety.end_session",
    "safety.end_sessions",
    "second_step.second_factor",
    "passkeys.sign_in",
    "passkeys.make",  # as the app
    "accounts.revoke_token",
    "replays.show",  # shows a record that is sent
    "undoing.undo",  # does deeds, which are asked
    "setting_pages.maintenance",
    "api.set_maintenance",
    "api.poll_link",  # bots at home play on
    "notifications.unsubscribe",  # programs that do it for people don't come again
    "repositories.push",  # that there is something to fetch is noted, and done later
}
"""What may be posted to during maintenance."""


@pytest.mark.long
@on_both("database")
def test_nothing_is_changed_during_maintenance(
    database: Database, apps: tuple[Flask, Flask]
) -> None:
    """Each address that is posted to says so with 503, on another server too; all is read."""
    here, there = apps
    browser = signed_in(here, "administrator")
    begun = browser.post("/operator/maintenance", {"on": "y", "text": "until <9>"}, page=PAGE)
    assert begun.status_code == 302
    found = set()
    client = there.test_client()
    for rule in there.url_map.iter_rules():
        for method in sorted((rule.methods or set()) - {"GET", "HEAD", "OPTIONS"}):
            named = dict.fromkeys(rule.arguments, "1")
            with there.test_request_context():
                address = there.url_for(rule.endpoint, _method=method, **named)
            answer = client.open(address, method=method)
            if answer.status_code != 503:
                found.add(rule.endpoint)
            else:
                assert answer.headers["Retry-After"] == "60"
                assert "under maintenance" in answer.text
    assert found == OPEN
    for address in ("/", "/ladders", "/games", "/sign-in", "/api/v1/ladders"):
        assert Browser(there).get(address).status_code == 200, address
    assert "under maintenance" in Browser(there).get("/").text
    assert "until &lt;9&gt;" in Browser(there).get("/").text
    assert there.test_client().get("/api/v1/maintenance").json["words"] == "until <9>"
    # Who comes later can sign in, and what was typed is not lost.
    late = signed_in(there, "ada")
    refused = late.post("/account/tokens", {"name": "laptop"}, page="/sign-in")
    assert refused.status_code == 503
    assert "laptop" in refused.text
    assert browser.post("/operator/maintenance", {}, page=PAGE).status_code == 302
    assert late.post("/account/tokens", {"name": "laptop"}, page="/account").status_code == 422
    assert "under maintenance" not in Browser(here).get("/").text
    ended = [one for one in deeds(database) if "maintenance" in one]
    assert ended == ["administrator: begin maintenance", "administrator: end maintenance"]


def test_no_deed_is_done_at_the_machine_either(database: Database) -> None:
    """Whatever door it comes through, but for that one."""
    with database.begin() as session:
        perform(session, SetMaintenance(True, "soon over"), ADMIN)
    for deed in (GiveNotice("hello"), ChangeSetting("play", "nobody")):
        with database.begin() as session, pytest.raises(UnderMaintenance, match=r"\(soon over\)"):
            perform(session, deed, ADMIN)
    with database.begin() as session:
        again = perform(session, SetMaintenance(True, "a while"), ADMIN)
        assert again.undo == (SetMaintenance(True, "soon over"),)
        perform(session, SetMaintenance(False), ADMIN)
        perform(session, GiveNotice("hello"), ADMIN)
