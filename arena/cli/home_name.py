"""What the client of a bot at home calls itself, and that there is one of each on a machine.

It is a secret of this user's for each bot and arena, and stays: so a client that is started after
another was killed is known for its successor, and takes its place at once. Whoever runs has the
secret's file locked, which the system lets go however that ends.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from arena.cli import InputError
from arena.cli.client import login_file
from arena.ground.file_locks import lock_file
from engine.translation import gettext

SECRET = re.compile(r"[0-9a-f]{32}")


def folder() -> Path:
    """Where the secrets of this user lie."""
    return login_file().parent / "connected"


@contextmanager
def own_name(address: str, version: int) -> Iterator[str]:
    """The name of this user's client of a version of a bot, while this process is that client.

    Where nothing can be kept or locked it is a new one each time.

    Args:
        address: of the arena.

    Raises:
        InputError: another process is that client.
    """
    key = hashlib.sha256(f"{address} {version}".encode()).hexdigest()[:32]
    try:
        folder().mkdir(parents=True, exist_ok=True, mode=0o700)
        file = os.open(folder() / key, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        yield secrets.token_hex(16)
        return
    try:
        yield _name(file)
    finally:
        os.close(file)


def _name(file: int) -> str:
    try:
        if not lock_file(file):
            raise InputError(
                gettext("this bot is connected from this machine already: end that one first")
            )
        kept = os.read(file, 100).decode("ascii", "replace")
        if SECRET.fullmatch(kept):
            return kept
        name = secrets.token_hex(16)
        os.ftruncate(file, 0)
        os.pwrite(file, name.encode(), 0)
    except OSError:
        return secrets.token_hex(16)
    return name
