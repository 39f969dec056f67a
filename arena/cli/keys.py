"""Keys as they are pressed at a terminal, without a line having to be ended."""

from __future__ import annotations

import os
import re
import select
import sys
import termios
import tty
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial

SEQUENCES: Mapping[str, str] = {
    "C": "right",
    "D": "left",
    "H": "home",
    "1~": "home",
    "7~": "home",
    "F": "end",
    "4~": "end",
    "8~": "end",
}
"""The ends of what terminals send for keys without a letter, after ``ESC [`` or ``ESC O``."""
_KEY = re.compile(r"\x1b[\[O]([0-9;]*[A-Za-z~])|(.)", re.DOTALL)
CLOSED = "q"
"""What a terminal that has gone says."""

ReadKeys = Callable[[float], list[str]]
"""Gives the keys that are pressed within so many seconds, as soon as there is one."""


def is_terminal() -> bool:
    """Whether somebody looks at standard output, that can be drawn on, and has keys to press."""
    is_dumb = os.environ.get("TERM") == "dumb"
    return sys.stdin.isatty() and sys.stdout.isatty() and not is_dumb


@contextmanager
def pressed() -> Iterator[ReadKeys]:
    """Reads keys of the terminal at standard input, which shows none of them meanwhile."""
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor)
        yield partial(_read, descriptor)
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def _read(descriptor: int, seconds: float) -> list[str]:
    if not select.select([descriptor], [], [], seconds)[0]:
        return []
    try:
        text = os.read(descriptor, 1024).decode(errors="replace")
    except OSError:  # it was hung up
        return [CLOSED]
    found = [SEQUENCES.get(key[1], "") if key[1] else key[2] for key in _KEY.finditer(text)]
    return found if text else [CLOSED]
