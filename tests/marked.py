"""A language for tests, in which each text stands between marks: so it is seen where it comes to,
and that the rest is data.
"""

from __future__ import annotations

import re
from gettext import NullTranslations

from engine.translation import Translation

MARK, END = "\N{LEFT WHITE SQUARE BRACKET}", "\N{RIGHT WHITE SQUARE BRACKET}"


class _Marked(NullTranslations):
    """As a catalogue in which nothing is missing."""

    def gettext(self, message: str) -> str:
        return f"{MARK}{message}{END}" if message else ""

    def ngettext(self, one: str, many: str, number: int) -> str:
        return f"{MARK}{one if number == 1 else many}{END}"

    def pgettext(self, _context: str, message: str) -> str:
        return f"{MARK}{message}{END}"


MARKED = Translation("it", _Marked())
"""A made-up translation under the tag of a language that there is: what goes by that finds it."""


def unmarked(text: str) -> set[str]:
    """The words of three letters and more outside of all marks."""
    depth, outside = 0, []
    for letter in text:
        depth += {MARK: 1, END: -1}.get(letter, 0)
        outside.append(" " if depth else letter)
    return set(re.findall(r"[A-Za-z]{3,}", "".join(outside)))
