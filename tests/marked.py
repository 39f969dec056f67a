"""A language for tests, in which every text begins with a mark: so it is seen where it comes to."""

from __future__ import annotations

from gettext import NullTranslations

from engine.translation import Translation

MARK = "\N{LEFT-POINTING DOUBLE ANGLE QUOTATION MARK}"


class _Marked(NullTranslations):
    """As a catalogue in which nothing is missing."""

    def gettext(self, message: str) -> str:
        return f"{MARK}{message}"

    def ngettext(self, one: str, many: str, number: int) -> str:
        return f"{MARK}{one if number == 1 else many}"

    def pgettext(self, _context: str, message: str) -> str:
        return f"{MARK}{message}"


MARKED = Translation("xx", _Marked())
