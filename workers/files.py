"""A bot's files as they are taken in, each one judged, whatever they lie in.

What is no plain file of a plain name is refused, and every read is bounded. What is large is never
in memory (`workers.large_files`).
"""

from __future__ import annotations

import os
import re
import stat
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from fnmatch import translate
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import IO

from engine.translation import gettext
from workers.large_files import (
    MAX_BYTES,
    MIB,
    SMALL_BYTES,
    Aside,
    BundleError,
    Large,
    Readable,
    is_large,
)

MAX_FILES = 1000
MAX_NAME_BYTES = 200


@dataclass(frozen=True, slots=True)
class File:
    """One file of a bot."""

    content: bytes
    """All of it; of a large one only the beginning."""
    executable: bool = False
    large: Large | None = None

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return self.large.size if self.large else len(self.content)


Files = Mapping[str, File]
"""A bot's files by their path below its folder, with ``/`` between names."""


@dataclass(frozen=True, slots=True)
class Member:
    """A file as an archive or a folder names it, before it is read."""

    name: str
    kind: int
    """The kind of file, as in `stat.S_IFMT`."""
    executable: bool
    open: Callable[[], AbstractContextManager[Readable]]
    """What reads its content, in order."""
    path: Path | None = None
    """Where it lies by itself, if it does."""
    large: tuple[str, int] | None = None
    """The digest and size of the large file that it stands for."""


class Collected:
    """Files as they come, each one judged."""

    def __init__(
        self,
        left_out: Collection[str] = (),
        left_out_with: Collection[str] = (),
        *,
        max_bytes: int = MAX_BYTES,
        small_bytes: int = MAX_BYTES,
        aside: Aside | None = None,
    ) -> None:
        """Takes names and marks that are left out; see `LEFT_OUT` and `LEFT_OUT_WITH`.

        Args:
            small_bytes: what all but large files may have together, if there are large ones.
            aside: where large files are put; without it all are kept in memory.
        """
        self.files: dict[str, File] = {}
        self.left_out: list[str] = []
        """The names of files that were."""
        self._is_left_out = named_by(left_out)
        self._marks = left_out_with
        self._folders: set[str] = set()
        self._max_bytes = max_bytes
        self._room = max_bytes
        self._aside = aside
        self._small_bytes = self._small_room = small_bytes if aside else max_bytes

    @property
    def max_bytes(self) -> int:
        """How many bytes all files may have together."""
        return self._max_bytes

    @property
    def aside(self) -> Aside | None:
        """Where large files are put."""
        return self._aside

    def take(self, members: Iterable[Member]) -> None:
        """Takes in those of these files that are wanted.

        Raises:
            BundleError: one is no plain file of a plain name, or they are too many or too large.
        """
        paths = [(path, member) for member in members if (path := tuple(parts_of(member.name)))]
        named = [path for path, _ in paths if not any(map(self._is_left_out, path))]
        above = zip(*(path[:-1] for path in named), strict=False)
        own = len([*takewhile(lambda names: len({*names}) == 1, above)])
        marked = {path[:-1] for path in named if path[-1] in self._marks}
        kept = {
            path
            for path in named
            if path[-1] not in self._marks
            and not any(path[:depth] in marked for depth in range(own + 1, len(path)))
        }
        wanted = [(path[own:], member) for path, member in paths if path in kept]
        self.left_out += ["/".join(path) for path, _ in paths if path not in kept]
        if len(wanted) > MAX_FILES:
            [(folder, most)] = Counter(path[0] for path, _ in wanted).most_common(1)
            words = gettext("there are more than %(number)s files", number=MAX_FILES)
            if 2 * most > len(wanted):
                words = gettext(
                    "there are more than %(number)s files, %(most)s of them in %(folder)r",
                    number=MAX_FILES,
                    most=most,
                    folder=folder,
                )
            raise BundleError(words)
        for _, member in wanted:
            name = "/".join(parts_of(member.name))
            if member.kind == stat.S_IFLNK and not member.large:
                raise BundleError(
                    gettext("%(name)r is a link: put the file itself there", name=name)
                )
            if member.kind not in (stat.S_IFREG, stat.S_IFLNK):
                raise BundleError(gettext("%(name)r is no plain file", name=name))
            self._add(member.name, self._read(member))
        self._settle()

    def take_folder(self, folder: Path, left_out: Collection[str] = ()) -> None:
        """Takes in all wanted files below a folder, but for those in folders that are left out.

        Raises:
            BundleError: as `take`.
            OSError: they can't be read.
        """
        self.take(
            file_at(path.relative_to(folder).as_posix(), path, info.st_mode, self._max_bytes)
            for path, info in walk(folder, left_out)
        )

    def _read(self, member: Member) -> File:
        """What a member has, never more than a byte too many."""
        if member.large:
            if self._aside is None:
                raise BundleError(
                    gettext("%(name)r is a link: put the file itself there", name=member.name)
                )
            large = self._aside.named(*member.large)
            return File(large.beginning(), member.executable, large)
        most = self._room + 1
        with member.open() as source:
            content = source.read(min(most, SMALL_BYTES + 1) if self._aside else most)
            if self._aside is None or len(content) <= SMALL_BYTES:
                return File(content, member.executable)
            if member.path is not None:
                large = self._aside.at(member.path, most)
            else:
                large = self._aside.put(content, source, most)
        return File(content, member.executable, large)

    def _settle(self) -> None:
        """Takes to memory again what is not large after all, by the size of all together."""
        total = self._max_bytes - self._room
        for name, file in self.files.items():
            if file.large and not is_large(file.size, total):
                self.files[name] = File(file.large.content(), file.executable)

    def _add(self, name: str, file: File) -> None:
        """Takes in a file.

        Raises:
            BundleError: its name or size, or the number of files, is not allowed.
        """
        parts = parts_of(name)
        path = "/".join(parts)
        if not path:
            raise BundleError(gettext("the name %(name)r is none of a file", name=name[:60]))
        if (length := len(path.encode())) > MAX_NAME_BYTES:
            raise BundleError(
                gettext(
                    "the name %(name)r... has %(length)s bytes: shorten it to %(most)s, "
                    "its folders' names included",
                    name=name[:60],
                    length=length,
                    most=MAX_NAME_BYTES,
                )
            )
        self._room -= file.size
        if self._room < 0:
            raise BundleError(
                gettext(
                    "the files have more than %(number)s MiB unpacked",
                    number=in_mib(self._max_bytes),
                )
            )
        self._small_room -= 0 if file.large else file.size
        if self._small_room < 0:
            raise BundleError(
                gettext(
                    "the files of at most %(each)s MiB have more than %(whole)s MiB "
                    "together: put them into a larger one",
                    each=in_mib(SMALL_BYTES),
                    whole=in_mib(self._small_bytes),
                )
            )
        if len(self.files) >= MAX_FILES:
            raise BundleError(gettext("there are more than %(number)s files", number=MAX_FILES))
        above = {"/".join(parts[:depth]) for depth in range(1, len(parts))}
        if path in self.files or path in self._folders or above & self.files.keys():
            raise BundleError(gettext("the name %(name)r is there twice", name=path))
        self._folders |= above
        self.files[path] = file


