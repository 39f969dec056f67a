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
    """A test for each row of each game's file, and one for each of its depths that is deep."""
    for name in sorted(FILES):
        for row in json.loads(FILES[name].read_text())["rows"]:
            told, where = dict(enumerate(row["counts"], start=1)), (row["variant"], row["position"])
            shallow = {depth: leaves for depth, leaves in told.items() if leaves <= DEEP}
            row_id = f"{row['variant']}, {row['position'] or 'start'}"
            yield pytest.param(*where, shallow, id=row_id)
            for depth in told.keys() - shallow.keys():
                yield pytest.param(
                    *where,
                    {depth: told[depth]},
                    id=f"{row_id}, depth {depth}",
                    marks=[pytest.mark.deep, pytest.mark.timeout(1200)],
                )


@pytest.mark.parametrize(("variant", "position", "leaves"), list(counts()))
def test_perft(
    variant: str, position: str | None, leaves: dict[int, int], subtests: pytest.Subtests
) -> None:
    """The tree of legal moves has as many leaves at each depth as the source says."""
    name, *options = variant.split()
    need(name in GAMES, f"{name} is not here")
    rules = find_variant(name, options)
    state = rules.initial() if position is None else rules.read(position)
    for depth, expected in leaves.items():
        with subtests.test(depth=depth):
            assert perft(state, depth) == expected


@pytest.mark.parametrize("name", GAMES.singles)
def test_every_game_has_numbers_with_a_source(name: str) -> None:
    """The file of a game says where its numbers come from, and has some of its own variants."""
    assert name in FILES, f"tests/data/perft/{name}.json is missing"
    data = json.loads(FILES[name].read_text())
    assert data["source"]
    assert data["rows"]
    assert {row["variant"].split()[0] for row in data["rows"]} == {name}
