"""Takes memory as stack: a page that is marked read-only ends a stack, and the next begins."""

import ctypes

from frame import play

PAGE, STEP, STEPS, PROT_READ = 4096, 7 << 20, 150, 1
libc = ctypes.CDLL(None)
libc.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)


def attack():
    variables = ctypes.c_void_p.in_dll(libc, "environ").value
    low = (variables & ~(PAGE - 1)) - 64 * PAGE
    for _ in range(STEPS):
        for page in range(low, low - STEP, -PAGE):
            ctypes.memset(page, 1, 1)
        low -= STEP
        if libc.mprotect(low + 8 * PAGE, PAGE, PROT_READ):
            return "refused"
    return "took it"


play(attack)
