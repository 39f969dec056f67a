"""The large files that a worker keeps, each once, within a size that its operator sets.

Theory of operation. They lie in a folder closed to all but the worker, by their digests, and an
unpacked bundle has hard links to those that are its own: a bot is shown its own folder, and knows
of no other file whatever digest it names. What nobody may change is written by nobody: a box shows
files read-only, and bots of root workers are other users.

A file is proven while it comes, and then by each process that uses it, once: hundreds of megabytes
before each match would take longer than many matches. What the process has proven it knows by the
file's number, size and time of change, and proves again if one of them is another. So damage of a
disk is found when a worker starts, and a change by any program when it is next used; only who can
turn back the clock of a file, root or the worker's own user, could hide one, and that user could
as well change the worker.

Before a file comes, room is made for it: those that were unused for longest go, with the unpacked
bundles that they belong to. A bundle in use is locked by the process that uses it, and stays.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from workers.box_folder import discard, one_at_a_time
from workers.fetching import fetch_to, is_address
from workers.files import File, Files
from workers.large_files import MIB, UNFINISHED, Aside, BundleError, Large, digest_of_file

GIB = 1024 * MIB
USUAL_BYTES = 8 * GIB
EXECUTABLE = "-x"
"""Ends the name of a file that is kept as a program: links to one file have one mode."""
MOST_REMEMBERED = 4096


class RoomError(OSError):
    """Large files that have no room on a worker, which is its operator's affair."""


_proven: dict[tuple[int, ...], Large] = {}


class Proven(Aside):
    """Reads large files in a worker's folders, each once as long as it stays as it is."""

    def at(self, path: Path, most: int) -> Large:
        info = path.stat()
        key = (info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns)
        if key not in _proven or info.st_size > most:
            if len(_proven) > MOST_REMEMBERED:
                _proven.clear()
            _proven[key] = digest_of_file(path, most)
        return replace(_proven[key], path=path)


class KeptFiles:
    """The folder of large files that a worker keeps."""

    def __init__(
        self, folder: Path, users: Sequence[Path], *, most_bytes: int = USUAL_BYTES
    ) -> None:
        """Takes the folder, which must be there.

        Args:
            users: the folders of unpacked bundles, and of those that were built, which have links
                to these files; each in one that begins with its digest.
            most_bytes: that all may have together.
        """
        self.folder = folder
        self._users = users
        self._most = most_bytes

    def file_of(self, file: File) -> Path:
        """Where a large file is kept."""
        assert file.large
        return self.folder / f"{file.large.digest}{EXECUTABLE if file.executable else ''}"

    @contextmanager
    def brought(self, files: Files, location: str, digest: str) -> Iterator[None]:
        """Brings a bundle's large files here, and keeps them until links to them are made.

        One process of the machine does so at a time; the others wait.

        Args:
            location: of the bundle; that of its large files follows from it.
            digest: of the bundle.

        Raises:
            RoomError: they have no room here.
            BundleError: one is not what it is to be, or the arena does not give it.
            OSError: they don't come, or can't be written.
        """
        wanted = {self.file_of(file): file for file in files.values() if file.large}
        with one_at_a_time(self.folder):
            missing = {path: file for path, file in wanted.items() if not self._has(path, file)}
            self._make_room(wanted, sum(file.size for file in missing.values()))
            for path, file in missing.items():
                assert file.large
                large = file.large
                try:
                    fetch_to(path, _beside(location, large.digest), large.digest, large.size)
                except FileNotFoundError as error:
                    raise BundleError(
                        f"the large file {large.digest[:12]} of the bundle {digest[:12]} is not "
                        f"there: {error.strerror}"
                    ) from None
                path.chmod(0o755 if file.executable else 0o644)
            yield

    def sweep(self) -> None:
        """Removes what no bundle has a link to any more."""
        with one_at_a_time(self.folder):
            self._unlinked({})()

    def _has(self, path: Path, file: File) -> bool:
        """Whether a file is here as it must be; one that is not goes."""
        assert file.large
        try:
            if Proven().at(path, file.size + 1).digest == file.large.digest:
                return True
        except FileNotFoundError:
            return False
        path.unlink()
        return False

    def _make_room(self, wanted: Mapping[Path, File], needed: int) -> None:
        whole = sum(file.size for file in wanted.values())
        if whole > self._most:
            raise RoomError(
                f"the bot's large files have {_in_gib(whole)}, and this worker keeps at most "
                f"{_in_gib(self._most)}: give it more by ARENA_CACHE_GIB"
            )
        begun = {path.with_name(f"{UNFINISHED}{path.name}") for path in wanted}
        for path in self.folder.glob(f"{UNFINISHED}*"):
            if path not in begun:  # nobody writes to it now
                path.unlink()
        go = self._unlinked(wanted)
        for step in (go, *self._oldest_bundles()):
            if self._used() + needed <= self._most:
                return
            step()
            go()
        if self._used() + needed > self._most:
            raise RoomError(
                f"the bot's large files need {_in_gib(needed)} more, and of the "
                f"{_in_gib(self._most)} that this worker keeps too much is in use by bots that "
                "play: give it more by ARENA_CACHE_GIB"
            )

    def _used(self) -> int:
        return sum(
            path.stat().st_size
            for path in self.folder.iterdir()
            if not path.name.startswith(UNFINISHED)
        )

    def _unlinked(self, wanted: Mapping[Path, File]) -> Callable[[], None]:
        """Removes what no bundle has a link to, unless it is wanted."""

        def go() -> None:
            for path in self.folder.iterdir():
                if path not in wanted and path.stat().st_nlink == 1:
                    path.unlink()

        return go

    def _oldest_bundles(self) -> Iterator[Callable[[], None]]:
        """Removes bundles with large files one after the other, those unused for longest first."""
        found = [folder for user in self._users for folder in user.glob("[0-9a-f]*")]
        last: dict[str, float] = {}
        for folder in found:
            with suppress(FileNotFoundError):
                digest = folder.name[:64]
                last[digest] = max(last.get(digest, 0.0), folder.stat().st_mtime)
        for digest in sorted(last, key=last.__getitem__):
            its = [folder for folder in found if folder.name.startswith(digest)]
            if any(map(self._has_links, its)):
                yield partial(_discard_unused, its)

    def _has_links(self, folder: Path) -> bool:
        kept = {(info.st_dev, info.st_ino) for info in map(os.stat, self.folder.iterdir())}
        for above, _, names in os.walk(folder):
            for name in names:
                with suppress(OSError):
                    info = os.lstat(os.path.join(above, name))
                    if (info.st_dev, info.st_ino) in kept:
                        return True
        return False


def _discard_unused(folders: Sequence[Path]) -> None:
    """Removes all of some folders, unless one of them is in use."""
    handles = []
    try:
        for folder in folders:
            with suppress(FileNotFoundError):
                handles.append(os.open(folder, os.O_RDONLY | os.O_DIRECTORY))
                fcntl.flock(handles[-1], fcntl.LOCK_EX | fcntl.LOCK_NB)
        for folder in folders:
            discard(folder)
    except BlockingIOError:
        pass
    finally:
        for handle in handles:
            os.close(handle)


def _beside(location: str, digest: str) -> str:
    """Where a large file is: beside the bundle in a store, and below it at an address."""
    if not is_address(location):
        return str(Path(location).with_name(digest))
    parts = urlsplit(location)
    return urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/{digest}"))


def _in_gib(size: int) -> str:
    return f"{size / GIB:.3g} GiB"
