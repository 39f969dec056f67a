"""Random games of every variant that is tested, the same for the same seed.

What the games offer is tested without being named here; ``FURTHER`` adds variants that no
ladder is opened for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from random import Random
from typing import TypeVar

import pytest

from engine.game import State, Variant
from engine.games import GAMES, find_variant

T = TypeVar("T")


def pick(random: Random, choices: Sequence[T]) -> T:
    """One of the choices, by ``random.random()``, whose numbers no Python version changes."""
    return choices[int(random.random() * len(choices))]


def random_path(start: State, random: Random) -> list[State]:
    """The positions of a game of random moves, from ``start`` to the finished one."""
    path = [start]
    while moves := path[-1].legal_moves():
        path.append(path[-1].play(pick(random, moves)))
    return path


def seeded_path(variant: Variant, seed: int) -> list[State]:
    """The positions of one whole game from the first position; ``seed`` draws lots and moves."""
    return random_path(variant.initial(seed), Random(seed))


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

POSITIONS = 6
"""How many positions of each random game are looked at closely, its first and last included."""
MOVES = 12
"""How many moves of a position are played."""


@cache
def paths(variant: Variant) -> list[list[State]]:
    """Random games, each as its positions from the first to the finished one.

    There are 2 to 12 of them, the fewer the longer they are and the more moves they offer.
    """
    found: list[list[State]] = []
    most = min(12, 3000 // len(variant.initial().legal_moves()))
    while len(found) < 2 or (len(found) < most and sum(map(len, found)) < 500):
        found.append(seeded_path(variant, seed=len(found)))
    return found


@cache
def positions(variant: Variant) -> list[State]:
    """Some positions of the random games."""
    random = Random(1)
    found = []
    for path in paths(variant):
        middle = range(1, len(path) - 1)
        plies = {0, len(path) - 1, *random.sample(middle, min(POSITIONS - 2, len(middle)))}
        found += [path[ply] for ply in sorted(plies)]
    return found


def some_moves(state: State) -> list[str]:
    """A few of the legal moves, the first and the last among them."""
    moves = list(state.legal_moves())
    return moves if len(moves) <= MOVES else [*moves[:: len(moves) // MOVES], moves[-1]]
