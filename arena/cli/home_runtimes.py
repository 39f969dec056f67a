"""Runtimes for bots that are tried on this machine: the arena's, one that was fetched, or neither.

A bot that names a runtime is started with the one that the arena of this machine's data folder
offers by that name, or else with the one that `arena runtime fetch` brought. Where there is neither
it has the packages of this Python, and a line says how that differs.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from importlib.metadata import distributions
from pathlib import Path

import click

from arena.cli import InputError
from arena.cli.progress_bar import ProgressBar
from arena.ground.config import load
from engine.jobs import RuntimeFiles
from engine.translation import gettext
from workers.box_folder import closed_to_others
from workers.bundles import sweep_store
from workers.languages import LanguageError
from workers.large_files import UNFINISHED
from workers.launches import box_python, version_of
from workers.manifest import Manifest
from workers.program import BoxError
from workers.runtime_files import try_out, unpack
from workers.runtimes import KINDS, Card, NoRuntimeError, Package, UnpackedRuntime, platform
from workers.sandbox import Sandbox

NAMES = "names.json"


def folder() -> Path:
    """Where runtimes lie that were fetched, for commands of this user."""
    data = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    return Path(data, "arena", "runtimes")


def keep(name: str, digest: str, parts: Iterator[bytes], bar: ProgressBar) -> None:
    """Keeps a runtime that comes from an arena.

    Raises:
        NoRuntimeError: what comes is not what was promised.
        InputError: it can't be written.
    """
    place = folder()
    try:
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        sweep_store(place)
        handle, path = tempfile.mkstemp(prefix=UNFINISHED, dir=place)
        try:
            found, count = hashlib.sha256(), 0
            with open(handle, "wb") as file:
                for part in parts:
                    file.write(part)
                    found.update(part)
                    bar.advance((count + len(part) >> 20) - (count >> 20))
                    count += len(part)
            if found.hexdigest() != digest:
                raise NoRuntimeError(
                    gettext("what came is not the runtime %(name)s: fetch it once more", name=name)
                )
            Path(path).replace(place / digest)
            names = {**fetched(), name: digest}
            (place / NAMES).write_text(json.dumps(names), encoding="utf-8")
            for old in set(place.glob("[0-9a-f]*")) - {place / one for one in names.values()}:
                old.unlink(missing_ok=True)
        finally:
            Path(path).unlink(missing_ok=True)
    except OSError as error:
        raise InputError(
            gettext("can't write %(name)s: %(reason)s", name=place, reason=error.strerror)
        ) from None


def fetched() -> Mapping[str, str]:
    """The digests of runtimes that were fetched, by their names."""
    try:
        found = json.loads((folder() / NAMES).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def runtime_for(manifest: Manifest, box: Sandbox) -> UnpackedRuntime | None:
    """What a bot is started with here; None if it names no runtime.

    Raises:
        InputError: it can't have what it names, nor anything in its place.
    """
    name = manifest.runtime
    if not name:
        return None
    files = _offered_here(name) or _fetched(name)
    if files is None:
        return _of_this_python(manifest, name)

    def prove(runtime: UnpackedRuntime) -> None:
        if box.box is not None:
            try_out(runtime, box)

    try:
        return unpack(files, box.runtimes, prove)
    except (NoRuntimeError, BoxError, OSError) as error:
        raise InputError(
            gettext("the runtime %(name)s can't be used here: %(error)s", name=name, error=error)
        ) from None


def _offered_here(name: str) -> RuntimeFiles | None:
    """The runtime's files that the arena of this machine's data folder has."""
    settings = load()
    if not settings.database and not (settings.data / "arena.db").exists():
        return None
    # What follows takes half a second to be imported, which only bots with runtimes need.
    from arena.bots.runtimes import offered
    from arena.cli.data_folder import opened

    with opened(None) as (database, _), database.read() as session:
        found = next((one for one in offered(session) if one.name == name), None)
    if found is None or not (settings.runtimes / found.digest).is_file():
        return None
    return RuntimeFiles(found.digest, str(settings.runtimes / found.digest), found.platform)


def _fetched(name: str) -> RuntimeFiles | None:
    digest = fetched().get(name)
    if digest is None or not (folder() / digest).is_file():
        return None
    return RuntimeFiles(digest, str(folder() / digest), "")


def _of_this_python(manifest: Manifest, name: str) -> UnpackedRuntime:
    """The packages of the Python that runs this, in place of a runtime."""
    how = gettext("`arena runtime fetch %(name)s --server URL` gets that of an arena", name=name)
    if manifest.language is None or manifest.language.name != KINDS["python"]:
        raise InputError(gettext("the runtime %(name)s is not here: %(how)s", name=name, how=how))
    here = sys.version_info[:2]
    try:
        same = version_of(box_python()) == here
    except LanguageError as error:
        raise InputError(str(error)) from None
    place = next((Path(path) for path in sys.path if path.endswith("site-packages")), None)
    if not same or place is None:
        raise InputError(
            gettext(
                "the runtime %(name)s is not here, and this Python's packages are not for the "
                "Python of boxes: %(how)s",
                name=name,
                how=how,
            )
        )
    if os.geteuid() == 0 and (closed := closed_to_others(place)):
        raise InputError(
            gettext(
                "the runtime %(name)s is not here, and bots can't reach this Python's "
                "packages, since %(closed)s is closed to others: %(how)s",
                name=name,
                closed=closed,
                how=how,
            )
        )
    packages = tuple(Package(one.name, one.version, "") for one in distributions(path=[str(place)]))
    click.echo(
        gettext(
            "the runtime %(name)s is not here: the bot has the packages of %(executable)s "
            "in its place, whose versions may differ; %(how)s",
            name=name,
            executable=sys.executable,
            how=how,
        ),
        err=True,
    )
    words = f"Python {here[0]}.{here[1]}"
    card = Card("python", words, "", platform("python"), packages, (), "", 10.0)
    return UnpackedRuntime(place, card, "", packages=".")
