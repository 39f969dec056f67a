"""A language for tests, in which every text stands between marks: what was said is told from what
was kept.
"""

from __future__ import annotations

from gettext import NullTranslations

from engine.translation import Translation

MARK = "\N{LEFT WHITE SQUARE BRACKET}"


class _Marked(NullTranslations):
    """As a catalogue in which nothing is missing."""

    def gettext(self, message: str) -> str:
        return f"{MARK}{message}"

    def ngettext(self, one: str, many: str, number: int) -> str:
        return f"{MARK}{one if number == 1 else many}"

    def pgettext(self, _context: str, message: str) -> str:
        return f"{MARK}{message}"


MARKED = Translation("it", _Marked())
"""By the tag of a language that there is: what goes by that finds it."""
