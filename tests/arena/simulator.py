"""A whole arena without processes: the real scheduling and recording, and fake workers.

Time is a number that jumps from event to event. Workers take jobs from the queue, play them
with the real engine between players that draw their moves by lot, and send the messages that a
real worker sends. A seeded villain lets workers die at any point, loses, doubles, delays and
reorders messages in both directions, keeps the recorder busy until several wait for it, kills it
in the middle of a transaction, uploads new versions, and lets matches fail. There may be several
recorders, each of some shards: what is said to another than it should be is passed on, and where
one is killed another has its shards from then on. An organiser voids
matches, requeues those set aside, brings back bots that were suspended for their crashes, asks
for unrated matches, changes draw probabilities, freezes ladders and opens them again. Then all
stop, and the arena must come to rest.
"""

from __future__ import annotations

import heapq
import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from random import Random
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import selectinload

from arena.audit import ARENA
from arena.bots.submissions import enter, submit
from arena.competitions.ladder_settings import change
from arena.competitions.rosters import Rosters
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.ground.refusals import Refusal
from arena.keeping.packing import unpack
from arena.models import (
    AuditEntry,
    Base,
    CompetitionState,
    Entrant,
    EntrantState,
    JobStatus,
    Ladder,
    Match,
    Meeting,
    PlayedGame,
    User,
    Worker,
)
from arena.recorder import noting, rebuild, recording
from arena.schedule import allocation, leases, verdicts, workers
from arena.schedule.jobs import spec_of
from arena.schedule.requests import request_matches
from arena.schedule.shards import Shards
from engine import jobs, reporting
from engine.games import GAMES
from engine.match import play_match
from engine.player import Choice, CrashError, GameEnd, GameSetup, LogSoFar, Turn
from tests.arena.doing import do

CHECK_SECONDS = 20
QUICK_SECONDS, USUAL_SECONDS, MOVE_SECONDS = 0.1, 2.0, 0.2
START = datetime(2026, 1, 1, tzinfo=UTC)
IN_ORDER = attrgetter("competition_id", "seq")
Told = reporting.MatchReport | reporting.Sign
"""What a worker says of a match."""


class LotPlayer:
    """A player in this process that draws its moves by lot."""

    isolation = "none"
    closed = False

    def new_game(self, setup: GameSetup) -> None:
        self._random = Random(setup.seed)

    def choose(self, turn: Turn) -> Choice:
        moves = turn.state.legal_moves()
        return Choice(moves[self._random.randrange(len(moves))])

    def end_turn(self) -> None:
        pass

    def end_game(self, end: GameEnd) -> None:
        pass

    def take_log(self) -> str:
        return ""

    def log_so_far(self) -> LogSoFar:
        return str

    def close(self, *, kill: bool = False) -> None:
        pass


class FaultyPlayer(LotPlayer):
    """One that crashes in most of its games."""

    def choose(self, turn: Turn) -> Choice:
        if self._random.random() < 0.8:
            raise CrashError("exit status 1")
        return super().choose(turn)


class KilledError(Exception):
    """The recorder was killed within a transaction."""


@dataclass(slots=True)
class SimulatedRecorder:
    """What one recorder keeps."""

    shards: Shards
    rosters: Rosters = field(default_factory=Rosters)
    waiting: list[Told] = field(default_factory=list)
    """What came while it was busy."""


@dataclass(frozen=True, slots=True)
class Villainy:
    """How likely each mishap is, each time it could happen."""

    worker_dies: float = 0.1
    message_lost: float = 0.08
    message_doubled: float = 0.1
    recorder_killed: float = 0.05
    job_void: float = 0.05
    report_forged: float = 0.03
    recorder_busy: float = 0.3
    beginning_unsaid: float = 0.3
    """As of a match that is over at once."""
    slow: float = 0.15
    """A match that takes long; it lives on what its worker says of it meanwhile."""
    late: float = 0.15
    """A message that comes late."""
    faulty_bots: bool = True
    """Whether the first version of the last bot crashes in most of its games."""


