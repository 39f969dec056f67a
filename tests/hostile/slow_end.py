"""Fills its box with names, which the kernel is long about to remove, and sleeps at its turn."""

import os
import time

from frame import play

NAMES = 40_000


def attack():
    made = 0
    try:
        while made < NAMES:
            os.mkdir(f"/tmp/{made}")
            for name in range(1000):
                os.close(os.open(f"/tmp/{made}/{name}", os.O_CREAT | os.O_WRONLY))
            made += 1000
    except OSError:
        pass
    time.sleep(1000)


play(attack)
