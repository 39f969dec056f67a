"""Submitting by the pages: what is taken in, what is refused, and what an owner does with a bot."""

from __future__ import annotations

import errno
import io
import os
import re
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from arena import audit, people
from arena.cli.serve import BundleIntake
from arena.config import Settings
from arena.db import Database
from arena.first_tests import admit
from arena.furnish import furnish
from arena.intake import TakenIn
from arena.models import (
    Bot,
    BotVersion,
    Check,
    Entrant,
    EntrantState,
    JobStatus,
    Ladder,
    Scope,
    VersionStatus,
)
from arena.web.app import create_app
from engine.games import GAMES
from tests.arena.web.conftest import HOSTILE
from tests.arena.web.signing_in import Browser, complaints, now, person, signed_in
from tests.arena.web.test_pages import read

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


class FullIntake:
    """A server whose disk is full."""

    largest = 1_000_000

    def __call__(self, path: Path) -> TakenIn:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))


def submit(browser: Browser, *files: tuple[bytes, str], field: str = "file", **fields: Any):
    """Sends the form with files."""
    data = {"ladder": LADDER, **fields}
    if files:
        data[field] = [(io.BytesIO(content), name) for content, name in files]
    return browser.post("/submit", data, page="/submit")


def settle(database: Database, *, kept: bool = True, backwards: bool = False) -> None:
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


def zipped() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("bot.py", BOT)
    return buffer.getvalue()


def tarred() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        member = tarfile.TarInfo("bot.py")
        member.size = len(BOT)
        archive.addfile(member, io.BytesIO(BOT))
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("field", "files", "name"),
    [
        ("file", [(BOT, "mine.py")], "mine"),
        ("file", [(zipped(), "mine.zip")], "mine"),
        ("file", [(tarred(), "mine.tar.gz")], "mine"),
        ("folder", [(BOT, "mine/bot.py"), (b"x = 1\n", "mine/lib/x.py")], "mine"),
        ("folder", [(BOT, "mine/main.py")], "mine"),
    ],
    ids=["a program", "a zip", "a tar.gz", "a folder", "a folder of one file"],
)
def test_a_bot_is_taken_in(
    ada: Browser, database: Database, field: str, files: list[tuple[bytes, str]], name: str
) -> None:
    """Named after what was sent, stored, and checked at once for the ladder."""
    answer = submit(ada, *files, field=field, note=HOSTILE)
    assert answer.status_code == 302, complaints(answer)
    with database.read() as session:
        version = session.scalars(sa.select(BotVersion)).one()
        check = session.scalars(sa.select(Check)).one()
        assert version.bot.name == name
        assert (version.bot.owner.name, version.language) == ("ada", "Python")
        assert (check.ladder.name, check.version_id) == (LADDER, version.id)
        assert answer.location == f"/checks/{check.id}"
        assert audit.entries(session, actor="ada")[0].action == "submit"
    assert "Waiting: no worker is there to check it." in ada.get(answer.location).text
    code = ada.get(f"/bots/{version.bot.name}/versions/1.tar")
    with tarfile.open(fileobj=io.BytesIO(code.data)) as archive:
        contents = [archive.extractfile(member).read() for member in archive]
    assert BOT in contents
    assert code.headers["Content-Disposition"].startswith("attachment")
    code.close()


@pytest.mark.parametrize(
    ("files", "fields", "complaint"),
    [
        ([], {}, "Choose a file or a folder."),
        ([(BOT, "mine.7z")], {}, "can't be read: give a zip, tar or tar.gz archive"),
        ([(b"no zip", "mine.zip")], {}, "The archive is no whole zip file."),
        ([(BOT, "mine.unknown")], {}, "mine.unknown"),
        ([(BOT, "../../etc/mine.py"), (BOT, "x.py")], {"field": "folder"}, "is no name for a file"),
        ([(BOT, "/etc/mine.py")], {}, "is no name for a file"),
        ([(BOT, "x" * 300 + ".py")], {}, "is no name for a file"),
        ([(BOT, "mine.py"), (BOT, "mine.py/bot.py")], {"field": "folder"}, "is no name for a file"),
        ([(BOT, "m/a.py"), (b"", "m/a.py")], {"field": "folder"}, "'m/a.py' was sent 2 times"),
        ([(BOT, "mine.py")], {"name": "<b>bot</b>"}, "is no name for a bot"),
        ([(BOT, "mine.py")], {"name": "\N{RIGHT-TO-LEFT OVERRIDE}bot"}, "is no name for a bot"),
        ([(BOT, "mine.py")], {"name": "x" * 41}, "A name has at most 40 characters."),
        ([(BOT, "mine.py")], {"note": "x" * 501}, "A note has at most 500 characters."),
        ([(BOT, "mine.py")], {"ladder": "nowhere"}, "Choose one of these ladders."),
    ],
)
def test_submissions_that_are_refused(
    ada: Browser,
    database: Database,
    files: list[tuple[bytes, str]],
    fields: dict[str, str],
    complaint: str,
) -> None:
    """One clear line each; what was typed is kept, and nothing of it came in."""
    answer = submit(ada, *files, **{"note": "what I typed", **fields})
    assert answer.status_code == 422
    (said,) = complaints(answer)
    assert complaint in said.replace("&#39;", "'")
    assert "/tmp" not in said
    assert "<b>bot" not in answer.text
    if "note" not in fields:
        assert "what I typed" in answer.text
    with database.read() as session:
        assert session.scalars(sa.select(BotVersion)).all() == []


