"""Submitting to an arena elsewhere, to the exit codes of a CI."""

from __future__ import annotations

import hashlib
import http.client
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest
import sqlalchemy as sa

from arena.bots.submissions import enter
from arena.cli import sending
from arena.cli.client import RemoteArena, ServerFault
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import Bot, BotVersion, Build, Check, JobStatus, Ladder
from arena.signing import bundle_location
from tests.arena.cli.remote.conftest import Arena
from tests.arena.web.signing_in import now
from workers.bundles import unpack
from workers.kept_files import KeptFiles
from workers.large_files import Large


class Checker(threading.Thread):
    """Ends the checks of a database, as workers and the recorder do, a finding at a time."""

    def __init__(
        self, database: Database, *, kept: bool, status: JobStatus, problem: str = ""
    ) -> None:
        super().__init__()
        self._database, self._kept, self._status = database, kept, status
        self._problem = problem

    def run(self) -> None:
        ends = time.monotonic() + 20
        while time.monotonic() < ends:
            with self._database.begin() as session:
                query = sa.select(Check).where(Check.status == JobStatus.OPEN)
                check = session.scalars(query.order_by(Check.id.desc())).first()
                if check is not None:
                    if self._status is JobStatus.FIXED:
                        check.findings = [
                            {"kept": True, "words": "said hello", "clause": "", "lines": []},
                            {
                                "kept": self._kept,
                                "words": "moved",
                                "clause": "move",
                                "lines": ["> go", "< oops"],
                            },
                        ]
                        check.log = "IndexError: no such move\n"
                    check.status, check.problem = self._status, self._problem
                    if self._status is JobStatus.VOID:
                        check.cancelled = "ada cancelled it"
                    if self._kept and self._status is JobStatus.FIXED and not self._problem:
                        enter(session, check.ladder, check.version, check.created)
                    return
            time.sleep(0.1)


@pytest.mark.parametrize(
    ("kept", "status", "code", "words"),
    [
        (True, JobStatus.FIXED, 0, "passed its check, and is entered on"),
        (True, JobStatus.FIXED, 1, "passed its check, but is not entered on"),
        (False, JobStatus.FIXED, 1, "did not pass its check"),
        (True, JobStatus.SET_ASIDE, 3, "through no fault of it: the machine burnt down"),
        (True, JobStatus.VOID, 1, "was cancelled: ada cancelled it"),
    ],
    ids=["passed", "not entered", "failed", "set aside", "cancelled"],
)
def test_submit_waits_for_the_check(
    owner: Arena,
    site: SimpleNamespace,
    bot: Path,
    kept: bool,
    status: JobStatus,
    code: int,
    words: str,
) -> None:
    """The exit code is what a CI goes by, and the findings say why."""
    problem = "" if code == 0 else "the machine burnt down"
    checker = Checker(site.database, kept=kept, status=status, problem=problem)
    checker.start()
    name = f"mine-{kept}-{status.value[:3]}"
    found, said, errors = owner(
        "submit", bot, "--name", name, "--ladder", site.ladder, "--wait", "--note", "new"
    )
    checker.join()
    assert found == code, errors
    assert words in said + errors
    if status is JobStatus.FIXED:
        assert "  ok   said hello\n" in said
        assert ("  FAIL move: moved\n       > go\n       < oops\n" in said) is not kept
        assert ("--- what it wrote\nIndexError: no such move\n" in said) is not kept
        again, said, _ = owner("logs", "--check", name)
        assert again == code
        assert "moved" in said


