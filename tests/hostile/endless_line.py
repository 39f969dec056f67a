"""Sends a line that never ends."""

import os

from frame import play


def attack():
    while True:
        os.write(1, b"x" * 65536)


play(attack)
