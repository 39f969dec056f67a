"""The options of games: which values each may have."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from engine.translation import N_, gettext, translated

WORD = re.compile(r"[!-~]{1,200}")
"""What a value may be at all: it is a word of ``newgame`` and of a variant's name."""


@dataclass(frozen=True)
class Option:
    """One option of a game: its default, and which values it may have."""

    default: str
    allowed: str
    """The values in words, for a message that refuses another."""
    accepts: Callable[[str], bool]
    tell: Callable[[], str] | None = None
    """Says them in the language that is spoken, where they are more than a text to look up."""

    @property
    def said(self) -> str:
        """The values in words, in the language that is spoken."""
        return self.tell() if self.tell else translated(self.allowed)

    def takes(self, value: object) -> bool:
        """Whether it may have a value: one word that the game accepts."""
        return isinstance(value, str) and bool(WORD.fullmatch(value)) and self.accepts(value)


def fault_of_line(text: object, longest: int) -> str:
    """Why something is no line of text for people, in words after its name; empty if it is one."""
    if not isinstance(text, str):
        return f"is {type(text).__name__}, and no text"
    if not text.strip() or len(text) > longest:
        return f"has {len(text)} letters, and not 1 to {longest}"
    return "" if text.isprintable() else "has letters that can't be seen, or is no single line"


def choice(default: str, *others: str) -> Option:
    """An option with a fixed list of values, the default first."""
    values = (default, *others)
    return Option(default, ", ".join(values), values.__contains__)


def whole_number(default: int, low: int, high: int) -> Option:
    """An option with the whole numbers from low to high."""
    values = frozenset(map(str, range(low, high + 1)))
    return _ranging(
        str(default), values.__contains__, N_("%(low)s to %(high)s"), low=low, high=high
    )


def board_size(default: str, low: int, high: int) -> Option:
    """An option ``WxH``: files by ranks, each from low to high."""

    def accepts(value: str) -> bool:
        return re.fullmatch(r"[1-9]\d?x[1-9]\d?", value, re.ASCII) is not None and all(
            low <= side <= high for side in read_size(value)
        )

    return _ranging(
        default,
        accepts,
        N_("WxH, files by ranks, each %(low)s to %(high)s"),
        low=low,
        high=high,
    )


def _ranging(default: str, accepts: Callable[[str], bool], words: str, **places: int) -> Option:
    return Option(default, words % places, accepts, lambda: gettext(words, **places))


def read_size(value: str) -> tuple[int, int]:
    """Files and ranks of an accepted ``WxH``."""
    width, _, height = value.partition("x")
    return int(width), int(height)
