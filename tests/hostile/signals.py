"""Signals others: the canary's process, and the referee by way of a pipe that has an owner."""

import fcntl
import os
import signal

from frame import TARGETS, play, tried

F_SETOWN, F_SETSIG = 8, 10


def signal_by_pipe():
    """Has the kernel send a signal when a pipe becomes readable."""
    read, write = os.pipe()
    fcntl.fcntl(read, F_SETOWN, TARGETS["canary"])
    fcntl.fcntl(read, F_SETSIG, signal.SIGSTOP)
    fcntl.fcntl(read, fcntl.F_SETFL, os.O_ASYNC)
    os.write(write, b"x")


def attack():
    return tried(
        {
            "canary": lambda: os.kill(TARGETS["canary"], signal.SIGSTOP),
            # Harmless to the referee, should it arrive.
            "referee": lambda: os.kill(TARGETS["referee"], signal.SIGURG),
            "pipe": signal_by_pipe,
        }
    )


play(attack)
