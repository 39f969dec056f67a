"""Goes on thinking in a thread while it is not its turn."""

import threading
import zlib

from frame import play


def spin():
    block = bytes(10_000)
    while True:
        zlib.crc32(block)


def attack():
    threading.Thread(target=spin, daemon=True).start()
    return "ponders"


play(attack)
