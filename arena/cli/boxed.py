"""From the path of a bot to what a box of this machine starts, as an arena does it."""

from __future__ import annotations

import json
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from engine.program import Program
from workers import bundles
from workers.bundles import Bundle
from workers.languages import Launch
from workers.limits import Limits
from workers.manifest import MANIFEST
from workers.sandbox import Sandbox

KIT_FILES = {
    "arena_bot.py": (".py",),
    "arena_bot.mjs": (".mjs", ".js"),
    "arena_bot.hpp": (".cpp", ".cc", ".cxx"),
}
"""The kit's files, each with the endings of the bots that use it."""


@dataclass(frozen=True, slots=True)
class Boxed:
    """A bot that is ready to be started in boxes."""

    bundle: Bundle
    box: Sandbox
    folder: Path
    """Where it is unpacked."""
    launch: Launch

    def start(self, *, core: int | None = None) -> Program:
        """Starts it, with the limits that ladders have where nothing else is said.

        Raises:
            BoxError: the box can't be built.
        """
        return self.box.start(self.folder, self.launch, Limits(), core=core)


def into_box(path: Path, box: Sandbox) -> Boxed:
    """Packs a bot, unpacks it where its box can see it, and finds out how it is run.

    Raises:
        BundleError: it is no bot.
        LanguageError: this machine can't run its language.
    """
    bundle = pack(path)
    with tempfile.TemporaryDirectory() as stored:
        archive = bundles.store(Path(stored), bundle)
        folder = bundles.unpack(archive, bundle.digest, box.bundles)
    return Boxed(bundle, box, folder, bundles.launch(folder))


def pack(path: Path) -> Bundle:
    """The bundle of a bot; with a single file goes the kit that lies beside it.

    Raises:
        BundleError: it is no bot.
    """
    if not path.is_file():
        return bundles.pack(path)
    beside = [
        path.with_name(name)
        for name, endings in KIT_FILES.items()
        if path.suffix in endings and path.name != name and path.with_name(name).is_file()
    ]
    if not beside:
        return bundles.pack(path)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for file in (path, *beside):
            shutil.copy(file, folder)
        # JSON's strings are TOML's, too.
        said = f"name = {json.dumps(path.stem[:60])}\nmain = {json.dumps(path.name)}\n"
        (folder / MANIFEST).write_text(said, encoding="utf-8")
        return bundles.pack(folder)
