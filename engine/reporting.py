"""What workers say of themselves and of the jobs that they were given, as JSON on a queue.

Whatever is said of a job carries its lease. A worker may be anybody: what is read here is as long,
and of the kind, that a worker of ours would say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from engine.asking import MOST_PLIES, answer_from_json, answer_to_json
from engine.bot_options import BotOptionError, read_options
from engine.jobs import FORMAT, JOB_STARTED, MATCH_PROGRESS, WORKER_ALIVE, JobError, Lease
from engine.measure import Measure, MeasureError
from engine.record import TOO_LARGE, GameRecord, RecordError
from engine.sitting import Answer

MOST_GAMES, MOST_MOVES, MOST_FINDINGS = 10_000, 10_000, 100
"""The most that is told of each while a job is under way."""
LONGEST_NAME = 120
"""Characters of a worker's name."""
LONGEST_LEVEL, LONGEST_LANGUAGE, MOST_LANGUAGES = 20, 20, 30
"""Characters of what a worker calls its boxes, and the languages that it runs; and how many."""
LONGEST_EDITION, MOST_EDITIONS = 200, 200
"""Characters of an edition of games, and how many a worker has."""
LONGEST_PLATFORM, MOST_PLATFORMS = 80, 8
"""Characters of a platform of runtimes, and how many a worker is."""
LARGEST_COUNT = 10_000
"""The greatest number of slots, and of formats."""
LONGEST_WORDS, MOST_LINES = 20_000, 100
"""Characters of what a finding says, and of each of its lines; and how many of these."""
MOST_AT_HOME, MOST_GAMES_AT_HOME = 1000, 32
"""Bots at home that are connected to a worker, and games that one takes at once."""
NOT_TRIED = "not tried: "
"""How the words of a finding begin that could not be looked for, since the bot failed before."""
LONGEST_MOVE = 1000
LONGEST_LOG = 2**20
"""Characters of a check's log."""
LONGEST_BUILD = 120.0
"""Seconds by the clock that the build of a bot may take; more of them are not believed."""


@dataclass(frozen=True, slots=True)
class SignOfLife:
    """A worker is there, and what it is."""

    worker: str
    slots: int
    """How many matches it plays at the same time; none once it is to end."""
    isolation: str
    """The level of its boxes."""
    languages: tuple[str, ...] = ()
    """The languages of the bots that it runs."""
    format: int = FORMAT
    """The format of the jobs that it knows."""
    games: tuple[str, ...] | None = None
    """The editions of the games that it has (see `engine.shelf`), in words; None from a worker of a
    release before, which has those that come with the engine."""
    clock: float | None = None
    """Its time, in seconds since 1970; None from a worker of a release before, which does not say.
    """
    platforms: tuple[str, ...] = ()
    """The platforms of which it can keep runtimes; none from a worker of a release before."""
    at_home: Mapping[int, int] | None = None
    """The versions that are connected to a home worker, each with how many games it takes at once;
    None from any other."""
    measure: Measure | None = None
    """How fast it found itself to be; None if it did not measure itself."""
    cores: int | None = None
    """How many cores it may use; None from a worker of a release before."""

    def to_json(self) -> dict[str, Any]:
        """The sign as JSON's types."""
        sign: dict[str, Any] = {
            "worker": self.worker,
            "slots": self.slots,
            "isolation": self.isolation,
            "languages": list(self.languages),
            "format": self.format,
            "games": None if self.games is None else list(self.games),
            "clock": self.clock,
            "platforms": list(self.platforms),
            "measure": None if self.measure is None else self.measure.to_json(),
            "cores": self.cores,
        }
        if self.at_home is not None:
            sign["at_home"] = [list(one) for one in self.at_home.items()]
        return sign

    @classmethod
    def from_json(cls, data: Any) -> SignOfLife:
        """The sign that `to_json` wrote.

        Raises:
            JobError: it is none, or says more than a worker of ours would.
        """
        try:
            languages, games, clock = data["languages"], data.get("games"), data.get("clock")
            if not isinstance(languages, list) or len(languages) > MOST_LANGUAGES:
                raise JobError(f"no sign of life: more than {MOST_LANGUAGES} languages, or no list")
            if games is not None and not (isinstance(games, list) and len(games) <= MOST_EDITIONS):
                raise JobError(f"no sign of life: more than {MOST_EDITIONS} games, or no list")
            if clock is not None and not (type(clock) in (int, float) and 0 <= clock < LATEST):
                raise JobError("no sign of life: its clock shows no time")
            platforms = data.get("platforms", [])
            if not isinstance(platforms, list) or len(platforms) > MOST_PLATFORMS:
                raise JobError(f"no sign of life: more than {MOST_PLATFORMS} platforms, or no list")
            measure, cores = data.get("measure"), data.get("cores")
            return cls(
                _worker(data),
                _count(data["slots"], "slots"),
                _word(data["isolation"], "isolation", LONGEST_LEVEL),
                tuple(_word(one, "language", LONGEST_LANGUAGE) for one in languages),
                _count(data.get("format", 0), "format"),
                None
                if games is None
                else tuple(_word(one, "game", LONGEST_EDITION) for one in games),
                clock,
                tuple(_word(one, "platform", LONGEST_PLATFORM) for one in platforms),
                _at_home(data.get("at_home")),
                None if measure is None else Measure.from_json(measure),
                None if cores is None else _count(cores, "cores"),
            )
        except MeasureError as error:
            raise JobError(f"no sign of life: {error}") from None
        except (KeyError, TypeError, AttributeError) as error:
            raise JobError(f"no sign of life: {str(error)[:200]!r}") from None