CALM = Villainy(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, faulty_bots=False)
GUESSED = "guessed"
"""A ticket that was never given out."""


def give_sign(
    session: sa.orm.Session,
    worker: str,
    now: datetime,
    *,
    slots: int,
    games: tuple[str, ...] | None = (),
    platforms: tuple[str, ...] = (),
) -> None:
    """Has a worker with good boxes say that it lives.

    Args:
        games: the editions that it has, all that are here if none is given; None if it says nothing
            of them, as one of a release before.
        platforms: those for which it keeps runtimes.
    """
    games = tuple(map(str, GAMES.editions())) if games == () else games
    sign = reporting.SignOfLife(worker, slots, "good", games=games, platforms=platforms)
    workers.note_alive(session, sign, now)


def report_of(job: jobs.AnyJob, worker: str, seconds: float = 0.0) -> reporting.MatchReport:
    """What a worker says of a match that it played between players that draw lots."""
    assert isinstance(job, jobs.Job)
    result = play_match(job.spec, lambda _: LotPlayer())
    return reporting.MatchReport(job.lease, worker, result.games, result.logs, seconds)


class Simulation:
    """One schedule of events from one seed."""

    player: type[LotPlayer] = LotPlayer
    """What every bot is."""
    workers: tuple[str, ...] = ("one", "two")

    shards = 1
    """How many recorders there are, to begin with."""

    quick = False
    """Whether matches are so short that workers are given several at a time."""

    def __init__(self, database: Database, seed: int, villainy: Villainy) -> None:
        self.database = database
        self.random = Random(seed)
        self.villainy = villainy
        self.settings = Settings(data=Path("/nowhere"), shards=self.shards)
        self.now = START
        self.events: list[tuple[datetime, int, Callable[[], None]]] = []
        self.counter = 0
        every = range(self.shards)
        self.recorders = [SimulatedRecorder(Shards(self.shards, frozenset({n}))) for n in every]
        self.outcomes: list[str] = []
        self.upkeep = rebuild.Upkeep(CHECK_SECONDS, matches=3)
        self.faulty = ""
        self.ended = False
        self.frozen: set[int] = set()
        """The ladders on which nothing is to be under way after a tick."""
        self.played: list[Any] = []
        """The games of the match that was played last, as they are told."""

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
        self.faulty = f"bot-{bots - 1} v1" if self.villainy.faulty_bots else ""
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
        for one in self.recorders:
            with self.database.begin() as session:
                overdue = leases.roll_back_overdue(
                    session, self.settings, self.now, self.now, shards=one.shards
                )
                issued = allocation.schedule(
                    session, self.settings, self.now, one.rosters, one.shards
                )
                frozen = [number for number in self.frozen if one.shards.has(number)]
                assert not frozen or not session.scalar(
                    unfinished().where(Match.competition_id.in_(frozen))
                )
            self.outcomes += overdue.elements()
            self.send_jobs(issued)
        if self.upkeep.go_on(self.database, self.now):
            with self.database.read() as session:
                assert set(session.scalars(sa.select(Ladder.alarm))) == {""}
        self.later(self.settings.tick_seconds, self.tick)

    def recorder_of(self, shard: int) -> SimulatedRecorder:
        """Whose queue is that of a shard."""
        return next(one for one in self.recorders if shard in one.shards.held)

    def tell(self, handle: Callable[[sa.orm.Session], Any], shard: int = 0) -> None:
        """One message to the recorder: it may come late, twice, never, or kill it first."""
        self.deliver(lambda: self.handle(self.recorder_of(shard), handle))

    def say(self, *told: Told) -> None:
        """The same of one that is taken in with what else waits."""
        old = self.chance(self.villainy.worker_dies)  # one of a release before knows of no shards
        shard = 0 if old else max(one.lease.shard for one in told)
        self.deliver(lambda: self.arrive(shard, told))

    def deliver(self, message: Callable[[], None]) -> None:
        if self.chance(self.villainy.message_lost):
            return
        for _ in range(1 + self.chance(self.villainy.message_doubled)):
            delay = self.random.expovariate(1 / 40) if self.chance(self.villainy.late) else 0.1
            self.later(self.random.random() * delay, message)

    def arrive(self, shard: int, told: Sequence[Told]) -> None:
        one = self.recorder_of(shard)
        with self.database.read() as session:
            numbers = [its.lease.job for its in told if isinstance(its, reporting.MatchReport)]
            query = sa.select(Match.competition_id).where(Match.id.in_(numbers))
            theirs = {self.shard_of(number) for number in session.scalars(query)}
        if elsewhere := theirs - one.shards.held:
            self.outcomes.append("passed on")
            self.later(0.1, lambda: self.arrive(min(elsewhere), told))
            return
        one.waiting += told
        if self.chance(self.villainy.recorder_busy):
            self.later(2, lambda: self.take_in(one))
        else:
            self.take_in(one)

    def shard_of(self, competition: int) -> int:
        return competition % self.shards

    def take_in(self, one: SimulatedRecorder) -> None:
        """A recorder has time for what waits: for signs, and for reports by another transaction,
        whichever comes first."""
        told, one.waiting = one.waiting, []
        reports = [one for one in told if isinstance(one, reporting.MatchReport)]
        signs = [one for one in told if not isinstance(one, reporting.MatchReport)]
        steps: list[Callable[[sa.orm.Session], Any]] = []
        if signs:
            steps.append(lambda session: noting.note(session, signs, self.settings, self.now))
        if reports:
            steps.append(lambda session: self.taken_in(session, reports))
        self.random.shuffle(steps)
        for step in steps:
            self.handle(one, step)

    def taken_in(self, session: sa.orm.Session, told: list[reporting.MatchReport]) -> list[Any]:
        """What comes of reports, taken in alone if they can't be together."""
        try:
            with session.begin_nested():
                fates = recording.take_in(session, told, self.settings, self.now)
            for one, fate in zip(told, fates, strict=True):
                if one.lease.ticket == GUESSED:
                    match = session.get_one(Match, one.lease.job)
                    is_current = match.ticket is not None and match.attempt == one.lease.attempt
                    assert fate is leases.Fate.FORGED or not is_current
            return fates
        except jobs.JobError as error:
            if len(told) > 1:
                return [outcome for one in told for outcome in self.taken_in(session, [one])]
            lease, problem = told[0].lease, str(error)
            return [recording.record_void(session, lease, problem, self.settings, self.now)]

    def handle(self, one: SimulatedRecorder, handle: Callable[[sa.orm.Session], Any]) -> None:
        try:
            with self.database.begin() as session:
                outcome = handle(session)
                issued = allocation.fill(session, self.settings, self.now, one.rosters, one.shards)
                if self.chance(self.villainy.recorder_killed):
                    raise KilledError
        except KilledError:
            one.rosters.clear()
            # It was not acknowledged, so the broker brings it back: to whom has its shards then.
            shard = min(one.shards.held)
            self.swap(one)
            self.later(5, lambda: self.handle(self.recorder_of(shard), handle))
            return
        came = outcome if isinstance(outcome, list) else [outcome]
        self.outcomes += [str(one) for one in came if one is not None]
        self.send_jobs(issued)

    def swap(self, killed: SimulatedRecorder) -> None:
        """The one that comes anew has the shards of another, which has those of the killed one."""
        other = self.random.choice(self.recorders)
        its, others = killed.shards.held, other.shards.held
        killed.shards.change(others)
        other.shards.change(its)
        other.waiting, killed.waiting = killed.waiting, other.waiting

    # The workers.

    def send_jobs(self, issued: Iterable[jobs.Batch]) -> None:
        for batch in issued:
            if len(batch) > 1:
                self.outcomes.append("several at a time")
            if self.chance(self.villainy.message_lost):
                continue
            for _ in range(1 + self.chance(self.villainy.message_doubled)):
                data = json.loads(json.dumps([job.to_json() for job in batch]))
                self.later(self.random.random() * 3, lambda data=data: self.work(data))

    def alive(self) -> None:
        """Every worker's sign of life."""
        for name in self.workers:
            self.tell(lambda session, name=name: give_sign(session, name, self.now, slots=2))
        self.later(10, self.alive)

    def work(self, data: list[dict[str, Any]]) -> None:
        """A worker takes a message; at any point it may die and say no more."""
        self.do_first(list(map(jobs.Job.from_json, data)), self.random.choice(self.workers), [])

    def do_first(
        self, todo: list[jobs.Job], worker: str, reports: list[reporting.MatchReport]
    ) -> None:
        """It does the first of its jobs, and then the others; reports may wait for each other."""
        if not todo or self.chance(self.villainy.worker_dies):
            return
        job, *others = todo
        lease = job.lease
        if lease.kind != "match" or not self.chance(self.villainy.beginning_unsaid):
            self.say(reporting.Started(lease, worker))
        if self.chance(self.villainy.worker_dies):
            return
        usual = QUICK_SECONDS if self.quick else USUAL_SECONDS
        length = self.random.expovariate(1 / 60) if self.chance(self.villainy.slow) else usual
        if length > self.settings.lease_seconds:
            self.outcomes.append("longer than a lease")
        for second in range(10, int(length), 10):
            self.later(second, lambda: self.say(reporting.Progress(lease, worker=worker)))

        def finish() -> None:
            if self.chance(self.villainy.worker_dies):
                return
            if report := self.finish(job, worker):
                reports.append(report)
            if reports and (not others or self.chance(self.villainy.slow)):
                self.say(*reports)
                reports.clear()
            self.do_first(others, worker, reports)

        self.later(length, finish)

    def finish(self, job: jobs.Job, worker: str) -> reporting.MatchReport | None:
        """What came of a job: it is told here, or in the report of a match."""
        lease = job.lease
        if self.chance(self.villainy.job_void):
            self.tell(
                lambda s: recording.record_void(
                    s, lease, "the host broke", self.settings, self.now
                ),
                lease.shard,
            )
            return None
        if lease.kind == "check":
            report = reporting.CheckReport(lease, worker, (reporting.Finding(True, "played"),), "")
            self.tell(lambda session: recording.record_check(session, report, self.now))
            return None
        names = job.spec.entrants
        result = play_match(job.spec, lambda entrant: self.start(names[entrant]))
        moves = sum(len(game.plies) - game.opening for game in result.games)
        seconds = QUICK_SECONDS if self.quick else MOVE_SECONDS * moves
        data = reporting.MatchReport(lease, worker, result.games, result.logs, seconds).to_json()
        if self.chance(self.villainy.report_forged):
            data["games"][0]["scores"].reverse()
            data["games"][0]["ranks"].reverse()
        if self.chance(self.villainy.report_forged):
            data["lease"]["ticket"] = GUESSED
        if self.chance(self.villainy.report_forged):
            # Games that were played, and by the rules, but in another match.
            data["games"], self.played = self.played or data["games"], data["games"]
        else:
            self.played = data["games"]
        return reporting.MatchReport.from_json(json.loads(json.dumps(data)))

    def start(self, name: str) -> LotPlayer:
        """A player for a bot's version."""
        return FaultyPlayer() if name == self.faulty else self.player()

    # The organiser.

    def intervene(self) -> None:
        """Something that an organiser does; what can't be done at the moment is not."""
        deed = self.random.choice(
            [self.void, self.requeue, self.change, self.request, self.bring_back, self.readmit]
        )
        with self.database.begin() as session:
            try:
                deed(session)
            except Refusal as refused:
                self.outcomes.append(type(refused).__name__)
                return
        self.outcomes.append(deed.__name__)

    def _any(self, session: sa.orm.Session, query: sa.Select[Any]) -> Any:
        """One of what a query finds; None if it finds nothing."""
        found = session.scalars(query).all()
        return self.random.choice(found) if found else None

    def void(self, session: sa.orm.Session) -> None:
        number = self._any(session, sa.select(Match.id).order_by(Match.id)) or 1
        verdicts.void(session, ARENA, number, "by the lot", replay=self.chance(0.5), now=self.now)

    def requeue(self, session: sa.orm.Session) -> None:
        aside = sa.select(Match.id).where(Match.status == JobStatus.SET_ASIDE).order_by(Match.id)
        verdicts.requeue(session, ARENA, Match, self._any(session, aside) or 0, self.now)

    def change(self, session: sa.orm.Session) -> None:
        ladder = self._any(session, sa.select(Ladder).order_by(Ladder.id))
        chosen = self.random.choice(
            [{"draws": f"{self.random.uniform(0.01, 0.9):.3f}"}, {"state": "frozen"}]
        )
        change(session, ARENA, ladder, chosen, self.now)
        if "state" in chosen:
            self.frozen.add(ladder.id)
            self.later(self.random.random() * 10, lambda: self.open_again(ladder.id))

    def open_again(self, number: int) -> None:
        if self.ended:
            return
        with self.database.begin() as session:
            change(session, ARENA, session.get_one(Ladder, number), {"state": "open"}, self.now)
        self.frozen.discard(number)

    def request(self, session: sa.orm.Session) -> None:
        ladder = self._any(session, sa.select(Ladder).order_by(Ladder.id))
        entrants = session.scalars(
            sa.select(Entrant).where(Entrant.competition_id == ladder.id).order_by(Entrant.id)
        ).all()
        names = [
            f"{entrant.version.bot.name}:{entrant.version.number}"
            for entrant in self.random.sample(entrants, 2)
        ]
        user = session.scalars(sa.select(User)).one()
        request_matches(session, user, ladder, names, self.now, quota=3)

    def bring_back(self, session: sa.orm.Session) -> None:
        left = sa.select(Entrant).where(Entrant.state != EntrantState.ACTIVE).order_by(Entrant.id)
        entrant = self._any(session, left)
        if entrant is not None and entrant.competition.takes_bots:
            enter(session, entrant.competition, entrant.version, self.now)

    def readmit(self, session: sa.orm.Session) -> None:
        worker = self._any(session, sa.select(Worker).where(Worker.set_aside.is_not(None)))
        if worker is not None:
            do(session, workers.ReadmitWorker(worker.name), self.now)

    def upload(self) -> None:
        """A new version of some bot, with a check of its own."""
        with self.database.begin() as session:
            ladder = self.random.choice(list(session.scalars(sa.select(Ladder))))
            entrant = self.random.choice(
                list(session.scalars(sa.select(Entrant).where(Entrant.competition_id == ladder.id)))
            )
            bot = entrant.version.bot
            if not ladder.takes_bots:
                return
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

    def play(self, seconds: float, *, uploads: int = 0, deeds: int = 0) -> None:
        """Runs with the villain for so long, then without until the arena rests."""
        self.alive()
        self.tick()
        for _ in range(uploads):
            self.later(self.random.random() * seconds, self.upload)
        for _ in range(deeds):
            self.later(self.random.random() * seconds, self.intervene)
        self.run(seconds)
        self.villainy, self.ended = CALM, True
        self.frozen.clear()
        with self.database.begin() as session:
            for worker in session.scalars(sa.select(Worker)):
                worker.set_aside, worker.failed = None, []
            session.execute(sa.update(Ladder).values(state=CompetitionState.PAUSED))
        for _ in range(240):
            self.run(10)
            if not self.unfinished():
                return
        raise AssertionError("the arena did not come to rest")

    def unfinished(self) -> int:
        """How many matches are under way, and ladders that are to be made anew."""
        with self.database.read() as session:
            matches = session.scalar(unfinished())
            due = sa.select(sa.func.count()).select_from(Ladder).where(Ladder.rebuild_due)
            return matches + session.scalar(due)

    def prove(self) -> dict[str, int]:
        """Asserts that every match counts exactly once, is void or set aside; gives the numbers."""
        with self.database.read() as session:
            matches = list(
                session.scalars(
                    sa.select(Match).options(selectinload(Match.games).undefer(PlayedGame.record))
                )
            )
            by = {status: [m for m in matches if m.status is status] for status in JobStatus}
            fixed, void = by[JobStatus.FIXED], by[JobStatus.VOID]
            assert len(fixed) + len(void) + len(by[JobStatus.SET_ASIDE]) == len(matches)
            assert all(m.lease_ends is None and m.ticket is None for m in matches)
            counted = [match for match in (*fixed, *void) if match.seq is not None]
            assert len({match.seq for match in counted}) == len(counted)
            for _, its in groupby(sorted(counted, key=IN_ORDER), attrgetter("competition_id")):
                moments = [match.fixed for match in its]
                assert moments == sorted(moments)
            for match in matches:
                spec = spec_of(match)
                games = spec.games if match.seq else 0
                assert [game.number for game in match.games] == list(range(games))
                for game in match.games:
                    record = unpack(game.record)
                    assert record.variant == spec.variant
                    assert record.seed == spec.game_seed(game.number)
                    assert record.moves[: len(spec.opening)] == spec.opening
                    seating = spec.seating(game.number)
                    assert record.players == tuple(spec.entrants[place] for place in seating)
            for ladder in session.scalars(sa.select(Ladder)):
                rebuilt = rebuild.rebuild(session, ladder, write=False)
                assert rebuilt.equal, rebuilt.differences[:3]
                count = [m for m in fixed if m.competition_id == ladder.id and m.rated]
                assert rebuilt.games == ladder.games == sum(len(m.games) for m in count)
                self._prove_counters(session, ladder, {match.id for match in count})
            return {
                "fixed": len(fixed),
                "set aside": len(by[JobStatus.SET_ASIDE]),
                "void": len(void),
                "unrated": sum(not match.rated for match in fixed),
                "suspended": session.scalar(
                    sa.select(sa.func.count())
                    .select_from(AuditEntry)
                    .where(AuditEntry.action == "suspend")
                ),
            }

    @staticmethod
    def _prove_counters(session: sa.orm.Session, ladder: Ladder, matches: set[int]) -> None:
        """Counts a ladder of two seats in the plainest way, beside how the arena counts."""
        of_it = sa.select(Entrant).where(Entrant.competition_id == ladder.id)
        entrants = {entrant.id: entrant for entrant in session.scalars(of_it)}
        active = Counter(
            e.version.bot_id for e in entrants.values() if e.state is EntrantState.ACTIVE
        )
        assert all(count == 1 for count in active.values())
        wins, losses, faults, met = Counter[int](), Counter[int](), Counter[int](), Counter[Any]()
        for game in session.scalars(
            sa.select(PlayedGame).where(PlayedGame.competition_id == ladder.id)
        ):
            rated = [seat.entrant_id for seat in game.seats if seat.mu_after is not None]
            if game.match_id not in matches:
                assert not rated
                continue
            first, second = sorted(game.seats, key=lambda seat: seat.rank)
            assert len(rated) == 2
            wins[first.entrant_id] += 1
            losses[second.entrant_id] += 1
            met[min(rated), max(rated)] += 1
            faults.update(seat.entrant_id for seat in game.seats if seat.fault)
        for id_, entrant in entrants.items():
            counted = (entrant.wins, entrant.draws, entrant.losses, entrant.faults, entrant.points)
            assert counted == (wins[id_], 0, losses[id_], faults[id_], wins[id_])
        stored = sa.select(Meeting).where(Meeting.competition_id == ladder.id, Meeting.games > 0)
        assert met == {(m.first_id, m.second_id): m.games for m in session.scalars(stored)}
        assert ladder.ties == 0
        assert ladder.neighbours == ladder.games == met.total()


def unfinished() -> sa.Select[int]:
    """How many matches are open or under way."""
    those = Match.status.in_([JobStatus.OPEN, JobStatus.ISSUED])
    return sa.select(sa.func.count()).select_from(Match).where(those)


def empty(database: Database) -> None:
    """Deletes every row, so that one database serves many simulations."""
    with database.begin() as session:
        for table in reversed(Base.metadata.sorted_tables):
            session.execute(table.delete())
