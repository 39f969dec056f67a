"""Ends, and leaves a child that holds its pipes and would play on."""

import os

from frame import play


def attack():
    if os.fork():
        os._exit(3)
    return "plays on"


play(attack)
