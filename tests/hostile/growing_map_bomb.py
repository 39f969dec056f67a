"""Takes memory as a stack that grows, which RLIMIT_DATA does not count."""

import mmap

from frame import play

MAP_GROWSDOWN = 0x100


def attack():
    maps = []
    while len(maps) < 64:
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_GROWSDOWN
        maps.append(mmap.mmap(-1, 4 << 20, flags=flags))
        for page in range(0, 4 << 20, 4096):
            maps[-1][page] = 1
    return "took it"


play(attack)
