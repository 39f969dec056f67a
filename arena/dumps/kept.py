"""The dumps of an arena that are there from beginning to end, and their files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path

from arena.dumps.daily import dated
from arena.dumps.manifest import MANIFEST, TABLES, DumpManifest
from arena.ground.refusals import Refusal


@dataclass(frozen=True, slots=True)
class DumpFile:
    """A file of a dump."""

    name: str
    """Its path within its folder, as ``games/part-00001.parquet``."""
    size: int
    """Bytes."""


@dataclass(frozen=True)
class KeptDump:
    """A dump that is whole."""

    folder: Path
    manifest: DumpManifest

    @property
    def name(self) -> str:
        """The day that it was made for."""
        return self.folder.name

    @property
    def made(self) -> datetime:
        """The moment that it is of."""
        return datetime.fromisoformat(self.manifest.made)

    @property
    def games(self) -> int:
        """How many games it has."""
        return self.manifest.count

    @property
    def plies(self) -> int:
        """How many plies all of its games have."""
        return sum(part.plies for part in self.manifest.parts)

    @property
    def licence(self) -> str:
        """How its games may be used; empty if nobody says."""
        return self.manifest.licence

    @cached_property
    def files(self) -> tuple[DumpFile, ...]:
        """All of its files, what it says of itself first."""
        names = [
            MANIFEST,
            *(f"{table}/{part.name}.parquet" for table in TABLES for part in self.manifest.parts),
        ]
        return tuple(DumpFile(name, (self.folder / name).stat().st_size) for name in names)

    @property
    def size(self) -> int:
        """Bytes of all its files."""
        return sum(file.size for file in self.files)

    def path(self, name: str) -> Path | None:
        """Where one of its files lies; None if it has none of that name."""
        return self.folder / name if name in {file.name for file in self.files} else None


def kept_dumps(folder: Path) -> list[KeptDump]:
    """Those of a folder, the newest first; one that is just being removed is none."""
    return sorted(_whole(folder), key=lambda dump: dump.name, reverse=True)


def _whole(folder: Path) -> Iterator[KeptDump]:
    for path in dated(folder):
        try:
            manifest = DumpManifest.read(path)
            if manifest is None or not manifest.is_finished:
                continue
            found = KeptDump(path, manifest)
            if found.files:
                yield found
        except (Refusal, OSError):
            continue  # damaged, or of another release: the recorder's log says so
