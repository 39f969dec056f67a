"""Takes memory without end, a little in each of its processes."""

import os
import time

from frame import play


def attack():
    for _ in range(7):
        if os.fork() == 0:
            block = bytearray(b"x" * (12 << 20))
            time.sleep(1000)
            os._exit(len(block))
    time.sleep(2)
    return "holds it"


play(attack)
