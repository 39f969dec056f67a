"""Ends that take longer than anybody waits for.

A bot that has filled its box with names or maps takes the kernel seconds to end. What it had is
given back when it is gone, and not before: meanwhile nobody waits but a thread made for that,
which keeps this process from ending as well.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

ENDING_SECONDS = 60.0
"""How long an end may take; what is left then is left to whoever sweeps it up."""
AGAIN_SECONDS = 0.05


def finish_later(attempt: Callable[[], bool]) -> None:
    """Repeats what says whether it has succeeded, until it has."""
    threading.Thread(target=_repeat, args=(attempt,), name="ending").start()


def _repeat(attempt: Callable[[], bool]) -> None:
    deadline = time.monotonic() + ENDING_SECONDS
    while not attempt() and time.monotonic() < deadline:
        time.sleep(AGAIN_SECONDS)
