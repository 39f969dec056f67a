"""Closes its output and stays."""

import os
import time

from frame import play


def attack():
    os.close(1)
    time.sleep(1000)


play(attack)
