"""Tells whoever watches a match of each of its plies (see `engine.live`).

A thread for all matches of a process asks once a second, match by match, whether anybody listens,
which the broker answers. Where somebody does it tells the match from its beginning, and then each
ply soon after it was made; and all of it again every few seconds, for who came or missed something
meanwhile. Nothing waits for this, and what the broker does not take is not told.

What the bots log goes by a channel of its own. Of a match that is watched it is asked once a second
whether anybody listens there, too; only then the logs are looked into, after a ply, when all bots
stand and no clock runs.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import redis

from engine.game import State
from engine.jobs import Lease
from engine.live import LiveLog, LivePlies, channel_of, in_parts, log_channel_of, logged
from engine.messages import address_of
from engine.player import LogSoFar
from engine.record import Ply
from engine.referee import Watch

ASK_SECONDS = 1.0
"""How often it is asked whether somebody listens."""
LOOK_SECONDS = 0.1
"""How often plies are looked for where somebody does."""
LOG_SECONDS = 1.0
"""How often it is told what bots log."""
WHOLE_SECONDS = 5.0
"""How often a match is told from its beginning."""
ANSWER_SECONDS = 2.0
AWAY_SECONDS = 5.0
"""How long a broker is left alone that did not answer."""
REFUSED_SECONDS = 600.0
"""How long a broker is left alone that does not let this worker tell."""

Logged = tuple[dict[int, str], dict[int, str]]
"""What is logged, as `engine.live.logged` gives it."""

log = logging.getLogger("workers")


@dataclass(slots=True)
class _Play:
    """A game as it grows, and how much of it was told."""

    game: int
    again: int
    plies: Sequence[Ply]
    told: int = 0
    logs: Sequence[LogSoFar] = ()
    """Each seat's log, as it was after the last ply at which somebody was to read it."""
    looked_at: Sequence[LogSoFar] = ()
    """The logs that are put together already."""
    texts: list[Logged] = field(default_factory=list)
    """What is to be told of each seat's log."""
    told_texts: list[Logged] = field(default_factory=list)

    def log_news(self, lease: Lease) -> Iterator[LiveLog]:
        """What was not told yet of its logs."""
        logs = self.logs  # the next ones may come at any moment
        if logs is not self.looked_at:
            self.looked_at = logs
            self.texts = [logged(log()) for log in logs]
        told = self.told_texts or [({}, {}) for _ in self.texts]
        self.told_texts = self.texts
        for seat, pairs in enumerate(
            zip(its, before, strict=True) for its, before in zip(self.texts, told, strict=True)
        ):
            written, exchanged = (dict(its.items() - before.items()) for its, before in pairs)
            if written or exchanged:
                yield LiveLog(lease, self.game, self.again, seat, written, exchanged)