def test_what_is_too_large_is_refused_before_it_is_read(ada: Browser, app: Flask) -> None:
    """With the size that is allowed; anybody else's form is smaller by far."""
    kind = {"content_type": "multipart/form-data; boundary=x"}
    large = ada.client.post("/submit", data=b"x" * 22_000_000, **kind)
    assert large.status_code == 413
    assert "This is too large: a bot may have 1000 files, of 16 MiB together." in large.text
    assert Browser(app).client.post("/submit", data={"note": "x" * 400_000}).status_code == 401
    for address in ("/account/tokens", "/bots/mine/settings"):
        refused = ada.client.post(address, data={"name": "x" * 600_000})
        assert refused.status_code == 413
        assert "This is too large: 0.3 MB are allowed." in refused.text
    many = {f"part {number}": "" for number in range(1100)}
    kind = {"content_type": "multipart/form-data"}
    assert ada.post("/submit", many, page="/submit", **kind).status_code == 413


@pytest.mark.parametrize(("scope", "status"), [(Scope.SUBMIT, 302), (Scope.READ, 403)])
def test_a_token_submits_if_it_may(
    app: Flask, database: Database, scope: Scope, status: int
) -> None:
    """Without the secret of a form, which is for browsers."""
    with database.begin() as session:
        ada = people.get(session, "ada")
        token = people.add_token(session, audit.ARENA, ada, "ci", [scope], now())
    answer = app.test_client().post(
        "/submit",
        data={"ladder": LADDER, "file": (io.BytesIO(BOT), "mine.py")},
        headers={"Authorization": f"Bearer {token}"},
    )
    assert answer.status_code == status


def test_nobody_takes_the_name_of_anothers_bot(ada: Browser, app: Flask) -> None:
    """The owner alone makes its next version."""
    assert submit(ada, (BOT, "mine.py")).status_code == 302
    answer = submit(signed_in(app, "eve"), (BOT + b"#", "mine.py"))
    assert complaints(answer)[0].endswith("of another owner: choose a name.")
    assert submit(ada, (BOT + b"#", "mine.py")).status_code == 302
    assert "version 2" in ada.get("/checks/2").text


@pytest.mark.parametrize("kept", [True, False])
def test_these_pages_keep_what_all_pages_keep(ada: Browser, database: Database, kept: bool) -> None:
    """No inline script or style, whole tags, headings in order."""
    submit(ada, (BOT, "mine.py"), note=HOSTILE)
    for address in ("/submit", "/checks/1", "/bots/mine"):
        assert read(ada.get(address).text).verdict() == []
    settle(database, kept=kept)
    for address in ("/account", "/checks/1", "/bots/mine"):
        assert read(ada.get(address).text).verdict() == []


def test_a_check_tells_what_it_finds(ada: Browser, database: Database) -> None:
    """Line by line with what was exchanged; then it renews itself no more."""
    submit(ada, (BOT, "mine.py"))
    before = ada.get_renewed("/checks/1").text
    assert "hx-get" in before
    assert "Nothing yet." in before
    settle(database)
    after = ada.get_renewed("/checks/1").text
    assert "hx-get" not in after
    assert "It passed." in after
    assert "&gt; hello" in after
    assert "<script>alert" not in after
    assert f'value="{OTHER_LADDER}"' in after


