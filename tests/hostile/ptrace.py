"""Attaches to another process, reads its memory, and changes its limits and priority."""

import ctypes
import os
import resource

from frame import TARGETS, play, tried

PTRACE_ATTACH = 16
libc = ctypes.CDLL(None, use_errno=True)


def call(name, *arguments):
    if getattr(libc, name)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), name)


def attack():
    canary = TARGETS["canary"]
    attempts = {
        "attach": lambda: call("ptrace", PTRACE_ATTACH, canary, None, None),
        "read": lambda: call("process_vm_readv", canary, None, 0, None, 0, 0),
        "prlimit": lambda: resource.prlimit(canary, resource.RLIMIT_NOFILE, (1, 1)),
        "setpriority": lambda: os.setpriority(os.PRIO_PROCESS, canary, 19),
        "affinity": lambda: os.sched_setaffinity(canary, {0}),
        "pidfd": lambda: os.pidfd_open(canary),
    }
    return tried(attempts)


play(attack)
