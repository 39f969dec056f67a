"""What the arena and its workers say to each other about work, as JSON on a queue.

A job is a match to play, a bot to check, or a bot's move in a person's game; matches that are short
are given out several at a time, and so are their reports. The arena gives each out with a lease: a
number for the attempt, and a ticket that only this attempt's worker knows.
Whatever a worker says of the job carries them, so that a worker that was given up for dead is
not listened to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import inf
from typing import Any

from engine.match import MatchSpec
from engine.record import GameRecord

FORMAT = 2

PLAY_MATCH = "workers.play_match"
CHECK_BOT = "workers.check_bot"
PLAY_MOVE = "workers.play_move"
RECORD_MATCH = "arena.record_match"
RECORD_CHECK = "arena.record_check"
RECORD_MOVE = "arena.record_move"
RECORD_VOID = "arena.record_void"
JOB_STARTED = "arena.job_started"
MATCH_PROGRESS = "arena.match_progress"
WORKER_ALIVE = "arena.worker_alive"

MATCHES_QUEUE = "matches"
RESULTS_QUEUE = "results"

MOST_MATCHES = 16
"""That a message gives out or reports, at most."""
MOST_MOVES, MOST_FINDINGS = 10_000, 100
"""That are told while a job is under way."""
LONGEST_NAME = 120
"""Characters of a worker's name."""
LONGEST_WORDS, MOST_LINES = 20_000, 100
"""Characters of what a finding says, and of each of its lines; and how many of these."""
LONGEST_MOVE = 1000
LONGEST_LOG = 2**20
"""Characters of a check's log."""


class JobError(ValueError):
    """A message that is none, or of another format; one sentence."""


@dataclass(frozen=True, slots=True)
class Lease:
    """One attempt at one job."""

    kind: str
    """``match``, ``check`` or ``move``."""
    job: int
    attempt: int
    ticket: str

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "job": self.job, "attempt": self.attempt, "ticket": self.ticket}

    @classmethod
    def from_json(cls, data: Any) -> Lease:
        """Raises: JobError: it is no lease."""
        try:
            return cls(
                str(data["kind"]), int(data["job"]), int(data["attempt"]), str(data["ticket"])
            )
        except (KeyError, TypeError, ValueError) as error:
            raise JobError(f"no lease: {error!r}") from None


def _worker(data: dict[str, Any]) -> str:
    """Who says something."""
    return str(data["worker"])[:LONGEST_NAME]


def _seconds(data: dict[str, Any]) -> float:
    """How long something took; 0 from a worker of the release before, which does not say."""
    seconds = data.get("seconds", 0.0)
    if not isinstance(seconds, int | float) or not 0 <= seconds < inf:
        raise JobError(f"no time in seconds: {str(seconds)[:40]!r}")
    return float(seconds)


@dataclass(frozen=True, slots=True)
class BotFiles:
    """Where a bot's bundle is, and what it must be."""

    digest: str
    location: str
    """A path on one machine, an address on many."""

    def to_json(self) -> dict[str, Any]:
        return {"digest": self.digest, "location": self.location}

    @classmethod
    def from_json(cls, data: Any) -> BotFiles:
        return cls(str(data["digest"]), str(data["location"]))


