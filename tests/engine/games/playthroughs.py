"""Recorded playthroughs: one random game of each offered variant, kept line by line.

Run as a program it writes them anew, so that what a change of rules does shows as a diff:

    python -m tests.engine.games.playthroughs
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

from engine.conformance import pick
from engine.game import Game, Variant
from engine.games import GAMES

FOLDER = Path(__file__).parents[2] / "data" / "playthroughs"
COMMAND = "make playthroughs"
SEED = 1
EVERY = 10
"""A position text stands before every tenth ply."""


def path_of(name: str) -> Path:
    """The file with a game's playthroughs."""
    return FOLDER / f"{name}.json"


def playthrough(variant: Variant) -> list[str]:
    """A line for each ply, ``PLY SEAT:MOVE of COUNT``, and lines for positions and the end."""
    random = Random(SEED)
    state = variant.initial(SEED)
    lines = []
    ply = 0
    while (seat := state.to_move) is not None:
        if ply % EVERY == 0:
            lines.append(f"position {state.text()}")
        moves = state.legal_moves()
        move = pick(random, moves)
        lines.append(f"{ply} {seat + 1}:{move} of {len(moves)}")
        state = state.play(move)
        ply += 1
    scores = ",".join(f"{score:g}" for score in state.scores())
    ranks = ",".join(map(str, state.ranks()))
    return [
        *lines,
        f"position {state.text()}",
        f"end {state.ending()} scores={scores} ranks={ranks}",
    ]


def playthroughs(game: Game) -> dict[str, list[str]]:
    """The playthroughs of all variants that a game offers, by the variant's name."""
    return {str(variant): playthrough(variant) for variant in game.offered}


def main() -> None:
    """Writes the playthroughs of every game."""
    FOLDER.mkdir(exist_ok=True)
    for name, game in GAMES.singles.items():
        text = json.dumps(playthroughs(game), indent=1) + "\n"
        known = path_of(name).read_text() if path_of(name).exists() else None
        path_of(name).write_text(text)
        print(f"{name}: {'unchanged' if text == known else 'written'}")


if __name__ == "__main__":
    main()