def test_what_is_left_of_quotas_is_said_before_and_after(
    arena: Arena, site: SimpleNamespace, bot: Path
) -> None:
    """Eve may have one bot there and hand in two versions a day: a second bot is not even sent."""
    arena("login", site.url, "--token", site.tokens["eve"])
    eve = "submit", "--ladder", site.ladder
    its = sa.update(Ladder).where(Ladder.name == site.ladder)
    with site.database.begin() as session:
        session.execute(its.values(most_bots=1, most_uploads=2))
    try:
        code, said, errors = arena(*eve, bot, "--name", "evebot")
        assert code == 0, errors
        assert "Left there: 0 of 1 bots, 1 of 2 versions within 24 hours.\n" in said
        checks = sa.select(sa.func.count()).select_from(Check)
        with site.database.read() as session:
            before = session.scalar(checks)
        code, _, errors = arena(*eve, bot, "--name", "second")
        assert (code, "each person may enter 1 bot on ladder-0" in errors) == (2, True)
        with site.database.read() as session:
            assert session.scalar(checks) == before
            assert session.scalar(sa.select(Bot.id).where(Bot.name == "second")) is None
    finally:
        with site.database.begin() as session:
            session.execute(its.values(most_bots=None, most_uploads=None))
            session.execute(sa.update(Check).values(status=JobStatus.VOID, lease_ends=None))


def test_submit_waits_no_longer_than_is_said(
    owner: Arena, site: SimpleNamespace, bot: Path
) -> None:
    """A server without workers is nobody's bot's fault."""
    words = ["submit", bot, "--name", "slow", "--ladder", site.ladder]
    code, said, _ = owner(*words)
    assert (code, "See: arena logs --check slow" in said) == (0, True)
    code, _, errors = owner(*words, "--wait", "--wait-seconds", 1)
    assert (code, "has not ended after 1 second;" in errors) == (3, True)
    assert errors.count("it waits: no worker is there to play") == 1
    with site.database.begin() as session:
        version = session.scalars(sa.select(Check.version_id).order_by(Check.id.desc())).first()
        session.add(Build(ticket="t", version_id=version, seconds=1000.0, ended=now()))
    code, _, errors = owner(*words, "--wait", "--wait-seconds", 2)
    assert code == 3
    assert errors.count("it waits: bots of this owner were built for more than 15 minutes") == 1
    with site.database.begin() as session:
        session.execute(sa.delete(Build))
        session.execute(
            sa.update(Check).where(Check.status == JobStatus.OPEN).values(status=JobStatus.VOID)
        )


def test_a_check_is_cancelled(owner: Arena, site: SimpleNamespace, bot: Path) -> None:
    """All of a bot that are not over, once; what became of it is told."""
    owner("submit", bot, "--name", "gone", "--ladder", site.ladder)
    code, said, _ = owner("cancel", "gone")
    assert (code, f"of gone v1 for {site.ladder} is cancelled" in said) == (0, True)
    code, _, errors = owner("cancel", "gone")
    assert (code, "no check of gone is under way" in errors) == (2, True)
    code, said, _ = owner("logs", "--check", "gone")
    assert (code, "it was cancelled: " in said) == (1, True)


