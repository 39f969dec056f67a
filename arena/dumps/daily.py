"""A dump a day: the process that makes one, and what is kept of those before.

It is a process of its own, as the rules play every game again, and it gives way to all others. One
that is killed is started again, and goes on (see `arena.dumps.writing`).
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path

from arena.dumps.manifest import MANIFEST, About, DumpManifest
from arena.dumps.sources import OfArena
from arena.ground.config import Settings, load
from arena.ground.db import FAILED, Database, SchemaError, unusable
from arena.ground.logs import begin_log
from arena.ground.refusals import Refusal
from arena.lists.filters import GameFilter
from arena.present import present_settings
from arena.sight import STRANGER
from engine.faulty_rules import break_off_hangs
from engine.games import GAMES

FAILED_CODE = 1
"""The exit code of one that could not be made; standard output says why in a line."""

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")

log = logging.getLogger("arena.dumps")


def folder_of(settings: Settings, now: datetime) -> Path:
    """Where the dump of a moment's day belongs."""
    return settings.dump_folder / f"{now:%Y-%m-%d}"


def is_made(folder: Path) -> bool:
    """Whether a dump is there from beginning to end.

    Raises:
        Refusal: it is damaged, or of another release.
    """
    found = DumpManifest.read(folder)
    return found is not None and found.is_finished


def make(database: Database, settings: Settings, now: datetime) -> Path:
    """Makes the dump of today, or goes on with it, and removes those that are not kept.

    It is for everybody, and holds what everybody sees.

    Raises:
        ImportError: what dumps need is not installed.
        Refusal: the folder of today holds something else, or another process writes there.
        OSError: it can't be written.
    """
    from arena.dumps.writing import write_dump  # what it needs is an extra

    with database.read() as session:
        settings = present_settings(session, settings)
    folder = folder_of(settings, now)
    source = OfArena(database, settings, GameFilter(), STRANGER)
    others = [other for other in dated(settings.dump_folder) if other != folder]
    known = {other: manifest for other in others if (manifest := _read(other)) is not None}
    # One that was never finished may know more than those before it.
    earlier = max(known, key=lambda other: (known[other].count, other), default=None)
    about = About(source.arena, {}, source.licence)
    write_dump(folder, source, about, now, earlier=earlier, tell=log.warning)
    broken_off = {other for other, manifest in known.items() if not manifest.is_finished}
    kept = sorted({*others, folder} - broken_off)[-settings.dumps_kept :]
    for other in others:
        if other not in kept:
            shutil.rmtree(other)
    return folder


def _read(folder: Path) -> DumpManifest | None:
    """What a dump of before says of itself; None if that can't be read, as after an upgrade."""
    try:
        return DumpManifest.read(folder)
    except Refusal as refusal:
        log.warning("nothing is taken over: %s", refusal)
        return None


def dated(folder: Path) -> list[Path]:
    """The dumps in a folder, by their names; whatever else lies there is somebody else's."""
    return [
        path
        for path in (folder.iterdir() if folder.is_dir() else ())
        if _DAY.fullmatch(path.name) and not path.is_symlink() and (path / MANIFEST).is_file()
    ]


def main() -> int:
    """Makes the dump of today by the settings of the environment."""
    os.nice(19)
    os.umask(0o022)  # a dump is for everybody, whatever else the arena's account writes is not
    settings = load()
    begin_log(settings)
    break_off_hangs(GAMES)
    try:
        database = Database(settings.database_url, cold=settings.cold_store)
        database.demand_schema()
        made = make(database, settings, datetime.now(UTC))
    except (ImportError, Refusal, SchemaError) as error:
        return _fail(str(error))
    except FAILED as error:
        return _fail(unusable(error))
    except OSError as error:
        return _fail(f"can't write {error.filename or settings.dump_folder}: {error.strerror}")
    log.info("the dump is %s", made)
    return 0


def _fail(problem: str) -> int:
    print(problem, flush=True)
    return FAILED_CODE


if __name__ == "__main__":
    sys.exit(main())
