"""Has a child speak, asked or not, with moves that may be legal when they are read."""

import os
import time

from frame import legal, play, say


def attack():
    if os.fork() == 0:
        while True:
            say(f"move {legal[0]} from a child")
    time.sleep(0.005)
    return "has somebody speak"


play(attack)
