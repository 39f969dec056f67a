"""How a run of games ends before its time: by somebody's wish, or by a fault of the machine.

At the first signal (Ctrl-C, the end of a terminal, or of a job) no match is begun any more and
those under way are played to their end; at the second they are broken off, wherever they are.
What the machine fails at is tried again a few times first: it may be short of files, cores or
users for a moment.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event
from typing import Any, TypeVar, cast

import click

from engine.channel import HeadAndTail, PipeChannel
from engine.player import VoidGameError
from engine.process import OpenChannel
from engine.program import Program
from engine.translation import gettext

Job = TypeVar("Job")
Result = TypeVar("Result")
INTERRUPTED = 130
"""The exit code of what somebody stopped."""
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PAUSES = (0.5, 1.0, 2.0, 4.0)
"""Seconds before a match that could not be played is tried again."""
SLICE_SECONDS = 0.1
"""How long the end of a program is waited for without a look whether anybody still wants that."""


@contextmanager
def stoppable(save: Callable[[], str] = str) -> Iterator[Callable[[], bool]]:
    """Takes the first signal as a wish to stop; the second is a KeyboardInterrupt.

    Args:
        save: is called at the first, since whoever sends one may not wait for long; what it
            answers is said before all else.
    """
    asked = Event()

    def on_signal(*_: object) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()
        words = gettext(
            "the matches under way are played to their end; Ctrl-C again breaks them off"
        )
        click.echo(f"\n{save()}{words}", err=True)

    # Who started us may want one of them ignored, as nohup does.
    heeded = [one for one in SIGNALS if one is signal.SIGINT or not _is_ignored(one)]
    before = {number: signal.signal(number, on_signal) for number in heeded}
    try:
        yield asked.is_set
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _is_ignored(number: signal.Signals) -> bool:
    return signal.getsignal(number) is signal.SIG_IGN


class Trouble:
    """What broke a run off, if anything did."""

    error: BaseException | None = None

    @property
    def is_wish(self) -> bool:
        """Whether it was somebody's wish, and no fault."""
        return self.error is None or isinstance(self.error, KeyboardInterrupt)

    def tell(self) -> None:
        """Raises it again if it was a fault."""
        if self.error and not self.is_wish:
            raise self.error


@contextmanager
def broken_off() -> Iterator[Trouble]:
    """Holds back what breaks a run off until what was played has been saved and told."""
    trouble = Trouble()
    try:
        yield trouble
    except (KeyboardInterrupt, Exception) as error:
        trouble.error = error


class AbandonedError(Exception):
    """Nobody waits for this match any more."""


class UnderWay:
    """The matches under way, which can all be broken off at once."""

    def __init__(self) -> None:
        self._over = Event()
        self._told = False

    def abandon(self) -> None:
        """Breaks all of them off, within moments."""
        self._over.set()

    def check(self, *_: object) -> None:
        """Is called on the way through a match.

        Raises:
            AbandonedError: it is broken off.
        """
        if self._over.is_set():
            raise AbandonedError

    def channel(self, open_channel: OpenChannel = PipeChannel) -> OpenChannel:
        """What opens channels to programs that are waited for only until then."""

        def opened(program: Program, errors: HeadAndTail) -> PipeChannel:
            return open_channel(cast("Program", _Abandonable(program, self._over)), errors)

        return opened

    def patiently(self, play: Callable[[Job], Result]) -> Callable[[Job], Result]:
        """Plays a match, and tries again a little later if this machine could not play it.

        Raises:
            VoidGameError: it could not in the end.
        """

        def play_patiently(job: Job) -> Result:
            pauses = iter(PAUSES)
            while True:
                try:
                    return play(job)
                except (VoidGameError, OSError) as error:
                    pause = next(pauses, None)
                    if pause is None:
                        raise VoidGameError(str(error)) from error
                    self._tell(error)
                    if self._over.wait(pause):
                        raise AbandonedError from None

        return play_patiently

    def _tell(self, error: Exception) -> None:
        """Says once what this machine fails at."""
        if not self._told:
            self._told = True
            words = gettext(
                "a match that could not be played is tried again: %(error)s", error=error
            )
            click.echo(words, err=True)


class _Abandonable:
    """A program of a match that may be broken off while its answer or its end is waited for."""

    def __init__(self, program: Program, over: Event) -> None:
        self._program = program
        self._over = over

    def look(self) -> None:
        # Whoever waits for its answer looks at it many times a second.
        if self._over.is_set():
            raise AbandonedError
        self._program.look()

    def wait(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while not self._over.is_set() and (left := deadline - time.monotonic()) > 0:
            if self._program.wait(min(left, SLICE_SECONDS)):
                return True
        return self._program.wait(0)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._program, name)
