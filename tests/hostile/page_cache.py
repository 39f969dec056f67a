"""Tries to throw files that others need out of the cache, and to have the disk work past it."""

import ctypes
import errno
import fcntl
import mmap
import os
import struct

from frame import play, tried

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
MADV_MERGEABLE, MADV_COLD, MADV_PAGEOUT = 12, 20, 21
FS_IOC_FIEMAP, FIEMAP_FLAG_SYNC = 0xC020660B, 1
FILE = "bot.py"
"""One that was read a moment ago."""
SIZE = ctypes.c_size_t(mmap.PAGESIZE)


def refused(error):
    """The refusal of a kernel that does not know what it is asked."""
    return OSError(errno.ENOSYS if error == errno.EINVAL else error, "refused")


def advise(advice):
    with open(FILE, "rb") as file:
        page = libc.mmap(None, SIZE, mmap.PROT_READ, mmap.MAP_PRIVATE, file.fileno(), 0)
    if libc.madvise(ctypes.c_void_p(page), SIZE, advice) < 0:
        raise refused(ctypes.get_errno())


def evict():
    with open(FILE, "rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def past_the_cache():
    try:
        os.close(os.open(FILE, os.O_RDONLY | os.O_DIRECT))
    except OSError as error:
        raise refused(error.errno) from None


def past_the_cache_later():
    with open(FILE, "rb") as file:
        try:
            fcntl.fcntl(file, fcntl.F_SETFL, fcntl.fcntl(file, fcntl.F_GETFL) | os.O_DIRECT)
        except OSError as error:
            raise refused(error.errno) from None


def write_what_was_put_off():
    with open(FILE, "rb") as file:
        fcntl.ioctl(file, FS_IOC_FIEMAP, struct.pack("QQIIII", 0, 4096, FIEMAP_FLAG_SYNC, 0, 0, 0))


def attack():
    return tried(
        {
            "evict": evict,
            "cold": lambda: advise(MADV_COLD),
            "paged out": lambda: advise(MADV_PAGEOUT),
            "merged": lambda: advise(MADV_MERGEABLE),
            "past the cache": past_the_cache,
            "past the cache later": past_the_cache_later,
            "fiemap": write_what_was_put_off,
        }
    )


play(attack)
