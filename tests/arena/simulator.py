"""A whole arena without processes: the real scheduling and recording, and fake workers.

Time is a number that jumps from event to event. Workers take jobs from the queue, play them
with the real engine between players that draw their moves by lot, and send the messages that a
real worker sends. A seeded villain lets workers die at any point, loses, doubles, delays and
reorders messages in both directions, kills the recorder in the middle of a transaction, uploads
new versions, and lets matches fail. Then it stops, and the arena must come to rest.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import sqlalchemy as sa

from arena import recording, scheduling
from arena.config import Settings
from arena.db import Database
from arena.models import (
    Base,
    CompetitionState,
    Entrant,
    EntrantState,
    JobStatus,
    Ladder,
    Match,
    PlayedGame,
    User,
)
from arena.rebuild import rebuild
from arena.submissions import enter, submit
from engine import jobs
from engine.games import GAMES
from engine.match import play_match
from engine.player import Choice, GameEnd, GameSetup, Turn

START = datetime(2026, 1, 1, tzinfo=UTC)


class LotPlayer:
    """A player in this process that draws its moves by lot."""

    isolation = "none"
    closed = False

    def new_game(self, setup: GameSetup) -> None:
        self._random = Random(setup.seed)

    def choose(self, turn: Turn) -> Choice:
        moves = turn.state.legal_moves()
        return Choice(moves[self._random.randrange(len(moves))])

    def end_game(self, end: GameEnd) -> None:
        pass

    def take_log(self) -> str:
        return ""

    def close(self, *, kill: bool = False) -> None:
        pass


class KilledError(Exception):
    """The recorder was killed within a transaction."""


@dataclass(frozen=True, slots=True)
class Villainy:
    """How likely each mishap is, each time it could happen."""

    worker_dies: float = 0.1
    message_lost: float = 0.08
    message_doubled: float = 0.1
    recorder_killed: float = 0.05
    job_void: float = 0.05
    report_forged: float = 0.03
    slow: float = 0.15


CALM = Villainy(0, 0, 0, 0, 0, 0, 0)


class Simulation:
    """One schedule of events from one seed."""

    player: type[LotPlayer] = LotPlayer
    """What every bot is."""

    def __init__(self, database: Database, seed: int, villainy: Villainy) -> None:
        self.database = database
        self.random = Random(seed)
        self.villainy = villainy
        self.settings = Settings()
        self.now = START
        self.events: list[tuple[datetime, int, Callable[[], None]]] = []
        self.counter = 0
        self.outcomes: list[str] = []

    # The clock.

    def later(self, seconds: float, event: Callable[[], None]) -> None:
        self.counter += 1
        heapq.heappush(self.events, (self.now + timedelta(seconds=seconds), self.counter, event))

    def run(self, seconds: float) -> None:
        """Handles every event of the next seconds, in order."""
        end = self.now + timedelta(seconds=seconds)
        while self.events and self.events[0][0] <= end:
            self.now, _, event = heapq.heappop(self.events)
            event()
        self.now = end

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    # The arena.

    def furnish(self, variants: Iterable[tuple[str, dict[str, str]]], bots: int) -> None:
        """Ladders, and bots that were checked already."""
        with self.database.begin() as session:
            owner = User(name="somebody", created=self.now)
            session.add(owner)
            for number, (game, options) in enumerate(variants):
                variant = GAMES[game].variant(**options)
                ladder = Ladder(
                    name=f"ladder-{number}",
                    title=str(variant),
                    game=game,
                    options=dict(variant.options),
                    time_ms=None,
                    inc_ms=0,
                    move_ms=100,
                    charge="cpu",
                    memory_bytes=2**28,
                    draw_probability=0.1,
                    state=CompetitionState.OPEN,
                    seed=number,
                    created=self.now,
                )
                session.add(ladder)
                session.flush()
                for bot in range(bots):
                    version = submit(
                        session,
                        owner,
                        f"bot-{bot}",
                        digest="0" * 64,
                        size=1,
                        language="Python",
                        ladder=ladder,
                        now=self.now,
                    )
                    enter(session, ladder, version, self.now)

    def tick(self) -> None:
        with self.database.begin() as session:
            issued = scheduling.schedule(session, self.settings, self.now)
        self.send_jobs(issued)
        self.later(self.settings.tick_seconds, self.tick)

    def tell(self, handle: Callable[[sa.orm.Session], Any]) -> None:
        """One message to the recorder: it may come late, twice, never, or kill it first."""
        if self.chance(self.villainy.message_lost):
            return
        for _ in range(1 + self.chance(self.villainy.message_doubled)):
            delay = self.random.expovariate(1 / 40) if self.chance(self.villainy.slow) else 0.1
            self.later(self.random.random() * delay, lambda: self.handle(handle))

    def handle(self, handle: Callable[[sa.orm.Session], Any]) -> None:
        try:
            with self.database.begin() as session:
                outcome = handle(session)
                if self.chance(self.villainy.recorder_killed):
                    raise KilledError
        except KilledError:
            # It was not acknowledged, so the broker brings it back.
            self.later(5, lambda: self.handle(handle))
            return
        if outcome is not None:
            self.outcomes.append(str(outcome))
        with self.database.begin() as session:
            issued = list(scheduling.fill(session, self.settings, self.now))
        self.send_jobs(issued)

    # The workers.

    def send_jobs(self, issued: Iterable[jobs.Job]) -> None:
        for job in issued:
            if self.chance(self.villainy.message_lost):
                continue
            for _ in range(1 + self.chance(self.villainy.message_doubled)):
                data = json.loads(json.dumps(job.to_json()))
                self.later(self.random.random() * 3, lambda data=data: self.work(data))

    def alive(self) -> None:
        """Two workers' signs of life."""
        for name in ("one", "two"):
            sign = {"worker": name, "slots": 2, "isolation": "good", "languages": ["Python"]}
            self.tell(lambda session, sign=sign: recording.record_alive(session, sign, self.now))
        self.later(10, self.alive)

    def work(self, data: dict[str, Any]) -> None:
        """A worker takes a job; at any point it may die and say no more."""
        job = jobs.Job.from_json(data)
        lease, worker = job.lease, self.random.choice(("one", "two"))
        if self.chance(self.villainy.worker_dies):
            return
        self.tell(lambda s: scheduling.take_up(s, lease, worker, self.settings, self.now) or None)
        if self.chance(self.villainy.worker_dies):
            return
        length = self.random.expovariate(1 / 60) if self.chance(self.villainy.slow) else 2.0
        for second in range(10, int(length), 10):
            self.later(second, lambda: self.tell(self.progress(lease)))
        self.later(length, lambda: self.finish(job, worker))

    def progress(self, lease: jobs.Lease) -> Callable[[sa.orm.Session], None]:
        said = {"game": 0, "moves": []}
        return lambda session: recording.record_progress(
            session, lease, said, self.settings, self.now
        )

    def finish(self, job: jobs.Job, worker: str) -> None:
        lease = job.lease
        if self.chance(self.villainy.worker_dies):
            return
        if self.chance(self.villainy.job_void):
            self.tell(lambda session: recording.record_void(session, lease, "the host broke"))
            return
        if lease.kind == "check":
            report = jobs.CheckReport(lease, worker, (jobs.Finding(True, "played"),), "")
            self.tell(lambda session: recording.record_check(session, report, self.now))
            return
        result = play_match(job.spec, lambda _: self.player())
        data = jobs.MatchReport(lease, worker, result.games, result.logs).to_json()
        if self.chance(self.villainy.report_forged):
            data["games"][0]["scores"].reverse()
            data["games"][0]["ranks"].reverse()
        if self.chance(self.villainy.report_forged):
            data["lease"]["ticket"] = "guessed"
        played = jobs.MatchReport.from_json(json.loads(json.dumps(data)))
        self.tell(lambda session: recording.record_match(session, played, self.now))

    def upload(self) -> None:
        """A new version of some bot, with a check of its own."""
        with self.database.begin() as session:
            ladder = self.random.choice(list(session.scalars(sa.select(Ladder))))
            entrant = self.random.choice(
                list(session.scalars(sa.select(Entrant).where(Entrant.competition_id == ladder.id)))
            )
            bot = entrant.version.bot
            submit(
                session,
                bot.owner,
                bot.name,
                digest=f"{self.random.getrandbits(256):064x}",
                size=1,
                language="Python",
                ladder=ladder,
                now=self.now,
            )

    # The whole.

    def play(self, seconds: float, uploads: int = 0) -> None:
        """Runs with the villain for so long, then without until the arena rests."""
        self.alive()
        self.tick()
        for _ in range(uploads):
            self.later(self.random.random() * seconds, self.upload)
        self.run(seconds)
        self.villainy = CALM
        with self.database.begin() as session:
            session.execute(sa.update(Ladder).values(state=CompetitionState.PAUSED))
        for _ in range(40):
            self.run(60)
            if not self.unfinished():
                return
        raise AssertionError("the arena did not come to rest")

    def unfinished(self) -> int:
        with self.database.read() as session:
            return session.scalar(
                sa.select(sa.func.count())
                .select_from(Match)
                .where(Match.status.in_([JobStatus.OPEN, JobStatus.ISSUED]))
            )

    def prove(self) -> dict[str, int]:
        """Asserts that every match counts exactly once or is set aside; returns their numbers."""
        with self.database.read() as session:
            matches = list(session.scalars(sa.select(Match)))
            fixed = [match for match in matches if match.status is JobStatus.FIXED]
            aside = [match for match in matches if match.status is JobStatus.SET_ASIDE]
            assert len(fixed) + len(aside) == len(matches)
            assert all(m.lease_ends is None and m.ticket is None for m in matches)
            assert sorted(m.seq for m in fixed) == list(range(1, len(fixed) + 1))
            for match in fixed:
                spec = scheduling.spec_of(match)
                assert [game.number for game in match.games] == list(range(spec.games))
            assert not session.scalar(
                sa.select(sa.func.count())
                .select_from(PlayedGame)
                .join(Match)
                .where(Match.status != JobStatus.FIXED)
            )
            for ladder in session.scalars(sa.select(Ladder)):
                rebuilt = rebuild(session, ladder, write=False)
                assert rebuilt.equal, rebuilt.differences[:3]
                games = sum(len(m.games) for m in fixed if m.competition_id == ladder.id)
                assert rebuilt.games == ladder.games == games
                self._prove_counters(session, ladder)
            return {"fixed": len(fixed), "set aside": len(aside)}

    @staticmethod
    def _prove_counters(session: sa.orm.Session, ladder: Ladder) -> None:
        entrants = session.scalars(sa.select(Entrant).where(Entrant.competition_id == ladder.id))
        active: dict[int, int] = {}
        for entrant in entrants:
            bot = entrant.version.bot_id
            active[bot] = active.get(bot, 0) + (entrant.state is EntrantState.ACTIVE)
        assert all(count <= 1 for count in active.values())


def empty(database: Database) -> None:
    """Deletes every row, so that one database serves many simulations."""
    with database.begin() as session:
        for table in reversed(Base.metadata.sorted_tables):
            session.execute(table.delete())
