"""Has its processes stop, wake, trace and kill each other, and change each other's limits."""

import ctypes
import os
import resource
import signal
import time

from frame import play, tried

PTRACE_TRACEME, PTRACE_ATTACH = 0, 16
libc = ctypes.CDLL(None, use_errno=True)


def call(name, *arguments):
    if getattr(libc, name)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), name)


def fight(first):
    """Stops and wakes everybody for ever, and would end process 1, which is deaf to that."""
    while True:
        for number in (signal.SIGSTOP, signal.SIGCONT):
            os.kill(-1, number)
        os.kill(first, signal.SIGKILL)


def attack():
    first, children = os.getpid(), []
    for work in (time.sleep, time.sleep, fight):
        children.append(os.fork())
        if children[-1] == 0:
            os.setsid()
            work(1000 if work is time.sleep else first)
    os.kill(children[0], signal.SIGSTOP)
    os.kill(children[1], signal.SIGKILL)
    child = children[0]
    attempts = {
        "attach": lambda: call("ptrace", PTRACE_ATTACH, child, None, None),
        "be traced": lambda: call("ptrace", PTRACE_TRACEME, 0, None, None),
        "read": lambda: call("process_vm_readv", child, None, 0, None, 0, 0),
        "priority": lambda: os.setpriority(os.PRIO_PROCESS, child, -5),
        "affinity": lambda: os.sched_setaffinity(child, {0}),
        "keeper": lambda: resource.prlimit(child, 10, (1, 1)),  # RLIMIT_LOCKS
        "more": lambda: resource.prlimit(child, resource.RLIMIT_NPROC, (4096, 4096)),
        "pidfd": lambda: os.pidfd_open(child),
    }
    return tried(attempts)


play(attack)
