"""Has timers wake it with SIGCONT whenever it is stopped, and goes on thinking in a thread."""

import ctypes
import signal
import threading
import zlib

from frame import play

CLOCK_MONOTONIC, SIGEV_SIGNAL = 1, 0
NANOSECONDS = 20_000_000
libc = ctypes.CDLL(None, use_errno=True)


class Event(ctypes.Structure):
    """``struct sigevent``."""

    _fields_ = (
        ("value", ctypes.c_void_p),
        ("signal", ctypes.c_int),
        ("notify", ctypes.c_int),
        ("padding", ctypes.c_int * 12),
    )


def spin():
    block = bytes(10_000)
    while True:
        zlib.crc32(block)


def attack():
    signal.signal(signal.SIGCONT, lambda *_: None)
    event = Event(None, signal.SIGCONT, SIGEV_SIGNAL)
    # Several, since the signal of one may be pending, and lost, at the moment of a stop.
    for delay in range(1, 20):
        timer = ctypes.c_void_p()
        if libc.timer_create(CLOCK_MONOTONIC, ctypes.byref(event), ctypes.byref(timer)):
            return f"timer_create {ctypes.get_errno()}"
        times = (ctypes.c_long * 4)(0, NANOSECONDS, 0, NANOSECONDS + delay * 1_000_000)
        libc.timer_settime(timer, 0, times, None)
    threading.Thread(target=spin, daemon=True).start()
    return "ponders"


play(attack)
