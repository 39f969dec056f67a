"""Sends moves without end, long before they are asked for."""

from frame import legal, play, say


def attack():
    while True:
        say(f"move {legal[0]}\n" * 1000)


play(attack)
