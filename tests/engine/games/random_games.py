"""Random games of every variant that is tested, the same for the same seed.

What the games offer is tested without being named here; ``FURTHER`` adds variants that no
ladder is opened for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from random import Random

import pytest

from engine.conformance import Trial, random_path
from engine.game import State, Variant
from engine.games import GAMES, find_variant

FURTHER: Mapping[str, Sequence[str]] = {
    "clobber": ("size=2x2", "size=3x2", "size=4x3", "size=2x9", "size=26x2", "size=11x12"),
    "blocco": ("size=2x2", "size=3x2", "size=4x4", "size=2x9", "size=12x3", "size=9x10"),
    "blokus": (
        "mode=classic corners=fixed",
        "mode=teams corners=free",
        "mode=teams corners=fixed",
        "mode=duel corners=free",
        "mode=duel corners=fixed",
        "mode=trio corners=free",
        "mode=trio corners=fixed",
    ),
    "puzzle": (
        "task=full hard=no",
        "task=full hard=yes",
        "task=tetrominoes hard=no",
        "task=tetrominoes hard=yes",
        "task=pentominoes hard=no",
        "task=pentominoes hard=yes",
    ),
    "oxono": ("totems=xc4", "totems=xd3"),
    "siege": (
        "seats=2",
        "setup=fixed",
        "soldiers=3 retreat=yes",
        "seats=2 setup=fixed protection=able demand=no",
    ),
    "mijnlieff": (
        "size=4x4 first=edge",
        "size=4x7",
        "size=8x5 first=edge",
        "shape=ell",
        "shape=tee first=edge",
        "shape=zig",
    ),
}


SPIEL = (
    "amazons board_size=6",
    "breakthrough columns=5 rows=6",
    "checkers",
    "chinese_checkers players=3 max_moves=20",
    "chess",
    "chess fen=8/1P2k3/8/8/8/8/4K1p1/8_b_-_-_3_60",
    "cliff_walking",
    "connect_four",
    "dots_and_boxes num_rows=3 utility_margin=true",
    "go board_size=5 komi=7",
    "hex num_cols=4 num_rows=5 swap=true",
    "nim",
    "othello",
    "pig",
    "ultimate_tic_tac_toe",
)
"""Some of OpenSpiel's games: those that are drawn, and one of each kind of the others: one seat or
three, points, long words, several plies a turn, dice."""
IS_SPIEL_HERE = "openspiel:chess" in GAMES


def spiel_variants() -> Iterator[Variant]:
    """Those of OpenSpiel, where it is installed."""
    for words in SPIEL if IS_SPIEL_HERE else ():
        name, *options = words.split()
        yield find_variant(f"openspiel:{name}", options)


def variants() -> Iterator[Variant]:
    """All that are tested: what each game offers, and the further ones."""
    for game in GAMES.singles.values():
        yield from game.offered
        for options in FURTHER.get(game.name, ()):
            yield find_variant(game.name, options.split())
    yield from spiel_variants()


VARIANTS = {str(variant): variant for variant in variants()}
FOREMOST = {str(variant) for game in GAMES.singles.values() for variant in game.offered[:2]}
"""Those for which a game has ladders opened first: the others are played by the same lines."""


def each_of(variants: Mapping[str, Variant]) -> pytest.MarkDecorator:
    """A test for each variant, a long one but for the foremost of each game; those of OpenSpiel's
    games are tests of an extra."""

    def mark(name: str, variant: Variant) -> Sequence[pytest.MarkDecorator]:
        if variant.game.startswith("openspiel:"):
            return [pytest.mark.extras]
        return [] if name in FOREMOST else [pytest.mark.long]

    its = [pytest.param(one, id=name, marks=mark(name, one)) for name, one in variants.items()]
    return pytest.mark.parametrize("variant", its)


@cache
def trial(variant: Variant) -> Trial:
    """Random games of a variant, played once for all tests of a process."""
    return Trial(variant)


def paths(variant: Variant) -> list[list[State]]:
    """Random games, each as its positions from the first to the finished one."""
    return trial(variant).paths


def positions(variant: Variant) -> list[State]:
    """Some positions of the random games."""
    return trial(variant).positions


def seeded_path(variant: Variant, seed: int) -> list[State]:
    """The positions of one whole game from the first position; ``seed`` draws lots and moves."""
    return random_path(variant.initial(seed), Random(seed), variant.max_plies)
