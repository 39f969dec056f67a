"""Takes memory as stack, which RLIMIT_DATA does not count: with a higher limit, or moved away."""

import ctypes
import errno
import resource

from frame import play, tried

PAGE, HUGE, MREMAP_MAYMOVE, FAILED = 4096, 1 << 30, 1, 2**64 - 1
libc = ctypes.CDLL(None, use_errno=True)
libc.mremap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int)
libc.mremap.restype = ctypes.c_void_p


def raise_limit():
    if resource.getrlimit(resource.RLIMIT_STACK)[1] in range(1 << 30):
        raise OSError(errno.EPERM, "bounded for good")


def move():
    """Moves a page that the stack doesn't use yet, and makes it long."""
    variables = ctypes.c_void_p.in_dll(libc, "environ").value
    unused = (variables & ~(PAGE - 1)) - 25 * PAGE
    moved = libc.mremap(unused, PAGE, HUGE, MREMAP_MAYMOVE)
    if moved == FAILED:
        raise OSError(ctypes.get_errno(), "mremap")
    for page in range(0, HUGE, PAGE):
        ctypes.memset(moved + page, 1, 1)


def attack():
    return tried({"limit": raise_limit, "moved": move})


play(attack)
