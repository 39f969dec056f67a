"""What a worker says of its jobs while it does them, and when matches are over."""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from engine import jobs, reporting
from engine.faulty_rules import HangWatch
from engine.game import State
from engine.player import LogSoFar
from engine.record import Ply
from engine.referee import Watch
from engine.sitting import Answer
from workers.app import Murmur, app, say, worker_name
from workers.live import LiveMatch

log = logging.getLogger("workers")

PROGRESS_SECONDS = 1.0
UNWATCHED_SECONDS = 5.0
"""How often it is said how far a match is that nobody watches."""
MOST_A_SECOND = 10
"""Words of how far they are that a process says of all its jobs together."""
SOON_SECONDS = 0.5
"""A match that is over before is reported without a word of its beginning."""
WAIT_SECONDS = 1.0
"""The longest that a report waits for those of the next matches."""
MOST_BYTES = 40_000_000
"""JSON in a message of reports, which Celery writes a third longer; the broker takes 64 MiB."""
RULES_SECONDS = 60.0
"""How long one call into a game's rules may take."""
HUNG = 4
"""The exit code of a process whose game hung."""
TOO_LONG = "left out: the broker takes no report of a match that is so long\n"


class Reports:
    """Reports of matches that came in one message: of short ones several are sent together."""

    def __init__(self) -> None:
        self._waiting: list[dict[str, Any]] = []
        self._bytes = 0
        self._began = time.monotonic()

    def add(self, report: dict[str, Any]) -> None:
        """A match was played: what waits is sent if that took long, or would be too much."""
        report, size = _sendable(report)
        if self._bytes + size > MOST_BYTES:
            self.send()
        self._waiting.append(report)
        self._bytes += size
        if time.monotonic() - self._began > WAIT_SECONDS:
            self.send()

    def send(self) -> None:
        """Sends what waits."""
        if self._waiting:
            say(jobs.RECORD_MATCH, *self._waiting)
            self._waiting = []
            self._bytes = 0
        self._began = time.monotonic()


def _sendable(report: dict[str, Any]) -> tuple[dict[str, Any], int]:
    """A report of a match that the broker takes, whatever bots said in it, and its bytes of JSON.

    What is too long goes without the logs; if that is not enough, without what was said of moves.
    """
    size = _size(report)
    if size > MOST_BYTES:
        report = report | {"logs": [[log and TOO_LONG for log in game] for game in report["logs"]]}
        size = _size(report)
    if size > MOST_BYTES:
        games = [
            game | {"texts": {}, "values": {}, "tags": {}, "pv": {}} for game in report["games"]
        ]
        logs = [[TOO_LONG for _ in game] for game in report["logs"]]
        report = report | {"games": games, "logs": logs}
        size = _size(report)
    return report, size


def _size(report: dict[str, Any]) -> int:
    return len(json.dumps(report))


