"""Checks of a game in a process of their own, since whoever is checked may hang or crash."""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import sysconfig
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from typing import IO, Any

from engine.conformance import CHECKS, Broken, Trial, check_game
from engine.faulty_rules import is_of_a_game
from engine.game import Game, Variant
from engine.translation import gettext

LIBRARY = sysconfig.get_path("stdlib")
SHOWN_LINES = 3


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """What came of a check."""

    subject: str
    """The game or variant."""
    check: str
    problem: str = ""
    """What does not hold; empty if all does."""
    lines: tuple[str, ...] = ()
    """Where in the game's own files that was, the innermost last."""

    def to_json(self) -> dict[str, Any]:
        """The outcome as JSON's types."""
        return asdict(self)


def run_checks(game: Game, variants: Sequence[Variant], seconds: float) -> Iterator[CheckOutcome]:
    """The outcomes of all checks of a game, one by one.

    Args:
        seconds: that one check may take, before it is ended.
    """
    yield from _run(game.name, {"options, offers and page": None}, game, seconds)
    for variant in variants:
        yield from _run(str(variant), dict.fromkeys(CHECKS), variant, seconds)


def _run(
    subject: str, checks: dict[str, None], what: Game | Variant, seconds: float
) -> Iterator[CheckOutcome]:
    """Runs checks one after the other, in a new process after each that had to be ended."""
    left = list(checks)
    while left:
        with tempfile.TemporaryFile("w+") as trace:
            here, there = multiprocessing.Pipe()
            process = multiprocessing.get_context("fork").Process(
                target=_child, args=(there, trace, subject, tuple(left), what, seconds)
            )
            process.start()
            there.close()
            while left:
                try:
                    # It is about to end itself.
                    outcome = here.recv() if here.poll(seconds + 5) else None
                except EOFError:
                    outcome = None
                if outcome is None:
                    process.kill()
                    process.join()
                    yield _ended(subject, left.pop(0), trace, seconds)
                    break
                left.remove(outcome.check)
                yield outcome
            process.join()


def _child(
    told: Connection,
    trace: IO[str],
    subject: str,
    checks: Sequence[str],
    what: Game | Variant,
    seconds: float,
) -> None:
    """Runs checks, and tells what came of each."""
    trial = Trial(what) if isinstance(what, Variant) else None
    for check in checks:
        faulthandler.dump_traceback_later(seconds, exit=True, file=trace)
        try:
            if trial is not None:
                CHECKS[check](trial)
            elif isinstance(what, Game):
                check_game(what)
            told.send(CheckOutcome(subject, check))
        except Broken as error:
            told.send(CheckOutcome(subject, check, str(error)))
        except BaseException as error:
            words = gettext(
                "it raises %(kind)s: %(error)s",
                kind=type(error).__name__,
                error=" ".join(str(error).split())[:300],
            )
            told.send(CheckOutcome(subject, check, words, _own_lines(error)))
    faulthandler.cancel_dump_traceback_later()


def _own_lines(error: BaseException) -> tuple[str, ...]:
    """The lines of a game's own files through which an error came."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if _is_shown(frame.filename)]
    shown = own[-SHOWN_LINES:] or frames[-1:]
    return tuple(f"{frame.filename}:{frame.lineno}: {frame.line}" for frame in shown)


def _is_shown(file: str) -> bool:
    """Whether a file is the game's, and not of Python's own library."""
    is_installed = f"{os.sep}site-packages{os.sep}" in file
    return is_of_a_game(file) and (is_installed or not file.startswith(LIBRARY))


def _ended(subject: str, check: str, trace: IO[str], seconds: float) -> CheckOutcome:
    """What is known of a check that ended with its process."""
    trace.seek(0)
    # A process that dies while it tells where it is leaves half a line.
    lines = [line.strip() for line in trace if line.startswith('  File "') and line.endswith("\n")]
    if not lines:
        return CheckOutcome(subject, check, gettext("its process died, and said nothing"))
    # Innermost first, as it is written; told as all others are.
    own = [line for line in lines if _is_shown(line.split('"')[1])]
    innermost = tuple(reversed((own or lines)[:SHOWN_LINES]))
    words = gettext("it takes longer than %(seconds)s s, and was at", seconds=f"{seconds:g}")
    return CheckOutcome(subject, check, words, innermost)
