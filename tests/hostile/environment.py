"""Tells what it was handed down: its environment, and its open files."""

import os

from frame import play


def attack():
    files = []
    for number in range(3, 256):
        try:
            os.fstat(number)
        except OSError:
            continue
        files.append(number)
    return f"files {files} variables {' '.join(sorted(os.environ))}"


play(attack)
