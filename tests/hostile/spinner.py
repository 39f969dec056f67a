"""Thinks for ever, in several threads."""

import threading
import zlib

from frame import play


def spin():
    block = bytes(100_000)
    while True:
        zlib.crc32(block)


def attack():
    threading.Thread(target=spin, daemon=True).start()
    spin()


play(attack)
