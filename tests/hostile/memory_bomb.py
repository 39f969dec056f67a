"""Takes memory without end."""

from frame import play


def attack():
    blocks = []
    while True:
        blocks.append(bytearray(b"x" * (1 << 20)))


play(attack)