def _at_home(data: Any) -> Mapping[int, int] | None:
    """The bots at home that a sign of life tells of."""
    if data is None:
        return None
    if not isinstance(data, list) or len(data) > MOST_AT_HOME:
        raise JobError(f"no sign of life: more than {MOST_AT_HOME} bots at home, or no list")
    found: dict[int, int] = {}
    for one in data:
        if not (isinstance(one, list) and len(one) == 2 and all(type(n) is int for n in one)):
            raise JobError("no sign of life: a bot at home is no version and number of games")
        version, games = one
        if not (0 < version < 2**31 and 0 < games <= MOST_GAMES_AT_HOME):
            raise JobError("no sign of life: no worker has such a bot at home")
        found[version] = games
    return found


LATEST = 1e11
"""The latest time that is believed, in seconds since 1970: some thousand years from now."""


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
            return cls(lease, _worker(data), tuple(games), logs, seconds_of(data))
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
class Built:
    """A worker built a bot of a job, or tried to."""

    lease: Lease
    worker: str
    digest: str
    """The digest of the bot's bundle."""
    seconds: float
    """How long it took by the clock, waiting for other builds left out; no more than a build may
    take."""

    def to_json(self) -> dict[str, Any]:
        """The message as JSON's types."""
        return {
            "lease": self.lease.to_json(),
            "worker": self.worker,
            "digest": self.digest,
            "seconds": self.seconds,
        }

    @classmethod
    def from_json(cls, data: Any) -> Built:
        """The message that `to_json` wrote.

        Raises:
            JobError: it is none.
        """
        try:
            lease, seconds = Lease.from_json(data["lease"]), seconds_of(data)
            return cls(lease, _worker(data), str(data["digest"]), min(seconds, LONGEST_BUILD))
        except (KeyError, TypeError, AttributeError) as error:
            raise JobError(f"no word of a build: {error!r}") from None


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
    worker: str | None = None
    """Who says it, so that it tells of the beginning, too; None from a worker of a release before.
    """

    def to_json(self) -> dict[str, Any]:
        """The message as JSON's types."""
        progress = {
            "game": self.game,
            "moves": list(self.moves),
            "findings": [finding.to_json() for finding in self.findings],
        }
        told = {"lease": self.lease.to_json(), "progress": progress}
        return told if self.worker is None else told | {"worker": self.worker}

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
            return cls(lease, game, moves, findings, worker_of(data))
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise JobError(f"no word of how far it is: {error!r}") from None


