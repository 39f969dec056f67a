"""The broker's users, in a real Valkey: a worker gets its jobs and reports, and no more."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import tempfile
import threading
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
import redis
from celery import Celery
from redis.backoff import NoBackoff
from redis.retry import Retry
from werkzeug.serving import make_server

from arena.ground.config import Settings
from arena.ground.db import Database
from arena.operation import queues
from arena.operation.broker import _program
from arena.operation.broker_users import BrokerUser, BrokerUserError, file_of, users_for, users_in
from arena.recorder.dispatch import CeleryQueue, configure
from arena.signing import bundle_location
from arena.web.app import create_app
from engine import jobs, reporting
from engine.clock import TimeControl
from engine.games import GAMES
from engine.match import MatchSpec
from engine.record import replay
from tests.arena.running import COMMAND, arena, environment, free_port, short_folder, until
from tests.requirements import need
from workers import bundles

SAMPLE = Path(__file__).parents[3] / "bots" / "random_bot.py"


@dataclass(frozen=True, slots=True)
class Broker:
    """A Valkey with users."""

    port: int
    users: dict[str, BrokerUser]

    def url(self, name: str) -> str:
        """The address by which a user comes."""
        return f"redis://{name}:{self.users[name].password}@127.0.0.1:{self.port}/0"

    def client(self, name: str) -> redis.Redis:
        return redis.Redis.from_url(self.url(name))

    def refused(self) -> list[str]:
        """What was refused to whom, by its own log."""
        admin = redis.Redis(port=self.port, username="admin", password="admin")
        with admin:
            return [f"{one['username']}: {one['object']}" for one in admin.acl_log()]


@pytest.fixture(scope="module", params=["valkey", "redis"])
def broker(request: pytest.FixtureRequest) -> Iterator[Broker]:
    """One that listens as for other machines, with an administrator beside the arena's users.

    The newest Valkey, and the Redis of the system, which may be as old as 7.0.
    """
    program = _program() if request.param == "valkey" else shutil.which("redis-server")
    need(program, "redis-server is not installed")
    users = users_for(["a", "a.b"])
    with short_folder() as folder:
        (folder / "users.acl").write_text(file_of(users) + "user admin on >admin ~* &* +@all\n")
        port = free_port()
        options = {"port": str(port), "aclfile": "users.acl", "save": "", "bind": "127.0.0.1"}
        words = [word for key, value in options.items() for word in (f"--{key}", value)]
        server = subprocess.Popen([str(program), *words], cwd=folder, stdout=subprocess.DEVNULL)
        try:
            found = Broker(port, {user.name: user for user in users})

            def answers() -> bool:
                try:
                    with found.client("arena") as client:
                        return bool(client.ping())
                except redis.ConnectionError:
                    return False

            until(answers, "the broker's start")
            yield found
        finally:
            server.kill()
            server.wait()


ALLOWED = [
    ("BRPOP", "matches", "0.01"),
    ("LPUSH", "results", "x"),
    ("HSET", "signs", "field", "x"),
    ("PUBLISH", "live.7", "x"),
    ("PUBLISH", "live.7.log", "x"),
]
FORBIDDEN = [
    ("LPUSH", "matches", "x"),
    ("RPUSH", "matches", "x"),
    ("LRANGE", "matches", "0", "-1"),
    ("DEL", "matches"),
    ("BRPOP", "results", "0.01"),
    ("LRANGE", "results", "0", "-1"),
    ("DEL", "results"),
    ("HGETALL", "signs"),
    ("HGET", "signs", "field"),
    ("HKEYS", "signs"),
    ("HEXISTS", "signs", "field"),
    ("HDEL", "signs", "field"),
    ("DEL", "signs"),
    ("RENAME", "signs", "results"),
    ("HSET", "signs.taken", "field", "x"),
    ("HSET", "results", "field", "x"),
    ("LPUSH", "signs", "x"),
    ("BRPOP", "matches", "results", "0.01"),
    ("SADD", "_kombu.binding.matches", "x"),
    ("HGET", "unacked.results", "k"),
    ("HSET", "unacked", "k", "v"),
    ("SET", "LIMITS:arena", "0"),
    ("EVAL", "return redis.call('LRANGE', KEYS[1], 0, -1)", "1", "results"),
    ("EVAL", "return redis.call('LRANGE', 'results', 0, -1)", "0"),
    ("KEYS", "*"),
    ("SCAN", "0"),
    ("FLUSHALL",),
    ("CONFIG", "GET", "*"),
    ("ACL", "LIST"),
    ("CLIENT", "LIST"),
    ("MONITOR",),
    ("PUBLISH", "x", "y"),
    ("SUBSCRIBE", "live.7"),
    ("SUBSCRIBE", "live.7.log"),
    ("PSUBSCRIBE", "live.*"),
    ("PSUBSCRIBE", "*"),
    ("PUBSUB", "CHANNELS"),
    ("SCRIPT", "FLUSH"),
]


@pytest.mark.parametrize("command", ALLOWED, ids=" ".join)
def test_a_worker_may(broker: Broker, command: tuple[str, ...]) -> None:
    """Take a job, and report."""
    with broker.client("worker-a") as client:
        client.execute_command(*command)


@pytest.mark.parametrize("command", FORBIDDEN, ids=" ".join)
def test_a_worker_may_not(broker: Broker, command: tuple[str, ...]) -> None:
    """See or change what is others', or anything of the broker itself."""
    with broker.client("worker-a") as client, pytest.raises(redis.RedisError) as caught:
        client.execute_command(*command)
    # Redis has other words where a script is refused.
    assert re.search("permission|can't run this command", str(caught.value).lower())


