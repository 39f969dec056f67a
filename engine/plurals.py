"""Numbers, and numbers of things, in words."""

from __future__ import annotations

from collections.abc import Sequence

from engine.translation import ENGLISH, gettext, ngettext, spoken

NARROW_SPACE = "\N{NARROW NO-BREAK SPACE}"


def decimal(value: float) -> str:
    """Points and the like as people write them: ``12``, ``2.5``, ``0.333``, ``1234567.25``."""
    return f"{value:.3f}".rstrip("0").rstrip(".")


def grouped(number: float, style: str = "") -> str:
    """A number as it is read easily: ``20,000``, which other languages than English set apart by
    narrow spaces (ISO 80000-1).

    Args:
        style: how it is written, as `format` has it: ``.0f``.
    """
    text = f"{number:,{style}}"
    return text if spoken() == ENGLISH else text.replace(",", NARROW_SPACE)


def counted(number: float, thing: str, things: str = "") -> str:
    """``1 game``, ``2 games``, ``0.5 points``.

    Args:
        things: the plural, if it is not the singular with an s.
    """
    one, many = f"%(number)s {thing}", f"%(number)s {things or thing + 's'}"
    return ngettext(one, many, number, number=decimal(number))


def listed(names: Sequence[str]) -> str:
    """Names one after the other: ``a``, ``a and b``, ``a, b and c``; nothing of none."""
    *most, last = names or [""]
    return gettext("%(most)s and %(last)s", most=", ".join(most), last=last) if most else last


def either(names: Sequence[str]) -> str:
    """Names of which one holds: ``a``, ``a or b``, ``a, b or c``; empty if there are none."""
    *most, last = names or [""]
    return gettext("%(most)s or %(last)s", most=", ".join(most), last=last) if most else last


def capitalized(words: str) -> str:
    """Words as they begin a sentence; all letters but the first stay as they are."""
    return f"{words[:1].upper()}{words[1:]}"


def time_span(seconds: float) -> str:
    """A length of time as people say it: ``40 s``, ``12 min``, ``3 h 20 min``, ``5 days``."""
    if seconds < 60:
        return f"{max(1, round(seconds))} s"
    if seconds < 5 * 60 and (rest := round(seconds) % 60):
        return f"{round(seconds) // 60} min {rest} s"  # units are the same everywhere
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, rest = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {rest} min" if rest else f"{hours} h"
    return counted(round(hours / 24), "day")
