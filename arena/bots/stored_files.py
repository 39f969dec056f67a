"""Stored bundles as their readers want them: what files they have, and all of them in one tar."""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

LINK = re.compile(r"sha256:([0-9a-f]{64}):([0-9]+)", re.ASCII)
"""What stands in a bundle for a large file (`workers.large_files`)."""
CHUNK = 1 << 18
END = bytes(2 * tarfile.BLOCKSIZE)
"""How a tar ends."""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file of a bundle."""

    size: int
    content: bytes
    """The beginning of it, as much as was asked for; nothing of a large one."""
    large: str = ""
    """The digest of a large one."""


def read(bundle: Path, most: int) -> Mapping[str, StoredFile]:
    """The files of a stored bundle by their names, with so many of their first bytes."""
    found = {}
    with tarfile.open(bundle) as archive:
        for member in archive:
            if link := LINK.fullmatch(member.linkname):
                found[member.name] = StoredFile(int(link[2]), b"", link[1])
            elif (file := archive.extractfile(member)) is not None:
                found[member.name] = StoredFile(member.size, file.read(most))
    return found


def whole_tar(store: Path, digest: str) -> tuple[Iterator[bytes], int]:
    """A bundle with its large files in their places, as one tar, and how many bytes it has.

    Raises:
        FileNotFoundError: something of it is not stored here.
    """
    parts = _parts(store, digest)
    total = sum(len(header) + _padded(size) for header, _, _, size in parts) + len(END)
    return chain(_written(parts), [END]), total


def tar_of_folders(store: Path, folders: Mapping[str, str]) -> Iterator[bytes]:
    """Several bundles as one tar, each in a folder of its own; what is not stored any more stands
    in a file that says so.

    Args:
        folders: the digests by the folders' names.
    """
    for folder, digest in folders.items():
        try:
            parts = _parts(store, digest, f"{folder}/")
        except (FileNotFoundError, IsADirectoryError):
            yield tarfile.TarInfo(f"{folder}/IS-NOT-STORED-ANY-MORE").tobuf(tarfile.GNU_FORMAT)
        else:
            yield from _written(parts)
    yield END


def _parts(store: Path, digest: str, below: str = "") -> list[tuple[bytes, Path, int, int]]:
    with tarfile.open(store / digest) as archive:
        members = archive.getmembers()
    parts: list[tuple[bytes, Path, int, int]] = []
    for member in members:
        place, path = member.offset_data, store / digest
        if link := LINK.fullmatch(member.linkname):
            member.type, member.linkname, member.size = tarfile.REGTYPE, "", int(link[2])
            place, path = 0, store / link[1]
        if path.stat().st_size < place + member.size:
            raise FileNotFoundError(path)
        member.name = f"{below}{member.name}"
        parts.append((member.tobuf(tarfile.GNU_FORMAT), path, place, member.size))
    return parts


def _padded(size: int) -> int:
    return -(-size // tarfile.BLOCKSIZE) * tarfile.BLOCKSIZE


def _written(parts: list[tuple[bytes, Path, int, int]]) -> Iterator[bytes]:
    for header, path, place, size in parts:
        yield header
        with path.open("rb") as file:
            file.seek(place)
            left = size
            while left:
                chunk = file.read(min(CHUNK, left))
                if not chunk:
                    raise EOFError(f"{path} became shorter while it was sent")
                left -= len(chunk)
                yield chunk
        yield bytes(_padded(size) - size)