def test_nobody_comes_without_a_login(broker: Broker) -> None:
    """Nor with a wrong password."""
    for login in ({}, {"username": "worker-a", "password": "x"}):
        # A refused login is tried again by default, for seconds.
        client = redis.Redis(port=broker.port, retry=Retry(NoBackoff(), 0), **login)
        with client, pytest.raises(redis.AuthenticationError):
            client.ping()


@pytest.mark.parametrize("names", [["a b"], ["~*"], [""], ["a", "a"], ["a\nuser b on nopass"]])
def test_a_name_that_is_none_is_refused(names: list[str]) -> None:
    """It becomes a part of a rule."""
    with pytest.raises(BrokerUserError):
        users_for(names)


def test_the_arena_has_the_file_read_again(broker: Broker) -> None:
    """There is nobody else who could; and that is all of an administrator's that it may, but to
    ask how much room something takes."""
    with broker.client("arena") as client:
        assert client.acl_load()
    # Which may end the connections that there were.
    with broker.client("arena") as client:
        assert client.memory_usage("nothing", samples=0) is None
        for command in ("ACL LIST", "ACL SETUSER x on", "CONFIG GET *"):
            with pytest.raises(redis.exceptions.NoPermissionError):
                client.execute_command(*command.split())


def test_a_refused_login_is_no_broker_that_is_away(broker: Broker) -> None:
    """So its operator does not look for it in the network."""
    refused = "the broker refuses the login of ARENA_BROKER"
    for address, words in (
        (broker.url("arena"), ""),
        (broker.url("worker-a"), refused),
        (broker.url("arena").replace("arena:", "arena:not"), refused),
        ("redis://127.0.0.1:1/0", "the broker does not answer"),
    ):
        found = queues.look(address)
        assert (found.problem, found.waiting is None) == (words, bool(words))


def test_the_command_writes_what_the_broker_reads(tmp_path: Path) -> None:
    """Digests in the file, which is its owner's alone; the passwords are told once."""
    file = tmp_path / "users.acl"
    done = arena("acl", str(file), "box1")
    logins = dict(line.split() for line in done.stdout.splitlines())
    assert list(logins) == ["arena", "worker-box1"]
    for password in logins.values():
        assert hashlib.sha256(password.encode()).hexdigest() in file.read_text()
        assert password not in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600
    first = file.read_text()
    added = arena("acl", str(file), "box2", "box3")
    assert [line.split()[0] for line in added.stdout.splitlines()] == ["worker-box2", "worker-box3"]
    assert file.read_text().startswith(first)
    file.write_text(file.read_text().rstrip())  # as some editors leave it
    arena("acl", str(file), "box4")
    assert users_in(file.read_text()) == {
        "default",
        *logins,
        *(f"worker-box{n}" for n in (2, 3, 4)),
    }
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(line for line in lines if not line.startswith("user arena ")))
    again = arena("acl", str(file))  # another password for the arena alone
    assert [line.split()[0] for line in again.stdout.splitlines()] == ["arena"]


@pytest.mark.parametrize(
    ("there", "workers", "words"),
    [
        ("", ["a b"], "no worker's name"),
        ("", ["a", "a"], "a name of its own"),
        ("user arena on\nuser worker-a on\n", ["b", "a"], "worker-a is in it already"),
        ("user arena on\n", [], "is there already: name the workers"),
        ("port 6379\n", ["a"], "no file of a broker's users"),
        ("\n\0", ["a"], "no file of a broker's users"),
    ],
)
def test_the_command_leaves_a_file_as_it_is(
    tmp_path: Path, there: str, workers: list[str], words: str
) -> None:
    """Where it can't write or add what it was asked for, and says why in a line."""
    file = tmp_path / "users.acl"
    if there:
        file.write_text(there)
    done = arena("acl", str(file), *workers)
    assert (done.returncode, words in done.stderr, done.stderr.count("\n")) == (2, True, 1)
    assert (file.read_text() if file.exists() else "") == there


