"""The options of games: which values each may have."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Option:
    """One option of a game: its default, and which values it may have."""

    default: str
    allowed: str
    """The values in words, for a message that refuses another."""
    accepts: Callable[[str], bool]


def choice(default: str, *others: str) -> Option:
    """An option with a fixed list of values, the default first."""
    values = (default, *others)
    return Option(default, ", ".join(values), values.__contains__)


def whole_number(default: int, low: int, high: int) -> Option:
    """An option with the whole numbers from low to high."""
    values = frozenset(map(str, range(low, high + 1)))
    return Option(str(default), f"{low} to {high}", values.__contains__)


def board_size(default: str, low: int, high: int) -> Option:
    """An option ``WxH``: files by ranks, each from low to high."""

    def accepts(value: str) -> bool:
        return re.fullmatch(r"[1-9]\d?x[1-9]\d?", value, re.ASCII) is not None and all(
            low <= side <= high for side in read_size(value)
        )

    return Option(default, f"WxH, files by ranks, each {low} to {high}", accepts)


def read_size(value: str) -> tuple[int, int]:
    """Files and ranks of an accepted ``WxH``."""
    width, _, height = value.partition("x")
    return int(width), int(height)
