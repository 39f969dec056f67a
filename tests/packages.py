"""Packages of games on the module search path, as pip leaves them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from engine.games import GAMES
from engine.shelf import GROUP

CODE = """
from engine.game import Game
from engine.games.clobber import Clobber
from engine.options import board_size

def game(name, base=Clobber, **more):
    class Renamed(base):
        game = name
    size = {"size": board_size("4x3", 2, 26)}
    return Game(name, name.capitalize(), size, Renamed, ({},), rules=lambda: "# " + name, **more)
"""


class Installer:
    """Installs packages into folders of a test's own; all are gone when it ends."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self._folder, self._patch = folder, patch

    def install(self, name: str, code: str, *entries: str, version: str = "1.5") -> None:
        """Puts a package first on the path, in the place of another version of it."""
        folder, module = self._folder / f"{name}-{version}", name.replace("-", "_").lower()
        metadata = folder / f"{module}-{version}.dist-info"
        metadata.mkdir(parents=True)
        (folder / f"{module}.py").write_text(CODE + code)
        header = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        (metadata / "METADATA").write_text(header)
        lines = ["[console_scripts]", "clobber = nothing:here", f"[{GROUP}]", *entries]
        (metadata / "entry_points.txt").write_text("\n".join(lines))
        self.put_on_path(folder, module)

    def put_on_path(self, folder: Path, module: str) -> None:
        """Has a module of a folder imported anew, and what it declares looked for."""
        self._patch.syspath_prepend(folder)
        self._forget(module)
        GAMES.look_again()

    def uninstall(self, name: str, version: str = "1.5") -> None:
        """Takes a package off the path."""
        sys.path.remove(str(self._folder / f"{name}-{version}"))
        self._forget(name.replace("-", "_").lower())
        GAMES.look_again()

    def _forget(self, module: str) -> None:
        self._patch.setitem(sys.modules, module, None)  # put back in the end
        del sys.modules[module]
