"""Files that one process at a time has to itself."""

from __future__ import annotations

import fcntl


def lock_file(file: int) -> bool:
    """Locks an open file until it is closed, and says whether it could: False if another has it.

    Args:
        file: its descriptor.

    Raises:
        OSError: its file system has no locks.
    """
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def wait_for_lock(file: int) -> None:
    """Locks an open file until it is closed, waiting until whoever has it has closed it."""
    fcntl.flock(file, fcntl.LOCK_EX)
