"""Which game's rules a process is busy with, kept where the next one finds it.

Rules that hang in Python are broken off (`engine.faulty_rules`). Those that hang in C can't be: no
Python runs there any more, until whoever supervises the process kills it. The next one would begin
with the same, and hang again. So what is done with a game's rules stands in a file meanwhile. What
a process was at for long when it ended, and then its successor, too, is not begun a third time: its
game is off the shelf of that process, like one that hangs in Python, and all other games go on.

How long it was at it is told by when the next one begins; so a process that is killed for something
else, in the middle of a move, blames nobody.
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

ROOM = 512
"""Bytes of what is done now; after them stands what hung before."""
TWICE = 2
PATIENCE_SECONDS = 30.0
"""How long nothing is taken to hang."""

log = logging.getLogger(__name__)


class Hung(NamedTuple):
    """How often something hung."""

    times: int
    rules: str
    """Whose the rules were, in words: others get another chance."""


class _Trail:
    """What this process is at, and the file in which that is kept."""

    def __init__(self) -> None:
        """Begins without a file, and with nothing that hung."""
        self.file: int | None = None
        self.before: dict[str, Hung] = {}
        """What hung, by the JSON of its game and its words."""
        self._now = ""

    def enter(self, key: str) -> str:
        """It is at something; returns what it was at before."""
        outer, self._now = self._now, key
        self._write(key)
        return outer

    def leave(self, outer: str) -> None:
        """Notes that what was begun is over: it did not hang this time."""
        if self.before.pop(self._now, None):
            self.write_before()
        self._now = outer
        self._write(outer)

    def _write(self, key: str) -> None:
        assert self.file is not None
        told = json.dumps([key, time.time()]) if key else ""
        with suppress(OSError):
            os.pwrite(self.file, told.encode().ljust(ROOM), 0)

    def write_before(self) -> None:
        """Keeps what was hung at."""
        assert self.file is not None
        with suppress(OSError):
            os.ftruncate(self.file, ROOM)
            os.pwrite(self.file, json.dumps(self.before).encode(), ROOM)


_trail = _Trail()


def follow(
    place: Path,
    take_off: Callable[[str, str], None],
    patience: float = PATIENCE_SECONDS,
    whose: Callable[[str], str] = lambda _: "",
) -> None:
    """Keeps from now on what this process is at.

    Args:
        place: the file; `forget` gives all games another chance.
        take_off: is told each game that hung the processes before, and why it can't be played.
        patience: as `PATIENCE_SECONDS`.
        whose: tells by which edition of its rules a game is played.
    """
    try:
        file = os.open(place, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        left = os.pread(file, 1 << 20, 0)
    except OSError as error:
        log.warning("it can't be kept which game's rules hang: %s", error)
        return
    key, since, told = _read(left)
    before = {one: hung for one, hung in told.items() if hung.rules == whose(_words(one)[0])}
    if key and time.time() - since > patience:
        times = before[key].times if key in before else 0
        before[key] = Hung(times + 1, whose(_words(key)[0]))
        log.error("the process before hung in the rules of %s, at %s", *_words(key))
    _trail.file, _trail.before = file, before
    _trail.enter("")
    _trail.write_before()
    for key, (times, _) in before.items():
        game, what = _words(key)
        if times >= TWICE:
            reason = f"its rules hung {times} times at {what}, in a place where no Python runs"
            log.error("the game %s is taken off the shelf: %s", game, reason)
            take_off(game, reason)


def forget(place: Path) -> None:
    """Forgets what hung."""
    place.unlink(missing_ok=True)


@contextmanager
def at(game: str, what: str) -> Iterator[None]:
    """Notes that a game's rules are asked within a block, for what the words say."""
    if _trail.file is None:
        yield
        return
    outer = _trail.enter(json.dumps([game[:60], what[:100]]))
    try:
        yield
    finally:
        _trail.leave(outer)


def _words(key: str) -> tuple[str, str]:
    """The game, and what was done with its rules."""
    game, what = json.loads(key)
    return str(game), str(what)


def _read(text: bytes) -> tuple[str, float, dict[str, Hung]]:
    """What a process was at, since when, and what hung before; nothing that was broken off."""
    key, since, before = "", 0.0, dict[str, Hung]()
    with suppress(ValueError, TypeError, AttributeError):
        before = {
            one: Hung(int(times), str(rules))
            for one, (times, rules) in json.loads(text[ROOM:]).items()
            if _words(one)
        }
    with suppress(ValueError, TypeError):
        found, began = json.loads(text[:ROOM])
        if found and _words(found):
            key, since = found, float(began)
    return key, since, before
