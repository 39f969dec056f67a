"""The games: ``GAMES["clobber"].variant(size="8x8").initial()``."""

from __future__ import annotations

from collections.abc import Iterable

from engine.game import OptionError, Variant
from engine.shelf import Shelf
from engine.translation import gettext

GAMES = Shelf()
"""All that are installed, each loaded when it is first named."""


def find_variant(name: str, options: Iterable[str] = ()) -> Variant:
    """The variant of a game's name and its options written ``key=value``.

    Raises:
        OptionError: an unknown game, option or value, or an option without '='.
    """
    game = GAMES[name]
    chosen: dict[str, str] = {}
    for word in options:
        key, equals, value = word.partition("=")
        if not equals:
            raise OptionError(
                gettext("%(word)r is no option; an option is written key=value", word=word[:40])
            )
        if key in chosen:
            raise OptionError(gettext("the option %(key)s is given twice", key=key))
        chosen[key] = value
    return game.variant(**chosen)
