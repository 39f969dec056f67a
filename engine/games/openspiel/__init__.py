"""OpenSpiel's games (Lanctot et al., 2019): those in turns in which nothing is hidden.

A game is called by OpenSpiel's short name: ``openspiel:breakthrough``. Each is made when it is
first asked for, of what `pyspiel` says of it; OpenSpiel holds its rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial

# Without it the shelf says which extra is missing.
import pyspiel

from engine.game import Game, Variant, page_beside
from engine.games.openspiel.boards import GRIDS, GridVariant
from engine.games.openspiel.chess import FEN, Chess
from engine.games.openspiel.parameters import PARAMETERS, together
from engine.games.openspiel.spiel import FAMILY, SpielVariant
from engine.games.openspiel.words import rules_page

VERSION = "1"
"""The version of what is done here with OpenSpiel's rules: how moves and positions are written, and
scored."""
LEFT_OUT = frozenset({"quoridor"})
"""Broken in OpenSpiel 2.0.2, which warns of it itself: moves that are listed as legal can't be
played."""


class SpielGames(Mapping[str, Game]):
    """The games by OpenSpiel's names."""

    def __getitem__(self, name: str) -> Game:
        if name not in _types():
            raise KeyError(name)
        return _game(name)

    def __iter__(self) -> Iterator[str]:
        return iter(_types())

    def __len__(self) -> int:
        return len(_types())


@cache
def _types() -> dict[str, pyspiel.GameType]:
    """What OpenSpiel says of the games that can be played here, by their names."""
    kind = pyspiel.GameType
    return {
        one.short_name: one
        for one in pyspiel.registered_games()
        if one.dynamics == kind.Dynamics.SEQUENTIAL
        and one.information == kind.Information.PERFECT_INFORMATION
        and one.chance_mode != kind.ChanceMode.SAMPLED_STOCHASTIC  # the odds are not told
        and one.default_loadable
        and one.short_name not in LEFT_OUT
    }


@cache
def _game(name: str) -> Game:
    options = dict(PARAMETERS.get(name, {}))
    build: Callable[[Mapping[str, str]], Variant]
    if name == "chess":
        options, build = {"fen": FEN}, Chess
    elif name in GRIDS:
        build = partial(GridVariant, name)
    else:
        build = partial(SpielVariant, name)
    is_drawn = name == "chess" or name in GRIDS
    title = _types()[name].long_name
    return Game(
        name=f"{FAMILY}:{name}",
        title=title,
        options=options,
        build=build,
        offers=({},),
        rules=page_beside(__file__, f"rules/{name}.md")
        if is_drawn
        else partial(rules_page, name, title, options),
        check=partial(together, name),
        package="open-spiel",
        version=f"{pyspiel.__version__}+{VERSION}",
    )


GAMES = SpielGames()
