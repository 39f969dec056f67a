"""Calls the kernel by the ways of other kinds of programs, whose numbers mean other calls."""

import ctypes
import mmap
import os

from frame import play

I386_GETPID = bytes.fromhex("b814000000cd80c3")
"""The instructions: mov eax, 20; int 0x80; ret."""
X32_READ = 1 << 30


def by_the_gate_of_i386():
    rights = mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC
    page = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, rights)
    page.write(I386_GETPID)
    ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()


def attack():
    if os.uname().machine == "x86_64":
        by_the_gate_of_i386()
    ctypes.CDLL(None).syscall(X32_READ, -1, 0, 0)
    return "got through"


play(attack)
