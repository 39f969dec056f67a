"""Writes to sockets that nobody reads, and closes the ends that it wrote to."""

import socket
from contextlib import suppress

from frame import play


def fill(number):
    """Connects a thousand times to a name, by streams or by datagrams."""
    kind, name = (socket.SOCK_STREAM, socket.SOCK_DGRAM)[number % 2], f"\0{number}"
    receiver = socket.socket(socket.AF_UNIX, kind)
    receiver.bind(name)
    if kind == socket.SOCK_STREAM:
        receiver.listen(1000)
    for _ in range(1000):
        with socket.socket(socket.AF_UNIX, kind) as sender, suppress(BlockingIOError):
            sender.setblocking(False)
            sender.connect(name)
            while True:
                sender.send(bytes(1 << 16))
    return receiver


def attack():
    receivers = [fill(number) for number in range(4)]
    return f"filled {len(receivers)}"


play(attack)