def test_the_last_version_stays_though_its_check_ended_first(
    ada: Browser, database: Database
) -> None:
    """Of two versions in a row, with two workers, the older one's check may take longer."""
    submit(ada, (BOT, "mine.py"))
    submit(ada, (BOT + b"#2", "mine.py"))
    settle(database, backwards=True)
    assert states(database) == {f"mine v2 on {LADDER}": "active"}
    told = ada.get("/checks/1").text
    assert "It passed." in told
    assert "</a>: version 2 came after it." in told
    # An older version comes all the same if that is asked for.
    ada.post("/bots/mine/enter", {"version": 1, "ladder": LADDER}, page="/bots/mine")
    settle(database)
    assert states(database) == {
        f"mine v1 on {LADDER}": "active",
        f"mine v2 on {LADDER}": "retired",
    }


def test_a_check_tells_what_became_of_the_bot(ada: Browser, database: Database) -> None:
    """That it was entered, that it waits for a test, that it left, that it was not taken."""

    def told(check: int) -> str:
        page = ada.get(f"/checks/{check}").text
        words = page.rpartition('role="status">')[2].partition("</p>")[0]
        return " ".join(re.sub("<[^>]*>", "", words).split())

    submit(ada, (BOT, "mine.py"))
    settle(database)
    entered = "It is entered on Clobber 6x7, and its first games begin in a moment."
    assert told(1) == f"It passed. {entered} See the bot."
    submit(ada, (BOT + b"#2", "mine.py"), test_first="y")
    settle(database)
    assert "It enters Clobber 6x7 once it passes test " in told(2)
    ada.post("/bots/mine/withdraw", page="/bots/mine")
    assert "It was entered on Clobber 6x7, and is retired now." in told(1)
    submit(ada, (BOT + b"#3", "mine.py"))
    with database.begin() as session:
        session.execute(sa.update(Ladder).where(Ladder.name == LADDER).values(state="frozen"))
    settle(database)
    assert "It is not entered on Clobber 6x7, which took no bots by then." in told(3)


def test_a_closed_ladder_keeps_its_bots(ada: Browser, database: Database) -> None:
    """Its table is final: nobody leaves it, by a withdrawal neither."""
    submit(ada, (BOT, "mine.py"))
    submit(ada, (BOT, "mine.py"), ladder=OTHER_LADDER)
    settle(database)
    with database.begin() as session:
        session.execute(sa.update(Ladder).where(Ladder.name == LADDER).values(state="closed"))
        entrant = session.scalars(
            sa.select(Entrant.id).join(Entrant.competition).where(Ladder.name == LADDER)
        ).one()
    refused = ada.post("/bots/mine/retire", {"entrant": entrant}, page="/bots/mine")
    assert refused.status_code == 409
    assert "is closed, and its table final" in refused.text
    assert "the ladder is closed" in ada.get("/bots/mine").text
    ada.post("/bots/mine/withdraw", page="/bots/mine")
    assert states(database) == {
        f"mine v1 on {LADDER}": "active",
        f"mine v1 on {OTHER_LADDER}": "retired",
    }


def test_lines_are_shown_of_what_was_tried(ada: Browser, database: Database) -> None:
    """Though there were none; of what was not tried there is nothing more to say."""
    submit(ada, (BOT, "mine.py"))
    settle(database)
    with database.begin() as session:
        session.scalars(sa.select(Check)).one().findings = [
            {"kept": True, "clause": "one process", "words": "no other", "lines": []},
            {"kept": True, "clause": "quit", "words": "not tried", "lines": [], "applies": False},
            {"kept": True, "clause": "seed", "words": "it", "lines": ["> go"], "applies": False},
        ]
    found = re.findall(r'<pre class="lines"[^>]*>(.*?)</pre>', ada.get("/checks/1").text)
    assert found == ["no lines were exchanged", "&gt; go"]


def test_who_plays_already_stays_though_a_later_check_fails(
    ada: Browser, database: Database
) -> None:
    """As where the same files are handed in once more, and the machine is short of memory then."""
    submit(ada, (BOT, "mine.py"))
    settle(database)
    submit(ada, (BOT, "mine.py"))
    settle(database, kept=False)
    assert "It did not pass</strong>, but stays on " in ada.get("/checks/2").text
    assert states(database) == {f"mine v1 on {LADDER}": "active"}


def test_a_check_that_failed_leads_to_the_next_try(ada: Browser, database: Database) -> None:
    """With the name and the ladder filled in; a refused version enters nowhere."""
    submit(ada, (BOT, "mine.py"))
    settle(database, kept=False)
    text = ada.get_renewed("/checks/1").text
    assert "It did not pass</strong>, so it does not enter " in text
    assert f"/submit?bot=mine&amp;ladder={LADDER}" in text
    form = ada.get(f"/submit?bot=mine&ladder={OTHER_LADDER}").text
    assert 'value="mine"' in form
    assert f'<option selected value="{OTHER_LADDER}">' in form
    again = ada.post("/bots/mine/enter", {"version": 1, "ladder": OTHER_LADDER}, page="/bots/mine")
    assert again.status_code == 409
    assert "submit a mended version" in again.text