def test_submit_waits_for_a_server_that_is_away(
    arena: Arena, bot: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What began goes on there while the server is started anew; each failure is told once."""
    check = {"number": 7, "bot": "mine", "version": 1, "ladder": "x", "status": "issued"}
    check |= {"passed": None, "findings": [], "log": "", "problem": ""}
    answers = [(200, {"bundle_bytes": 2**24}), (201, check)]
    answers += [*[(503, {"detail": "not now"})] * 3, (502, {}), (200, check)]
    answers.append((200, {**check, "status": "fixed", "passed": True}))

    class Restarting(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.do_GET()

        def do_GET(self) -> None:
            status, answer = answers.pop(0)
            body = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    monkeypatch.setattr("arena.cli.submit.LOOK_SECONDS", 0.01)
    with HTTPServer(("127.0.0.1", 0), Restarting) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        where = f"http://127.0.0.1:{server.server_port}"
        words = ["submit", bot, "--ladder", "x", "--server", where, "--wait"]
        code, said, errors = arena(*words)
        server.shutdown()
        thread.join()
    assert (code, "mine v1 passed its check" in said) == (0, True), errors
    assert errors.count("can't do it: not now; asking again\n") == 1
    assert errors.count("can't do it: status 502; asking again\n") == 1


NET = b"weights " * (21 * (1 << 20) // 8)


class CuttingProxy(threading.Thread):
    """Passes requests on to an arena, but for every second part of a file, which it cuts off."""

    def __init__(self, target: str) -> None:
        super().__init__(daemon=True)
        seen: list[int] = []
        host = target.removeprefix("http://")

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                if self.command == "PATCH":
                    seen.append(len(body))
                    if len(seen) % 2:
                        self.close_connection = True
                        return  # nothing is answered
                there = http.client.HTTPConnection(host)
                there.request(self.command, self.path, body, dict(self.headers))
                answer = there.getresponse()
                content = answer.read()
                self.send_response(answer.status)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                # Of every second part that came, the answer is lost.
                if self.command != "PATCH" or len(seen) % 4:
                    self.wfile.write(content)
                there.close()

            do_POST = do_PATCH = do_GET

            def log_message(self, *_: object) -> None:
                pass

        self.parts = seen
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def run(self) -> None:
        self.server.serve_forever(0.01)


def test_weights_are_sent_in_parts_through_cuts(
    owner: Arena, site: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each part again until it has come, told as it goes; for a new version they are not sent."""
    monkeypatch.setattr(sending, "PAUSES", (0.0, 0.0, 0.0))
    monkeypatch.setenv("ARENA_TOKEN", site.tokens["owner"])  # for the address of the proxy, too
    folder = tmp_path / "heavy"
    folder.mkdir()
    (folder / "bot.py").write_text("print('ready')\n")
    (folder / "net.bin").write_bytes(NET)
    given = ("submit", str(folder), "--ladder", site.ladder)
    code, _, err = owner(*given)
    assert code == 2
    assert "bytes, and ladder-0 takes at most 16777216" in err
    assert not (site.folder / "bundles" / hashlib.sha256(NET).hexdigest()).exists()
    with site.database.begin() as session:
        session.execute(sa.update(Ladder).values(bundle_bytes=1 << 29))
    proxy = CuttingProxy(site.url)
    proxy.start()
    try:
        code, out, err = owner(*given, "--server", proxy.url)
        assert code == 0, err
        assert "heavy v1 was taken in" in out
        assert "of 21 MiB" in err
        assert "trying again" in err
        stored = site.folder / "bundles" / hashlib.sha256(NET).hexdigest()
        assert stored.read_bytes() == NET
        sent = len(proxy.parts)
        (folder / "bot.py").write_text("print('ready')  # better\n")
        code, out, err = owner(*given, "--server", proxy.url)
        assert (code, len(proxy.parts)) == (0, sent), err
        assert "heavy v2 was taken in" in out
        # A worker elsewhere is given the bundle's address alone.
        with site.database.begin() as session:
            versions = sa.select(BotVersion).join(Bot).where(Bot.name == "heavy")
            version = session.scalars(versions.order_by(BotVersion.number.desc())).first()
            address = bundle_location(session, Settings(public_url=site.url), version.digest, now())
        (tmp_path / "large").mkdir()
        kept = KeptFiles(tmp_path / "large", ())
        unpacked = unpack(address, version.digest, tmp_path / "cache", kept)
        assert (unpacked / "net.bin").read_bytes() == NET
    finally:
        proxy.server.shutdown()
        proxy.server.server_close()
        with site.database.begin() as session:
            session.execute(sa.update(Ladder).values(bundle_bytes=1 << 24))


@pytest.mark.parametrize("tries", [0, 2])
def test_a_server_that_stays_away_is_given_up(
    tries: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With what to do."""
    monkeypatch.setattr(sending, "PAUSES", (0.0,) * tries)
    (tmp_path / "net").write_bytes(NET)
    large = Large("0" * 64, len(NET), tmp_path / "net")
    there = RemoteArena("http://127.0.0.1:1", None)
    begun = {"received": 5, "size": len(NET), "part_bytes": 1 << 20}
    with pytest.raises(ServerFault, match="1 of 21 MiB of a large file have come: do it again"):
        sending._send_part(there, large, begun)
