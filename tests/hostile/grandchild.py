"""Leaves a child behind that is deaf to signals, in a session of its own, and holds the pipes."""

import os
import signal
import time

from frame import play


def attack():
    child = os.fork()
    if child == 0:
        os.setsid()
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        if os.fork() == 0:
            time.sleep(1000)
        os._exit(0)
    os.waitpid(child, 0)
    return "left one behind"


play(attack)
