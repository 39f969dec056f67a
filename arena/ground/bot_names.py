"""What a bot may be called by who hands it in, and how it or a version of it is named elsewhere:
in addresses, on pages, and by commands.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from arena.ground.refusals import Refusal
from engine.bot_options import BotOptionError, chosen_words, read_chosen
from engine.translation import N_, gettext

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}", re.ASCII)
_NAMED = re.compile(r"([^:]{1,80})(?::0{0,9}([1-9][0-9]{0,8}))?(?::([^:=]*=.*))?", re.ASCII)
"""The length of a number is bounded, as that of what is said of a bot that is not there."""
_APART = re.compile(
    r"[^\s,:=]+(?::\d+)?:[^\s,:=]+=[^\s,]*(?:,[^\s,:=]+=[^\s,]*)*|[^\s,]+", re.ASCII
)
WRITE_NAME = N_("%(name)r names no bot: write greedy, or greedy:2 for its version 2")
WRITE_PLAYER = N_(
    "%(name)r names no bot: write greedy, greedy:2 for its version 2, or greedy:2:depth=8"
)
LONGEST_PLAYER = 2100
"""Characters of a bot's name, its version's number, and what is chosen about it."""


class Named(NamedTuple):
    """What ``greedy``, ``greedy:2`` or ``greedy:2:depth=8`` stands for; whether there is such a one
    is for others."""

    name: str
    """The bot's, in whatever letters it was written."""
    version: int | None
    """Its version's number; None for whichever the place that asks means."""
    options: str = ""
    """What is chosen about it, as ``depth=8,style=fast`` in the order of the names."""

    def __str__(self) -> str:
        version = "" if self.version is None else f":{self.version}"
        return f"{self.name}{version}{self.options and ':'}{self.options}"


def read(text: str, refusal: type[Exception] = Refusal) -> Named:
    """What somebody names by ``greedy``, any of its versions, or ``greedy:2``, just this one.

    Raises:
        refusal: it is no such name, or one with options.
    """
    found = _named(text, refusal, WRITE_NAME)
    if found.options:
        raise refusal(
            gettext(
                "no options can be chosen here: leave out :%(options)s", options=found.options[:60]
            )
        )
    return found


def read_player(text: str, refusal: type[Exception] = Refusal) -> Named:
    """What somebody names, with options or without: ``greedy:2:depth=8,style=fast``.

    Raises:
        refusal: it is no such name.
    """
    return _named(text, refusal, WRITE_PLAYER)


def apart(text: str) -> list[str]:
    """Names with spaces or commas between them; those between a bot's options part no names."""
    return [found[0] for found in _APART.finditer(text)]


def _named(text: str, refusal: type[Exception], words: str) -> Named:
    found = _NAMED.fullmatch(text.strip())
    if found is None:
        raise refusal(gettext(words, name=text.strip()[:60]))
    try:
        chosen = read_chosen(found[3]) if found[3] else {}
    except BotOptionError as error:
        raise refusal(str(error)) from None
    options = chosen_words(dict(sorted(chosen.items())))
    return Named(found[1], int(found[2]) if found[2] else None, options)


def refusal(name: str) -> str:
    """Why a bot can't be called so; empty if it can."""
    # An address that ends so asks for JSON.
    if _NAME.fullmatch(name) and not name.endswith(".json"):
        return ""
    return gettext(
        "%(name)r is no name for a bot: 1 to 40 letters, digits, '_', '.', '-', a letter or digit "
        "first, and no .json at the end",
        name=name[:60],
    )