class LiveMatch:
    """A match under way, for those who watch it.

    Args:
        broker: where they listen.
    """

    def __init__(self, lease: Lease, broker: str) -> None:
        self._lease, self._broker = lease, broker
        self._plays: list[_Play] = []
        self._asked = time.monotonic()  # what is over at once nobody watches
        self._whole = 0.0
        self._listeners = 0
        self._log_asked = self._log_whole = 0.0
        self._readers = 0
        self._is_over = False

    def begin(self) -> None:
        """Has the match told of from now on."""
        if self._broker:
            _Teller.of(self._broker).begin(self)

    def end(self) -> None:
        """Nothing comes any more: what was not told yet is told, and then no more."""
        self._is_over = True

    def also(self, game: int, watch: Watch, logs: Callable[[], Sequence[LogSoFar]] = list) -> Watch:
        """What the referee calls after each ply of a game, where another is to hear of it, too.

        Args:
            logs: gives for each seat what was logged in that game.
        """

        def after_ply(state: State, plies: Sequence[Ply]) -> None:
            if not self._plays or self._plays[-1].plies is not plies:
                again = sum(play.game == game for play in self._plays)
                self._plays.append(_Play(game, again, plies))
            if self._readers:
                self._plays[-1].logs = logs()
            watch(state, plies)

        return after_ply

    @property
    def channel(self) -> str:
        """Where it is told of it."""
        return channel_of(self._lease.job)

    def news(self, now: float) -> Iterator[LivePlies]:
        """What is to be told now; perhaps no more than that there is such a match."""
        plays = list(self._plays)
        if self._listeners and now - self._whole >= WHOLE_SECONDS:
            self._whole = now
            for play in plays:
                play.told = 0
        asks = now - self._asked >= ASK_SECONDS
        for play in plays if self._listeners else ():
            for told in in_parts(self._lease, play.game, play.again, play.plies, play.told):
                play.told += len(told.plies)
                asks = False
                yield told
        if asks and plays:
            yield LivePlies(self._lease, plays[-1].game, plays[-1].again, len(plays[-1].plies))

    def heard(self, listeners: int, now: float) -> None:
        """Takes in that so many listened to the last word."""
        self._asked = now
        if listeners > self._listeners:
            self._whole = now - WHOLE_SECONDS  # all of it is told at once
        self._listeners = listeners
        if not listeners:
            self.log_heard(0, now)

    @property
    def log_channel(self) -> str:
        """Where it is told what its bots log."""
        return log_channel_of(self._lease.job)

    def log_news(self, now: float) -> list[LiveLog]:
        """What is to be told now of logs; perhaps no more than that there may be some."""
        plays = list(self._plays)
        if not plays or now - self._log_asked < LOG_SECONDS and not self._is_over:
            return []
        self._log_asked = now
        if self._readers and now - self._log_whole >= WHOLE_SECONDS:
            self._log_whole = now
            for play in plays:
                play.told_texts = []
        found = [one for play in plays for one in play.log_news(self._lease)]
        return found or [LiveLog(self._lease, plays[-1].game, plays[-1].again, 0)]

    def log_heard(self, readers: int, now: float) -> None:
        """Takes in that so many listened to the last word of logs."""
        if readers > self._readers:
            self._log_whole = now - WHOLE_SECONDS
        self._readers = readers
        if not readers:
            for play in list(self._plays):
                play.logs = play.looked_at = ()
                play.texts, play.told_texts = [], []

    @property
    def is_watched(self) -> bool:
        """Whether somebody listened to the last word of it."""
        return bool(self._listeners)

    @property
    def is_over(self) -> bool:
        """Whether nothing comes any more."""
        return self._is_over


class _Teller:
    """The thread that tells of all matches of this process."""

    _all: dict[str, _Teller] = {}  # noqa: RUF012 - one for each broker, of which there is one
    _making = threading.Lock()

    @classmethod
    def of(cls, broker: str) -> _Teller:
        """The teller of this process, for a broker."""
        with cls._making:
            if broker not in cls._all:
                cls._all[broker] = cls(broker)
            return cls._all[broker]

    def __init__(self, broker: str) -> None:
        self._client = redis.Redis.from_url(
            address_of(broker),
            socket_timeout=ANSWER_SECONDS,
            socket_connect_timeout=ANSWER_SECONDS,
        )
        self._matches: set[LiveMatch] = set()
        self._begun = threading.Event()
        threading.Thread(target=self._run, name="live", daemon=True).start()

    def begin(self, match: LiveMatch) -> None:
        """A match is under way, until it says that it is over."""
        self._matches.add(match)
        self._begun.set()

    def _run(self) -> None:
        while True:
            self._begun.wait()
            pause = ASK_SECONDS
            for match in list(self._matches):
                # The flag first: what was played before it is then told.
                if match.is_over:
                    self._matches.discard(match)
                try:
                    self._tell(match)
                except redis.exceptions.NoPermissionError:
                    log.warning("nobody can watch: this login may not tell of running matches")
                    pause = REFUSED_SECONDS
                    break
                except (redis.RedisError, OSError):
                    pause = AWAY_SECONDS
                    break
                if match.is_watched:
                    pause = LOOK_SECONDS
            if not self._matches:
                self._begun.clear()
                if self._matches:  # one was begun at this very moment
                    self._begun.set()
            time.sleep(pause)

    def _tell(self, match: LiveMatch) -> None:
        now = time.monotonic()
        # Twice for who has just come: once to hear of them, and then all that there is.
        for _ in range(2):
            if not (words := [told.to_json() for told in match.news(now)]):
                break
            match.heard(self._publish(match.channel, words), now)
        # Who reads a log watches the match.
        if match.is_watched and (words := [told.to_json() for told in match.log_news(now)]):
            match.log_heard(self._publish(match.log_channel, words), now)

    def _publish(self, channel: str, words: Sequence[str]) -> int:
        """Tells it, and how many listened to the last of it."""
        steps = self._client.pipeline(transaction=False)
        for word in words:
            steps.publish(channel, word)
        return int(steps.execute()[-1])
