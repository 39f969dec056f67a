"""Tries to have the kernel write into its log: by filters of its own, and by its name."""

import ctypes
import errno
import os
import struct

from frame import play, tried

libc = ctypes.CDLL(None, use_errno=True)
PR_SET_NAME, PR_GET_NAME, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 15, 16, 22, 38
MODE_FILTER, SET_MODE_FILTER = 2, 1
SECCOMP = 317 if os.uname().machine == "x86_64" else 277
ALLOW_ALL = struct.pack("=HBBI", 0x06, 0, 0, 0x7FFF0000)
"""A filter of one instruction. With SECCOMP_RET_LOG in it each call would be a line of the log."""
code = ctypes.create_string_buffer(ALLOW_ALL, len(ALLOW_ALL))
FILTER = struct.pack("@HP", 1, ctypes.addressof(code))


def checked(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")


def rename():
    libc.prctl(PR_SET_NAME, b"a\n[0] Oops: hi", 0, 0, 0)
    name = ctypes.create_string_buffer(16)
    libc.prctl(PR_GET_NAME, name, 0, 0, 0)
    if b"\n" not in name.value:
        raise OSError(errno.EPERM, "it was not done")


def attack():
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    return tried(
        {
            "a name of two lines": rename,
            "seccomp": lambda: checked(libc.syscall(SECCOMP, SET_MODE_FILTER, 0, FILTER)),
            "PR_SET_SECCOMP": lambda: checked(libc.prctl(PR_SET_SECCOMP, MODE_FILTER, FILTER)),
        }
    )


play(attack)