Sign = SignOfLife | Started | Progress
"""What counts only until its worker says it anew."""
SIGNS: Mapping[str, Callable[[Any], Sign]] = {
    WORKER_ALIVE: SignOfLife.from_json,
    JOB_STARTED: Started.from_json,
    MATCH_PROGRESS: Progress.from_json,
}
"""How each is read, by the task that it is said to."""


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What the check of a bot found."""

    lease: Lease
    worker: str
    findings: tuple[Finding, ...]
    log: str
    options: tuple[str, ...] | None = None
    """What can be chosen about the bot, each as `engine.bot_options` declares it; None if nobody
    knows, as its check did not come to that, or was made by a worker of a release before."""

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
            **({} if self.options is None else {"options": list(self.options)}),
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
            log, options = str(data["log"])[:LONGEST_LOG], _options(data.get("options"))
            return cls(lease, _worker(data), findings, log, options)
        except (KeyError, TypeError) as error:
            raise JobError(f"no report of a check: {error!r}") from None


def _options(data: Any) -> tuple[str, ...] | None:
    """The options of a bot that a report of its check tells of."""
    if data is None:
        return None
    if not isinstance(data, list) or not all(isinstance(words, str) for words in data):
        raise JobError("no report of a check: its options are no list of declarations")
    try:
        return tuple(option.declaration for option in read_options(data).values())
    except BotOptionError as error:
        raise JobError(f"no report of a check: {error}") from None


@dataclass(frozen=True, slots=True)
class MoveReport:
    """What a bot answered in a game that goes on elsewhere."""

    lease: Lease
    worker: str
    game: GameRecord
    """The game as it stands after the answer."""

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


@dataclass(frozen=True, slots=True)
class AnswersReport:
    """What a bot answered in the positions that it was asked about."""

    lease: Lease
    worker: str
    answers: tuple[tuple[int, Answer], ...]
    """Each behind how many moves were played before."""
    is_part: bool = False
    """Whether it is asked on: then these are those since the last such report. In the end all of
    them are told."""

    def to_json(self) -> dict[str, Any]:
        """The report as JSON's types."""
        return {
            "lease": self.lease.to_json(),
            "worker": self.worker,
            "answers": [answer_to_json(*one) for one in self.answers],
            "is_part": self.is_part,
        }

    @classmethod
    def from_json(cls, data: Any) -> AnswersReport:
        """The report that `to_json` wrote.

        Raises:
            JobError: it is none.
            RecordError: an answer in it is none.
        """
        try:
            lease, answers = Lease.from_json(data["lease"]), data["answers"]
            if not isinstance(answers, list) or len(answers) > MOST_PLIES:
                raise JobError(f"more than {MOST_PLIES} answers, or no list")
            read = tuple(map(answer_from_json, answers))
            # The release before told all of them together.
            return cls(lease, _worker(data), read, data.get("is_part") is True)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            if isinstance(error, JobError | RecordError):
                raise
            raise JobError(f"no report of a question: {error!r}") from None


def worker_of(data: Mapping[str, Any]) -> str | None:
    """Who says something, if it is said.

    Raises:
        JobError: no worker has that name.
    """
    return None if data.get("worker") is None else _worker(data)


def _worker(data: Mapping[str, Any]) -> str:
    """Reads the name of the worker that says something."""
    name = data["worker"]
    if not isinstance(name, str) or not name or not name.isprintable():
        raise JobError("no word of a worker: it has no name that can be printed")
    if name != name.strip():
        raise JobError("no word of a worker: its name begins or ends with a blank")
    return name[:LONGEST_NAME].rstrip()


def _word(value: Any, what: str, most: int) -> str:
    if not isinstance(value, str) or len(value) > most or not value.isprintable():
        raise JobError(f"no sign of life: its {what} is no word of at most {most} characters")
    return value


def _count(value: Any, what: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= LARGEST_COUNT:
        raise JobError(f"no sign of life: its {what} are no number up to {LARGEST_COUNT}")
    return value


def seconds_of(data: dict[str, Any]) -> float:
    """How long something took; 0 from a worker of the release before, which does not say."""
    seconds = data.get("seconds", 0.0)
    if not isinstance(seconds, int | float) or not 0 <= seconds < TOO_LARGE:
        raise JobError(f"no time in seconds: {str(seconds)[:40]!r}")
    return float(seconds)
