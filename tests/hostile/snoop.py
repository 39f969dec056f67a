"""Reads what is not its own: the system's files, the worker's, another bot's, other processes'."""

import os

from frame import TARGETS, play, tried


def read(path):
    with open(path, "rb") as file:
        file.read(1)


def attack():
    referee = TARGETS["referee"]
    paths = [
        "/etc/passwd",
        "/etc/shadow",
        "/etc/hostname",
        "/proc/self/status",
        "/proc/1/environ",
        f"/proc/{referee}/environ",
        f"/proc/{referee}/cmdline",
        "/sys/kernel/notes",
        "/dev/mem",
        *TARGETS["files"],
    ]
    attempts = {path: lambda path=path: read(path) for path in paths}
    folders = ("/proc", "/sys", "/home", "/root", "/var", TARGETS["open_folder"])
    attempts |= {f"{path}/": lambda path=path: os.listdir(path) for path in folders}
    return tried(attempts)


play(attack)
