"""Goes on thinking while it is not its turn, in children that it does not wait for."""

import os
import zlib

from frame import play


def attack():
    for _ in range(3):
        if os.fork() == 0:
            os.setsid()
            block = bytes(10_000)
            while True:
                zlib.crc32(block)
    return "ponders"


play(attack)
