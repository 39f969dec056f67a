"""Lines: how games began, as keys. Games with the same first moves have keys that begin the same.

A line is the variant of its competition, the start that its lots or its position gave it, and its
moves, each in a fixed number of bytes. Whatever begins with the bytes of a line goes on from there.
Moves are known by a number, not by their words: what they are is for the rules to say, which give
the moves that can be meant.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from engine.game import Move
from engine.record import GameRecord

PLIES = 24
"""How many of a game's moves its line has."""
ROOT_BYTES, START_BYTES, MOVE_BYTES = 8, 4, 4
BEGUN = ROOT_BYTES + START_BYTES
"""The bytes of a line before its first move."""
LONGEST = BEGUN + MOVE_BYTES * PLIES
END = bytes(MOVE_BYTES)
"""Stands after the last move of a game that had no more before somebody left."""


def _digest(data: Any) -> bytes:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).digest()


def root_of(game: str, options: Mapping[str, str]) -> bytes:
    """What the lines of a variant begin with.

    Args:
        options: of the competition.
    """
    return _digest([game, dict(options)])[:ROOT_BYTES]


def start_code(options: Mapping[str, str]) -> bytes:
    """What stands for a start.

    Args:
        options: of the match, with its lots drawn.
    """
    return _digest(dict(options))[:START_BYTES]


def move_code(move: Move) -> bytes:
    """What stands for a move."""
    return zlib.crc32(move.encode()).to_bytes(MOVE_BYTES, "big")


def line_of(start: bytes, record: GameRecord) -> bytes:
    """The line of a game, up to where somebody left it.

    Args:
        start: its first `BEGUN` bytes.
    """
    played = record.faults[0].ply if record.faults else len(record.plies)
    moves = [move_code(ply.move) for ply in record.plies[: min(played, PLIES)]]
    if len(moves) < PLIES:
        moves.append(END)
    return start + b"".join(moves)


def within(column: Any, line: bytes) -> sa.ColumnElement[bool]:
    """Whether a line in a column goes on from another one, or is that."""
    kept = line.rstrip(b"\xff")
    found: sa.ColumnElement[bool] = column >= line
    return found if not kept else sa.and_(found, column < kept[:-1] + bytes([kept[-1] + 1]))
