"""A record as a row keeps it: JSON, compressed by zlib, with a dictionary or without."""

from __future__ import annotations

import json
import zlib

from engine.record import GameRecord

IS_BY_DICTIONARY = 0x20
"""The bit of the second byte of zlib's format that says so (RFC 1950); four bytes follow, the
Adler-32 of the dictionary."""


def pack(record: GameRecord, dictionary: bytes | None = None) -> bytes:
    """A record as it is stored.

    Args:
        dictionary: what records of its game have in common (`arena.keeping.dictionaries`).
    """
    text = json.dumps(record.to_json(), separators=(",", ":"), ensure_ascii=False)
    return pack_text(text.encode(), dictionary)


def pack_text(text: bytes, dictionary: bytes | None = None) -> bytes:
    """Packs a text that is JSON already."""
    if dictionary is None:
        return zlib.compress(text)
    packer = zlib.compressobj(zdict=dictionary)
    return packer.compress(text) + packer.flush()


def needed(stored: bytes) -> int | None:
    """The Adler-32 of the dictionary that a stored record was packed by; None for none."""
    if len(stored) < 6 or not stored[1] & IS_BY_DICTIONARY:
        return None
    return int.from_bytes(stored[2:6], "big")


def unpack_text(stored: bytes, dictionary: bytes | None = None) -> bytes:
    """The JSON of the record that `pack` stored.

    Args:
        dictionary: the one that it was packed by.

    Raises:
        zlib.error: it is none.
    """
    if dictionary is None:
        return zlib.decompress(stored)
    opener = zlib.decompressobj(zdict=dictionary)
    text = opener.decompress(stored)
    if not opener.eof:
        raise zlib.error("it was cut short")
    return text


def unpack(stored: bytes) -> GameRecord:
    """A record that was packed without a dictionary; of any `arena.keeping.reading` knows."""
    return GameRecord.from_json(json.loads(unpack_text(stored)))
