"""Tries what no game needs: other namespaces, mounts, shared memory, watches, locks, priority."""

import ctypes
import errno
import fcntl
import os
import resource
import signal
import socket
import struct
import threading

from frame import play, tried

libc = ctypes.CDLL(None, use_errno=True)
# From Linux 5.1 on a new call has the same number on every processor.
IO_URING_SETUP, IO_URING_REGISTER, CLOSE_RANGE, LANDLOCK = 425, 427, 436, 444
CLOSE_RANGE_UNSHARE, LANDLOCK_TCP = 2, 2
CLONE_NEWUSER, CLONE_NEWNS, MS_BIND = 0x10000000, 0x20000, 4096
PR_SET_PDEATHSIG, PR_FUTEX_HASH, SET_SLOTS = 1, 78, 1
# linux/fcntl.h
F_SET_RW_HINT, RWH_WRITE_LIFE_SHORT = 1036, 2
# linux/fs.h
FS_IOC_GETFLAGS, FS_IOC_SETFLAGS, FS_NOATIME_FL = 0x80086601, 0x40086602, 0x80
# asm/unistd_64.h and asm-generic/unistd.h
X86 = {"keyctl": 250, "add_key": 248, "bpf": 321, "perf_event_open": 298, "userfaultfd": 323}
X86 |= {"timer_create": 222, "io_setup": 206, "syncfs": 306, "vmsplice": 278}
ARM = {"keyctl": 219, "add_key": 217, "bpf": 280, "perf_event_open": 241, "userfaultfd": 282}
ARM |= {"timer_create": 107, "io_setup": 0, "syncfs": 267, "vmsplice": 75}
NUMBERS = X86 if os.uname().machine == "x86_64" else ARM


def call(name, *arguments):
    if getattr(libc, name)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), name)


def lock():
    with open("/usr/bin/env", "rb") as file:
        fcntl.flock(file, fcntl.LOCK_SH)


def record_lock():
    with open("/usr/bin/env", "rb") as file:
        fcntl.lockf(file, fcntl.LOCK_SH)


def mark():
    """Changes what a file is marked with, which needs no more than to read and own it."""
    with open("bot.py", "rb") as file:
        flags = bytearray(8)
        fcntl.ioctl(file, FS_IOC_GETFLAGS, flags)
        flags[0] ^= FS_NOATIME_FL
        fcntl.ioctl(file, FS_IOC_SETFLAGS, flags)


def rule():
    """Makes a set of rules for Landlock, of which the kernel keeps as many as one likes."""
    call("syscall", LANDLOCK, (ctypes.c_uint64 * 2)(0, LANDLOCK_TCP), 16, 0)


def note():
    """Has a device keep when it was touched, for whoever comes next."""
    before = os.stat("/dev/null").st_mtime_ns
    os.utime("/dev/null")
    if os.stat("/dev/null").st_mtime_ns == before:
        raise OSError(errno.EPERM, "it was not done")


def hint():
    """Tells how long what is written will live, which the kernel remembers of the file."""
    with open("bot.py", "rb") as file:
        fcntl.fcntl(file, F_SET_RW_HINT, struct.pack("Q", RWH_WRITE_LIFE_SHORT))


def hash_locks():
    """Makes a table for locks in the kernel, which gives one of 64 bytes for each slot."""
    if libc.prctl(PR_FUTEX_HASH, SET_SLOTS, 1 << 16, 0, 0) < 0:
        raise OSError(errno.ENOSYS, "not in this kernel, as it seems")


def attack():
    attempts = {name: lambda n=n: call("syscall", n, 0, 0, 0, 0) for name, n in NUMBERS.items()}
    attempts |= {
        "io_uring": lambda: call("syscall", IO_URING_SETUP, 1, bytes(120)),
        "io_uring_register": lambda: call("syscall", IO_URING_REGISTER, -1, 0, 0, 0),
        "ruleset": rule,
        "files of its own": lambda: call("syscall", CLOSE_RANGE, 99, 99, CLOSE_RANGE_UNSHARE),
        "hash of locks": hash_locks,
        "user namespace": lambda: call("unshare", CLONE_NEWUSER),
        "mount namespace": lambda: call("unshare", CLONE_NEWNS),
        "mount": lambda: call("mount", b"/usr", b"/tmp", None, MS_BIND, None),
        "chroot": lambda: os.chroot("/"),
        "shmget": lambda: call("shmget", 0, 4096, 0o1600),
        "memfd": lambda: os.memfd_create("x"),
        "mq_open": lambda: call("mq_open", b"/x", os.O_CREAT | os.O_RDWR, 0o600, None),
        "inotify": lambda: call("inotify_init1", 0),
        "a pipe's SIGCONT": lambda: fcntl.fcntl(1, fcntl.F_SETSIG, signal.SIGCONT),
        "its own SIGCONT": lambda: os.kill(os.getpid(), signal.SIGCONT),
        "a thread's SIGCONT": lambda: signal.pthread_kill(threading.get_ident(), signal.SIGCONT),
        "flock": lock,
        "lockf": record_lock,
        "nice": lambda: os.setpriority(os.PRIO_PROCESS, 0, 1),
        "affinity": lambda: os.sched_setaffinity(0, {0}),
        "batch": lambda: os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0)),
        "personality": lambda: call("personality", 0x0040000),
        "more files": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096)),
        "longer files": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 40, 1 << 40)),
        "outlive the worker": lambda: call("prctl", PR_SET_PDEATHSIG, 0, 0, 0, 0),
        "hostname": lambda: socket.sethostname("mine"),
        "mark a file": mark,
        "note on a device": note,
        "hint at a file": hint,
        "write to /bot": lambda: os.chmod("bot.py", 0o777),
    }
    return tried(attempts)


play(attack)
