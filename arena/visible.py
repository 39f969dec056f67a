"""Strangers' words where they could be taken for more than words: on a terminal, in a log."""

from __future__ import annotations


def visible(text: str, but: str = "\n\t") -> str:
    """A text with what would command a terminal, or can't be seen, written out as Python does.

    Args:
        but: what is left as it is; nothing, where a text is to be a part of one line.
    """
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() or one in but else repr(one)[1:-1] for one in text)
