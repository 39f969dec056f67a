"""The editor in the browser: a starter, tried, played, handed in; and nothing typed is lost."""

from __future__ import annotations

import io
import re
import zipfile
from html import unescape
from pathlib import Path

import pytest
import sqlalchemy as sa
from flask import Flask

from arena import audit
from arena.bots.alarms import alarms_of
from arena.bots.entries import bots_of
from arena.bots.submissions import enter, submit
from arena.cli.bundle_intake import BundleIntake
from arena.cli.new import TEMPLATES, contents, name_refusal
from arena.competitions.players import named_players
from arena.deeds import By
from arena.ground.db import Database
from arena.ground.refusals import Refusal
from arena.models import (
    HOUSE,
    Bot,
    BotVersion,
    Check,
    Ladder,
    Match,
    Scope,
    User,
    VersionStatus,
)
from arena.web.submissions import suggested_name
from engine.games import GAMES
from tests.arena.web.signing_in import Browser, now, signed_in
from tests.arena.web.submissions.conftest import LADDER, OTHER_LADDER, end_checks, states

STARTER = f"/editor?ladder={LADDER}&language=python&name=mine"
AREA = re.compile(r'data-path="([^"]+)"[^>]*>\n(.*?)</textarea>', re.DOTALL)


def texts(page: str) -> dict[str, str]:
    """The files in an editor."""
    return {path: unescape(text) for path, text in AREA.findall(page)}


def sent(browser: Browser, files: dict[str, str], action: str = "check", **more: str):
    """Sends the editor's form, as browsers do."""
    fields = {"ladder": LADDER, "name": "mine", "action": action, **more}
    lines = [text.replace("\n", "\r\n") for text in files.values()]
    return browser.post("/editor", {**fields, "path": [*files], "text": lines}, page=STARTER)


@pytest.fixture
def files(ada: Browser) -> dict[str, str]:
    """Those of a starter."""
    return texts(ada.get(STARTER).text)


@pytest.fixture
def rivals(database: Database) -> list[str]:
    """Bots on the ladder: the arena's own, and a weaker one of somebody's."""
    with database.begin() as session:
        ladder = session.scalars(sa.select(Ladder).where(Ladder.name == LADDER)).one()
        house = session.scalars(sa.select(User).where(User.name == HOUSE)).one()
        eve = session.scalars(sa.select(User).where(User.name == "eve")).one()
        for owner, name, digest in (
            (eve, "weak", "1"),
            (house, "random", "2"),
            (house, "greedy", "3"),
        ):
            version = submit(
                session, owner, name, digest=digest * 64, size=9, language="C", ladder=ladder,
                now=now(),
            )  # fmt: skip
            version.status = VersionStatus.READY
            enter(session, ladder, version, now())
        session.execute(sa.delete(Check))
    return ["greedy", "random", "weak"]


@pytest.mark.parametrize("language", TEMPLATES)
def test_a_starter_is_what_the_command_writes(ada: Browser, language: str) -> None:
    """As an archive all of it, in the editor what makes the bot, the file to write in first."""
    variant = GAMES["clobber"].variant(size="8x8")
    made = contents("mine", TEMPLATES[language], variant)
    asked = {"ladder": OTHER_LADDER, "language": language, "name": "mine"}
    answer = ada.get("/starter.zip", query_string=asked)
    with zipfile.ZipFile(io.BytesIO(answer.data)) as archive:
        found = {name: archive.read(name).decode() for name in archive.namelist()}
    assert found == {f"mine/{path}": text for path, text in made.items()}
    assert "mine.zip" in answer.headers["Content-Disposition"]
    shown = texts(ada.get("/editor", query_string=asked).text)
    assert next(iter(shown)) == TEMPLATES[language].main
    assert shown == {path: made[path] for path in shown}
    assert {path for path in made if path not in shown} == {"README.md", "test_mine.py"}


