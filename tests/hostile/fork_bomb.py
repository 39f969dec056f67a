"""Multiplies, as fast as it can and in every way that Python has."""

import os
import subprocess

from frame import play, tried


def fork():
    while True:
        if os.fork() == 0:
            continue


def attack():
    return tried(
        {
            "fork": fork,
            "posix_spawn": lambda: os.posix_spawn("/bin/sh", ["sh"], {}),
            "subprocess": lambda: subprocess.Popen(["/bin/sh"]),
        }
    )


play(attack)