def in_mib(size: int) -> str:
    """A number of bytes in MiB, as messages have it."""
    return f"{size / MIB:g}"


def named_by(patterns: Collection[str]) -> Callable[[str], bool]:
    """Tells which names some patterns of the shell stand for."""
    pattern = re.compile("|".join(map(translate, sorted(patterns))) or r"(?!)")
    return lambda name: pattern.match(name) is not None


def parts_of(name: str) -> list[str]:
    """A path's names; none for the folder itself."""
    if name.startswith("/") or re.match(r"[A-Za-z]:", name) or "\\" in name:
        raise BundleError(
            gettext(
                "the name %(name)r is not relative with '/' between its parts: pack the files "
                "anew, with another program if need be",
                name=name[:60],
            )
        )
    if not name.isprintable():
        raise BundleError(
            gettext("the name %(name)r has characters that can't be printed", name=name[:60])
        )
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise BundleError(
            gettext("the name %(name)r leads out of the bot's folder", name=name[:60])
        )
    return parts


def open_plain(path: Path, limit: int) -> IO[bytes]:
    """Opens a file to read it.

    Raises:
        BundleError: it is none, or has more bytes than that.
    """
    # A pipe that nobody writes to is not waited for.
    file = open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK))  # noqa: SIM115 - the caller closes it
    info = os.fstat(file.fileno())
    if stat.S_ISREG(info.st_mode) and info.st_size <= limit:
        return file
    file.close()
    if stat.S_ISREG(info.st_mode):
        raise BundleError(
            gettext(
                "the file %(name)s has more than %(number)s MiB",
                name=path.name,
                number=in_mib(limit),
            )
        )
    raise BundleError(gettext("%(name)s is no plain file", name=path.name))


def file_at(name: str, path: Path, mode: int, max_bytes: int) -> Member:
    opened = partial(open_plain, path, max_bytes)
    return Member(name, stat.S_IFMT(mode), bool(mode & stat.S_IXUSR), opened, path)


def walk(folder: Path, left_out: Collection[str] = ()) -> Iterator[tuple[Path, os.stat_result]]:
    """Everything below a folder but folders, in order; links are not followed.

    Args:
        left_out: what is not looked into, by patterns of names.
    """
    is_left_out = named_by(left_out)
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if not entry.is_dir(follow_symlinks=False):
            yield Path(entry.path), entry.stat(follow_symlinks=False)
        elif not is_left_out(entry.name):
            yield from walk(Path(entry.path), left_out)
