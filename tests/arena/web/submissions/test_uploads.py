"""Submitting by the pages: what is taken in, and what is refused."""

from __future__ import annotations

import errno
import io
import os
import tarfile
import zipfile
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa
from flask import Flask

from arena import audit
from arena.bots.intake import Sender, TakenIn
from arena.cli.bundle_intake import BundleIntake
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import BotVersion, Check, Ladder, Scope
from arena.operation.settings import ChangeSetting
from arena.people import accounts
from arena.web.app import create_app
from tests.arena.doing import do
from tests.arena.web.conftest import HOSTILE
from tests.arena.web.signing_in import Browser, complaints, now, signed_in
from tests.arena.web.submissions.conftest import BOT, LADDER, submit


class FullIntake(BundleIntake):
    """A server whose disk is full."""

    def __call__(self, path: Path, _: Sender) -> TakenIn:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))


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
        # Its files, and not the archive in which they are kept.
        assert version.files_bytes == len(BOT) + (len(b"x = 1\n") if len(files) > 1 else 0)
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
        ([(b"no zip", "mine.zip")], {}, "The archive is no zip file, whatever its name: give"),
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
    assert (
        "a bot may have 1000 files, of 16 MiB together; more, where a ladder grants it, is sent by "
        "arena submit" in large.text
    )
    assert Browser(app).client.post("/submit", data={"note": "x" * 400_000}).status_code == 401
    for address in ("/account/tokens", "/bots/mine/settings"):
        refused = ada.client.post(address, data={"name": "x" * 600_000})
        assert refused.status_code == 413
        assert "This is too large: 0.3 MB are allowed." in refused.text
    part = b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n'
    assert ada.client.post("/submit", data=part * 20_001 + b"--x--\r\n", **kind).status_code == 413


class InTwo:
    """A body that comes by two reads."""

    def __init__(self, body: bytes, first: int) -> None:
        self._parts = [body[:first], body[first:], b""]

    def read(self, size: int = -1) -> bytes:
        part = self._parts.pop(0) if self._parts else b""
        assert size < 0 or len(part) <= size
        return part


FORM = (
    b'--xY\r\nContent-Disposition: form-data; name="note"\r\n\r\nshort\r\n'
    b'--xY\r\nContent-Disposition: form-data; name="file"; filename="b.py"\r\n\r\n'
    b"one\n--\r\n\r\r\n--xY--\r\n"
)


@pytest.mark.parametrize("before", [b"", b"x" * 2000], ids=["small", "with a preamble"])
def test_a_file_is_what_was_sent_wherever_a_read_ends(app: Flask, before: bytes) -> None:
    """Also within the boundaries: a byte more would be another bot."""
    body, read = before + FORM, app.request_class.form_data_parser_class(silent=False).parse
    for first in range(len(before) + 1, len(body) + 1):
        stream = InTwo(body, first)
        _, form, files = read(stream, "multipart/form-data", len(body), {"boundary": "xY"})
        assert form["note"] == "short", first
        with closing(files["file"]) as file:
            assert file.read() == b"one\n--\r\n\r", first


def test_a_long_form_without_files_is_read_whole(app: Flask) -> None:
    words = {"note": "x" * 5000}
    with app.test_request_context(method="POST", data=words) as context:
        assert context.request.mimetype == "application/x-www-form-urlencoded"
        assert context.request.form.to_dict() == words


def test_a_folder_of_too_many_files_keeps_its_form(ada: Browser, database: Database) -> None:
    """What no bot needs does not count: a browser without scripts sends it all the same."""
    tools = [(b"x", f"mine/.venv/lib/m{number}.py") for number in range(1001)]
    own = [(b"x", f"mine/lib/m{number}.py") for number in range(1001)]
    bot = (BOT, "mine/bot.py")
    refused = submit(ada, bot, *own, field="folder", note="a long thought")
    assert refused.status_code == 422
    assert "more than 1000 files" in refused.text
    assert "a long thought" in refused.text
    assert submit(ada, bot, *tools, field="folder").status_code == 302


@pytest.mark.parametrize(("scope", "status"), [(Scope.SUBMIT, 302), (Scope.READ, 403)])
def test_a_token_submits_if_it_may(
    app: Flask, database: Database, scope: Scope, status: int
) -> None:
    """Without the secret of a form, which is for browsers."""
    with database.begin() as session:
        ada = accounts.get(session, "ada")
        token = accounts.add_token(session, audit.ARENA, ada, "ci", [scope], now())
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


def test_how_many_bots_one_may_have_is_told_before(
    app: Flask, ada: Browser, database: Database
) -> None:
    """The page, the account's and the API tell it, as just changed, and refuse another one."""
    assert "that each person may have" not in ada.get("/submit").text
    with database.begin() as session:
        do(session, ChangeSetting("bots_a_person", "1"), now())
    app.extensions["arena.present"].forget()
    assert submit(ada, (BOT, "one.py"), name="one").status_code == 302
    said = "Bots of yours: 1 of 1 that each person may have."
    assert f"{said} Hand in new versions of them, or delete one." in ada.get("/submit").text
    assert said in ada.get("/account").text
    refused = submit(ada, (BOT, "two.py"), name="two")
    assert refused.status_code == 422
    assert "each person may have 1 bot here" in refused.text.lower()
    assert submit(ada, (BOT + b"#", "one.py"), name="one").status_code == 302
    quotas = f"/api/v1/ladders/{LADDER}/quotas"
    assert ada.get(f"{quotas}?bot=one").get_json()["refusal"] is None
    assert "may have 1 bot here" in ada.get(f"{quotas}?bot=two").get_json()["refusal"]
    account = ada.get("/api/v1/account").get_json()
    assert (account["own_bots"], account["most_bots"]) == (1, 1)


def test_a_frozen_ladder_takes_no_bots(ada: Browser, database: Database) -> None:
    """It is not offered, and refused to whoever asks."""
    submit(ada, (BOT, "mine.py"))
    with database.begin() as session:
        session.execute(sa.update(Ladder).where(Ladder.name == LADDER).values(state="frozen"))
    assert f'value="{LADDER}"' not in ada.get("/submit").text
    wrong = complaints(submit(ada, (BOT, "mine.py"), name="-", note="x" * 501))
    assert [one.partition(" ")[0] for one in wrong] == ["&#39;-&#39;", "A", "The"]
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


def test_a_full_disk_takes_nothing_in(app: Flask, ada: Browser, tmp_path: Path) -> None:
    """That is nobody's fault who uploads, and said in a line without where files lie."""
    app.extensions["arena.bots.intake"] = FullIntake(tmp_path)
    answer = submit(ada, (BOT, "bot.py"))
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    assert "disk is full, so nothing was taken in" in answer.text
    assert "bot.py" not in answer.text


def test_the_same_files_with_another_note(ada: Browser, database: Database) -> None:
    """They stay one version, which gets the note; none takes away none."""
    for note, kept in (("first", "first"), ("second", "second"), ("", "second")):
        assert submit(ada, (BOT, "mine.py"), note=note).status_code == 302
        with database.read() as session:
            (version,) = session.scalars(sa.select(BotVersion)).all()
            assert version.note == kept
    with database.read() as session:
        told = [one.detail for one in audit.entries(session) if one.action == "change note"]
    assert told == ["version 1: 'second', before 'first'"]
