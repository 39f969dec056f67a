"""What workers say of themselves and of the jobs that they were given, as JSON on a queue.

Whatever is said of a job carries its lease. A worker may be anybody: what is read here is as long,
and of the kind, that a worker of ours would say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from engine.jobs import FORMAT, JobError, Lease
from engine.record import TOO_LARGE, GameRecord

MOST_GAMES, MOST_MOVES, MOST_FINDINGS = 10_000, 10_000, 100
"""That are told while a job is under way."""
LONGEST_NAME = 120
"""Characters of a worker's name."""
LONGEST_WORDS, MOST_LINES = 20_000, 100
"""Characters of what a finding says, and of each of its lines; and how many of these."""
LONGEST_MOVE = 1000
LONGEST_LOG = 2**20
"""Characters of a check's log."""


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
        try:
            lease = Lease.from_json(data["lease"])
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
            if not 0 <= (game := int(told["game"])) < MOST_GAMES:
                raise ValueError(f"there is no game {str(game)[:40]}")
            return cls(lease, game, moves, findings)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise JobError(f"no word of how far it is: {error!r}") from None


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What the check of a bot found."""

    lease: Lease
    worker: str
    findings: tuple[Finding, ...]
    log: str
    build_seconds: float = 0.0
    """How long the bot was built, waiting for other builds left out; 0 if it was not."""

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
            "build_seconds": self.build_seconds,
        }

    @classmethod
    def from_json(cls, data: Any) -> CheckReport:
        """The report that `to_json` wrote.

        Raises:
            JobError: it is none.
        """
        try:
            lease = Lease.from_json(data["lease"])
            findings = tuple(Finding.from_json(one) for one in data["findings"][:MOST_FINDINGS])
            log, seconds = str(data["log"])[:LONGEST_LOG], _seconds(data, "build_seconds")
            return cls(lease, _worker(data), findings, log, seconds)
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
        try:
            lease = Lease.from_json(data["lease"])
            return cls(lease, _worker(data), GameRecord.from_json(data["game"]))
        except (KeyError, TypeError) as error:
            raise JobError(f"no report of a move: {error!r}") from None


def _worker(data: dict[str, Any]) -> str:
    """Who says something."""
    return str(data["worker"])[:LONGEST_NAME]


def _seconds(data: dict[str, Any], name: str = "seconds") -> float:
    """How long something took; 0 from a worker of the release before, which does not say."""
    seconds = data.get(name, 0.0)
    if not isinstance(seconds, int | float) or not 0 <= seconds < TOO_LARGE:
        raise JobError(f"no time in seconds: {str(seconds)[:40]!r}")
    return float(seconds)
