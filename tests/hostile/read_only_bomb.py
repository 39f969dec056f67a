"""Takes memory, and makes it read-only, whereupon RLIMIT_DATA counts it no more."""

import ctypes
import mmap

from frame import play

SIZE, PIECES, PROT_READ = 8 << 20, 128, 1
libc = ctypes.CDLL(None)
libc.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)


def attack():
    maps = []
    for _ in range(PIECES):
        maps.append(mmap.mmap(-1, SIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
        start = ctypes.addressof(ctypes.c_char.from_buffer(maps[-1]))
        ctypes.memset(start, 1, SIZE)
        if libc.mprotect(start, SIZE, PROT_READ):
            return "refused"
    return "took it"


play(attack)
