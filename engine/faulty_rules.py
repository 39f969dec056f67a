"""Finds games whose rules hang or raise: they may be a stranger's, and run where we do.

A call into the rules is one of a game's own functions that takes a `State` or a `Variant` first, as
methods do, or of those that all games share. One that lasts too long hangs, whatever it does there,
and is told by looking at what each thread is doing; one that raises is told by the way that the
error came.
"""

from __future__ import annotations

import ctypes
import logging
import os
import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import FrameType, TracebackType

from engine import game as shared
from engine.declaring import in_a_line
from engine.game import GameError, State, Variant
from engine.shelf import Shelf

ENGINE = os.path.dirname(__file__)
PACKAGES = ("engine", "arena", "workers")
OURS = tuple(os.path.join(os.path.dirname(ENGINE), name, "") for name in PACKAGES)
"""Folders whose functions play games, and may take as long as bots think."""
GAMES = os.path.join(ENGINE, "games", "")
LOOK_SECONDS = 1.0
PATIENCE_SECONDS = 30.0
"""How long a call may take in the processes of an arena, where others wait."""
WAKE_UP = signal.SIGURG
"""A signal that does nothing where nobody expects it."""

log = logging.getLogger(__name__)


class HangingRulesError(Exception):
    """The rules of a game were broken off, and it can't be played here any more.

    No `GameError`, which would say that the rules refused something.
    """

    def __init__(self) -> None:
        super().__init__("the rules of this game hang, so it can't be played or shown here")


@dataclass(frozen=True, slots=True)
class RulesFault:
    """What is wrong with the rules of a game."""

    game: str
    reason: str
    """What, and where, in words that go on after the game's name."""

    def __str__(self) -> str:
        return f"the game {self.game}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Hang(RulesFault):
    """A call into a game's rules that lasts too long."""

    thread: int


class HangWatch:
    """Looks at what threads do; to be asked every `LOOK_SECONDS`, by a thread of its own.

    Looks are counted, and not the time between them: a machine that slept does no harm.
    """

    def __init__(self, seconds: float) -> None:
        """Takes how long a call into the rules may last."""
        self._seconds = seconds
        self._calls: dict[int, tuple[FrameType, int]] = {}
        """The call that each thread is in, and at how many looks before."""

    def look(self) -> list[Hang]:
        """The calls that last too long by now."""
        found, calls = [], {}
        for thread, top in sys._current_frames().items():
            inside = [(frame, game) for frame in _outwards(top) if (game := _game_of(frame))]
            if not inside:
                continue
            (innermost, game), (call, _) = inside[0], inside[-1]
            before, looks = self._calls.get(thread, (None, 0))
            calls[thread] = call, looks + 1 if call is before else 0
            if calls[thread][1] * LOOK_SECONDS >= self._seconds:
                reason = f"its rules hang: for {self._seconds:g} s in {_place(innermost)}"
                found.append(Hang(game, reason, thread))
        self._calls = calls
        return found


def break_off_hangs(shelf: Shelf, seconds: float = PATIENCE_SECONDS) -> threading.Event:
    """Takes games whose rules hang off the shelf from now on, and raises where they do.

    The thread that hangs gets a `HangingRulesError`, as soon as it runs any Python; the main thread
    is woken for that, if it sleeps or waits for the system. All else goes on without that game,
    until this process is started again.

    Returns:
        What ends it, once it is set.
    """
    ended = threading.Event()

    def guard() -> None:
        watch = HangWatch(seconds)
        while not ended.wait(LOOK_SECONDS):
            for hang in watch.look():
                if hang.game in shelf:
                    log.error("the game %s is taken off the shelf: %s", hang.game, hang.reason)
                    shelf.take_off(hang.game, hang.reason)
                _raise_in(hang.thread)

    if threading.current_thread() is threading.main_thread():
        signal.signal(WAKE_UP, _awake)
    threading.Thread(target=guard, name="hangs", daemon=True).start()
    return ended


def _raise_in(thread: int) -> None:
    number, error = ctypes.c_ulong(thread), ctypes.py_object(HangingRulesError)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(number, error)
    if thread == threading.main_thread().ident:
        signal.pthread_kill(thread, WAKE_UP)


def _awake(_number: int, _frame: FrameType | None) -> None:
    """The Python that a call which waits for the system runs when it is woken."""


def take_off_if_raised(shelf: Shelf, error: Exception) -> None:
    """Takes the game off the shelf in whose rules an error was raised, if it was in any."""
    fault = fault_of(error)
    if fault and fault.game in shelf:
        log.error("the game %s is taken off the shelf: %s", fault.game, fault.reason)
        shelf.take_off(fault.game, fault.reason)


def fault_of(error: BaseException) -> RulesFault | None:
    """The mistake of a game's rules that an error is; None if it is another's, or none."""
    inside = [] if isinstance(error, GameError) else list(_raised(error.__traceback__))
    if not inside:
        return None
    place, game = inside[-1]
    if isinstance(error, HangingRulesError):
        return RulesFault(game, f"its rules were broken off in {place}")
    return RulesFault(game, f"its rules raise {in_a_line(error)} in {place}")


def _raised(traceback: TracebackType | None) -> Iterable[tuple[str, str]]:
    """Where an error came through rules, and of which game, from the outside in."""
    while traceback is not None:
        if game := _game_of(traceback.tb_frame):
            yield _place(traceback.tb_frame, traceback.tb_lineno), game
        traceback = traceback.tb_next


def _outwards(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _game_of(frame: FrameType) -> str:
    """The game of the State or Variant that its rules are asked about here; empty if none is."""
    code = frame.f_code
    if not code.co_argcount or not (
        is_of_a_game(code.co_filename) or code.co_filename == shared.__file__
    ):
        return ""
    first = frame.f_locals.get(code.co_varnames[0])
    variant = getattr(first, "variant", None) if isinstance(first, State) else first
    return str(getattr(variant, "game", "")) if isinstance(variant, Variant) else ""


def is_of_a_game(file: str) -> bool:
    """Whether a file is a game's own: of none of our other folders."""
    return file.startswith(GAMES) or not file.startswith(OURS)


def _place(frame: FrameType, line: int | None = None) -> str:
    return f"{frame.f_code.co_filename}:{line or frame.f_lineno}"
