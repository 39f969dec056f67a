"""The bots that need packages: their boards are the game's, and what they think of them is sane."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

import pytest

from engine.games import GAMES
from tests.requirements import need
from workers.bundles import pack

FOLDER = Path(__file__).parents[2] / "bots" / "networks"


@pytest.fixture
def rules(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The rules as arrays, on 4x3."""
    need(find_spec("numpy"), "NumPy is not installed: pip install -e '.[pettingzoo]'")
    monkeypatch.syspath_prepend(str(FOLDER / "rollouts"))
    import boards

    yield boards.Rules(4, 3)
    del sys.modules["boards"]


def test_arrays_follow_the_rules(rules: Any) -> None:
    """The same moves in each position of some games, and the same stones after them."""
    import numpy as np

    random, variant = Random(1), GAMES["clobber"].variant(size="4x3")
    for _ in range(10):
        state = variant.initial()
        while moves := state.legal_moves():
            found = rules.boards_of(state, 2)
            numbers = [rules.number(move) for move in moves]
            assert sorted(rules.legal(found)[1].nonzero()[0].tolist()) == sorted(numbers)
            move = random.choice(list(moves))
            state = state.play(move)
            if state.to_move is not None:
                after = rules.play(found, np.array([rules.number(move)] * 2))
                expected = rules.boards_of(state, 2)
                assert all((one == other).all() for one, other in zip(after, expected, strict=True))


def test_playouts_know_who_wins(rules: Any) -> None:
    """Where there is one move left, whoever has it; and about half where all are there."""
    import numpy as np

    rng = np.random.default_rng(1)
    one_left = GAMES["clobber"].variant(size="4x3").read("wb2/4/4 1")
    assert rules.playouts(rules.boards_of(one_left, 5), rng).all()
    start = rules.boards_of(GAMES["clobber"].variant(size="4x3").initial(), 500)
    assert 0.2 < rules.playouts(start, rng).mean() < 0.8


def test_they_say_what_they_need() -> None:
    """As the docs have it."""
    manifest = pack(FOLDER / "rollouts").manifest
    assert (manifest.name, manifest.runtime, manifest.games) == (
        "rollouts",
        "scientific",
        ("clobber",),
    )
