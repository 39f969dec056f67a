"""What the arena asks of its workers, as JSON on a queue; `engine.reporting` has what they answer.

A job is a match to play, a bot to check, or a bot's move in a person's game; matches that are short
are given out several at a time, and so are their reports. The arena gives each out with a lease: a
number for the attempt, and a ticket that only this attempt's worker knows. Whatever a worker says
of the job carries them, so that a worker that was given up for dead is not listened to.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

from engine.game import Variant
from engine.games import GAMES
from engine.match import MatchSpec
from engine.record import GameRecord
from engine.shelf import OWN, Edition

FORMAT = 2
TELLING_FORMAT = 3
"""The format of a match in which players are told options, or are granted something of their own,
of which a worker of a release before knows nothing and would play it otherwise."""

PLAY_MATCH = "workers.play_match"
CHECK_BOT = "workers.check_bot"
PLAY_MOVE = "workers.play_move"
ASK_BOT = "workers.ask_bot"
RECORD_MATCH = "arena.record_match"
RECORD_CHECK = "arena.record_check"
RECORD_MOVE = "arena.record_move"
RECORD_ANSWERS = "arena.record_answers"
RECORD_VOID = "arena.record_void"
JOB_STARTED = "arena.job_started"
BOT_BUILT = "arena.bot_built"
MATCH_PROGRESS = "arena.match_progress"
WORKER_ALIVE = "arena.worker_alive"

LONGEST_WORD = 100
"""Characters of a kind of job, and of a ticket."""

MATCHES_QUEUE = "matches"
"""Jobs of games that come with the engine; those of others have queues of their own beside it."""
SEVERAL = "+processes"
"""What is added to a queue's name for jobs that grant several processes."""
CLOCKED = "+reference"
"""What is added for matches by the reference machine's clock: workers that may play those take
them, and no other (`engine.measure.unfit`)."""
HOME_QUEUE = f"{MATCHES_QUEUE}+home"
"""Jobs with a bot at home in them, whatever is played."""
RESULTS_QUEUE = "results"
"""What is said to the recorder, or to that of the first shard; `results_of` has those of others."""
SIGNS = "signs"
"""The hash of what workers say that counts only until they say it anew: each has a field of its own
there, in which the next one takes the place of the last."""

MOST_PROCESSES = 64
"""The most that a bot may be granted."""
MOST_MATCHES = 16
"""The most matches that one message gives out or reports."""
GRACE_SECONDS = 6 * 60 * 60
"""How much longer a message may take than clocks allow: for builds and starts, and for a machine
that is far too busy. What has not ended then hangs, and its worker ends it; a game's waits all end
by themselves."""


def results_of(shard: int) -> str:
    """Where is said what is of a shard: each has a recorder that reads it."""
    return f"{RESULTS_QUEUE}.{shard}" if shard else RESULTS_QUEUE


def queue_of(
    edition: Edition,
    platforms: Collection[str] = (),
    *,
    several: bool = False,
    clocked: bool = False,
) -> str:
    """Where the jobs of an edition's games wait: a worker takes from the queues of those it has.

    Args:
        platforms: what the runtimes of its bots were made for. Such jobs have queues of their own,
            from which only workers take that are such platforms.
        several: the jobs grant bots several processes: workers that freeze and charge those as one
            take them, and no other.
        clocked: they are matches by the reference machine's clock.
    """
    is_own = edition.package == OWN
    queue = MATCHES_QUEUE if is_own else f"{MATCHES_QUEUE}.{edition.package}-{edition.version}"
    queue += "".join(f"+{one.replace(' ', '-')}" for one in sorted(platforms))
    queue += SEVERAL if several else ""
    return f"{queue}{CLOCKED}" if clocked else queue


def queues_of(
    edition: Edition, platforms: Collection[str], *, several: bool = False, clocked: bool = False
) -> Iterator[str]:
    """All queues from which a worker takes that has an edition and is these platforms."""
    for count in range(len(platforms) + 1):
        for some in combinations(sorted(platforms), count):
            yield queue_of(edition, some, several=several, clocked=clocked)


Attempt = tuple[str, int, int]
"""A kind of job, its number, and which attempt at it."""


class JobError(ValueError):
    """A message that is none, or of another format; one sentence."""


@dataclass(frozen=True, slots=True)
class Lease:
    """One attempt at one job."""

    kind: str
    """``match``, ``check``, ``move`` or ``question``."""
    job: int
    attempt: int
    ticket: str
    shard: int = 0
    """Whose recorder is to hear of it, by the queue of that (`results_of`)."""

    @property
    def attempt_of(self) -> Attempt:
        """Which attempt it is, at which job."""
        return self.kind, self.job, self.attempt

    @property
    def field(self) -> str:
        """The field of `SIGNS` in which stands what is said of it; who does not know the ticket can
        neither guess it nor learn the ticket by it."""
        words = f"{self.kind} {self.job} {self.attempt} {self.ticket}"
        return hashlib.sha256(words.encode()).hexdigest()

    def to_json(self) -> dict[str, Any]:
        said = {"kind": self.kind, "job": self.job, "attempt": self.attempt, "ticket": self.ticket}
        return said | {"shard": self.shard} if self.shard else said

    @classmethod
    def from_json(cls, data: Any) -> Lease:
        """Raises: JobError: it is no lease."""
        if not isinstance(data, dict):
            raise JobError("no lease")
        kind, ticket = (_word(data.get(name), name) for name in ("kind", "ticket"))
        job, attempt = (_number(data.get(name), name) for name in ("job", "attempt"))
        return cls(kind, job, attempt, ticket, _number(data.get("shard", 0), "shard"))


