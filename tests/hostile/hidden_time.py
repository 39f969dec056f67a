"""Has others do its work, of whom nothing is there any more when it replies."""

import os
import sys
import time

from frame import play

WORK = "import time\nwhile time.process_time() < {}: pass"


def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def in_a_child(seconds):
    if os.fork() == 0:
        burn(seconds)
        os._exit(0)
    os.wait()


def in_a_daemon(seconds):
    """Which process 1 takes in, as others do without knowing of it."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.setsid()
        if os.fork() == 0:
            burn(seconds)
            os.write(write, b"x")
        os._exit(0)
    os.waitpid(child, 0)
    os.read(read, 1)


def in_a_program(seconds):
    program = [sys.executable, "-S", "-c", WORK.format(seconds)]
    os.waitpid(os.posix_spawn(sys.executable, program, {}), 0)


def attack():
    # So much that none of them may be missed, as the clock is 100 ms.
    for work in (in_a_child, in_a_daemon, in_a_program):
        work(0.034)
    return "hid its time"


play(attack)