class ProgressTeller:
    """Says that a job was taken up, and how far it is, from a thread beside it.

    Args:
        reports: of the matches before, which are sent when this one takes longer.
        longest_silence: seconds after which something is said though nothing is new.
    """

    ends_hangs = True
    """Whether rules that hang end this process: where it plays one match, which is theirs."""
    _under_way: ClassVar[set[ProgressTeller]] = set()
    """The tellers of this process that tell now."""

    def __init__(self, lease: jobs.Lease, reports: Reports, longest_silence: float) -> None:
        self._lease = lease
        self._reports = reports
        self._longest_silence = longest_silence
        self._murmur = Murmur(lease.field, longest_silence)
        self.findings: list[reporting.Finding] = []
        """What a check has found so far."""
        self.answers: list[tuple[int, Answer]] = []
        """What a bot that is asked has answered so far."""
        self._said: tuple[int, Sequence[Ply]] = (0, ())
        self._is_taken_up = False
        self._began = time.monotonic()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="progress", daemon=True)
        self._hangs = HangWatch(RULES_SECONDS)
        self._live = LiveMatch(lease, app.conf.broker_url)

    def take_up(self) -> None:
        """Says that this worker has the job, once."""
        if not self._is_taken_up:
            self._reports.send()
            started = reporting.Started(self._lease, worker_name())
            self._murmur.say(jobs.JOB_STARTED, started.to_json())
            self._is_taken_up = True

    def tell_of_build(self, digest: str, seconds: float) -> None:
        """Says how long a bot of the job was built, whatever came of that."""
        built = reporting.Built(self._lease, worker_name(), digest, round(seconds, 3))
        say(jobs.BOT_BUILT, built.to_json())

    def __enter__(self) -> ProgressTeller:
        self._under_way.add(self)
        if self._lease.kind == "match":
            self._live.begin()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._under_way.discard(self)
        self._ended.set()
        self._live.end()
        self._thread.join()

    def watch(self, game: int, logs: Callable[[], Sequence[LogSoFar]] = list) -> Watch:
        """What the referee calls after each ply of a game; ``logs`` are those of its seats."""

        def after_ply(_state: State, plies: Sequence[Ply]) -> None:
            self._said = (game, plies)

        return self._live.also(game, after_ply, logs)

    def _run(self) -> None:
        if not self._ended.wait(SOON_SECONDS):
            try:
                self.take_up()
            except Exception:
                log.exception("could not tell that a job was taken up")
            self._tell()

    def failure(self, problem: object) -> dict[str, Any]:
        """What is said of the job if it could not be done, through no bot's fault."""
        seconds = round(time.monotonic() - self._began, 3)
        return failure(self._lease, problem) | {"seconds": seconds}

    @property
    def _pause(self) -> float:
        """Seconds between two words: those of all jobs of a process are as many as of some."""
        seconds = max(PROGRESS_SECONDS, len(self._under_way) / MOST_A_SECOND)
        return min(seconds, self._longest_silence)

    def _end_if_rules_hang(self) -> None:
        """Gives the job up with this process, which Celery replaces: nothing else ends the call."""
        for hang in self._hangs.look():
            log.error("%s", hang)
            say(jobs.RECORD_VOID, self.failure(hang))
            os._exit(HUNG)

    @property
    def _silence(self) -> float:
        """Seconds after which something is said though nothing is new that somebody looks at."""
        is_unwatched = self._lease.kind == "match" and not self._live.is_watched
        return min(self._longest_silence, UNWATCHED_SECONDS if is_unwatched else 0.0)

    def _tell(self) -> None:
        told, last = (0, 0, 0), time.monotonic()
        answers = 0
        while not self._ended.wait(self._pause):
            if self.ends_hangs:
                self._end_if_rules_hang()
            if new := tuple(self.answers[answers:]):
                answers += len(new)
                self._tell_answers(new)
            game, plies = self._said
            now = (game, len(plies), len(self.findings))
            longest = self._longest_silence if now == told else self._silence
            if time.monotonic() - last < longest:
                continue
            told, last = now, time.monotonic()
            moves = tuple(f"{ply.seat + 1}:{ply.move}" for ply in plies[: now[1]])
            findings = tuple(self.findings[: now[2]])
            progress = reporting.Progress(self._lease, game, moves, findings, worker_name())
            self._murmur.say(jobs.MATCH_PROGRESS, progress.to_json())

    def _tell_answers(self, new: tuple[tuple[int, Answer], ...]) -> None:
        report = reporting.AnswersReport(self._lease, worker_name(), new, is_part=True)
        try:
            say(jobs.RECORD_ANSWERS, report.to_json())
        except Exception:
            log.exception("could not tell what a bot answered")


def failure(lease: jobs.Lease, problem: object, *, is_its_own: bool = True) -> dict[str, Any]:
    """What is said of a job that could not be done, through no bot's fault.

    Args:
        is_its_own: whether that may be the job's fault.
    """
    words = f"{worker_name()}: {problem}"[:2000]
    whose = {"lease": lease.to_json(), "worker": worker_name()}
    return {**whose, "problem": words, "failed": is_its_own}
