"""The recorded playthroughs still come out line by line."""

from __future__ import annotations

import json

import pytest

from engine.games import GAMES
from tests.engine.games.playthroughs import COMMAND, FOLDER, path_of, playthroughs


@pytest.mark.parametrize("name", GAMES.singles)
def test_playthroughs_come_out_as_recorded(name: str) -> None:
    """A game's moves, positions and results are those of the day they were recorded."""
    assert path_of(name).exists(), f"{name} has no recorded playthroughs; run: {COMMAND}"
    recorded = json.loads(path_of(name).read_text())
    played = playthroughs(GAMES[name])
    assert list(played) == list(recorded), f"other variants are recorded; run: {COMMAND}"
    for variant, lines in played.items():
        assert lines == recorded[variant], (
            f"{variant} plays differently; if that is meant, run: {COMMAND}"
        )


def test_nothing_else_is_recorded() -> None:
    """Every file belongs to a game that there is."""
    assert {path.stem for path in FOLDER.iterdir()} <= set(GAMES.singles)
