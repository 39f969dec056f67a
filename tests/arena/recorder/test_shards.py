"""Several recorders on a database: each has shards of its own, and takes over from who is gone."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime

import pytest
import redis
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.ground.config import Settings
from arena.ground.db import LARGEST_ID, Database
from arena.lists.settled import settled
from arena.models import JobStatus, Mark, Match, PlayedGame
from arena.recorder import claim
from arena.recorder.claim import ClaimError, Claims, share_of
from arena.recorder.completion import take_places
from arena.recorder.process import Recorder
from arena.recorder.settling import Settling, begin, begin_to_store
from arena.schedule.matchmaking import new_matches
from engine import jobs
from engine.game import Termination
from engine.messages import pack, unpack
from tests.arena.issuing import issued
from tests.arena.recorder.conftest import played
from tests.arena.simulator import CALM, Simulation, give_sign


@pytest.mark.parametrize(
    ("recorders", "shards", "parts"),
    [
        (1, 1, [1]),
        (1, 4, [4]),
        (2, 4, [2, 2]),
        (3, 4, [2, 1, 1]),
        (4, 4, [1, 1, 1, 1]),
        (5, 4, [1, 1, 1, 1, 0]),
        (3, 1, [1, 0, 0]),
    ],
)
def test_all_shards_are_shared_out(recorders: int, shards: int, parts: list[int]) -> None:
    """Evenly, and none twice."""
    assert [share_of(place, recorders, shards) for place in range(recorders)] == parts


class Hall:
    """Recorders on one database, each of which looks whenever one of them waits."""

    def __init__(self, url: str, shards: int) -> None:
        self.url, self.shards, self.seconds = url, shards, claim.NEVER
        self.there: dict[str, tuple[Database, Claims]] = {}
        self.awake: list[str] = []

    def come(self, name: str) -> None:
        """One connects, and waits until it has something."""
        database = Database(self.url)
        claims = Claims(
            database,
            self.shards,
            take_over_seconds=self.seconds,
            patience=20,
            meanwhile=lambda: self.look(but=name),
        )
        self.there[name] = database, claims
        self.awake.append(name)
        with database.begin() as session:
            session.connection()

    def look(self, but: str = "") -> None:
        """A tick of all, each of which may go by what another has just given up."""
        for name in 2 * [one for one in self.awake if one != but]:
            database, claims = self.there[name]
            with database.begin() as session:
                claims.look(session.connection().connection.driver_connection)

    def go(self, name: str) -> None:
        """One ends."""
        self.awake = [one for one in self.awake if one != name]
        self.there.pop(name)[0].close()

    @property
    def parts(self) -> list[list[int]]:
        """The shards of each, in the order in which they came."""
        return [sorted(claims.held) for _, claims in self.there.values()]


@pytest.fixture
def hall(database: Database, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hall]:
    """A hall for recorders of four shards."""
    monkeypatch.setattr(claim, "ASK_SECONDS", 0.01)
    with ExitStack() as stack:
        made = Hall(database.url, 4)
        stack.callback(lambda: [made.go(name) for name in list(made.there)])
        yield made


POSTGRESQL = pytest.mark.parametrize("database", ["postgresql"], indirect=True)


@POSTGRESQL
def test_recorders_come_and_go(hall: Hall) -> None:
    """Each time all shards are somebody's, and none moves that need not."""
    hall.come("a")
    assert hall.parts == [[0, 1, 2, 3]]
    hall.come("b")
    hall.look()
    assert hall.parts == [[0, 1], [2, 3]]
    hall.come("c")
    hall.look()
    assert hall.parts == [[0, 1], [2], [3]]
    hall.come("d")
    hall.look()
    assert hall.parts == [[0], [2], [3], [1]]
    hall.go("a")
    hall.look()
    assert hall.parts == [[0, 2], [3], [1]]
    hall.go("d")
    hall.go("c")
    hall.look()
    assert hall.parts == [[0, 1, 2, 3]]


