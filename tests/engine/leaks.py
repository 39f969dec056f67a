"""What a process holds, to be compared before and after."""

import os

import psutil


def open_files() -> int:
    """How many files this process has open."""
    return len(os.listdir("/proc/self/fd"))


def highest_file() -> int:
    """The greatest number of a file that this process has open."""
    return max(map(int, os.listdir("/proc/self/fd")))


def child_processes() -> set[int]:
    """The processes that it started, and what those started; but for those that a server of
    databases, which other tests use, starts by itself now and then."""
    found = psutil.Process().children(recursive=True)
    names = {child.pid: _name(child) for child in found}
    servers = {pid for pid, name in names.items() if name == "postgres"}
    return {child.pid for child in found if not {child.pid, _parent(child)} <= servers}


def _name(process: psutil.Process) -> str:
    try:
        return process.name()
    except psutil.NoSuchProcess:
        return ""


def _parent(process: psutil.Process) -> int:
    try:
        return process.ppid()
    except psutil.NoSuchProcess:
        return 0
