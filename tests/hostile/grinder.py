"""Tries calls that run long in the kernel, deaf to a stop, to go on while the opponent thinks."""

import ctypes
import errno
import os

from frame import play, tried

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *3 * [ctypes.c_int], ctypes.c_long]
SIZE = 1 << 22
PROT_READ, MAP_SHARED, MAP_PRIVATE, MAP_ANONYMOUS, MAP_POPULATE = 1, 1, 2, 0x20, 0x8000
MADV_POPULATE_READ, MADV_COLLAPSE = 22, 25
# asm/unistd_64.h and asm-generic/unistd.h
X86 = {"madvise": 28, "mincore": 27, "remap_file_pages": 216, "readahead": 187}
ARM = {"madvise": 233, "mincore": 232, "remap_file_pages": 234, "readahead": 213}
NUMBERS = X86 if os.uname().machine == "x86_64" else ARM


def call(name, *arguments):
    words = [word if isinstance(word, bytes) else ctypes.c_long(word) for word in arguments]
    if libc.syscall(NUMBERS[name], *words) < 0:
        error = ctypes.get_errno()
        # As a kernel answers that does not know what it is asked for.
        raise OSError(errno.ENOSYS if error == errno.EINVAL else error, name)


def map_of(flags):
    found = libc.mmap(None, SIZE, PROT_READ, flags | MAP_ANONYMOUS, -1, 0)
    if found in (None, ctypes.c_void_p(-1).value):
        raise OSError(ctypes.get_errno(), "mmap")
    return found


def remap():
    call("remap_file_pages", map_of(MAP_SHARED), 4096, 0, 1, 0)


def attack():
    place = map_of(MAP_PRIVATE)
    file = os.open("/usr/bin/env", os.O_RDONLY)
    attempts = {
        "MADV_POPULATE_READ": lambda: call("madvise", place, SIZE, MADV_POPULATE_READ),
        "MADV_COLLAPSE": lambda: call("madvise", place, SIZE, MADV_COLLAPSE),
        "MAP_POPULATE": lambda: map_of(MAP_PRIVATE | MAP_POPULATE),
        "mincore": lambda: call("mincore", place, SIZE, bytes(SIZE // 4096)),
        "remap_file_pages": remap,
        "readahead": lambda: call("readahead", file, 0, SIZE),
    }
    return tried(attempts)


play(attack)
