"""Looks for somebody to talk to: the host, the internet, the kernel's own sockets."""

import socket

from frame import TARGETS, play, tried


def connect(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as own:
        own.settimeout(0.2)
        own.connect(address)


def send(address):
    for own in socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM):
        own.sendto(b"x", address)


def attack():
    return tried(
        {
            "tcp": lambda: connect(socket.AF_INET, ("127.0.0.1", TARGETS["port"])),
            "tcp6": lambda: connect(socket.AF_INET6, ("::1", TARGETS["port"])),
            "udp": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
            "raw": lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1),
            "packet": lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW),
            "netlink": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW),
            "vsock": lambda: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM),
            "abstract": lambda: connect(socket.AF_UNIX, "\0" + TARGETS["abstract"]),
            "path": lambda: connect(socket.AF_UNIX, TARGETS["socket"]),
            "datagram": lambda: send(TARGETS["datagrams"]),
            "abstract datagram": lambda: send("\0" + TARGETS["abstract"]),
        }
    )


play(attack)
