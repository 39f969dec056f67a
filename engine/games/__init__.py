"""The registry of games: ``GAMES["clobber"].variant(size="8x8").initial()``."""

from __future__ import annotations

from collections.abc import Iterable

from engine.game import Game, OptionError, Variant
from engine.games import blocco, clobber, mijnlieff, oxono, oxoxo, puzzle
from engine.games.blokus import game as blokus
from engine.games.siege import game as siege

GAMES: dict[str, Game] = {
    game.name: game
    for game in (
        clobber.GAME,
        blocco.GAME,
        blokus.GAME,
        puzzle.GAME,
        oxono.GAME,
        oxoxo.GAME,
        siege.GAME,
        mijnlieff.GAME,
    )
}


def find_variant(name: str, options: Iterable[str] = ()) -> Variant:
    """The variant of a game's name and its options written ``key=value``.

    Raises:
        OptionError: an unknown game, option or value, or an option without '='.
    """
    if name not in GAMES:
        raise OptionError(f"there is no game {name[:40]!r}; there are: {', '.join(GAMES)}")
    chosen: dict[str, str] = {}
    for word in options:
        key, equals, value = word.partition("=")
        if not equals:
            raise OptionError(f"{word[:40]!r} is no option; an option is written key=value")
        if key in chosen:
            raise OptionError(f"the option {key} is given twice")
        chosen[key] = value
    return GAMES[name].variant(**chosen)