@pytest.mark.parametrize(
    ("said", "status", "words"),
    [
        ({"name": "a b"}, 409, "is no name for a bot"),
        ({"name": ""}, 409, "is no name for a bot"),
        ({"name": "greedy"}, 409, "is the name of a sample bot"),
        ({"language": "cobol"}, 404, "There is no starter in cobol."),
        ({"ladder": "nowhere"}, 404, "There is no ladder nowhere."),
        ({"bot": "nobody"}, 404, "There is no bot nobody."),
    ],
)
def test_what_can_not_be_begun(ada: Browser, said: dict[str, str], status: int, words: str) -> None:
    """It is said what is wrong."""
    asked = {"ladder": LADDER, "language": "python", "name": "mine"} | said
    for address in ["/editor"] if "bot" in said else ["/editor", "/starter.zip"]:
        answer = ada.get(address, query_string=asked)
        assert (answer.status_code, words in unescape(answer.text)) == (status, True)


def test_tried_played_and_handed_in(
    ada: Browser, database: Database, files: dict[str, str], rivals: list[str]
) -> None:
    """Each by its button; before the last the bot is on no ladder, and then at once."""
    answer = sent(ada, files)
    assert answer.location == f"/editor?bot=mine&version=1&ladder={LADDER}"
    page = ada.get(answer.location).text
    assert texts(page) == files  # byte by byte, or it would be another version
    assert "Play against greedy" in page
    # By a link that somebody else may have made nothing is played.
    assert "data-play" not in ada.get(f"{answer.location}&play=1").text
    waiting = sent(ada, files, "play")
    assert waiting.location == answer.location
    assert "data-play" in ada.get(waiting.location).text
    end_checks(database)
    assert "It was only tried" in ada.get(answer.location).text
    assert "data-passed" in ada.get(answer.location).text
    played = sent(ada, files, "play", form="once")
    assert sent(ada, files, "play", form="once").location == played.location
    assert "greedy" in ada.get(played.location.partition("#")[0]).text
    with database.read() as session:
        (match,) = session.scalars(sa.select(Match)).all()
        assert [place.entrant.version.bot.name for place in match.places] == ["mine", "greedy"]
        assert not match.rated
    assert states(database)[f"mine v1 on {LADDER}"] == "retired"
    enters, again = "Enter version 1 on", "Let version 1 play on"
    page = ada.get("/bots/mine").text
    assert (enters in page, again in page) == (True, False)  # where it never was
    handed_in = sent(ada, files, "enter")
    assert handed_in.location == f"/bots/mine?ladder={LADDER}"
    assert states(database)[f"mine v1 on {LADDER}"] == "active"
    assert "It was only tried" not in ada.get("/checks/1").text
    with database.read() as session:
        assert session.scalars(sa.select(BotVersion).join(Bot).where(Bot.name == "mine")).one()


def test_handed_in_untried(
    ada: Browser, app: Flask, database: Database, files: dict[str, str]
) -> None:
    """Then its one check comes first, and its page is shown; that needs no try."""
    object.__setattr__(app.extensions["arena.settings"], "tries_a_day", 0)
    assert re.fullmatch(r"/checks/\d+", sent(ada, files, "enter").location)
    with database.read() as session:
        assert [check.enters for check in session.scalars(sa.select(Check))] == [True]


@pytest.mark.long
@pytest.mark.parametrize("action", ["check", "play", "enter"])
@pytest.mark.parametrize(
    ("change", "more", "words"),
    [
        ({"bot.toml": "main = "}, {}, "bot.toml"),
        ({"../up.py": "x"}, {}, "is no name for a file"),
        ({}, {"name": "theirs"}, "there is a bot theirs already, of another owner"),
        ({}, {"name": "a b"}, "1 to 40 letters, digits"),
    ],
    ids=["no bot", "no file", "not theirs", "no name"],
)
def test_nothing_typed_is_lost(
    ada: Browser,
    database: Database,
    files: dict[str, str],
    action: str,
    change: dict[str, str],
    more: dict[str, str],
    words: str,
) -> None:
    """What is refused stands in the form again, and what is wrong above it."""
    with database.begin() as session:
        eve = session.scalars(sa.select(User).where(User.name == "eve")).one()
        session.add(Bot(name="theirs", owner=eve, created=now()))
    typed = {**files, "bot.py": "print('<b>&amp;')\n\n  # what I typed\n", **change}
    answer = sent(ada, typed, action, **more)
    assert answer.status_code == 422
    assert words.lower() in unescape(answer.text).lower()
    assert texts(answer.text) == typed
    assert "data-typed" in answer.text


