"""Unix sockets at any path: the kernel takes 107 bytes of it, and a folder by its number."""

from __future__ import annotations

import fcntl
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from struct import pack

BACKLOG = 512


def listen_at(path: Path) -> socket.socket:
    """Listens at a path, in the place of who listened there, for this user alone.

    Raises:
        OSError: it can't.
    """
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    try:
        with _short(path) as short:
            listener.bind(short)
        path.chmod(0o600)
        listener.listen(BACKLOG)
    except BaseException:
        listener.close()
        raise
    return listener


def listen_alone(place: Path, wait: Callable[[], None]) -> socket.socket:
    """Listens at a path where one process at a time does: another one waits until that ends.

    Args:
        wait: is called before each time that it looks again.

    Raises:
        OSError: it can't.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    # Held as long as this process lives.
    lock = os.open(f"{place}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return listen_at(place)
        except BlockingIOError:
            wait()


def connect_to(path: Path, seconds: float) -> socket.socket:
    """Connects to who listens at a path, and waits for it no longer than so many seconds.

    Raises:
        OSError: nobody does, or they don't answer.
    """
    client = socket.socket(socket.AF_UNIX)
    try:
        # Not by `settimeout`: where many wait to be let in, that would not wait at all.
        span = pack("ll", int(seconds), int(seconds % 1 * 1e6))
        client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, span)
        with _short(path) as short:
            client.connect(short)
    except BaseException:
        client.close()
        raise
    return client


@contextmanager
def _short(path: Path) -> Iterator[str]:
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)
