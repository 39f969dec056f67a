"""The launcher of the reduced box: it locks itself in and becomes the bot.

It is started as a program of its own, as ``python -m workers.landlock FD SPECIFICATION`` with
the specification in JSON (see `Specification`), where no namespace can be had. In the order in
which that is possible it ties its life to the referee's, sets its resource limits, gives up
all privileges for good, lets Landlock take away every file that is not named, lets the filter
of workers/seccomp.py take away system calls, and executes the bot's command. What fails is
written to FD, or READY when only the command itself is left to be executed.

A build may start processes, and there is no namespace that would end with its first one. So
the launcher stays beside it, not locked in, and takes in all orphans; when the build ends, or
the launcher is told to end or loses the worker, it ends all that is left.

Landlock's interface is that of linux/landlock.h; the calls have no wrappers in libc and the
same numbers on every processor. It needs the standard library, workers/seccomp.py and
workers/processes.py alone.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
import time
from contextlib import suppress
from typing import NoReturn, TypedDict

from workers import seccomp
from workers.processes import descendants, is_stopped, limit_process

READY = "ready"
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
VERSION_FLAG = 1
RULE_PATH_BENEATH = 1
PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 22, 36, 38
SECCOMP_MODE_FILTER = 2

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 5: 16}
"""How many file rights there are, from which version of Landlock on."""
NET_RIGHTS = 0b11
"""Bind and connect of TCP, from version 4 on."""
SCOPES = 0b11
"""Abstract unix sockets and signals, from version 6 on."""


class Specification(TypedDict):
    """What the launcher is told."""

    command: list[str]
    environment: dict[str, str]
    folder: str
    """The bot's folder: readable, and its working directory."""
    readable: list[str]
    """Other folders and files that the bot may read and execute."""
    devices: list[str]
    """Devices that it may read and write."""
    work: str | None
    """A folder in which a build may do anything; None for a bot that plays."""
    private_user: bool
    """Whether its user has nothing else on this machine."""
    limits: dict[str, int]
    """Limits by the names of resource.RLIMIT_..., in lower case."""
    parent: int
    """The referee's process, with which the bot ends."""


libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


def check(result: int, what: str) -> int:
    """Turns libc's way of failing into an exception."""
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")
    return result


def version() -> int:
    """Landlock's version in this kernel; 0 if it has none or it is off."""
    return max(0, int(libc.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), VERSION_FLAG)))


def restrict_files(specification: Specification) -> None:
    """Takes away every file but the named ones, and more where the kernel can.

    Raises:
        OSError: there is no Landlock, or a named path can't be opened.
    """
    have = version()
    if not have:
        raise OSError("this kernel has no Landlock")
    rights = (1 << max(count for since, count in FILE_RIGHTS.items() if since <= have)) - 1
    attributes = [rights, NET_RIGHTS if have >= 4 else 0, SCOPES if have >= 6 else 0]
    size = 24 if have >= 6 else 16 if have >= 4 else 8
    ruleset = check(
        libc.syscall(CREATE_RULESET, (ctypes.c_uint64 * 3)(*attributes), ctypes.c_size_t(size), 0),
        "landlock_create_ruleset",
    )
    for path in (specification["folder"], *specification["readable"]):
        _allow(ruleset, path, EXECUTE | READ_FILE | (READ_DIR if os.path.isdir(path) else 0))
    for path in specification["devices"]:
        _allow(ruleset, path, READ_FILE | WRITE_FILE)
    if specification["work"]:
        _allow(ruleset, specification["work"], rights)
    check(libc.syscall(RESTRICT_SELF, ruleset, 0), "landlock_restrict_self")
    os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    file = os.open(path, os.O_PATH | os.O_CLOEXEC)
    # struct landlock_path_beneath_attr is packed: 8 bytes of rights, 4 of the file.
    attributes = rights.to_bytes(8, sys.byteorder) + file.to_bytes(4, sys.byteorder)
    check(libc.syscall(ADD_RULE, ruleset, RULE_PATH_BENEATH, attributes, 0), "landlock_add_rule")
    os.close(file)


def restrict_calls(machine: str, specification: Specification) -> None:
    """Loads the filter."""
    building = specification["work"] is not None
    code = seccomp.program(
        machine,
        single_process=not building,
        without_namespaces=True,
        own_pid=0 if building else os.getpid(),
        building=building,
        file_modes=building and specification["private_user"],
    )
    buffer = ctypes.create_string_buffer(code, len(code))

    class Program(ctypes.Structure):
        """``struct sock_fprog``."""

        _fields_ = (("count", ctypes.c_ushort), ("code", ctypes.c_void_p))

    program = Program(len(code) // 8, ctypes.addressof(buffer))
    check(libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0), "seccomp")


def supervise(work: int, *, private_user: bool) -> NoReturn:
    """Waits for the end of a build, or for a word of it, and ends all that it started.

    Args:
        work: the build's first process.
        private_user: whether nobody else's processes are this user's.
    """
    code: int | None = None
    while code is None and signal.sigwait(SUPERVISED) is not signal.SIGTERM:
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == work:
                    code = os.waitstatus_to_exitcode(ended[1])
    while True:
        if private_user:
            with suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)  # all but this one, in one go
        else:
            stop_and_kill()
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            break
        time.sleep(0.001)
    code = -signal.SIGKILL if code is None else code
    os._exit(128 - code if code < 0 else code)


def stop_and_kill() -> None:
    """Ends all that this process started, and what that starts meanwhile.

    Stopped first, they still count against the user's limit of processes: so at last none can
    fork, where killed ones would make room for others.
    """
    for _ in range(STOPPING_PASSES):
        running = [pid for pid in descendants(os.getpid()) if not is_stopped(pid)]
        if not running:
            break
        for pid in running:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
    for pid in descendants(os.getpid()):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


STOPPING_PASSES = 1000
SUPERVISED = {signal.SIGTERM, signal.SIGCHLD}


def divide(*, private_user: bool) -> None:
    """Leaves this process behind as a supervisor, and goes on as its child.

    Raises:
        OSError: the supervisor has ended already, or can't be made.
    """
    check(libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "subreaper")
    # Its own death can wait until it has ended the others.
    check(libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0), "prctl")
    signal.pthread_sigmask(signal.SIG_BLOCK, SUPERVISED)
    above = os.getpid()
    if child := os.fork():
        os.closerange(0, 64)  # or nobody would see that the build closed them
        supervise(child, private_user=private_user)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SUPERVISED)
    check(libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), "prctl")
    if os.getppid() != above:
        raise OSError("the supervisor has ended")


def main(arguments: list[str]) -> None:
    """Locks itself in and executes the command, or says why not."""
    report = int(arguments[0])
    os.set_inheritable(report, False)
    try:
        specification: Specification = json.loads(arguments[1])
        check(libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), "prctl")
        if os.getppid() != specification["parent"]:
            return  # the referee died before the line above
        if specification["work"]:
            divide(private_user=specification["private_user"])
        os.chdir(specification["folder"])
        limit_process(0, specification["limits"])
        check(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
        restrict_files(specification)
        restrict_calls(os.uname().machine, specification)
    except (OSError, ValueError, KeyError) as error:
        os.write(report, str(error).encode())
        raise SystemExit(1) from None
    os.write(report, READY.encode())
    command = specification["command"]
    os.execve(command[0], command, specification["environment"])  # noqa: S606 - the whole point


if __name__ == "__main__":
    main(sys.argv[1:])
