"""Writes a dump of games into a folder, part by part, and goes on where it was broken off.

Theory of operation. A dump is of all games up to a number, which is fixed when it begins. They
come in their order, and as many as fit are a part: a file in each table's folder. ``dump.json``
says which parts there are, and is written anew after each of them, so that whatever breaks off
costs one part at most, and the next call begins after the last one. Files are written under
another name first.

What an arena tells of a game stays as it is, mostly. So a dump may be told of an earlier one: it
ends its parts where that did, and takes over the files of those whose games are told just so, by
another link to the same file, where there is no room on the disk to be found for them twice. Of a
game that was made void since, only its part is written again.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import Any, Protocol

from arena.dumps.manifest import FORMAT, About, DumpManifest, DumpPart, replacing
from arena.dumps.tables import SCHEMAS, Rows, new_file
from arena.ground.file_locks import lock_file
from arena.ground.refusals import Refusal
from engine.games import GAMES
from engine.record import RecordError
from engine.shelf import UnknownGameError
from engine.translation import gettext

PART_GAMES, PART_BYTES = 5_000, 16 << 20
"""A part ends with the game that reaches one of these, in games and in bytes of their records."""
GROUP_ROWS = 20_000
"""Rows of plies that are held in memory before they are written."""

Tell = Callable[[str], None]


class GameSource(Protocol):
    """Where games come from."""

    def newest(self) -> int:
        """A number above which there is no game yet that is wanted."""

    def lines(self, after: int) -> Iterable[bytes]:
        """Games above a number, in their order, each as `arena.lists.exported.lines` has it."""


def write_dump(
    folder: Path,
    source: GameSource,
    about: About,
    now: datetime,
    *,
    earlier: Path | None = None,
    done: Callable[[int], None] = lambda _: None,
    tell: Tell = lambda _: None,
) -> DumpManifest:
    """Writes a dump, or goes on with one; one that is finished is left as it is.

    Args:
        now: the moment that a new one is of.
        earlier: the folder of a dump of the same games at an earlier moment.
        done: called with the number of games so far.
        tell: called with a line for each game that has to be left out.

    Raises:
        Refusal: the folder holds something else, or another process writes there; or the source
            tells too little of its games.
        OSError: it can't be written.
    """
    until = source.newest()  # whatever is wrong with the source, nothing is written then
    folder.mkdir(parents=True, exist_ok=True)
    with _alone(folder):
        manifest = _begun(folder, about)
        if manifest is None:
            manifest = DumpManifest(
                FORMAT, about.arena, dict(about.where), about.licence, {}, now.isoformat(), until
            )
            manifest.write(folder)
        if not manifest.is_finished:
            known = DumpManifest.read(earlier) if earlier else None
            known_parts = known.parts if known else []
            writer = _Writer(folder, manifest, earlier, known_parts, tell)
            done(manifest.count)
            for group in _groups(source, manifest, known_parts[:-1]):
                writer.add(group)
                done(manifest.count)
            manifest.is_finished = True
            manifest.write(folder)
        return manifest


def _begun(folder: Path, about: About) -> DumpManifest | None:
    """What was begun in a folder.

    Raises:
        Refusal: it is another dump, or none.
    """
    manifest = DumpManifest.read(folder)
    if manifest is None and any(folder.iterdir()):
        raise Refusal(
            gettext(
                "%(folder)s is not empty, and holds no dump: name another folder", folder=folder
            )
        )
    if manifest and About(manifest.arena, manifest.where, manifest.licence) != about:
        words = " ".join(f"{key}={value}" for key, value in manifest.where.items())
        raise Refusal(
            gettext(
                "%(folder)s holds another dump (%(what)s of %(arena)s, licence %(licence)s): "
                "name another folder",
                folder=folder,
                what=words or gettext("all games"),
                arena=manifest.arena,
                licence=manifest.licence or gettext("not said"),
            )
        )
    return manifest


def _whose(game: str) -> dict[str, str]:
    """The rules of a game by which positions are told here, and their licence."""
    try:
        edition = GAMES.edition(game)
        told = metadata(edition.package)
    except UnknownGameError:
        return {"rules": "", "licence": ""}
    except PackageNotFoundError:
        return {"rules": str(edition), "licence": ""}
    licences = [str(told[key]) for key in ("License-Expression", "License") if key in told]
    return {"rules": str(edition), "licence": (*licences, "")[0]}


@dataclass(slots=True)
class _Group:
    """The games of a part, as they were told."""

    lines: list[bytes] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    games: set[str] = field(default_factory=set)
    size: int = 0

    @property
    def is_full(self) -> bool:
        """Whether a part ends here."""
        return len(self.lines) >= PART_GAMES or self.size >= PART_BYTES


def _groups(
    source: GameSource, manifest: DumpManifest, earlier: Sequence[DumpPart]
) -> Iterator[_Group]:
    """The games that are still to be written, those of a part at a time."""
    ends = deque(part.last for part in earlier if part.last > manifest.last)
    group = _Group()
    for line in source.lines(manifest.last):
        told = json.loads(line)
        try:
            number, game, is_void = told["number"], told["game"], told["void"]
        except KeyError as error:
            raise Refusal(
                gettext("the arena does not tell %(error)s: it is of an older release", error=error)
            ) from None
        if number > manifest.until:
            break
        if group.lines and (number > ends[0] if ends else group.is_full):
            yield group
            group = _Group()
        while ends and number > ends[0]:
            ends.popleft()
        if not is_void:
            group.lines.append(line)
            group.numbers.append(number)
            group.games.add(game)
            group.size += len(line)
    if group.lines:
        yield group


class _Writer:
    """Writes the parts of a dump."""

    def __init__(
        self,
        folder: Path,
        manifest: DumpManifest,
        earlier: Path | None,
        known: Sequence[DumpPart],
        tell: Tell,
    ) -> None:
        self._folder, self._manifest, self._earlier, self._tell = folder, manifest, earlier, tell
        self._known = {part.digest: part for part in known}
        for table in SCHEMAS:
            (folder / table).mkdir(exist_ok=True)

    def add(self, group: _Group) -> None:
        """Writes a part, or takes it over.

        Raises:
            Refusal: parts before it have positions by other rules.
        """
        manifest = self._manifest
        games = {game: _whose(game) for game in sorted(group.games)}
        for game, whose in games.items():
            if manifest.games.setdefault(game, whose) != whose:
                raise Refusal(
                    gettext(
                        "the dump in %(folder)s was begun with %(game)s of another version: begin "
                        "anew in another folder",
                        folder=self._folder,
                        game=game,
                    )
                )
        name = f"part-{len(manifest.parts) + 1:05}"
        digest = self._digest(group, games)
        old = self._known.get(digest)
        if old and self._earlier:
            for table in SCHEMAS:
                with replacing(self._file(table, name)) as new:
                    _link(self._earlier / table / f"{old.name}.parquet", new)
            part = replace(old, name=name)
        else:
            part = self._write(name, group, games, digest)
        manifest.parts.append(part)
        manifest.write(self._folder)

    def _digest(self, group: _Group, games: Mapping[str, Any]) -> str:
        """Who has the same has the same rows."""
        manifest = self._manifest
        told = [manifest.format, manifest.arena, manifest.where, manifest.licence, games]
        found = hashlib.sha256(json.dumps(told, sort_keys=True).encode())
        for line in group.lines:
            found.update(b"\n")
            found.update(line)
        return found.hexdigest()

    def _file(self, table: str, name: str) -> Path:
        return self._folder / table / f"{name}.parquet"

    def _write(self, name: str, group: _Group, games: Mapping[str, Any], digest: str) -> DumpPart:
        about = self._manifest.in_files(games)
        rows, left_out, plies = Rows(), list[int](), 0
        with ExitStack() as ends:
            files = {}
            for table in SCHEMAS:
                path = ends.enter_context(replacing(self._file(table, name)))
                files[table] = ends.enter_context(new_file(path, table, about))
            for number, line in zip(group.numbers, group.lines, strict=True):
                try:
                    rows.add(json.loads(line))
                except RecordError as error:
                    left_out.append(number)
                    self._tell(f"game {number} is left out: {error}")
                if rows.count("plies") >= GROUP_ROWS:
                    plies += rows.count("plies")
                    files["plies"].write_table(rows.take("plies"))
            plies += rows.count("plies")
            for table, file in files.items():
                file.write_table(rows.take(table))
        first, last = group.numbers[0], group.numbers[-1]
        return DumpPart(
            name, first, last, len(group.lines) - len(left_out), plies, digest, left_out
        )


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keeps other processes from writing to a folder.

    Raises:
        Refusal: another one does.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if not lock_file(descriptor):
            raise Refusal(
                gettext("another process writes a dump to %(folder)s: wait for it", folder=folder)
            )
        yield
    finally:
        os.close(descriptor)


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:  # another disk, or one without links
        shutil.copyfile(source, target)
