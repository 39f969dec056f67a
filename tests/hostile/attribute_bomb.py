"""Hangs values on its standard error, a file in memory, of which no limit counts them."""

import os

from frame import play


def attack():
    for number in range(10_000):
        os.setxattr(2, f"user.{number}", bytes(60_000))
    return "keeps 600 MB"


play(attack)
