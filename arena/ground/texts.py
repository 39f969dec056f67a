"""Texts, as a database keeps them: what a person typed is refused where it can't be kept as it is,
and what the program says by itself is cut.
"""

from __future__ import annotations

from arena.ground.refusals import Refusal
from engine.messages import UNKEPT
from engine.translation import gettext

LONGEST = 2000
"""How many characters are kept where nothing else is said."""


def unkept(text: str) -> str:
    """What of a text no database keeps, in words; empty if there is nothing.

    PostgreSQL takes no NUL, and half of a surrogate pair has no UTF-8: JSON can name one, and an
    argument of a command that is no UTF-8 is read as such.
    """
    found = UNKEPT.search(text)
    if found is None:
        return ""
    if found[0] == "\0":
        return gettext("the character NUL")
    return gettext("half of a surrogate pair")


def cut(text: str, longest: int = LONGEST) -> str:
    """A text of the program's own, with an ellipsis for what there is no room for.

    Args:
        longest: in characters.
    """
    return text if len(text) <= longest else f"{text[: longest - 1]}\N{HORIZONTAL ELLIPSIS}"


def typed(note: str, longest: int = LONGEST, *, refusal: type[Exception] = Refusal) -> str:
    """What a person wrote, without space around it.

    Args:
        longest: in characters.

    Raises:
        refusal: it is longer.
    """
    note = note.strip()
    if len(note) > longest:
        raise refusal(
            gettext(
                "the note has %(number)s characters; it may have %(most)s",
                number=len(note),
                most=longest,
            )
        )
    return note