@pytest.mark.long
def test_a_worker_by_another_name_says_so(broker: Broker) -> None:
    """Or whoever ends a login would stop another worker than its name says."""
    refused = broker.refused()
    own = {"ARENA_BROKER": broker.url("worker-a"), "ARENA_WORKER_NAME": "host7"}
    done = arena("run", "worker", ARENA_MINIMUM_ISOLATION="none", **own)
    assert done.returncode == 3
    words = "it is called host7, and its login worker-a is of the worker a: set ARENA_WORKER_NAME=a"
    assert words in done.stderr.splitlines()[-1]
    assert broker.refused() == refused


@pytest.mark.long
def test_a_worker_elsewhere_needs_no_more_than_its_login(
    broker: Broker, database: Database
) -> None:
    """It fetches bundles by address, plays, and reports; the broker refused it nothing."""
    folder = Path(tempfile.mkdtemp(prefix="arena-worker-"))
    folder.chmod(0o711)
    port = free_port()
    bundle = bundles.pack(SAMPLE)
    settings = Settings(data=folder, database=database.url, public_url=f"http://127.0.0.1:{port}")
    bundles.store(settings.bundles, bundle)
    app = create_app(settings)
    server = make_server("127.0.0.1", port, app, threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    own = {
        "ARENA_BROKER": broker.url("worker-a"),
        "ARENA_WORKER_NAME": "a",
        "ARENA_WORKERS": "1",
        "ARENA_DATA": str(folder / "nothing"),
        "ARENA_BOX_FOLDER": str(folder / "box_folder"),
        "ARENA_MINIMUM_ISOLATION": "reduced",
        "ARENA_LOG": "json",
    }
    log = (folder / "log").open("w+")
    worker = subprocess.Popen(
        [*COMMAND, "run", "worker"], env=environment(**own), stdout=log, stderr=log, cwd=folder
    )
    try:
        with database.begin() as session:
            where = bundle_location(session, settings, bundle.digest, datetime.now(UTC))
        files = jobs.BotFiles(bundle.digest, where)
        spec = MatchSpec(
            GAMES["clobber"].variant(size="4x4"), ("one", "two"), TimeControl(move_ms=5000), seed=3
        )
        grant = jobs.Grant(memory_bytes=2**28, threads=16, log_bytes=1000)
        job = jobs.Job(jobs.Lease("match", 7, 1, "ticket"), spec, (files, files), grant, 30.0)
        unknown = replace(job, lease=jobs.Lease("match", 8, 1, "ticket")).to_json()
        unknown["format"] = jobs.TELLING_FORMAT + 1
        sender = Celery("arena")
        configure(sender, replace(settings, broker=broker.url("arena")))
        CeleryQueue(sender, settings).send([[job]])
        sender.send_task(jobs.PLAY_MATCH, (unknown,), queue=jobs.MATCHES_QUEUE)
        said: dict[str, dict] = {}
        with broker.client("arena") as client:

            def reported() -> bool:
                assert worker.poll() is None
                while message := client.rpop("results"):
                    if message == b"x":
                        continue
                    whole = json.loads(message)
                    (data,), *_ = json.loads(b64decode(whole["body"]))
                    said.setdefault(whole["headers"]["task"], data)
                return {jobs.RECORD_MATCH, jobs.RECORD_VOID, jobs.WORKER_ALIVE} <= said.keys()

            until(reported, "what a worker says of two jobs")
        report = reporting.MatchReport.from_json(said[jobs.RECORD_MATCH])
        assert (report.lease, report.worker) == (job.lease, "a")
        for record in report.games:
            replay(record)
        assert said[jobs.WORKER_ALIVE]["format"] == jobs.FORMAT
        assert said[jobs.RECORD_VOID]["lease"]["job"] == 8
        assert said[jobs.RECORD_VOID]["failed"] is False
        sender.close()
    finally:
        worker.terminate()
        worker.wait(60)
        server.shutdown()
        server.server_close()
        app.extensions["arena.database"].close()
        log.seek(0)
        text = log.read()
        log.close()
        print(text, broker.refused())
        shutil.rmtree(folder)
    lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    about_it = [line["message"] for line in lines if line.get("job") == "match 7"]
    assert about_it == ["match 7 begins", "match 7 is done"], text
    assert lines[0]["message"].startswith("bots run in boxes of level "), text
    password = broker.users["worker-a"].password
    assert password not in text
    assert "token=" not in text
