"""A bot's log while it plays: its owner reads it, as the pages say; nobody else learns of it."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace

import pytest
import sqlalchemy as sa

from arena.audit import ARENA
from arena.live import hall
from arena.live.standings import Standings
from arena.models import Bot, CoOwner, Match, Role, Scope, User
from arena.people.accounts import add_token
from engine.jobs import Job
from engine.live import LiveLog, log_channel_of
from engine.messages import address_of
from engine.player import GameSetup, LogSoFar
from tests.arena.live.house import House, broker_of, house, listeners
from tests.arena.running import PATIENCE, until
from tests.arena.simulator import LotPlayer
from tests.arena.web.signing_in import now, person

READ = frozenset({Scope.READ})
PEOPLE = {
    # Who has which role, and a token for what.
    "ada": (Role.PARTICIPANT, READ),
    "mate": (Role.PARTICIPANT, READ),
    "sender": (Role.PARTICIPANT, {Scope.SUBMIT}),
    "rival": (Role.PARTICIPANT, READ),
    "other": (Role.PARTICIPANT, READ),
    "organiser": (Role.ORGANISER, {Scope.READ, Scope.ORGANISE}),
    "administrator": (Role.ADMINISTRATOR, set(Scope)),
}


class Writer(LotPlayer):
    """It writes down who it is."""

    def new_game(self, setup: GameSetup) -> None:
        super().new_game(setup)
        self._seat = setup.seat

    def log_so_far(self) -> LogSoFar:
        text = f"--- ply {self._seat} ---\nsecret {self._seat}\n"
        return lambda: text


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with house(tmp_path_factory.mktemp("logs"), size="4x3") as made:
        yield made


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workers.live.ASK_SECONDS", 0.05)
    monkeypatch.setattr("workers.live.LOG_SECONDS", 0.05)


@pytest.fixture(scope="module")
def tokens(arena: House) -> dict[str, str]:
    found = {}
    for name, (role, scopes) in PEOPLE.items():
        person(arena.database, name, role)
        with arena.database.begin() as session:
            user = session.scalars(sa.select(User).where(User.name == name)).one()
            found[name] = add_token(session, ARENA, user, "watching", scopes, now())
    return found


def own(arena: House, job: Job, players: dict[int, tuple[str, ...]], *, opened: bool) -> None:
    """Gives a match's bots to these owners and co-owners."""
    with arena.database.begin() as session:
        people = {user.name: user for user in session.scalars(sa.select(User))}
        session.execute(sa.delete(CoOwner))
        for number, (owner, *others) in players.items():
            place = session.get_one(Match, job.lease.job).places[number]
            bot = session.get_one(Bot, place.entrant.version.bot_id)
            bot.owner_id, bot.open_source = people[owner].id, opened
            session.add_all(CoOwner(bot_id=bot.id, user_id=people[name].id) for name in others)


@contextmanager
def playing(arena: House, job: Job) -> Iterator[None]:
    """Plays the match, slowly as long as this lasts."""
    may_end = threading.Event()
    thread = threading.Thread(
        target=arena.play,
        args=(job, lambda *_: may_end.wait(0.5)),  # after each ply the logs are looked into
        kwargs={"player": Writer},
    )
    thread.start()
    try:
        yield
    finally:
        may_end.set()
        thread.join()


