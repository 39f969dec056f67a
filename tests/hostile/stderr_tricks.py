"""Handles its standard error as the file that it is: makes it huge, sparse and not appending."""

import fcntl
import os

from frame import play, tried


def tear_holes():
    fcntl.fcntl(2, fcntl.F_SETFL, 0)
    os.write(2, b"here\n")
    os.lseek(2, 4 << 20, os.SEEK_SET)
    os.write(2, b"and far away\n")


def attack():
    return tried(
        {
            "huge": lambda: os.ftruncate(2, 1 << 40),
            "allocated": lambda: os.posix_fallocate(2, 0, 1 << 30),
            "sealed": lambda: fcntl.fcntl(2, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK),
            "holes": tear_holes,
        }
    )


play(attack)