@POSTGRESQL
def test_one_too_many_stands_by(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes over when one of the others ends."""
    hall.shards = 1
    hall.come("a")
    waits = iter(range(5))

    def look(but: str = "") -> None:
        if next(waits, None) is None and "a" in hall.there:
            hall.go("a")

    monkeypatch.setattr(hall, "look", look)
    hall.come("b")
    assert hall.parts == [[0]]


@POSTGRESQL
def test_who_hangs_loses_all_and_has_written_nothing(hall: Hall) -> None:
    """Whatever it was about: it finds its connection gone, and claims anew like any other."""
    hall.seconds = 0.5
    hall.come("a")
    hall.come("b")
    hall.look()
    database, _ = hall.there["a"]

    def hang() -> None:
        with database.begin() as session:
            session.add(Mark(key="told", value="by a"))
            session.flush()
            hall.awake.remove("a")
            time.sleep(0.7)
            hall.look()
            hall.look()
            assert hall.parts[1] == [0, 1, 2, 3]
            session.add(Mark(key="told too", value="by a"))

    with pytest.raises(sa.exc.OperationalError):
        hang()
    other, _ = hall.there["b"]
    with other.begin() as session:
        assert not session.scalars(sa.select(Mark).where(Mark.key.startswith("told"))).all()
    with database.begin() as session:
        session.connection()
    hall.awake.append("a")
    hall.look()
    assert hall.parts == [[2, 3], [0, 1]]  # it has come back, behind the other


@POSTGRESQL
def test_who_waits_for_the_server_does_not_hang(hall: Hall) -> None:
    """A statement may take long."""
    hall.seconds = 0.5
    hall.come("a")
    hall.come("b")
    hall.look()
    hall.awake.remove("a")

    def work() -> None:
        with hall.there["a"][0].begin() as session:
            session.execute(sa.text("SELECT pg_sleep(1.5)"))

    with ThreadPoolExecutor() as pool:
        busy = pool.submit(work)
        time.sleep(1)
        hall.look()
        busy.result()
    assert hall.parts == [[0, 1], [2, 3]]


@POSTGRESQL
def test_all_go_by_one_number_of_shards(
    hall: Hall, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another is refused while somebody is at work, and holds when nobody is."""
    monkeypatch.setattr(claim, "AGREE_SECONDS", 0.1)
    hall.come("a")
    hall.shards = 3
    with pytest.raises(ClaimError, match="into 4 shards, and this one was told 3"):
        hall.come("b")
    hall.go("b")
    hall.go("a")
    hall.come("c")
    assert hall.parts == [[0, 1, 2]]
    with database.read() as session:
        assert session.get_one(Mark, "shards").value == "3"


@POSTGRESQL
def test_one_that_waited_meanwhile_is_refused(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was told a number that was theirs when it came, and is not any more."""
    hall.shards = 1
    hall.come("a")
    turns = iter(["a", "b"])

    def look(but: str = "") -> None:
        if next(turns, None) == "a":
            hall.go("a")
            hall.shards = 2
            hall.come("c")
            hall.go("c")

    monkeypatch.setattr(hall, "look", look)
    with pytest.raises(ClaimError, match="into 2 shards, and this one was told 1"):
        hall.come("b")


@POSTGRESQL
def test_what_is_of_another_is_passed_on(
    database: Database, broker: str, queue: redis.Redis
) -> None:
    """Once it is where it belongs it is off this queue; what is of both is parted, and what is of
    no shard any more is told from the first."""
    Simulation(database, 0, CALM).furnish([("clobber", {"size": "4x3"})] * 2, bots=2)
    settings = Settings(database=database.url, broker=broker, shards=2)
    now = datetime.now(UTC)
    with database.begin() as session:
        give_sign(session, "worker", now, slots=0)
        made = [next(new_matches(session, now, only=f"ladder-{number}")) for number in range(2)]
        told = [played(issued(session, match, settings, now)) for match in made]
    elsewhere = Database(database.url)
    Claims(elsewhere, 2)
    with elsewhere.begin() as session:
        session.execute(sa.text("SELECT pg_advisory_unlock(:key)"), {"key": claim.KEY})
    first = Recorder(settings)
    try:
        first.take_over()
        assert first.writer.shards.held == {0}
        queue.lpush("results", pack(jobs.RECORD_MATCH, *told))
        queue.lpush("results.7", pack(jobs.WORKER_ALIVE, {"of": "a shard that was"}))
        first.tasks.turn()
        assert queue.llen("results.1") == 1
        assert unpack(queue.lindex("results.1", 0)).args == told[:1]
        first.tasks.turn()
        assert queue.llen("results") == 0
        with database.read() as session:
            fixed = sa.select(Match.competition_id).where(Match.status == JobStatus.FIXED)
            assert session.scalars(fixed).all() == [2]
        first.tasks.gather_strays()
        assert queue.llen("results") == 1
        assert queue.llen("results.7") == 0
        assert queue.llen("results.1") == 1
    finally:
        first.close()
        elsewhere.close()


@POSTGRESQL
def test_a_game_is_settled_when_none_before_it_can_come(database: Database) -> None:
    """Who is still storing may have lower numbers than others show; it is waited for, by nobody
    else, and one that died is not."""
    Simulation(database, 0, CALM).furnish([("clobber", {"size": "4x3"})], bots=2)
    settling = Settling()

    def look() -> int:
        with database.begin() as session:
            settling.look(session)
        with database.read() as session:
            return settled(session)

    with database.begin() as session:
        begin(session, are_several=True)
        match = next(new_matches(session, datetime.now(UTC)))
        session.flush()
        its = {"match_id": match.id, "competition_id": match.competition_id}
    with database.read() as session:
        assert settled(session) == 0
    assert look() == 0
    slow = Session(database.engine)
    begin_to_store(slow)
    store_game(slow, 1, its)
    with database.begin() as session:
        begin_to_store(session)
        store_game(session, 2, its)
    assert [look() for _ in range(3)] == [0, 0, 0]
    slow.rollback()
    slow.close()
    assert look() == 2
    with database.begin() as session:
        begin(session, are_several=False)
    with database.read() as session:
        assert settled(session) == LARGEST_ID


def store_game(session: Session, number: int, its: dict[str, int]) -> None:
    """A game of a match, with a number."""
    session.add(
        PlayedGame(
            id=number,
            number=number,
            termination=Termination.NORMAL,
            plies=1,
            finished=datetime.now(UTC),
            digest="0" * 64,
            record=b"",
            **its,
        )
    )
    session.flush()


@POSTGRESQL
def test_numbers_grow_whoever_takes_them(database: Database) -> None:
    """Those of several come from a sequence, which knows of what others wrote without it."""
    Simulation(database, 0, CALM).furnish([("clobber", {"size": "4x3"})], bots=2)
    with database.begin() as session:
        match = next(new_matches(session, datetime.now(UTC)))
        match.end_lease(JobStatus.FIXED)
        match.seq = 7
        session.flush()
        assert list(take_places(session, 2, alone=True)) == [8, 9]
        assert list(take_places(session, 2, alone=False)) == [8, 9]
        with database.begin() as other:
            assert list(take_places(other, 1, alone=False)) == [10]
        assert list(take_places(session, 1, alone=False)) == [11]