@dataclass(frozen=True, slots=True)
class Grant:
    """What a competition grants each of its bots."""

    memory_bytes: int
    threads: int
    """At a time, those of its interpreter included."""
    log_bytes: int
    """Of standard error that is kept a game."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Any) -> Grant:
        return cls(int(data["memory_bytes"]), int(data["threads"]), int(data["log_bytes"]))


@dataclass(frozen=True, slots=True)
class Job:
    """A match to play; for a check, of one bot against itself."""

    lease: Lease
    spec: MatchSpec
    bots: tuple[BotFiles, ...]
    """One for each entrant of the match."""
    grant: Grant
    lease_seconds: float
    """How long the arena waits for a sign of life before it gives the job to another worker."""

    def to_json(self) -> dict[str, Any]:
        """The job as JSON's types."""
        return {
            "format": FORMAT,
            "lease": self.lease.to_json(),
            "spec": self.spec.to_json(),
            "bots": [bot.to_json() for bot in self.bots],
            "grant": self.grant.to_json(),
            "lease_seconds": self.lease_seconds,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Job:
        """The job that `to_json` wrote.

        Raises:
            JobError: it is of another format.
        """
        _check_format(data)
        return cls(
            Lease.from_json(data["lease"]),
            MatchSpec.from_json(data["spec"]),
            tuple(BotFiles.from_json(bot) for bot in data["bots"]),
            Grant.from_json(data["grant"]),
            float(data["lease_seconds"]),
        )


@dataclass(frozen=True, slots=True)
class MoveJob:
    """One move to make, in a game that goes on elsewhere (see `engine.sitting`)."""

    lease: Lease
    game: GameRecord
    """What was played so far; it is the bot's turn."""
    bot: BotFiles
    grant: Grant
    lease_seconds: float

    def to_json(self) -> dict[str, Any]:
        """The job as JSON's types."""
        return {
            "format": FORMAT,
            "lease": self.lease.to_json(),
            "game": self.game.to_json(),
            "bot": self.bot.to_json(),
            "grant": self.grant.to_json(),
            "lease_seconds": self.lease_seconds,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> MoveJob:
        """The job that `to_json` wrote.

        Raises:
            JobError: it is of another format.
            RecordError: its game is none.
        """
        _check_format(data)
        return cls(
            Lease.from_json(data["lease"]),
            GameRecord.from_json(data["game"]),
            BotFiles.from_json(data["bot"]),
            Grant.from_json(data["grant"]),
            float(data["lease_seconds"]),
        )


def alive(worker: str, *, slots: int, isolation: str, languages: Sequence[str]) -> dict[str, Any]:
    """A worker's sign of life, as JSON's types.

    Args:
        slots: how many matches it plays at the same time.
        isolation: the level of its boxes.
    """
    return {
        "worker": worker,
        "slots": slots,
        "isolation": isolation,
        "languages": list(languages),
        "format": FORMAT,
    }


AnyJob = Job | MoveJob
Batch = Sequence[AnyJob]
"""What a worker is given by one message: a job, or several matches that are short."""


def _check_format(data: dict[str, Any]) -> None:
    if data.get("format") != FORMAT:
        raise JobError(f"a job of format {data.get('format')}; this worker knows {FORMAT}")


@dataclass(frozen=True, slots=True)
class MatchReport:
    """A match that was played to its end."""

    lease: Lease
    worker: str
    games: tuple[GameRecord, ...]
    logs: tuple[tuple[str, ...], ...]
    seconds: float = 0.0
    """How long it took the worker by the clock, starts of bots included."""

    def to_json(self) -> dict[str, Any]:
        """The report as JSON's types."""
        return {
            "lease": self.lease.to_json(),
            "worker": self.worker,
            "games": [game.to_json() for game in self.games],
            "logs": [list(logs) for logs in self.logs],
            "seconds": self.seconds,
        }

    @classmethod
    def from_json(cls, data: Any) -> MatchReport:
        """The report that `to_json` wrote.

        Raises:
            JobError: it is none.
            RecordError: a record in it is none.
        """
        lease = Lease.from_json(data.get("lease"))
        try:
            games = [GameRecord.from_json(game) for game in data["games"]]
            logs = tuple(tuple(str(log) for log in game) for game in data["logs"])
            return cls(lease, _worker(data), tuple(games), logs, _seconds(data))
        except (KeyError, TypeError) as error:
            raise JobError(f"no report of a match: {error!r}") from None


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a check looked at."""

    kept: bool
    """Whether nothing was found wrong."""
    words: str
    clause: str = ""
    """Which clause of the protocol it is about."""
    applies: bool = True
    """False if the clause says nothing of this bot or game, or could not be tried."""
    lines: tuple[str, ...] = ()
    """What was said, ``> REQUEST`` and ``< REPLY``; long lines and long talks are cut."""

    def to_json(self) -> dict[str, Any]:
        return {
            "kept": self.kept,
            "words": self.words,
            "clause": self.clause,
            "applies": self.applies,
            "lines": list(self.lines),
        }

    @classmethod
    def from_json(cls, data: Any) -> Finding:
        return cls(
            bool(data["kept"]),
            str(data["words"])[:LONGEST_WORDS],
            str(data.get("clause", ""))[:LONGEST_NAME],
            bool(data.get("applies", True)),
            tuple(str(line)[:LONGEST_WORDS] for line in data.get("lines", ())[:MOST_LINES]),
        )


@dataclass(frozen=True, slots=True)
class Started:
    """A worker took a job up."""

    lease: Lease
    worker: str

    def to_json(self) -> dict[str, Any]:
        """The message as JSON's types."""
        return {"lease": self.lease.to_json(), "worker": self.worker}

    @classmethod
    def from_json(cls, data: Any) -> Started:
        """The message that `to_json` wrote.

        Raises:
            JobError: it is none.
        """
        try:
            return cls(Lease.from_json(data["lease"]), _worker(data))
        except (KeyError, TypeError) as error:
            raise JobError(f"no word of a beginning: {error!r}") from None


@dataclass(frozen=True, slots=True)
class Progress:
    """A worker is still at a job, and says how far it is."""

    lease: Lease
    game: int = 0
    """The running game of a match, from 0."""
    moves: tuple[str, ...] = ()
    """The moves of that game with their seats."""
    findings: tuple[Finding, ...] = ()
    """What a check has found so far."""

    def to_json(self) -> dict[str, Any]:
        """The message as JSON's types."""
        progress = {
            "game": self.game,
            "moves": list(self.moves),
            "findings": [finding.to_json() for finding in self.findings],
        }
        return {"lease": self.lease.to_json(), "progress": progress}

    @classmethod
    def from_json(cls, data: Any) -> Progress:
        """The message that `to_json` wrote; what is too long is cut.

        Raises:
            JobError: it is none.
        """
        try:
            lease, told = Lease.from_json(data["lease"]), data["progress"]
            moves = tuple(str(move)[:LONGEST_MOVE] for move in told["moves"][:MOST_MOVES])
            findings = tuple(Finding.from_json(one) for one in told["findings"][:MOST_FINDINGS])
            return cls(lease, int(told["game"]), moves, findings)
        except (KeyError, TypeError, ValueError) as error:
            raise JobError(f"no word of how far it is: {error!r}") from None


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What the check of a bot found."""

    lease: Lease
    worker: str
    findings: tuple[Finding, ...]
    log: str

    @property
    def passed(self) -> bool:
        """Whether nothing was found wrong."""
        return bool(self.findings) and all(finding.kept for finding in self.findings)

    def to_json(self) -> dict[str, Any]:
        """The report as JSON's types."""
        return {
            "lease": self.lease.to_json(),
            "worker": self.worker,
            "findings": [finding.to_json() for finding in self.findings],
            "log": self.log,
        }

    @classmethod
    def from_json(cls, data: Any) -> CheckReport:
        """The report that `to_json` wrote.

        Raises:
            JobError: it is none.
        """
        lease = Lease.from_json(data.get("lease"))
        try:
            findings = tuple(Finding.from_json(one) for one in data["findings"][:MOST_FINDINGS])
            return cls(lease, _worker(data), findings, str(data["log"])[:LONGEST_LOG])
        except (KeyError, TypeError) as error:
            raise JobError(f"no report of a check: {error!r}") from None


@dataclass(frozen=True, slots=True)
class MoveReport:
    """What a bot answered in a game that goes on elsewhere."""

    lease: Lease
    worker: str
    game: GameRecord
    """As it stands after the answer."""

    def to_json(self) -> dict[str, Any]:
        """The report as JSON's types."""
        return {
            "lease": self.lease.to_json(),
            "worker": self.worker,
            "game": self.game.to_json(),
        }

    @classmethod
    def from_json(cls, data: Any) -> MoveReport:
        """The report that `to_json` wrote.

        Raises:
            JobError: it is none.
            RecordError: its game is none.
        """
        lease = Lease.from_json(data.get("lease"))
        try:
            return cls(lease, _worker(data), GameRecord.from_json(data["game"]))
        except (KeyError, TypeError) as error:
            raise JobError(f"no report of a move: {error!r}") from None
