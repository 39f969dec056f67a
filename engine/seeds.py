"""Seeds from seeds: the same on every machine, independent of the order in which they are used."""

from __future__ import annotations

import hashlib


def derive(seed: int, *path: str | int) -> int:
    """A seed for one purpose, of 48 bits, so that every language reads it exactly.

    Args:
        path: names the purpose, e.g. ``"match", 3``; other paths give unrelated seeds.
    """
    text = "/".join([str(seed), *map(str, path)])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6])


def lot(seed: int, ply: int) -> float:
    """The number from 0 up to 1 by which chance plays a ply of the game with this seed."""
    return derive(seed, "chance", ply) / 2**48
