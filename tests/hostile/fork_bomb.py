"""Multiplies, as fast as it can and in every way that Python has."""

import os
import subprocess
import time

from frame import play, tried

PARENT = os.getpid()


def fork():
    try:
        while True:
            os.fork()
    finally:
        if os.getpid() != PARENT:
            time.sleep(1000)


def attack():
    return tried(
        {
            "fork": fork,
            "posix_spawn": lambda: os.posix_spawn("/bin/sh", ["sh"], {}),
            "subprocess": lambda: subprocess.Popen(["/bin/sh"]),
        }
    )


play(attack)