def test_an_own_bot_is_written_on(
    ada: Browser, app: Flask, database: Database, files: dict[str, str]
) -> None:
    """Its newest version, by its owners alone; another becomes the next version."""
    sent(ada, files)
    changed = {**files, "bot.py": files["bot.py"] + "# better\n"}
    sent(ada, changed)
    assert texts(ada.get("/editor?bot=mine").text) == changed
    assert texts(ada.get("/editor?bot=mine&version=1").text) == files
    assert ada.get("/editor?bot=mine&version=9").status_code == 404
    # For a ladder for which it was never checked, too.
    with database.read() as session:
        others = sa.select(Ladder.name).where(Ladder.name != LADDER, Ladder.game == "clobber")
        other = session.scalars(others).first()
    elsewhere = ada.get(f"/editor?bot=mine&ladder={other}")
    assert (elsewhere.status_code, texts(elsewhere.text)) == (200, changed)
    assert signed_in(app, "eve").get("/editor?bot=mine").status_code == 403


def test_what_is_tried_is_no_business_of_others(
    ada: Browser, app: Flask, database: Database, files: dict[str, str]
) -> None:
    """No door shows such versions to others, though the code is open, until they are handed in."""
    sent(ada, files)
    end_checks(database)
    with database.begin() as session:
        session.scalars(sa.select(Bot).where(Bot.name == "mine")).one().open_source = True
    eve = signed_in(app, "eve")
    doors = {
        "/bots/mine": "<td>v1",
        "/bots/mine/feed.atom": "mine v1",
        "/api/v1/bots/mine": '"version":1',
        "/api/v1/bots/mine/versions": '"version":1',
        f"/api/v1/bots/mine/ladders/{LADDER}": '"version":1',
        f"/bots/mine?ladder={LADDER}": "v1",
        "/bots/mine/versions/1.tar": "bot.py",
        "/api/v1/bots/mine/versions/1/files": "bot.py",
    }

    def shown(browser: Browser) -> dict[str, bool]:
        found = {}
        for address, words in doors.items():
            answer = browser.get(address)
            found[address] = answer.status_code == 200 and words in answer.text
            answer.close()
        return found

    assert shown(ada) == dict.fromkeys(doors, True)
    assert shown(eve) == dict.fromkeys(doors, False)
    assert eve.get("/bots/mine:1/against/mine").status_code == 404
    sent(ada, files, "enter")
    assert shown(eve) == dict.fromkeys(doors, True)


def test_what_is_tried_is_played_by_its_owners_alone(
    ada: Browser, app: Flask, database: Database, files: dict[str, str], rivals: list[str]
) -> None:
    """Its number names it; the name alone stands for what was handed in, if code is open, too."""
    sent(ada, files, "enter")
    sent(ada, {**files, "bot.py": files["bot.py"] + "# better\n"})
    end_checks(database)
    with database.begin() as session:
        session.scalars(sa.select(Bot).where(Bot.name == "mine")).one().open_source = True
    mine, others = (
        By(audit.Actor(number, "", ""), frozenset(Scope), now()) for number in ada_and_eve(database)
    )
    with database.read() as session:
        for by in (mine, others, None):
            assert [one.label for one in named_players(session, ["mine"], by)] == ["mine v1"]
        assert [one.label for one in named_players(session, ["mine:2"], mine)] == ["mine v2"]
        for by in (others, None):
            with pytest.raises(Refusal, match="no version 2"):
                named_players(session, ["mine:2"], by)
    assert "mine v2" in ada.get("/tests/new").text
    offered = signed_in(app, "eve").get("/tests/new").text
    assert "mine v1" in offered
    assert "mine v2" not in offered


