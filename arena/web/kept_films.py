"""Films that were made, kept on disk for whoever asks next: each is made once.

They lie in a folder of the data folder, named by the digest of what they show, and those that
nobody asked for longest go when there are too many. One is made at a time on a machine, whichever
process does it; others wait for their turn, and then mostly find it made.
"""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from arena.ground.file_locks import lock_file

PLACES = 2
"""How many threads of a process may be busy with films: all others are for pages."""
PATIENCE_SECONDS = 20.0
LOOK_SECONDS = 0.1
UNFINISHED = ".part"


class FilmsError(Exception):
    """Films can't be kept, which is the operator's affair."""


@contextmanager
def _keeping() -> Iterator[None]:
    """What goes wrong here is the folder's fault, and none of the rules that a film is made by."""
    try:
        yield
    except OSError as error:
        raise FilmsError(f"films of games can't be kept: {error}") from error


class KeptFilms:
    """The folder of films, which is made with the first one."""

    def __init__(self, folder: Path, *, most_bytes: int) -> None:
        """
        Args:
            most_bytes: that all may have together.
        """
        self.folder = folder
        self._most = most_bytes
        self._places = threading.BoundedSemaphore(PLACES)

    def path(self, name: str) -> Path | None:
        """Where a film lies; None if it is not here."""
        path = self.folder / name
        with _keeping(), suppress(FileNotFoundError):
            os.utime(path)  # by which is known which was asked for last
            return path
        return None

    def brought(self, name: str, make: Callable[[], bytes]) -> Path | None:
        """Where a film lies, which is made if it is not here; None if that would take too long now.

        Raises:
            FilmsError: the folder can't be written.
        """
        if path := self.path(name):
            return path
        if not self._places.acquire(blocking=False):
            return None
        try:
            return self._made(name, make)
        finally:
            self._places.release()

    def _made(self, name: str, make: Callable[[], bytes]) -> Path | None:
        with _keeping():
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = (self.folder / "lock").open("w")
        until = time.monotonic() + PATIENCE_SECONDS
        with lock:
            while not lock_file(lock.fileno()):
                if time.monotonic() > until:
                    return None
                time.sleep(LOOK_SECONDS)
                if path := self.path(name):
                    return path
            if path := self.path(name):
                return path
            film = make()
            with _keeping():
                return self._keep(name, film)

    def _keep(self, name: str, film: bytes) -> Path:
        for left in self.folder.glob(f"*{UNFINISHED}"):
            left.unlink()  # of a process that was killed: who has the lock is alone here
        self._make_room(len(film))
        with tempfile.NamedTemporaryFile(dir=self.folder, suffix=UNFINISHED, delete=False) as file:
            file.write(film)
        path = self.folder / name
        Path(file.name).replace(path)
        return path

    def _make_room(self, needed: int) -> None:
        films = [(path.stat(), path) for path in self.folder.glob("*.gif")]
        films.sort(key=lambda one: one[0].st_mtime_ns)
        used = sum(info.st_size for info, _ in films)
        for info, path in films:
            if used + needed <= self._most:
                return
            path.unlink()
            used -= info.st_size