def states(database: Database) -> dict[str, str]:
    """Each entrant of the arena with its state."""
    with database.read() as session:
        return {
            f"{one.version.label} on {one.competition.name}": str(one.state)
            for one in session.scalars(sa.select(Entrant))
        }


def test_an_owner_enters_retires_and_withdraws(ada: Browser, database: Database) -> None:
    """On more ladders, with an older version again, and then on none."""
    submit(ada, (BOT, "mine.py"))
    settle(database)
    submit(ada, (BOT + b"#2", "mine.py"))
    settle(database)
    asked = ada.post("/bots/mine/enter", {"version": 1, "ladder": LADDER}, page="/bots/mine")
    assert asked.location == f"/bots/mine?ladder={LADDER}"
    assert "with the rating that it had" in ada.get(asked.location).text
    assert states(database) == {
        f"mine v1 on {LADDER}": "active",
        f"mine v2 on {LADDER}": "retired",
    }
    asked = ada.post("/bots/mine/enter", {"version": 2, "ladder": OTHER_LADDER}, page="/bots/mine")
    twice = ada.post("/bots/mine/enter", {"version": 2, "ladder": OTHER_LADDER}, page="/bots/mine")
    assert asked.location == twice.location == "/checks/3"
    refused = ada.post("/bots/mine/withdraw", page="/bots/mine")
    assert (refused.status_code, "a check of it is under way" in refused.text.lower()) == (
        409,
        True,
    )
    settle(database)
    with database.read() as session:
        entrant = session.scalars(
            sa.select(Entrant.id).where(Entrant.state == EntrantState.ACTIVE)
        ).first()
    assert ada.post("/bots/mine/retire", {"entrant": entrant}, page="/bots/mine").status_code == 302
    assert list(states(database).values()).count("active") == 1
    ada.post("/bots/mine/withdraw", page="/bots/mine")
    assert set(states(database).values()) == {"retired"}
    # From a page that was opened before: it is so already.
    late = ada.post("/bots/mine/retire", {"entrant": entrant}, page="/bots/mine")
    assert late.status_code == 302
    with database.read() as session:
        deeds = [one.action for one in audit.entries(session, subject="bot mine")]
    assert deeds == ["withdraw", "retire", "enter", "enter", "enter", "submit", "submit"]


def test_a_bots_page_brings_versions_back(ada: Browser, app: Flask, database: Database) -> None:
    """Its owner alone sees each version's rating on a ladder, why it is off, and a way back."""
    for code in (BOT, BOT + b"#2"):
        submit(ada, (code, "mine.py"))
        settle(database)
    with database.begin() as session:
        newer = session.scalars(sa.select(Entrant).where(Entrant.state == "active")).one()
        newer.state, newer.reason = EntrantState.SUSPENDED, "6 of its last 10 <b>"
    page = ada.get("/bots/mine").text
    assert read(page).verdict() == []
    for words in ("6 of its last 10 &lt;b&gt;", "version 2 took its place", "faults from before"):
        assert words in page
    assert [word for word in (">Bring back<", ">Activate<", ">Retire<") if word in page] == [
        ">Bring back<",
        ">Activate<",
    ]
    assert ">suspended</a>" in ada.get("/account").text
    others = signed_in(app, "eve").get("/bots/mine").text
    assert ">Bring back<" not in others
    back = {"version": "2", "ladder": LADDER}
    assert ada.post("/bots/mine/enter", back, page="/bots/mine").status_code == 302
    assert states(database)[f"mine v2 on {LADDER}"] == "active"
    page = ada.get("/bots/mine").text
    assert (">Bring back<" in page, ">Retire<" in page) == (False, True)
    with database.begin() as session:
        session.scalars(sa.select(Ladder).where(Ladder.name == LADDER)).one().state = "frozen"
    page = ada.get("/bots/mine").text
    assert (">Activate<" in page, "the ladder is frozen" in page) == (False, True)


