"""Large files of bots, such as weights: each is kept once by its own digest, and never in memory.

A bundle of up to 16 MiB is one tar of all its files, whatever their sizes. In a larger one each
file of more than 1 MiB is a *large file*: it lies beside the tar, named by its SHA-256, and in
the tar there stands a link in its place that says which it is, ``sha256:DIGEST:SIZE``. No author's
archive may have a link, so none can be taken for another. That is a rule on the files alone:
the same files are the same bundle, by whatever way they came, and all bundles that were ever made
without large files are what they were.

The two numbers: up to the first nothing changes for anybody, and it is what may be in memory at
once. The second bounds how many large files there can be (a ladder that grants 512 MiB has fewer
than 512), while files of code are below it.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from engine.translation import gettext

MIB = 1 << 20
MAX_BYTES = 16 * MIB
"""All files of a bot together that has no large ones, and those of one with others, too."""
SMALL_BYTES = MIB
"""A file of more is a large one, in a bundle of more than `MAX_BYTES`."""
MOST_BYTES = 1024 * MIB
"""All files of any bot: no ladder may grant more."""
CHUNK = 1 << 18
UNFINISHED = ".new-"
"""How the names of files and folders begin that are being written."""
LINK = re.compile(r"sha256:([0-9a-f]{64}):([1-9][0-9]{0,10})", re.ASCII)


class BundleError(ValueError):
    """Files that are no bot; one sentence for its author."""


class UnwritableError(Exception):
    """Something can't be written here, which is no fault of what it was read from."""

    @property
    def cause(self) -> BaseException:
        """What the system says."""
        return self.__cause__ or self


class Readable(Protocol):
    """Whatever is read in order."""

    def read(self, size: int, /) -> bytes:
        """Reads so many bytes more at most; none only at the end."""


def write(file: IO[bytes], data: bytes) -> None:
    """Writes; raises UnwritableError."""
    try:
        file.write(data)
    except OSError as error:
        raise UnwritableError from error


@dataclass(frozen=True, slots=True)
class Large:
    """A large file, by its content."""

    digest: str
    size: int
    path: Path | None = None
    """Where it lies; None if it has yet to be brought here."""
    ours: bool = False
    """Whether it was put there by us, for as long as its `Aside` is kept."""

    @property
    def link(self) -> str:
        """What stands for it in a bundle's tar."""
        return f"sha256:{self.digest}:{self.size}"

    def beginning(self) -> bytes:
        """Its first bytes; none if it is not here."""
        if self.path is None:
            return b""
        with self.path.open("rb") as file:
            return file.read(SMALL_BYTES)

    def content(self) -> bytes:
        """All of it, where that is not much.

        Raises:
            BundleError: it is not here.
        """
        if self.path is None or self.size > MAX_BYTES:
            raise BundleError(
                gettext(
                    "the file %(digest)s is no large one: send it with the rest",
                    digest=self.digest[:12],
                )
            )
        with self.path.open("rb") as file:
            return file.read(self.size)


def is_large(size: int, total: int) -> bool:
    """Whether a file lies beside its bundle, whose files have so many bytes together."""
    return size > SMALL_BYTES and total > MAX_BYTES


def read_link(text: str) -> tuple[str, int] | None:
    """The digest and the size that a link stands for; None if it is another link."""
    found = LINK.fullmatch(text)
    return (found[1], int(found[2])) if found else None


def digest_of_file(path: Path, most: int = MOST_BYTES) -> Large:
    """A file as what it is, read up to so many bytes.

    Raises:
        OSError: it can't be read.
    """
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as file:
        while chunk := file.read(min(CHUNK, most - size)):
            digest.update(chunk)
            size += len(chunk)
    return Large(digest.hexdigest(), size, path)


class Aside:
    """Where large files are while a bot's files are read: out of an archive in a folder of ours."""

    def __init__(
        self, above: Path | None = None, given: Callable[[str], Path | None] = lambda _: None
    ) -> None:
        """Makes a folder when it is needed, which is gone with this.

        Args:
            above: where that folder is made; by default where temporary ones are.
            given: where a large file lies that is only named, by its digest.
        """
        self._above = above
        self._given = given
        self._made: Path | None = None

    @property
    def folder(self) -> Path:
        """The folder.

        Raises:
            UnwritableError: it can't be made.
        """
        if self._made is None:
            try:
                self._made = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=self._above))
            except OSError as error:
                raise UnwritableError from error
            weakref.finalize(self, shutil.rmtree, self._made, ignore_errors=True)
        return self._made

    def put(self, begun: bytes, source: Readable, most: int) -> Large:
        """Puts a file here, up to so many bytes, of which the first have been read already.

        Raises:
            UnwritableError: it can't be written.
        """
        digest, size = hashlib.sha256(begun), len(begun)
        number, name = tempfile.mkstemp(dir=self.folder)
        with open(number, "wb") as file:
            write(file, begun)
            while chunk := source.read(min(CHUNK, most - size)):
                digest.update(chunk)
                size += len(chunk)
                write(file, chunk)
            try:
                file.flush()
            except OSError as error:
                raise UnwritableError from error
        return Large(digest.hexdigest(), size, Path(name), ours=True)

    def at(self, path: Path, most: int) -> Large:
        """A file that lies where it may stay, up to so many bytes."""
        return digest_of_file(path, most)

    def named(self, digest: str, size: int) -> Large:
        """A file that is only named.

        Raises:
            BundleError: nobody has given it.
        """
        path = self._given(digest)
        with suppress(OSError):
            if path is not None and path.stat().st_size == size:
                return Large(digest, size, path)
        raise BundleError(
            gettext(
                "the large file %(digest)s of %(size)s bytes was not sent, or not by you: send "
                "it first",
                digest=digest[:12],
                size=size,
            )
        )


def keep(folder: Path, large: Large) -> None:
    """Keeps a large file in a store, by its digest; one that is there and damaged is put right.

    Raises:
        BundleError: it is not what it was.
        OSError: it can't be read or written.
    """
    target = folder / large.digest
    if large.path is None or large.path == target:
        return
    with suppress(FileNotFoundError):
        # Of one that is the same, by a second name, the digest was just made.
        if target.samefile(large.path) or digest_of_file(target).digest == large.digest:
            return
    number, name = tempfile.mkstemp(prefix=UNFINISHED, dir=folder)
    made = Path(name)
    try:
        with open(number, "wb") as file:
            if large.ours:
                made.unlink()
                os.link(large.path, made)
                with made.open("rb") as linked:
                    os.fsync(linked.fileno())
            else:
                _copy(large, file)
        made.chmod(0o600)
        made.replace(target)
    finally:
        made.unlink(missing_ok=True)


def _copy(large: Large, file: IO[bytes]) -> None:
    assert large.path is not None
    digest = hashlib.sha256()
    with large.path.open("rb") as source:
        while chunk := source.read(CHUNK):
            digest.update(chunk)
            file.write(chunk)
    if digest.hexdigest() != large.digest:
        raise BundleError(
            gettext("%(name)s was changed while it was read: do it again", name=large.path.name)
        )
    file.flush()
    os.fsync(file.fileno())
