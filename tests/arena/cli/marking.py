"""A language in which each text stands between brackets, so that the rest is seen to be data."""

from __future__ import annotations

import re
from gettext import NullTranslations

from engine.translation import Translation


class _Marking(NullTranslations):
    """Each text between brackets, with its places."""

    def gettext(self, message: str) -> str:
        return f"‹{message}›" if message else ""

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return f"‹{msgid1 if n == 1 else msgid2}›"

    def pgettext(self, context: str, message: str) -> str:
        return f"‹{message}›"


MARKED = Translation("it", _Marking())


def unmarked(text: str) -> set[str]:
    """The words of three letters and more outside of all brackets."""
    depth, outside = 0, []
    for letter in text:
        depth += {"‹": 1, "›": -1}.get(letter, 0)
        outside.append(" " if depth else letter)
    return set(re.findall(r"[A-Za-z]{3,}", "".join(outside)))
