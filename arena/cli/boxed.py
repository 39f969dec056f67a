"""Makes of the path of a bot what a box of this machine starts, as an arena does it."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import click

from arena.cli.arguments import SAMPLES
from arena.cli.home_runtimes import runtime_for
from engine.clock import ALLOWANCES, Allowances
from engine.program import Program
from engine.translation import gettext
from workers import building, bundles
from workers.building import StartableBot
from workers.bundles import Bundle
from workers.large_files import MOST_BYTES, Aside
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

    box: Sandbox
    ready: StartableBot
    limits: Limits

    @property
    def refusal(self) -> str | None:
        """Why it can't be run here, in one sentence that says what helps; None if it can."""
        launch = self.ready.launch
        words = self.box.refusal(launch, self.limits)
        if words is None or launch.processes <= self.limits.processes:
            return words
        wider = replace(self.limits, processes=launch.processes)
        return self.box.refusal(launch, wider) or gettext(
            "%(refusal)s, unless --processes %(number)s grants them as a ladder may",
            refusal=words,
            number=launch.processes,
        )

    @property
    def allowances(self) -> Allowances:
        """What the protocol allows, but that its language may be slow to start."""
        return replace(ALLOWANCES, start_seconds=self.ready.launch.start_seconds)

    def start(self, core: int | None = None) -> Program:
        """Starts it, with the limits that ladders have where nothing else is said.

        But for processes, of which it has as many as are granted.

        Raises:
            BoxError: the box can't be built.
        """
        return self.box.start(self.ready.folder, self.ready.launch, self.limits, core=core)


def into_box(bundle: Bundle, box: Sandbox, processes: int = 1) -> Boxed:
    """Unpacks a bot where its box can see it, and builds it if it must be.

    Args:
        processes: how many it is granted.

    Raises:
        InputError: it can't have the runtime that it names.
        LanguageError: this machine can't run its language.
        BuildError: it can't be built.
        BoxError: no box can be built for that.
    """
    with tempfile.TemporaryDirectory() as stored:
        archive = Path(stored, bundle.digest)
        archive.write_bytes(bundle.archive)
        for large in bundle.large:
            assert large.path  # from where it is copied
            archive.with_name(large.digest).symlink_to(large.path.resolve())
        folder = bundles.unpack(archive, bundle.digest, box.bundles, box.kept)
    runtime = runtime_for(bundle.manifest, box)
    if not building.is_ready(box, folder, bundle.digest, runtime):
        words = (
            gettext(
                "building %(name)s, once and in no box, since none can be built here",
                name=bundle.name,
            )
            if box.box is None
            else gettext("building %(name)s, once and in a box", name=bundle.name)
        )
        click.echo(words, err=True)
    ready = building.prepare(box, folder, bundle.digest, runtime=runtime)
    return Boxed(box, ready, Limits(processes=processes))


def pack(path: Path) -> Bundle:
    """The bundle of a bot; with a single file goes the kit that it uses.

    Raises:
        BundleError: it is no bot.
    """
    if not path.is_file():
        return bundles.pack(path, max_bytes=MOST_BYTES)
    beside = [*_kit(path)]
    if not beside:
        return bundles.pack(path, max_bytes=MOST_BYTES)
    aside = Aside()  # kept as long as the bundle
    folder = aside.folder / "bot"
    folder.mkdir()
    for file in (path, *beside):
        shutil.copy(file, folder)
    # JSON's strings are TOML's, too.
    said = f"name = {json.dumps(path.stem[:60])}\nmain = {json.dumps(path.name)}\n"
    (folder / MANIFEST).write_text(said, encoding="utf-8")
    return bundles.pack(folder, max_bytes=MOST_BYTES, aside=aside)


def _kit(path: Path) -> Iterator[Path]:
    """The kit's files that go with a bot: those beside it, or those that a sample names."""
    for name, endings in KIT_FILES.items():
        if path.suffix not in endings or path.name == name:
            continue
        if path.with_name(name).is_file():
            yield path.with_name(name)
        elif path.parent == SAMPLES and name.encode() in path.read_bytes():
            yield SAMPLES / "kit" / name
