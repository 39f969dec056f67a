"""Texts, as a database keeps them."""

from __future__ import annotations

import re

_NUL, _HALF = "\0", "\ud800-\udfff"
_UNKEPT = re.compile(f"[{_NUL}{_HALF}]")


def unkept(text: str) -> str:
    """What of a text no database keeps, in words; empty if there is nothing.

    PostgreSQL takes no NUL, and half of a surrogate pair has no UTF-8: JSON can name one, and an
    argument of a command that is no UTF-8 is read as such.
    """
    found = _UNKEPT.search(text)
    if found is None:
        return ""
    return "the character NUL" if found[0] == _NUL else "half of a surrogate pair"
