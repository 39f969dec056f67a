"""A game that comes with the arena, as a package of somebody else's has it: the same rules."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from engine.game import Game
from engine.games import GAMES
from engine.shelf import GROUP

NAME = "packaged"


@contextmanager
def packaged(game: str) -> Iterator[Game]:
    """The game of this name, installed once more as a distribution of its own."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        source = Path(str(sys.modules[type(GAMES[game].variant()).__module__].__file__))
        shutil.copytree(source.parent, folder / NAME)
        copy = folder / NAME / source.name
        copy.write_text(copy.read_text().replace(f'"{game}"', f'"{NAME}"'))
        about = folder / f"{NAME}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {NAME}\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(f"[{GROUP}]\n{NAME} = {NAME}:GAME\n")
        sys.path.insert(0, name)
        GAMES.look_again()
        try:
            yield GAMES[NAME]
        finally:
            sys.path.remove(name)
            GAMES.look_again()
