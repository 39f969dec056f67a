"""Sleeps for ever, deaf to every signal that a process can ignore."""

import contextlib
import signal
import time

from frame import play


def attack():
    for number in signal.valid_signals():
        with contextlib.suppress(OSError):
            signal.signal(number, signal.SIG_IGN)
    while True:
        time.sleep(1000)


play(attack)
