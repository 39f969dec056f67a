"""The cold store: files by their names, in a folder or in a bucket. None is ever changed.

Whoever reads gets `StoreError` alone, of which the words are for operators.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from shutil import copyfileobj
from typing import IO, Protocol


class StoreError(Exception):
    """A file that is not there, or a store that can't be used; one sentence."""


class ColdStore(Protocol):
    """Where files of the cold store are; every method may raise `StoreError`."""

    where: str
    """The place as people are told."""

    def names(self) -> Iterator[tuple[str, int]]:
        """All files that there are, with their sizes in bytes."""

    def read(self, name: str, start: int, size: int) -> bytes:
        """A part of a file, which may be shorter than that where it ends."""

    def open(self, name: str) -> AbstractContextManager[IO[bytes]]:
        """A whole file, from its beginning."""

    def put(self, name: str, content: IO[bytes], size: int, digest: str) -> None:
        """Keeps a file, wholly or not at all; one of that name is replaced.

        Args:
            content: stands at its beginning.
            digest: its SHA-256, in hexadecimal.
        """


class FolderStore:
    """Files in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder, self.where = folder, str(folder)

    def names(self) -> Iterator[tuple[str, int]]:
        try:
            with os.scandir(self._folder) as found:
                for one in found:
                    if one.is_file() and not one.name.startswith("."):
                        yield one.name, one.stat().st_size
        except FileNotFoundError:
            return  # it is made with the first file
        except OSError as error:
            raise StoreError(f"{error.filename or self.where}: {error.strerror}") from None

    def read(self, name: str, start: int, size: int) -> bytes:
        with self.open(name) as file:
            try:
                file.seek(start)
                return file.read(size)
            except OSError as error:
                raise StoreError(f"{self._folder / name}: {error.strerror}") from None

    def open(self, name: str) -> AbstractContextManager[IO[bytes]]:
        try:
            return (self._folder / name).open("rb")
        except OSError as error:
            raise StoreError(f"{self._folder / name}: {error.strerror}") from None

    def put(self, name: str, content: IO[bytes], size: int, digest: str) -> None:
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            new = self._folder / f".new-{name}"
            try:
                with new.open("wb") as file:
                    copyfileobj(content, file)
                    file.flush()
                    os.fsync(file.fileno())
                new.replace(self._folder / name)
            except OSError:
                new.unlink(missing_ok=True)  # a disk that is full need not keep a part of it
                raise
            _sync(self._folder)
        except OSError as error:
            raise StoreError(f"{error.filename or self.where}: {error.strerror}") from None


def _sync(folder: Path) -> None:
    """Has the disk know of the names in a folder."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@cache
def store_at(address: str) -> ColdStore:
    """The store at an address, as `Settings.cold_store` has it."""
    if address.startswith(("https://", "http://")):
        from arena.keeping.buckets import BucketStore  # what speaks HTTP takes long to import

        return BucketStore(address)
    return FolderStore(Path(address))
