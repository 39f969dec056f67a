"""Bots at home come in at any server of pages, which hands them over and is free again.

The servers are real ones, and so is the client; behind them is the home worker's door.
"""

from __future__ import annotations

import secrets
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import pytest
import sqlalchemy as sa

from arena.audit import ARENA
from arena.bots.home_deeds import ConnectBot
from arena.cli import home_link
from arena.cli.client import RemoteArena
from arena.cli.home_link import HomeLink, OverError
from arena.deeds import By, perform
from arena.ground.db import Database
from arena.models import SCOPES, HomeRule, Ladder, Scope, User
from arena.people.accounts import add_token
from engine.links import Message
from tests.arena.running import environment, free_port, until
from tests.arena.simulator import CALM, Simulation
from tests.arena.web.signing_in import now, person
from tests.requirements import need
from tests.workers.home.callers import HomeWorker
from workers.home import doors

SERVERS = ("waitress", "gunicorn sync", "gunicorn gthread")


def command(server: str, port: int) -> Sequence[str]:
    """What serves the pages."""
    if server == "waitress":
        return [sys.executable, "-P", "-c", "from arena.cli.serve import main; main()"]
    kind = server.split()[1]
    options = ["--worker-class", kind, "--workers", "2", "--threads", "2", "--log-level", "debug"]
    bound = ["--bind", f"127.0.0.1:{port}", "arena.cli.serve:application()"]
    return [sys.executable, "-P", "-m", "gunicorn", *options, *bound]


@dataclass
class Site:
    """An arena's pages with a home worker's door behind them."""

    address: str
    worker: HomeWorker
    log: Path
    tokens: dict[str, str] = field(default_factory=dict)
    version: int = 0


