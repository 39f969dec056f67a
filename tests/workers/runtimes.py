"""Runtimes of some lines, packed and unpacked as those are that tools install."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from engine.jobs import RuntimeFiles
from workers.runtime_files import pack, unpack
from workers.runtime_making import HOOKS, RESOLVE
from workers.runtimes import CARD, REGISTER, Card, Package, UnpackedRuntime, platform
from workers.sandbox import Sandbox

PYTHON = {
    "packages/pieces/__init__.py": "NAME = 'of the runtime'\n",
    # What a folder of site-packages would run before the bot.
    "packages/tricks.pth": "import sys; sys.stdout.write('a file of a package ran first\\n')\n",
}
NODE = {
    "node_modules/pieces/package.json": '{"name": "pieces", "main": "index.js"}',
    "node_modules/pieces/index.js": "exports.NAME = 'of the runtime';\n",
    REGISTER: HOOKS,
    "resolve.mjs": RESOLVE,
}


def write_runtime(folder: Path, kind: str = "python", files: Mapping[str, str] = PYTHON) -> Card:
    """Puts the files of a runtime there, and its card."""
    packages = (Package("pieces", "1.0", "MIT"),)
    card = Card(kind, "some", "", platform(kind), packages, ("pieces",), "pieces==1.0\n", 10.0)
    for name, text in {**files, CARD: json.dumps(card.to_json())}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return card


def packed(folder: Path, place: Path) -> RuntimeFiles:
    """The file of a runtime's folder, named by its digest."""
    place.mkdir(exist_ok=True)
    with (place / "new").open("wb") as file:
        digest, _ = pack(folder, file)
    (place / "new").rename(place / digest)
    return RuntimeFiles(digest, str(place / digest), "")


def small_runtime(folder: Path, sandbox: Sandbox, kind: str = "python") -> UnpackedRuntime:
    """One of a single package, unpacked where the bots of a sandbox see it."""
    write_runtime(folder / kind, kind, PYTHON if kind == "python" else NODE)
    return unpack(packed(folder / kind, folder / "kept"), sandbox.runtimes)
