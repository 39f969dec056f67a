"""What a dump says of itself: of which games it is, and which parts there are so far."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from arena.ground.refusals import Refusal
from engine.translation import gettext

FORMAT = 1
MANIFEST = "dump.json"
TABLES = ("games", "seats", "plies")
"""The tables: for each there is a folder, with a file of every part."""


@dataclass(frozen=True, slots=True)
class About:
    """The arena and the games that a dump is of, and their licence."""

    arena: str
    """Which arena: its address, if it has one."""
    where: Mapping[str, str]
    """The words of the filter that its games are narrowed by."""
    licence: str = ""
    """The licence under which the games may be used; empty if nobody says."""


@dataclass(frozen=True, slots=True)
class DumpPart:
    """Some games of a dump: a file of this name in the folder of each table."""

    name: str
    first: int
    last: int
    games: int
    plies: int
    digest: str
    """A digest of all that was told of its games, and of what was made of that."""
    left_out: Sequence[int] = ()
    """The numbers of games whose records can't be read."""


@dataclass(slots=True)
class DumpManifest:
    """What a dump says of itself."""

    format: int
    arena: str
    where: Mapping[str, str]
    licence: str
    games: dict[str, dict[str, str]]
    """The rules by which positions are told, of each game: ``rules``, with their version, and
    ``licence``, that of the package."""
    made: str
    """The moment that it shows the arena at, in ISO 8601."""
    until: int
    """A number that no game of that moment is above."""
    is_finished: bool = False
    parts: list[DumpPart] = field(default_factory=list)

    @classmethod
    def read(cls, folder: Path) -> DumpManifest | None:
        """The manifest of a folder; None if there is none.

        Raises:
            Refusal: it is damaged, or of another release.
        """
        file = folder / MANIFEST
        try:
            data = json.loads(file.read_text(encoding="utf-8"))
            if data["format"] != FORMAT:
                raise Refusal(
                    gettext(
                        "the dump in %(folder)s has format %(its)s, and this program knows format "
                        "%(known)s: use the release that wrote it, or another folder",
                        folder=folder,
                        its=data["format"],
                        known=FORMAT,
                    )
                )
            parts = [DumpPart(**part) for part in data.pop("parts")]
            return cls(**data, parts=parts)
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            if isinstance(error, Refusal):
                raise
            raise Refusal(gettext("%(file)s is damaged: name another folder", file=file)) from None

    def write(self, folder: Path) -> None:
        """Replaces that of a folder."""
        text = json.dumps(asdict(self), indent=1)
        with replacing(folder / MANIFEST) as new:
            new.write_text(text + "\n", encoding="utf-8")

    @property
    def count(self) -> int:
        """How many games there are so far."""
        return sum(part.games for part in self.parts)

    @property
    def last(self) -> int:
        """The number of the last game so far; 0 before the first."""
        return self.parts[-1].last if self.parts else 0

    def in_files(self, games: Mapping[str, Any]) -> dict[str, str]:
        """What a file with some games says of its origin."""
        told = {
            "arena": self.arena,
            "where": json.dumps(self.where),
            "licence": self.licence,
            "games": json.dumps(games),
            "made": self.made,
        }
        return {f"arena.{key}": value for key, value in told.items()}


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Has a file written beside one, which it replaces once it is whole and on the disk."""
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    yield new
    descriptor = os.open(new, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    new.replace(path)
