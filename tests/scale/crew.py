"""Workers that play nothing: up to a thousand in one process, to see what workers ask of an arena.

They speak as `workers` does, of which nothing is used here: they take jobs from the queues that
Celery's transport makes, by priority; give signs of life; say what they have begun, now and then
how far it is, and in the end what came of it; ask whether anybody watches, and tell those who do.
What they report was played by the rules from the job's opening between players that draw lots, in
half a millisecond a match; it is said that it took as long as it is waited with.

``python -m tests.scale.crew BROKER --workers 100`` has them work for any arena whose bots need not
be built, until Ctrl-C.
"""

from __future__ import annotations

import heapq
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import click
import redis

from arena.operation.queues import PRIORITIES
from engine import jobs, reporting
from engine.games import GAMES
from engine.live import LivePlies, channel_of, in_parts
from engine.match import MatchResult, play_match
from engine.messages import address_of, pack, unpack
from engine.player import Choice, Turn
from engine.timers import Every
from tests.arena.simulator import LotPlayer

ALIVE_SECONDS, PROGRESS_SECONDS, WATCHED_SECONDS, WHOLE_SECONDS = 10.0, 1.0, 0.1, 5.0
"""How often a worker says that it is there; how far a match is; what was played of one that
somebody watches, and all of that again."""
BEGAN_SECONDS = 0.5
"""A match that is over before is reported without a word of its beginning."""
GATHER_SECONDS = 1.0
"""The longest that a report waits for those of the other matches of its message."""
UNWATCHED_SECONDS = 5.0
"""How often the latter is said of a match that nobody watches."""
UNHEARD_SECONDS = 15.0
"""How long it takes until what is said into the hash of signs is said by the queue, too, if nobody
took it."""
MANY, UNHEARD, AWAY_SECONDS = 2000, 20_000, 60.0
"""While so many messages wait there, little of it is said; and next to nothing, every so many
seconds."""
LOOK_SECONDS = 0.02
"""How exactly all this is kept."""
TAKE_SECONDS = 1
SPREAD = 0.3
"""The part of it by which a match takes longer or shorter than it is to take."""

Event = Callable[[float], None]


class ThoughtfulPlayer(LotPlayer):
    """Draws its moves by lot, and says of each how long it took and what it is thought to be."""

    def choose(self, turn: Turn) -> Choice:
        spent = self._random.randrange(2_000, 60_000)
        values = {"eval": round(self._random.uniform(-3, 3), 2), "depth": 8.0}
        move = super().choose(turn).move
        return Choice(move, cpu_us=spent, wall_us=spent + 300, values=values)


class Murmur:
    """How a worker says what counts only until it is said anew (as `workers.app.Murmur` does)."""

    def __init__(self, field: str, seconds: float, now: float) -> None:
        """
        Args:
            field: where nobody else says anything.
            seconds: how often it is said all the same while many messages wait.
        """
        self.field, self.seconds = field, seconds
        self.waiting = 0
        """How many messages waited after the last one that went to the queue."""
        self._heard, self._is_first = now, True
        self._behind, self._away = Every(seconds), Every(max(seconds, AWAY_SECONDS))

    def is_heard(self, is_new: int, now: float) -> bool:
        """Whether somebody hears such things, as the answer to one of them says."""
        if is_new and not self._is_first:
            self._heard = now
        self._is_first = False
        return now - self._heard < UNHEARD_SECONDS

    def may(self) -> bool:
        """Whether it is said by the queue now, where nobody hears it or it always is."""
        if self.waiting >= UNHEARD:
            return self._away.is_due()
        return self.waiting < MANY or self._behind.is_due()


@dataclass(slots=True, eq=False)
class Hand:
    """One slot of a worker: a message of jobs that are done one after the other."""

    worker: str
    todo: deque[jobs.Job] = field(default_factory=deque)
    is_first: bool = True
    """Whether nothing was done yet: its first match is shorter, so that not all end together."""
    reports: list[dict[str, Any]] = field(default_factory=list)
    """The reports of matches of the message that are over, and not told yet."""
    gathered: float = 0.0
    """Since when they are gathered."""
    job: jobs.Job | None = None
    result: MatchResult | None = None
    began: float = 0.0
    ends: float = 0.0
    is_taken_up: bool = False
    murmur: Murmur = field(default_factory=lambda: Murmur("", 1.0, 0.0))
    told: tuple[int, int] = (0, 0)
    spoke: float = 0.0
    listeners: int = 0
    whole: float = 0.0
    shown: tuple[int, int] = (0, 0)
    """Which game was told to who watches, and how many of its plies."""

    def so_far(self, now: float) -> tuple[int, int]:
        """Which game of its match is under way, and how many plies of it were made."""
        assert self.result is not None
        games = self.result.games
        plies = sum(len(game.plies) for game in games)
        made = int(plies * (now - self.began) / max(1e-9, self.ends - self.began))
        for number, game in enumerate(games):
            if made <= len(game.plies):
                return number, max(0, made)
            made -= len(game.plies)
        return len(games) - 1, len(games[-1].plies)


