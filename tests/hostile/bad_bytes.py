"""Answers with what is no text."""

import os

from frame import play


def attack():
    os.write(1, b"move \xff\xfe\x00\x1b[2J\n")


play(attack)