@pytest.mark.parametrize(
    ("address", "fields", "status"),
    [
        ("/bots/mine/enter", {"version": "9", "ladder": LADDER}, 404),
        ("/bots/mine/enter", {"version": "-1", "ladder": LADDER}, 404),
        ("/bots/mine/enter", {"version": "9" * 30, "ladder": LADDER}, 404),
        ("/bots/mine/enter", {"version": "\N{SUPERSCRIPT TWO}", "ladder": LADDER}, 404),
        ("/bots/mine/enter", {"version": "1", "ladder": "nowhere"}, 404),
        ("/bots/mine/enter", {"version": "1", "ladder": "\0"}, 400),
        ("/bots/mine/retire", {"entrant": "9"}, 404),
        ("/bots/mine/retire", {"entrant": "9" * 30}, 404),
        ("/bots/mine/retire", {}, 404),
        ("/bots/nobody/retire", {}, 404),
        ("/bots/theirs/enter", {"version": "1", "ladder": LADDER}, 403),
        ("/bots/theirs/retire", {"entrant": "1"}, 403),
        ("/bots/mine/retire", {"entrant": "1"}, 404),
    ],
)
def test_forged_ids_reach_nothing(
    ada: Browser, app: Flask, database: Database, address: str, fields: dict[str, str], status: int
) -> None:
    """What is not there is said; what is another's stays as it was."""
    submit(signed_in(app, "eve"), (BOT, "theirs.py"))
    settle(database)
    submit(ada, (BOT + b"#", "mine.py"))
    before = states(database)
    assert ada.post(address, fields, page="/account").status_code == status
    assert states(database) == before == {f"theirs v1 on {LADDER}": "active"}


def test_code_is_opened_and_closed_by_its_owner(
    ada: Browser, app: Flask, database: Database
) -> None:
    """For everybody, not signed in too; and back."""
    submit(ada, (BOT, "mine.py"))
    reader, code = Browser(app), "/bots/mine/versions/1.tar"
    assert reader.get(code).status_code == 302
    ada.post("/bots/mine/settings", {"open_source": "y"}, page="/bots/mine")
    for anybody in (reader, signed_in(app, "eve")):
        with anybody.get(code) as answer:
            assert answer.status_code == 200
    page = reader.get("/bots/mine").text
    assert "open source" in page
    assert code in page
    assert "Yours to decide" not in page
    ada.post("/bots/mine/settings", {}, page="/bots/mine")
    assert reader.get(code).status_code == 302
    assert code not in reader.get("/bots/mine").text
    assert ada.get("/bots/mine/versions/9.tar").status_code == 404


def test_a_frozen_ladder_takes_no_bots(ada: Browser, database: Database) -> None:
    """It is not offered, and refused to whoever asks."""
    submit(ada, (BOT, "mine.py"))
    with database.begin() as session:
        session.execute(sa.update(Ladder).where(Ladder.name == LADDER).values(state="frozen"))
    assert f'value="{LADDER}"' not in ada.get("/submit").text
    assert complaints(submit(ada, (BOT, "mine.py"))) == ["Choose one of these ladders."]
    asked = ada.post("/bots/mine/enter", {"version": 1, "ladder": LADDER}, page="/bots/mine")
    assert asked.status_code == 409


def test_a_server_without_a_store_says_so(database: Database) -> None:
    """Rather than to take in what nobody will find."""
    app = create_app(Settings(database=database.url))
    app.testing = True
    answer = signed_in(app, "ada").get("/submit")
    assert answer.status_code == 503
    assert "use arena submit on its machine" in answer.text
    app.extensions["arena.database"].close()


def test_the_account_lists_its_bots(ada: Browser, database: Database) -> None:
    """Each with its last version and where it plays."""
    assert "None yet." in ada.get("/account").text
    submit(ada, (BOT, "mine.py"))
    settle(database)
    submit(ada, (BOT + b"#2", "mine.py"), note="second")
    text = ada.get("/account").text
    assert "v2" in text
    assert "checking" in text
    assert "Clobber 6x7" in text
    with database.read() as session:
        user = people.get(session, "ada")
        assert session.scalars(sa.select(Bot.owner_id)).all() == [user.id]


@pytest.mark.parametrize("wish", [{}, {"test_first": "y"}])
def test_a_test_may_come_first(ada: Browser, database: Database, wish: dict[str, str]) -> None:
    """Its owner's wish is kept with the check."""
    assert submit(ada, (BOT, "mine.py"), **wish).status_code == 302
    with database.read() as session:
        kept = session.scalars(sa.select(Check)).one().test_first
        assert kept == ({"elo0": 0.0, "elo1": 10.0, "max_games": 20_000} if wish else None)


def test_a_full_disk_takes_nothing_in(app: Flask, ada: Browser) -> None:
    """That is nobody's fault who uploads, and said in a line without where files lie."""
    app.extensions["arena.intake"] = FullIntake()
    answer = submit(ada, (BOT, "bot.py"))
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    assert "disk is full, so nothing was taken in" in answer.text
    assert "bot.py" not in answer.text