def test_a_try_is_no_alarm(ada: Browser, database: Database, files: dict[str, str]) -> None:
    """Nor does it hide what is wrong about the version that was handed in before."""
    ada_id, _ = ada_and_eve(database)
    sent(ada, files)
    end_checks(database)
    with database.read() as session:
        assert alarms_of(session, bots_of(session, ada_id)) == []
    changed = {**files, "bot.py": files["bot.py"] + "# worse\n"}
    sent(ada, changed, "enter")
    end_checks(database, kept=False)
    sent(ada, files)
    end_checks(database)
    with database.read() as session:
        (alarm,) = alarms_of(session, bots_of(session, ada_id))
        assert "mine v2 did not pass its check" in alarm.words


def ada_and_eve(database: Database) -> list[int]:
    """Their numbers."""
    with database.read() as session:
        people = sa.select(User.id).where(User.name.in_(["ada", "eve"])).order_by(User.name)
        return list(session.scalars(people))


def test_the_api_tries_too(ada: Browser, files: dict[str, str]) -> None:
    """A field says so, and what comes of it is told."""
    sent_files = [(io.BytesIO(text.encode()), f"mine/{path}") for path, text in files.items()]
    data = {"ladder": LADDER, "enters": "false", "file": sent_files}
    proof = {"X-CSRFToken": ada.secret()}
    answer = ada.client.post("/api/v1/submissions", data=data, headers=proof)
    assert answer.status_code == 201, answer.text
    assert answer.json["enters"] is False
    data["test_first"], data["file"] = "true", [(io.BytesIO(b"x"), "mine/bot.py")]
    answer = ada.client.post("/api/v1/submissions", data=data, headers=proof)
    assert answer.status_code == 409
    assert "leave out test_first" in answer.text


def test_what_is_no_text_is_changed_at_home(ada: Browser, files: dict[str, str]) -> None:
    """The editor does not open what it could not give back."""
    data = {"ladder": LADDER, "name": "mine", "folder": []}
    for path, content in {**files, "net.bin": b"\xff\xfe\0"}.items():
        whole = content if isinstance(content, bytes) else content.encode()
        data["folder"].append((io.BytesIO(whole), f"mine/{path}"))
    assert ada.post("/submit", data, page="/submit").status_code == 302
    answer = ada.get("/editor?bot=mine")
    assert answer.status_code == 409
    assert "no texts: change them at home" in answer.text


def test_so_much_may_be_tried_a_day(ada: Browser, app: Flask, files: dict[str, str]) -> None:
    """It is told before, and what is typed stands there still when it is too much."""
    object.__setattr__(app.extensions["arena.settings"], "tries_a_day", 1)
    assert "1 of 1 versions are left" in ada.get(STARTER).text
    sent(ada, files)
    assert "0 of 1 versions are left" in ada.get(STARTER).text
    answer = sent(ada, {**files, "bot.py": "# more\n"})
    assert answer.status_code == 422
    assert "1 version may be tried within 24 hours" in answer.text


def test_the_store_is_read_as_it_is(tmp_path: Path) -> None:
    """A bundle that is not there is told from one that is too large."""
    intake = BundleIntake(tmp_path)
    with pytest.raises(FileNotFoundError):
        intake.texts("0" * 64)
    (tmp_path / ("1" * 64)).write_bytes(b"x" * 300_000)
    assert intake.texts("1" * 64) is None


@pytest.mark.long
def test_whoever_registers_begins_a_bot(database: Database, app: Flask) -> None:
    """The next page is the one on which one does."""
    object.__setattr__(app.extensions["arena.settings"], "registration", "open")
    browser = Browser(app)
    word = "a long and good one"
    said = {"name": "new", "password": word, "again": word}
    answer = browser.post("/register", said, page="/register")
    assert answer.location == "/submit"
    page = browser.get("/submit").text
    assert 'value="new-bot"' in page
    assert "Write it here" in page


def test_names_for_first_bots(app: Flask) -> None:
    """They are names that a starter takes."""
    for owner in ("ada", "x" * 40, "7seas", "a.b_c", "__", "O.o"):
        assert not name_refusal(suggested_name(owner)), owner
