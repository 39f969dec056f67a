"""The command user: accounts from the arena's own machine."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from argon2 import PasswordHasher
from flask import Flask

from arena import audit
from arena.audit import ARENA
from arena.bots.furnish import furnish
from arena.cli import prepare, run
from arena.cli.bundle_intake import BundleIntake
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import User
from arena.people import accounts
from arena.web.app import create_app
from engine.games import GAMES
from tests.arena.web.signing_in import Browser


@pytest.fixture
def data(sqlite_database: Database, tmp_path: Path) -> Path:
    """The data folder of an arena with nobody in it."""
    return tmp_path


@pytest.fixture
def say(data: Path, capsys: pytest.CaptureFixture[str]):
    """Runs ``arena user``; gives the exit code and what was said."""

    def call(*words: str) -> tuple[int, str]:
        code = run(["user", *words, "--data", str(data)])
        said = capsys.readouterr()
        return code, said.out or said.err

    return call


def user(data: Path, name: str) -> User:
    database = Database(f"sqlite:///{data}/arena.db")
    with database.read() as session:
        found = accounts.get(session, name)
    database.close()
    return found


def test_a_password_of_the_command_signs_in_once(data: Path, say) -> None:
    """What is printed is right, and leads to a new password first of all."""
    code, said = say("add", "ada", "--role", "administrator")
    assert code == 0
    password = re.search(r"with the password (\S+) ", said)[1]
    settings = Settings(data=data)
    app = create_app(settings, BundleIntake(settings.bundles))
    app.testing = True
    browser = Browser(app)
    assert browser.sign_in("ada", password).location == "/account/password"
    assert browser.get("/account").location == "/account/password"
    assert browser.get("/users").location == "/account/password"
    new = {"present": password, "password": "a new and long one", "again": "a new and long one"}
    answer = browser.post("/account/password", new, page="/account/password")
    assert answer.location == "/account"
    assert browser.get("/users").status_code == 200
    app.extensions["arena.database"].close()


def test_another_secret_ends_every_session(data: Path, say) -> None:
    """Once the pages are started again; who signs in then is known by all of them."""
    password = re.search(r"password (\S+) ", say("add", "ada")[1])[1]

    def started() -> Flask:
        app = create_app(Settings(data=data), BundleIntake(data / "bundles"))
        app.testing = True
        return app

    old = started()
    browser = Browser(old)
    browser.sign_in("ada", password)
    before = user(data, "ada").id
    assert say("rotate-secret") == (
        0, "there is another secret; start the web processes again\n",
    )  # fmt: skip
    assert browser.get("/account").location == "/account/password"
    new, beside = started(), started()
    browser.client.application = new
    assert browser.get("/account").location == "/sign-in?next=/account"
    browser.sign_in("ada", password)
    browser.client.application = beside
    assert browser.get("/account").location == "/account/password"
    assert user(data, "ada").id == before
    entries = json.loads(say("log", "--json")[1])
    assert ("rotate secret", "sessions") in [(one["action"], one["subject"]) for one in entries]
    for app in (old, new, beside):
        app.extensions["arena.database"].close()


def test_reset_gives_another(data: Path, say) -> None:
    """Each is the only one that counts."""
    say("add", "ada")
    first, second = say("reset", "ada")[1], say("reset", "ADA")[1]
    assert first != second
    password = re.search(r"password (\S+) ", second)[1]
    assert PasswordHasher().verify(user(data, "ada").password, password)


def test_roles_and_states(data: Path, say) -> None:
    """Listed as they were set, as JSON too; the log has each deed."""
    say("add", "ada", "--role", "administrator")
    say("add", "bob")
    assert say("role", "bob", "organiser") == (0, "the user bob is organiser now\n")
    assert say("deactivate", "bob")[0] == 0
    assert "bob" in say("list")[1]
    listed = json.loads(say("list", "--json")[1])
    assert [(one["name"], one["role"], one["active"]) for one in listed] == [
        ("ada", "administrator", True),
        ("bob", "organiser", False),
    ]
    assert say("activate", "bob")[0] == 0
    assert user(data, "bob").active
    log = json.loads(say("log", "--json")[1])
    assert [entry["action"] for entry in log][:3] == [
        "activate user", "deactivate user", "change role",
    ]  # fmt: skip
    assert {entry["origin"] for entry in log} == {"command line"}
    assert "deactivate user" in say("log")[1]


def test_an_invitation_is_an_address(say) -> None:
    """Where the arena is for others is the operator's to say."""
    assert re.fullmatch(
        r"https://arena\.example/register\?invitation=\S{43}\n",
        say("invite", "--url", "https://arena.example/")[1],
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("reset", "nobody"), "there is no user 'nobody'"),
        (("reset", "arena"), "there is no user 'arena'"),
        (("role", "nobody", "organiser"), "there is no user 'nobody'"),
        (("deactivate", "nobody"), "there is no user 'nobody'"),
        (("add", "not a name"), "'not a name' is no name"),
        (("role", "ada", "king"), "role: it is one of participant, organiser, administrator"),
        (("invite", "--url", "foo"), "'foo' is no address of an arena, such as https://"),
        (("invite", "--url", "ftp://foo"), "'ftp://foo' is no address of an arena"),
    ],
    ids=str,
)
def test_what_can_not_be_done_is_one_line(say, words: tuple[str, ...], said: str) -> None:
    """Wrong usage, exit code 2."""
    code, line = say(*words)
    assert (code, line.count("\n")) == (2, 1)
    assert said in line


def test_a_submission_by_the_command_is_noted(
    data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says by whom, and for whom: an owner is found in whatever letters' size."""
    database = Database(f"sqlite:///{data}/arena.db")
    with database.begin() as session:
        furnish(session, [], datetime.now(UTC), games=[GAMES["clobber"]])
        accounts.add(session, ARENA, "Ada", now=datetime.now(UTC))
    monkeypatch.setenv("LOGNAME", "ada")
    bot = data / "mine.py"
    bot.write_text("print('ready')\n")
    assert run(["submit", str(bot), "--ladder", "clobber-6x7", "--data", str(data)]) == 0
    capsys.readouterr()
    with database.read() as session:
        entry = audit.entries(session, action="submit")[0]
        assert (entry.actor, entry.origin, entry.subject) == ("ada", "command line", "bot mine")
        assert [one.name for one in accounts.listed(session)] == ["Ada"]
    database.close()


def test_the_first_start_names_whoever_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """As `arena submit` does; a name that can't be one, or the arena's own, gives admin."""
    for name, expected in (("ada", "ada"), ("arena", "admin"), ("ad min", "admin")):
        monkeypatch.setenv("LOGNAME", name)
        assert prepare.administrator() == expected


def test_the_first_start_tells_of_the_administrator_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second one says nothing."""
    monkeypatch.setenv("ARENA_DATA", str(tmp_path))
    monkeypatch.setenv("ARENA_GAMES", "oxoxo")
    monkeypatch.setenv("LOGNAME", "ada")
    assert prepare.main() == 0
    assert "the administrator ada can sign in once" in capsys.readouterr().out
    assert prepare.main() == 0
    assert capsys.readouterr().out == ""