@dataclass(frozen=True, slots=True)
class Letter:
    """What is said to the broker with the next things."""

    command: tuple[str, str | bytes, ...]
    heard: Callable[[int], None] = lambda _: None
    """Is told what it answered: how many wait there now, are new, or have listened."""
    lasts: bool = True
    """Whether it is said again when the broker did not take it."""


class Crew:
    """So many workers, at work from `start` until `stop` in threads of this process."""

    def __init__(
        self,
        broker: str,
        workers: int,
        seconds: float,
        *,
        slots: int = 1,
        name: str = "fake",
        seed: int = 0,
        by_queue: bool = False,
        editions: Sequence[str] | None = None,
    ) -> None:
        """Workers that nobody has heard of yet.

        Args:
            broker: its address, as Celery takes it.
            seconds: how long a match takes, a third more or less.
            slots: how many matches each plays at a time.
            name: what their names begin with.
            seed: of all lots.
            by_queue: they speak as workers of 0.1.0, which say all by the queue of results, and
                each second how far a match is.
            editions: of the games that they have; by default of all that are here.
        """
        has = GAMES.editions() if editions is None else editions
        self.names = [f"{name}-{number:04}" for number in range(1, workers + 1)]
        self._slots, self._seconds, self._random = slots, seconds, Random(seed)
        self._by_queue = by_queue
        self._editions = tuple(map(str, has))
        queues = sorted({queue for one in GAMES.editions() for queue in jobs.queues_of(one, ())})
        self._keys = [f"{queue}{step}" for step in PRIORITIES for queue in queues]
        self._broker = address_of(broker)
        self._client = redis.Redis.from_url(self._broker)
        self._free = deque(Hand(worker) for worker in self.names for _ in range(slots))
        self._busy: set[Hand] = set()
        self._room = threading.Semaphore(len(self._free))
        self._events: list[tuple[float, int, Event]] = []
        self._taken: deque[bytes] = deque()
        self._outbox: list[Letter] = []
        self._count = 0
        self._is_over, self._takes_no_more = threading.Event(), threading.Event()
        self._threads = [
            threading.Thread(target=one, name=one.__name__, daemon=True)
            for one in (self._work, self._take)
        ]
        self._cpu: Counter[int] = Counter()
        self.said: Counter[str] = Counter()
        """How many messages there were, by the names of their tasks."""
        self.sent: dict[int, float] = {}
        """When the last report of each match went out, by the clock of this machine."""
        self.taken = 0
        """How many jobs came."""

    @property
    def cpu_seconds(self) -> float:
        """What all of them have used."""
        return self._cpu.total()

    @property
    def under_way(self) -> int:
        """How many messages of jobs they have in hand."""
        return len(self._busy)

    def start(self) -> None:
        """Has them begin, and give their signs of life one after the other."""
        now = time.monotonic()
        for number, worker in enumerate(self.names):
            murmur = Murmur(worker, 2 * ALIVE_SECONDS, now)
            first = now + number / len(self.names)
            self._at(first, lambda when, w=worker, m=murmur: self._live(w, m, when, is_first=True))
        for thread in self._threads:
            thread.start()

    def stop(self, *, finish: bool = False) -> None:
        """Ends them, as if their machines were switched off.

        Args:
            finish: they are told to end: they take no more, and play to its end what they have.
        """
        self._takes_no_more.set()
        if finish:
            while self._busy or self._taken or self._outbox:
                time.sleep(LOOK_SECONDS)
        self._is_over.set()
        for thread in self._threads:
            if thread.ident:
                thread.join()
        self._client.close()

    # The loop.

    def _at(self, when: float, event: Event) -> None:
        self._count += 1
        heapq.heappush(self._events, (when, self._count, event))

    def _work(self) -> None:
        while not self._is_over.is_set():
            now = time.monotonic()
            while self._events and self._events[0][0] <= now:
                when, _, event = heapq.heappop(self._events)
                event(when)
            while self._taken:
                self._begin(self._taken.popleft(), time.monotonic())
            self._send()
            self._cpu[0] = time.thread_time()
            time.sleep(LOOK_SECONDS)

    def _take(self) -> None:
        """Takes a message for each hand that is free, whoever has waited longest."""
        with redis.Redis.from_url(self._broker) as client:
            while not self._takes_no_more.is_set():
                if not self._room.acquire(timeout=TAKE_SECONDS):
                    continue
                try:
                    found = client.brpop(self._keys, TAKE_SECONDS)
                except redis.RedisError:
                    found = None
                    time.sleep(TAKE_SECONDS)
                if found is None:
                    self._room.release()
                else:
                    self._taken.append(found[1])
                self._cpu[1] = time.thread_time()

    def _send(self) -> None:
        """Sends what is to be said now, by one exchange with the broker."""
        letters, self._outbox = self._outbox, []
        if not letters:
            return
        steps = self._client.pipeline(transaction=False)
        for one in letters:
            steps.execute_command(*one.command)
        try:
            answers = steps.execute(raise_on_error=False)
        except redis.RedisError as error:
            answers = [error] * len(letters)
        for one, answer in zip(letters, answers, strict=True):
            if not isinstance(answer, Exception):
                one.heard(int(answer))
            elif one.lasts:
                self._outbox.append(one)

    def _say(self, task: str, *told: dict[str, Any]) -> None:
        """Says what must not be lost, by the queue of results."""
        self.said[task] += 1
        shard = max((one.get("lease", {}).get("shard", 0) for one in told), default=0)
        self._outbox.append(Letter(("LPUSH", jobs.results_of(shard), pack(task, *told))))

    def _murmur(self, murmur: Murmur, task: str, told: dict[str, Any]) -> None:
        """Says what counts only until it is said anew."""
        message = pack(task, told)

        def waits(count: int) -> None:
            murmur.waiting = count

        def by_queue() -> None:
            if murmur.may():
                self.said[f"{task} by the queue"] += 1
                command = "LPUSH", jobs.RESULTS_QUEUE, message
                self._outbox.append(Letter(command, waits, lasts=False))

        def answered(is_new: int) -> None:
            if not murmur.is_heard(is_new, time.monotonic()):
                by_queue()

        if self._by_queue:
            by_queue()
        else:
            self.said[task] += 1
            command = "HSET", jobs.SIGNS, murmur.field, message
            self._outbox.append(Letter(command, answered, lasts=False))

    # What they say of themselves, and of jobs.

    def _live(self, worker: str, murmur: Murmur, when: float, *, is_first: bool = False) -> None:
        sign = reporting.SignOfLife(
            worker, self._slots, "good", ("Python",), games=self._editions,
            clock=time.time(), cores=self._slots,
        )  # fmt: skip
        if is_first:  # before any report, which is refused of a worker that nobody knows
            self._say(jobs.WORKER_ALIVE, sign.to_json())
        else:
            self._murmur(murmur, jobs.WORKER_ALIVE, sign.to_json())
        self._at(when + ALIVE_SECONDS, lambda then: self._live(worker, murmur, then))

    def _begin(self, raw: bytes, now: float) -> None:
        """A hand that is free has a message."""
        hand, message = self._free.popleft(), unpack(raw)
        self.taken += len(message.args)
        self._busy.add(hand)
        hand.todo = deque()
        for data in message.args:
            if message.task in (jobs.PLAY_MATCH, jobs.CHECK_BOT):
                job = jobs.Job.from_json(data)
                if self._by_queue:  # of shards they know nothing
                    job = replace(job, lease=replace(job.lease, shard=0))
                hand.todo.append(job)
            else:
                problem = f"{hand.worker} plays no move of any game"
                its = {"lease": data["lease"], "worker": hand.worker}
                told = {**its, "problem": problem, "failed": False}
                self._say(jobs.RECORD_VOID, told)
        hand.reports, hand.gathered = [], now
        self._go_on(hand, now)

    def _go_on(self, hand: Hand, now: float) -> None:
        """The next job of a message, or none."""
        if not hand.todo:
            self._report(hand, now)
            hand.job = hand.result = None
            self._busy.discard(hand)
            self._free.append(hand)
            self._room.release()
            return
        job = hand.job = hand.todo.popleft()
        hand.began = now
        hand.ends = now + self._seconds * self._random.uniform(
            0.05 if hand.is_first else 1 - SPREAD, 1 + SPREAD
        )
        hand.is_first = False
        hand.is_taken_up, hand.told, hand.spoke = False, (0, 0), now
        hand.murmur = Murmur(job.lease.field, job.lease_seconds / 3, now)
        hand.listeners, hand.shown = 0, (0, 0)
        self._at(hand.ends, lambda when: self._end(hand, when))
        if job.lease.kind == "check":
            self._take_up(hand, now)
            return
        hand.result = play_match(job.spec, lambda _: ThoughtfulPlayer())
        if hand.ends - now > BEGAN_SECONDS:
            self._at(now + BEGAN_SECONDS, lambda when: self._tell(hand, job, when))
        if hand.ends - now > PROGRESS_SECONDS:
            self._at(now + PROGRESS_SECONDS, lambda when: self._show(hand, job, when))

    def _take_up(self, hand: Hand, now: float) -> None:
        if not hand.is_taken_up and hand.job is not None:
            hand.is_taken_up = True
            self._report(hand, now)
            started = reporting.Started(hand.job.lease, hand.worker)
            self._murmur(hand.murmur, jobs.JOB_STARTED, started.to_json())

    def _tell(self, hand: Hand, job: jobs.Job, when: float) -> None:
        """How far a match is, if there is something new, or nothing was said for long."""
        if hand.job is not job or hand.result is None:
            return
        if not hand.is_taken_up:
            self._take_up(hand, when)
        else:
            now = hand.so_far(when)
            is_looked_at = self._by_queue or hand.listeners
            silence = hand.murmur.seconds
            if now != hand.told:
                silence = 0.0 if is_looked_at else min(silence, UNWATCHED_SECONDS)
            if when - hand.spoke >= silence:
                hand.told, hand.spoke = now, when
                game, made = now
                plies = hand.result.games[game].plies[:made]
                moves = tuple(f"{ply.seat + 1}:{ply.move}" for ply in plies)
                worker = None if self._by_queue else hand.worker
                told = reporting.Progress(job.lease, game, moves, worker=worker)
                self._murmur(hand.murmur, jobs.MATCH_PROGRESS, told.to_json())
        pause = min(PROGRESS_SECONDS, hand.murmur.seconds)
        self._at(when + pause, lambda then: self._tell(hand, job, then))

    def _show(self, hand: Hand, job: jobs.Job, when: float) -> None:
        """What was played, to who watches; and that there is such a match, to hear of them."""
        if hand.job is not job or hand.result is None:
            return
        game, made = hand.so_far(when)
        plies = hand.result.games[game].plies[:made]
        words: list[LivePlies] = []
        if hand.listeners:
            if when - hand.whole >= WHOLE_SECONDS:
                hand.whole, hand.shown = when, (0, 0)
            first = hand.shown[1] if hand.shown[0] == game else 0
            for number in range(hand.shown[0], game):
                before = hand.result.games[number].plies
                words += in_parts(job.lease, number, 0, before, hand.shown[1])
                hand.shown = number + 1, 0
            words += in_parts(job.lease, game, 0, plies, first)
            hand.shown = game, made
        if not words:
            words.append(LivePlies(job.lease, game, 0, made))

        def heard(listeners: int) -> None:
            if listeners > hand.listeners:
                hand.whole = when - WHOLE_SECONDS
            hand.listeners = listeners

        for word in words:
            command = "PUBLISH", channel_of(job.lease.job), word.to_json()
            hears = heard if word is words[-1] else lambda _: None
            self._outbox.append(Letter(command, hears, lasts=False))
        pause = WATCHED_SECONDS if hand.listeners else PROGRESS_SECONDS
        self._at(when + pause, lambda then: self._show(hand, job, then))

    def _end(self, hand: Hand, when: float) -> None:
        """A job is done."""
        job, result = hand.job, hand.result
        assert job is not None
        if result is None:
            found = reporting.Finding(True, "a whole game was played")
            checked = reporting.CheckReport(job.lease, hand.worker, (found,), "")
            self._say(jobs.RECORD_CHECK, checked.to_json())
        else:
            took = round(when - hand.began, 6)
            report = reporting.MatchReport(job.lease, hand.worker, result.games, result.logs, took)
            hand.reports.append(report.to_json())
            if when - hand.gathered > GATHER_SECONDS:
                self._report(hand, when)
        self._go_on(hand, when)

    def _report(self, hand: Hand, now: float) -> None:
        """Sends the reports that wait."""
        if hand.reports:
            self._say(jobs.RECORD_MATCH, *hand.reports)
            numbers = (one["lease"]["job"] for one in hand.reports)
            self.sent.update(dict.fromkeys(numbers, time.time()))
            hand.reports = []
        hand.gathered = now


@click.command()
@click.argument("broker")
@click.option("--workers", default=100, show_default=True, help="How many there are.")
@click.option("--seconds", default=10.0, show_default=True, help="How long a match takes them.")
@click.option("--slots", default=1, show_default=True, help="Matches that each plays at a time.")
@click.option("--by-queue", is_flag=True, help="They speak as workers of 0.1.0.")
def main(broker: str, workers: int, seconds: float, slots: int, *, by_queue: bool) -> None:
    """Has made-up workers work for the arena of BROKER until Ctrl-C, and says what they did."""
    crew = Crew(broker, workers, seconds, slots=slots, by_queue=by_queue)
    crew.start()
    try:
        while True:
            time.sleep(5)
            words = ", ".join(f"{task} {count}" for task, count in sorted(crew.said.items()))
            click.echo(f"{crew.under_way} under way, {crew.cpu_seconds:.1f} s of CPU time; {words}")
    except KeyboardInterrupt:
        crew.stop()


if __name__ == "__main__":
    main()
