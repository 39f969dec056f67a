"""Floods its standard error, as far as that goes and then further, and plays on."""

import contextlib
import os
import time

from frame import play


def attack():
    while time.process_time() < 0.08:
        with contextlib.suppress(OSError):
            os.write(2, b"all work and no play\n" * 3000)
    return "flooded"


play(attack)
