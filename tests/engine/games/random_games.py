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


def variants() -> Iterator[Variant]:
    """All that are tested: what each game offers, and the further ones."""
    for game in GAMES.values():
        yield from game.offered
        for options in FURTHER.get(game.name, ()):
            yield find_variant(game.name, options.split())


VARIANTS = {str(variant): variant for variant in variants()}
each_variant = pytest.mark.parametrize("variant", VARIANTS.values(), ids=list(VARIANTS))


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
