"""Files of the cold store: what is in one, and how a single game is read of it.

A file is JSON Lines, a record a line with its ``number`` before all else, as exports have them. It
is compressed as several streams of xz, one after the other, the *frames*, each with some hundred
lines: together they are an .xz file, which ``xz -dc`` reads from beginning to end, and each can be
read alone. Where they lie, which games they have and what their digests are stands in the database.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from typing import IO, NamedTuple

FRAME_BYTES = 1 << 18
"""With so many bytes of lines a frame is full."""
SUFFIX = ".jsonl.xz"


class DayFileError(ValueError):
    """A file, or a part of one, that is not what was written; one sentence."""


class DayFrame(NamedTuple):
    """A part of a file that can be read alone."""

    start: int
    """How many bytes of the file lie before it."""
    size: int
    """Bytes, compressed."""
    digest: str
    """SHA-256 of those, in hexadecimal."""
    runs: tuple[tuple[int, int], ...]
    """The games that it has: the first and the last number of each that follow on each other."""

    @property
    def games(self) -> int:
        """How many games those are."""
        return sum(last - first + 1 for first, last in self.runs)

    def has(self, number: int) -> bool:
        """Whether a game is among them."""
        return any(first <= number <= last for first, last in self.runs)


def pack_frames(frames: list[DayFrame]) -> bytes:
    """Frames as the database keeps them."""
    return zlib.compress(json.dumps([frame[1:] for frame in frames]).encode())


def unpack_frames(stored: bytes) -> list[DayFrame]:
    """The frames that `pack_frames` stored."""
    rows = json.loads(zlib.decompress(stored))
    starts = accumulate((size for size, _, _ in rows), initial=0)
    return [
        DayFrame(start, size, digest, tuple((first, last) for first, last in runs))
        for start, (size, digest, runs) in zip(starts, rows, strict=False)
    ]


@dataclass(slots=True)
class FrameWriter:
    """Writes a file, game by game."""

    file: IO[bytes]
    frames: list[DayFrame] = field(default_factory=list)
    size: int = 0
    """Bytes so far, without what is not full."""
    _lines: list[bytes] = field(default_factory=list)
    _numbers: list[int] = field(default_factory=list)
    _bytes: int = 0

    def add(self, number: int, text: bytes) -> None:
        """Adds the record of a game, as JSON; the numbers of games only rise."""
        line = b'{"number":%d,%s\n' % (number, text[1:])
        self._lines.append(line)
        self._numbers.append(number)
        self._bytes += len(line)
        if self._bytes >= FRAME_BYTES:
            self.end_frame()

    def end_frame(self) -> None:
        """Writes what has come since the last one."""
        if not self._lines:
            return
        packed = lzma.compress(b"".join(self._lines))
        self.file.write(packed)
        digest, runs = hashlib.sha256(packed).hexdigest(), tuple(_runs(self._numbers))
        self.frames.append(DayFrame(self.size, len(packed), digest, runs))
        self.size += len(packed)
        self._lines, self._numbers, self._bytes = [], [], 0


def _runs(numbers: list[int]) -> Iterator[tuple[int, int]]:
    first = last = numbers[0]
    for number in numbers[1:]:
        if number != last + 1:
            yield first, last
            first = number
        last = number
    yield first, last


def texts_in(packed: bytes, digest: str) -> dict[int, bytes]:
    """The records of a frame by the numbers of their games, each as JSON.

    Raises:
        DayFileError: it is not the frame of this digest.
    """
    if hashlib.sha256(packed).hexdigest() != digest:
        raise DayFileError("a part of it is not as it was written")
    return dict(map(split, lzma.decompress(packed).splitlines()))


def split(line: bytes) -> tuple[int, bytes]:
    """The number and the record of a line.

    Raises:
        DayFileError: it has none.
    """
    before, comma, rest = line.partition(b",")
    number = before.removeprefix(b'{"number":')
    if not (comma and number.isdigit()):
        raise DayFileError("a line of it is no record of a numbered game")
    return int(number), b"{" + rest


def lines_of(file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """Numbers and records of a whole file, of which nothing else is known.

    Raises:
        DayFileError: it is none, or cut short.
    """
    try:
        with lzma.open(file) as lines:
            for line in lines:
                yield split(line.rstrip(b"\n"))
    except (lzma.LZMAError, EOFError) as error:
        raise DayFileError(f"it can't be read: {error}") from None