def ask(arena: House, job: Job, token: str, asks: str) -> tuple[int, str]:
    """What somebody gets of a match."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    address = f"/matches/{job.lease.job}/stream?once=1{asks}"
    with closing(
        http.client.HTTPConnection("127.0.0.1", arena.port, timeout=PATIENCE)
    ) as connection:
        connection.request("GET", address, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def test_who_is_told(arena: House, tokens: dict[str, str], subtests: pytest.Subtests) -> None:
    """Its owner and co-owners while it plays, even where all may read it afterwards."""
    job = arena.issue()
    own(arena, job, {0: ("ada", "mate", "sender"), 1: ("rival",)}, opened=True)

    def told(who: str, asks: str) -> tuple[int, set[str]]:
        """The status, and whose secrets came of the first game, in which players sit in order."""
        status, body = ask(arena, job, tokens.get(who, ""), asks)
        assert "forged" not in body
        if status != 200:
            assert "secret" not in body
            return status, set()
        events = [data for kind, _, data in json.loads(body) if kind == "log"]
        assert all(one["logs"] for one in events)
        lines = [line for one in events if one["game"] == 0 for line in one["logs"]]
        assert all(line == [line[0], line[0], f"secret {line[0]}\n"] for line in lines)
        assert events or "secret" not in body
        return status, {str(line[0]) for line in lines}

    assert told("other", "") == (200, set())
    until(lambda: listeners(arena, job) == [1, 0], "nobody reads a log")
    assert told("ada", "&log=0") == told("rival", "&log=1") == (200, set())
    with playing(arena, job):
        until(lambda: listeners(arena, job) == [1, 1], "somebody reads a log")
        forged = LiveLog(replace(job.lease, ticket="guessed"), 0, 0, 0, {0: "forged"})
        with broker_of(arena) as client:
            assert client.publish(log_channel_of(job.lease.job), forged.to_json()) == 1
        until(lambda: told("ada", "&log=0") == (200, {"0"}), "its owner is told")
        for who, asks, wanted in (
            ("", "", (200, set())),
            ("ada", "", (200, set())),
            ("mate", "&log=0", (200, {"0"})),
            ("mate", "&log=0&log=0", (200, {"0"})),
            ("rival", "&log=1", (200, {"1"})),
            ("", "&log=0", (302, set())),
            ("ada", "&log=1", (403, set())),
            ("ada", "&log=0&log=1", (403, set())),
            ("sender", "&log=0", (403, set())),
            ("rival", "&log=0", (403, set())),
            ("other", "&log=0", (403, set())),
            ("organiser", "&log=0", (403, set())),
            ("administrator", "&log=0", (403, set())),
            ("ada", "&log=2", (404, set())),
            ("ada", "&log=-1", (404, set())),
            ("ada", "&log=0x", (404, set())),
        ):
            with subtests.test(who=who, asks=asks):
                assert told(who, asks) == wanted
        # Who shares it no longer is refused at the next question.
        own(arena, job, {0: ("ada",), 1: ("rival",)}, opened=True)
        assert told("mate", "&log=0") == (403, set())


async def streams(arena: House, job: Job) -> None:
    """Two streams, of which one has somebody's log: what becomes of them."""
    here = hall.Hall(Standings(arena.database), address_of(arena.broker), most=10)
    ends = []
    for reads in ([], [0]):
        ours, theirs = socket.socketpair()
        theirs.setblocking(False)
        letter = {"match": job.lease.job, "after": "", "once": False, "client": "", "reads": reads}
        letter["language"] = "en"
        await here.let_in(letter, theirs)
        ends.append(await asyncio.open_connection(sock=ours))
    watches, reads_log = ends
    words = LiveLog(job.lease, 0, 0, 0, {0: "secret"})
    with broker_of(arena) as client:
        while not await asyncio.to_thread(
            client.publish, log_channel_of(job.lease.job), words.to_json()
        ):
            await asyncio.sleep(0.02)
        told = await asyncio.wait_for(reads_log[0].read(), 10)  # until it is cut off
        assert told.count(b"event: log") == told.count(b"secret") == 1
        while client.pubsub_numsub(log_channel_of(job.lease.job))[0][1]:
            await asyncio.sleep(0.02)
    for _, writer in ends:
        writer.close()
    await here.close()
    told = await watches[0].read()
    assert told.count(b"still here") > 1
    assert b"event: log" not in told
    assert b"secret" not in told


def test_who_reads_a_log_has_to_ask_again(arena: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the pages say whether they still may; and nobody listens when they are gone."""
    monkeypatch.setattr(hall, "READ_SECONDS", 0.3)
    monkeypatch.setattr(hall, "SIGN_SECONDS", 0.1)
    monkeypatch.setattr(hall, "LINGER_SECONDS", 0.1)
    arena.kill_live()
    try:
        # Not in this thread: where a browser is tried in the same process, it has a loop already.
        with ThreadPoolExecutor(1) as apart:
            told = asyncio.wait_for(streams(arena, arena.issue()), 20)
            apart.submit(asyncio.run, told).result()
    finally:
        arena.start_live()
