"""Makes empty files, whose names and nodes are memory of the kernel."""

import os

from frame import play


def attack():
    for number in range(1_000_000):
        os.close(os.open(f"/tmp/{number:x}", os.O_CREAT | os.O_WRONLY))
    return "made a million files"


play(attack)
