"""A record as a row keeps it."""

from __future__ import annotations

import json
import zlib

from engine.record import GameRecord


def pack(record: GameRecord) -> bytes:
    """A record as it is stored: JSON, compressed."""
    text = json.dumps(record.to_json(), separators=(",", ":"), ensure_ascii=False)
    return pack_text(text.encode())


def pack_text(text: bytes) -> bytes:
    """The same, of what is JSON already."""
    return zlib.compress(text)


def unpack_text(stored: bytes) -> bytes:
    """The JSON of the record that `pack` stored.

    Raises:
        zlib.error: it is none.
    """
    return zlib.decompress(stored)


def unpack(stored: bytes) -> GameRecord:
    """The record that `pack` stored; where it may be cold, `arena.keeping.reading` has it."""
    return GameRecord.from_json(json.loads(unpack_text(stored)))