def _word(value: Any, name: str) -> str:
    if not isinstance(value, str) or len(value) > LONGEST_WORD or not value.isprintable():
        raise JobError(f"no lease: its {name} is no word")
    return value


def _number(value: Any, name: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**63:
        raise JobError(f"no lease: its {name} is no number")
    return value


@dataclass(frozen=True, slots=True)
class RuntimeFiles:
    """Where a runtime is, what it must be, and for which platform it was made."""

    digest: str
    location: str
    """A path on one machine, an address on many."""
    platform: str

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Any) -> RuntimeFiles:
        return cls(str(data["digest"]), str(data["location"]), str(data["platform"]))


@dataclass(frozen=True, slots=True)
class BotFiles:
    """Where a bot's bundle is, and what it must be; of a bot at home only by what it is known."""

    digest: str
    location: str
    """A path on one machine, an address on many."""
    runtime: RuntimeFiles | None = None
    """What it is run with besides; None from an arena of a release before, which has none."""
    at_home: int | None = None
    """The number of the version, if it is a bot at home, which has no bundle."""
    threads: int | None = None
    """How many it is granted at a time, if those are not what the job grants."""

    def to_json(self) -> dict[str, Any]:
        said: dict[str, Any] = {"digest": self.digest, "location": self.location}
        if self.runtime:
            said["runtime"] = self.runtime.to_json()
        if self.at_home is not None:
            said["at_home"] = self.at_home
        if self.threads is not None:
            said["threads"] = self.threads
        return said

    @classmethod
    def from_json(cls, data: Any) -> BotFiles:
        runtime, at_home = data.get("runtime"), data.get("at_home")
        return cls(
            str(data["digest"]),
            str(data["location"]),
            RuntimeFiles.from_json(runtime) if runtime else None,
            None if at_home is None else int(at_home),
            None if data.get("threads") is None else int(data["threads"]),
        )


@dataclass(frozen=True, slots=True)
class Grant:
    """What a competition grants each of its bots."""

    memory_bytes: int
    threads: int
    """Threads at a time, those of its interpreter included."""
    log_bytes: int
    """How much of standard error is kept of a game."""
    processes: int = 1
    """Processes at a time. Of more than one each beyond the first brings a thread more."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Any) -> Grant:
        return cls(
            int(data["memory_bytes"]),
            int(data["threads"]),
            int(data["log_bytes"]),
            int(data.get("processes", 1)),  # an arena of a release before grants one
        )


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

    @property
    def _tells(self) -> bool:
        own = any(bot.threads is not None for bot in self.bots)
        return own or bool(self.spec.times) or any(self.spec.chosen)

    def to_json(self) -> dict[str, Any]:
        """The job as JSON's types."""
        return {
            "format": TELLING_FORMAT if self._tells else FORMAT,
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
            OptionError: its game is not here, or by other rules than are.
        """
        _check_format(data)
        game = GameRecord.from_json(data["game"])
        GAMES.demand(game.variant.game, game.rules)
        return cls(
            Lease.from_json(data["lease"]),
            game,
            BotFiles.from_json(data["bot"]),
            Grant.from_json(data["grant"]),
            float(data["lease_seconds"]),
        )


@dataclass(frozen=True, slots=True)
class AskJob:
    """Positions of a game in which a bot is asked what it would play (see `engine.asking`)."""

    lease: Lease
    game: GameRecord
    plies: tuple[int, ...]
    """How many moves were played before each position, in their order."""
    bot: BotFiles
    grant: Grant
    lease_seconds: float

    def to_json(self) -> dict[str, Any]:
        """The job as JSON's types."""
        return {
            "format": FORMAT,
            "lease": self.lease.to_json(),
            "game": self.game.to_json(),
            "plies": list(self.plies),
            "bot": self.bot.to_json(),
            "grant": self.grant.to_json(),
            "lease_seconds": self.lease_seconds,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> AskJob:
        """The job that `to_json` wrote.

        Raises:
            JobError, RecordError, OptionError: as for `MoveJob`.
        """
        move = MoveJob.from_json(data)
        plies = tuple(map(int, data["plies"]))
        return cls(move.lease, move.game, plies, move.bot, move.grant, move.lease_seconds)


AnyJob = Job | MoveJob | AskJob


def is_at_home(job: AnyJob) -> bool:
    """Whether a bot at home is in it, which a home worker alone can ask."""
    return isinstance(job, Job) and any(bot.at_home is not None for bot in job.bots)


def is_clocked(job: AnyJob) -> bool:
    """Whether it is a match by the reference machine's clock."""
    return isinstance(job, Job) and job.spec.time.reference


def variant_of(job: AnyJob) -> Variant:
    """What a job is played of."""
    return job.spec.variant if isinstance(job, Job) else job.game.variant


def platforms_of(job: AnyJob) -> frozenset[str]:
    """What the runtimes of a job's bots were made for."""
    bots = job.bots if isinstance(job, Job) else (job.bot,)
    return frozenset(bot.runtime.platform for bot in bots if bot.runtime)


Batch = Sequence[AnyJob]
"""What a worker is given by one message: a job, or several matches that are short."""


def _check_format(data: dict[str, Any]) -> None:
    if data.get("format") not in (FORMAT, TELLING_FORMAT):
        raise JobError(f"a job of format {data.get('format')}; this worker knows {FORMAT}")