@pytest.fixture(scope="module", params=SERVERS)
def site(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    if request.param != "waitress":
        need(find_spec("gunicorn") is not None, "gunicorn is not installed (extra test)")
    folder, port = tmp_path_factory.mktemp("site"), free_port()
    database = Database(f"sqlite:///{folder}/arena.db")
    database.upgrade()
    Simulation(database, 3, CALM).furnish([("clobber", {"size": "4x3"})], bots=2)
    users = {name: person(database, name) for name in ("ada", "eve")}
    with ExitStack() as stack, (folder / "log").open("w") as log:
        worker = HomeWorker(folder / "home.sock")
        stack.callback(worker.close)
        made = Site(f"http://127.0.0.1:{port}", worker, folder / "log")
        with database.begin() as session:
            session.scalars(sa.select(Ladder)).one().home = HomeRule.BESIDE
            for name, scope in (
                ("ada", Scope.CONNECT),
                ("eve", Scope.CONNECT),
                ("ada", Scope.READ),
            ):
                user = session.get_one(User, users[name].id)
                token = add_token(session, ARENA, user, f"{scope}", [Scope.READ, scope], now())
                made.tokens[f"{name} {scope}"] = token
            by = By(ARENA, SCOPES[users["ada"].role], now())
            by = By(type(by.actor)(users["ada"].id, "ada", ""), by.scopes, by.now)
            entry = perform(session, ConnectBot("giant", "ladder-0"), by).answer
            made.version = entry.version
        variables = {"ARENA_DATA": str(folder), "ARENA_DATABASE": database.url}
        process = subprocess.Popen(
            command(request.param, port),
            env=environment(**variables, ARENA_PORT=str(port)),
            stdout=log,
            stderr=log,
        )
        stack.callback(process.wait)
        stack.callback(process.terminate)
        until(lambda: _answers(made.address), "the pages")
        yield made
    database.close()


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/healthz", timeout=5) as answer:
            return answer.status == 200
    except OSError:
        return False


class Connected:
    """A client's link, in a thread."""

    def __init__(self, site: Site, *, who: str = "ada connect", polls: bool = False) -> None:
        self.heard: list[Message] = []
        self.kinds: list[str] = []
        self.lost: list[str] = []
        self.refused = ""
        server = RemoteArena(site.address, site.tokens.get(who, "none"))
        self.link = HomeLink(
            server,
            site.version,
            client=secrets.token_hex(16),
            heard=self._hear,
            came=self._came,
            lost=lambda words, _: self.lost.append(words),
            polls=polls,
        )
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _hear(self, message: Message) -> None:
        if message["is"] != "beat":
            self.heard.append(message)

    def _came(self, is_new: bool, kind: str) -> None:
        self.kinds.append(kind)
        if is_new:
            self.link.say({"is": "games", "games": 2})

    def _run(self) -> None:
        try:
            self.link.run()
        except OverError as error:
            self.refused = str(error)

    def close(self) -> None:
        self.link.close()
        self.thread.join(60)


@pytest.mark.parametrize(
    "polls", [False, pytest.param(True, marks=pytest.mark.long)], ids=["websocket", "polls"]
)
def test_a_connection_comes_in_and_stays(
    site: Site, polls: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both ways, with what is said in either direction; no thread of the pages is held."""
    # Who ends a link waits for the answer to a poll; that it has ended is known a while later.
    monkeypatch.setattr(doors, "POLL_SECONDS", 1.0)
    monkeypatch.setattr(doors, "GONE_SECONDS", 5.0)
    lobby = site.worker.lobby
    client = Connected(site, polls=polls)
    try:
        until(lambda: lobby.connected() == {site.version: 2}, "the bot at home")
        assert client.kinds == ["long polling" if polls else "websocket"]
        program = lobby.start(site.version)
        until(lambda: client.heard, "what was said to it")
        assert client.heard == [{"is": "open", "program": program.number}]
        client.link.say({"is": "ended", "program": program.number, "how": "exit 3"})
        assert program.wait(60)
        assert program.kill() == "exit 3"
        assert _answers(site.address)
    finally:
        client.close()
    until(lambda: not lobby.connected(), "its end")
    assert client.lost == []
    assert "Traceback" not in site.log.read_text()


def test_many_stay_while_the_pages_answer(site: Site) -> None:
    """More than there are threads: what was handed over costs them nothing."""
    clients = [Connected(site)]
    lobby = site.worker.lobby
    try:
        until(lambda: lobby.connected(), "the bot at home")
        # Each further one is told so by the home worker, through a connection of its own.
        clients += [Connected(site) for _ in range(20)]
        until(lambda: all(one.refused for one in clients[1:]), "the others' refusal")
        assert {one.refused for one in clients[1:]} == {
            "giant v1 is connected already: end the other one first; if that is gone, it is known "
            "within 20 s"
        }
        began = time.monotonic()
        assert _answers(site.address)
        assert time.monotonic() - began < 5.0
        assert lobby.connected() == {site.version: 2}
    finally:
        for one in clients:
            one.close()
    until(lambda: not lobby.connected(), "its end")


@pytest.mark.parametrize("polls", [False, True], ids=["websocket", "polls"])
@pytest.mark.parametrize(
    ("who", "words"),
    [
        ("nobody", "wants a token that it knows|token is not known"),
        ("ada read", "no scope connect"),
        ("eve connect", "The bot giant is not yours"),
    ],
    ids=["nobody's token", "a token without the scope", "another's token"],
)
def test_who_may_not_is_told_so_and_tries_no_more(
    site: Site, who: str, words: str, polls: bool
) -> None:
    client = Connected(site, who=who, polls=polls)
    client.thread.join(60)
    try:
        assert not client.thread.is_alive()
        assert any(part.casefold() in client.refused.casefold() for part in words.split("|"))
        assert site.worker.lobby.connected() == {}
    finally:
        client.close()


def test_while_no_home_worker_is_there_it_is_tried_again(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(home_link, "SHORTEST_PAUSE", 0.05)
    place = site.worker.place
    hidden = place.rename(place.with_name("hidden.sock"))
    client = Connected(site)
    try:
        until(lambda: client.lost, "a refusal")
        assert client.lost[0] == "No home worker takes bots at home just now: try again soon."
        hidden.rename(place)
        until(lambda: site.worker.lobby.connected(), "the bot at home")
    finally:
        client.close()
    until(lambda: not site.worker.lobby.connected(), "its end")
