"""Takes a name that is no text, with the look of a running process, and sleeps for ever."""

import ctypes
import time

from frame import play

PR_SET_NAME = 15


def attack():
    ctypes.CDLL(None).prctl(PR_SET_NAME, b"\xff\xfe) R 1", 0, 0, 0)
    while True:
        time.sleep(1000)


play(attack)
