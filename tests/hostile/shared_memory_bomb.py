"""Takes memory that no resource limit counts: shared anonymous maps, also of /dev/zero."""

import mmap
import os

from frame import play


def take(file):
    maps = []
    while len(maps) < 64:
        maps.append(mmap.mmap(file, 4 << 20))
        for page in range(0, 4 << 20, 4096):
            maps[-1][page] = 1


def attack():
    got_through = []
    for name in ("anonymous", "/dev/zero"):
        try:
            take(-1 if name == "anonymous" else os.open(name, os.O_RDWR))
        except OSError:
            continue
        got_through.append(name)
    return f"took {got_through}"


play(attack)
