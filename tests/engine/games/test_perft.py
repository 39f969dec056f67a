"""Perft: how many leaves the tree of legal moves has, against numbers found elsewhere.

The numbers stand in tests/data/perft, a file for each game, with their source.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.games import GAMES, find_variant
from engine.perft import perft
from tests.requirements import need

FILES = {path.stem: path for path in (Path(__file__).parents[2] / "data/perft").glob("*.json")}
DEEP = 300_000
"""More leaves than this are counted by ``make perft`` only."""


def counts() -> Iterator[Any]:
    """A test for each depth of each row of each game's file."""
    for name in sorted(FILES):
        for row in json.loads(FILES[name].read_text())["rows"]:
            for depth, leaves in enumerate(row["counts"], start=1):
                yield pytest.param(
                    row["variant"],
                    row["position"],
                    depth,
                    leaves,
                    id=f"{row['variant']}, {row['position'] or 'start'}, depth {depth}",
                    marks=[pytest.mark.deep, pytest.mark.timeout(1200)] if leaves > DEEP else [],
                )


@pytest.mark.parametrize(("variant", "position", "depth", "leaves"), list(counts()))
def test_perft(variant: str, position: str | None, depth: int, leaves: int) -> None:
    """The tree of legal moves has as many leaves as the source says."""
    name, *options = variant.split()
    need(name in GAMES, f"{name} is not here")
    rules = find_variant(name, options)
    state = rules.initial() if position is None else rules.read(position)
    assert perft(state, depth) == leaves


@pytest.mark.parametrize("name", GAMES.singles)
def test_every_game_has_numbers_with_a_source(name: str) -> None:
    """The file of a game says where its numbers come from, and has some of its own variants."""
    assert name in FILES, f"tests/data/perft/{name}.json is missing"
    data = json.loads(FILES[name].read_text())
    assert data["source"]
    assert data["rows"]
    assert {row["variant"].split()[0] for row in data["rows"]} == {name}
