"""What to say to whoever names something that is not there: what they are likely to have meant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engine.translation import gettext

ALIKE = 0.65
"""How much of two names agrees, by `difflib`, if one is the other misspelt."""
MOST_MEANT = 3
MOST_LISTED, FEW = 20, 5
"""The most names that are all told to whoever gave another, and how many are told of more than
that."""


def alike(name: str, known: Iterable[str], most: int = MOST_MEANT) -> list[str]:
    """The known names of which one may be misspelt, the likeliest first."""
    # Bots name games, too, and start without it.
    from difflib import get_close_matches

    folded = {one.lower(): one for one in known}
    return [folded[one] for one in get_close_matches(name.lower(), folded, most, ALIKE)]


def did_you_mean(names: Sequence[str]) -> str:
    """The question, in words that follow a colon or a semicolon; of one name at least."""
    *most, last = names
    if most:
        return gettext("did you mean %(most)s or %(last)s?", most=", ".join(most), last=last)
    return gettext("did you mean %(name)s?", name=last)


def instead(name: str, known: Iterable[str]) -> str:
    """What is said to who named what is not among these: those like it, or which there are."""
    there = list(known)
    if near := alike(name, there):
        return did_you_mean(near)
    if not there:
        return gettext("there are: none")
    if len(there) <= MOST_LISTED:
        return gettext("there are: %(names)s", names=", ".join(there))
    return gettext(
        "there are %(number)s, such as %(names)s",
        number=len(there),
        names=", ".join(there[:FEW]),
    )
