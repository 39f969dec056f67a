"""Fetches what a job needs from the arena's pages, by the signed address that the job names.

The pages may be away for a moment, which is no fault of the match: it waits for them, while its
worker goes on to give signs of life. What the pages refuse is not asked for again. What may be
large goes to disk as it comes, and goes on from there after a cut, of the worker itself, too.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import http.client
import os
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, TypeVar

from workers.archives import MAX_ARCHIVE_BYTES
from workers.large_files import CHUNK, UNFINISHED, BundleError, UnwritableError, write

ANSWER_SECONDS = 20.0
FETCH_SECONDS = 120.0
"""How long pages that do not answer are asked again."""
SLOWEST = 1 << 20
"""Bytes a second at which what is large has to come, beyond that."""
PAUSES = (0.2, 1.0, 2.0, 5.0)
"""Seconds before each new try; the last of them before all that follow."""
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What the system says where nothing more can be written, however often it is tried."""

T = TypeVar("T")


def is_address(location: str) -> bool:
    """Whether a job names an address, and no path of this machine."""
    return location.startswith(("http://", "https://"))


def plain(location: str) -> str:
    """A location as people may see it: an address is a key for some minutes, without its proof."""
    return location.partition("?")[0]


def fetch(address: str, *, patience: float = FETCH_SECONDS) -> bytes:
    """What is at an address.

    Args:
        patience: seconds in which pages that are away may come back.

    Raises:
        BundleError: the pages refuse it, or it is larger than any bundle.
        OSError: they did not answer in time.
    """
    deadline = time.monotonic() + patience

    def ask() -> bytes:
        data = bytearray()
        _ask(address, {}, MAX_ARCHIVE_BYTES, deadline, data.extend)
        return bytes(data)

    return _patiently(address, deadline, ask)


def fetch_to(
    path: Path, location: str, digest: str, most_bytes: int, *, patience: float = FETCH_SECONDS
) -> None:
    """Puts what is at a location into a file, which appears when it is whole and proven.

    Any number of processes may do so at once: one does it, and the others wait for that. What it
    is in until then lies beside it, and is gone on with, whoever began it.

    Args:
        path: the file, in a folder that strangers can't write to.
        location: an address, or a path of this machine.
        digest: its SHA-256 in hexadecimal digits.
        most_bytes: that it may have.
        patience: seconds in which pages that are away may come back; what comes may take a
            second more for each `SLOWEST` bytes that are allowed.

    Raises:
        BundleError: the pages refuse it, or it is larger, or not of that digest.
        OSError: they did not answer in time, or it can't be written.
    """
    part = path.with_name(f"{UNFINISHED}{path.name}")
    while not path.exists():
        with open(part, "a+b", opener=_for_its_owner) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if not _is_at(part, file):
                continue  # who had it has given it its name
            try:
                _fill(file, location, digest, most_bytes, patience)
            except (BundleError, OSError) as error:
                # What may still come whole is kept.
                if isinstance(error, BundleError) or error.errno in FULL:
                    part.unlink()
                raise
            part.rename(path)


def _for_its_owner(name: str, flags: int) -> int:
    return os.open(name, flags | os.O_NOFOLLOW, 0o600)


def _is_at(path: Path, file: IO[bytes]) -> bool:
    with suppress(FileNotFoundError):
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    return False


def _fill(file: IO[bytes], location: str, digest: str, most_bytes: int, patience: float) -> None:
    """Makes a file whole, and proves it."""
    if not is_address(location):
        file.seek(0)
        file.truncate()
        proof = hashlib.sha256()
        with open(location, "rb") as source:
            while chunk := source.read(CHUNK):
                if file.tell() + len(chunk) > most_bytes:
                    raise _too_large(location)
                proof.update(chunk)
                file.write(chunk)
    else:
        had = file.seek(0, os.SEEK_END)
        proof = _download(file, location, most_bytes, patience)
        if had and proof.hexdigest() != digest:  # what was there was of something else
            file.seek(0)
            file.truncate()
            proof = _download(file, location, most_bytes, patience)
    if proof.hexdigest() != digest:
        raise BundleError(f"{plain(location)} is not the file {digest[:12]}: store it again")
    file.flush()


def _download(file: IO[bytes], address: str, most_bytes: int, patience: float) -> hashlib._Hash:
    """Goes on with a file until it is whole, and gives what it hashes to."""
    deadline = time.monotonic() + patience + most_bytes / SLOWEST
    proof = hashlib.sha256()
    file.seek(0)
    while chunk := file.read(CHUNK):
        proof.update(chunk)

    def take(chunk: bytes) -> None:
        proof.update(chunk)
        write(file, chunk)

    def begin_again() -> None:
        nonlocal proof
        file.seek(0)
        file.truncate()
        proof = hashlib.sha256()

    def ask() -> None:
        had = file.seek(0, os.SEEK_END)
        headers = {"Range": f"bytes={had}-"} if had else {}
        try:
            _ask(address, headers, most_bytes, deadline, take, begin_again)
        except urllib.error.HTTPError as error:
            # It has no such byte: all is there, or it was of something else, as its digest tells.
            if not had or error.code != http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
                raise
            error.close()

    try:
        _patiently(address, deadline, ask)
    except UnwritableError as error:
        raise error.cause from None
    return proof


def _patiently(address: str, deadline: float, ask: Callable[[], T]) -> T:
    """Asks until it is answered.

    Raises:
        BundleError: it is refused.
        OSError: that did not happen in time.
    """
    tries = 0
    while True:
        try:
            return ask()
        except urllib.error.HTTPError as error:
            error.close()
            if error.code < 500:
                raise BundleError(
                    f"the arena does not give {plain(address)}: {error.code} {error.reason}"
                ) from None
            problem = f"{error.code} {error.reason}"
        except (OSError, http.client.HTTPException) as error:
            problem = str(getattr(error, "reason", error)) or type(error).__name__
        pause = PAUSES[min(tries, len(PAUSES) - 1)]
        tries += 1
        if time.monotonic() + pause > deadline:
            raise OSError(f"{plain(address)} could not be fetched: {problem}")
        time.sleep(pause)


def _ask(
    address: str,
    headers: dict[str, str],
    most_bytes: int,
    deadline: float,
    take: Callable[[bytes], object],
    begin_again: Callable[[], object] = lambda: None,
) -> None:
    """Asks once, for all or what follows, and passes on what comes.

    Args:
        begin_again: called where all comes though a part was asked for.

    Raises:
        BundleError: with what was there before it is larger than that.
        OSError: it did not come whole; nor did it for an `HTTPException`.
    """
    request = urllib.request.Request(address, headers=headers)  # noqa: S310 - http
    with urllib.request.urlopen(request, timeout=ANSWER_SECONDS) as answer:  # noqa: S310 - http
        had = 0
        if answer.status == http.HTTPStatus.PARTIAL_CONTENT:
            had = int(headers["Range"].removeprefix("bytes=").removesuffix("-"))
            if not answer.headers.get("Content-Range", "").startswith(f"bytes {had}-"):
                raise OSError("another part came than was asked for")
        elif headers:
            begin_again()
        length = answer.headers.get("Content-Length")
        came = 0
        while chunk := answer.read(CHUNK):
            came += len(chunk)
            if had + came > most_bytes:
                raise _too_large(address)
            take(chunk)
            if time.monotonic() > deadline:
                raise TimeoutError("it came too slowly")
    if length is not None and came != int(length):
        raise OSError("it was cut short")


def _too_large(location: str) -> BundleError:
    return BundleError(f"{plain(location)} is larger than any bundle")
