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
    """The processes that it started itself. Whatever a bot starts and leaves is below one of them;
    but so is what servers and browsers, which other tests share, start now and then."""
    return {child.pid for child in psutil.Process().children()}
