"""The parts of backups: files in tars, each by a name that follows from what is in it.

So an increment leaves out what a backup before has, and says in which file that is; whoever reads
parts finds each, and proves it, wherever it lies.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NamedTuple, Self

from arena.ground.file_locks import lock_file
from engine.translation import gettext

FORMAT = 4
ABOUT = "about.json"
"""The first part: of which release a backup is."""
CONTENTS = "contents.json"
"""The last part: what belongs to a backup, and where it is (see `BackupContents`)."""
CHUNK = 1 << 18


class BackupError(ValueError):
    """A backup that can't be made or used; one sentence that says what to do."""


class SomeRows(NamedTuple):
    """Rows of a table that are kept together."""

    digest: str
    """SHA-256, by which they are found."""
    rows: int
    """How many they are."""
    part: int
    """Which part of their table they are, or belong to."""


@dataclass(slots=True)
class BackupContents:
    """What belongs to a backup."""

    tables: dict[str, list[SomeRows]] = field(default_factory=dict)
    """Each table's rows, some at a time."""
    files: list[str] = field(default_factory=list)
    """The parts that are files, as ``bundles/DIGEST``."""
    elsewhere: dict[str, list[str]] = field(default_factory=dict)
    """The parts that are in other backups of the same folder and not here, by the names of
    these."""

    @classmethod
    def read(cls, text: bytes) -> Self:
        """Reads what `write` wrote.

        Raises:
            BackupError: it is nothing of the kind.
        """
        try:
            data = json.loads(text)
            tables = {
                str(name): [SomeRows(str(one), int(rows), int(part)) for one, rows, part in its]
                for name, its in data["tables"].items()
            }
            elsewhere = {str(name): list(map(str, its)) for name, its in data["elsewhere"].items()}
            files = list(map(str, data["files"]))
        except (ValueError, KeyError, TypeError, AttributeError):
            words = gettext("the backup is damaged: %(part)s can't be read", part=CONTENTS)
            raise BackupError(words) from None
        if any(Path(name).name != name for name in elsewhere):
            words = gettext("the backup is damaged: %(part)s can't be read", part=CONTENTS)
            raise BackupError(words)
        return cls(tables, files, elsewhere)

    def write(self) -> bytes:
        """Writes it as JSON."""
        data = {"tables": self.tables, "files": self.files, "elsewhere": self.elsewhere}
        return json.dumps(data).encode()


class PartWriter:
    """Writes the parts of a backup.

    Args:
        known: parts that are in other backups, with the names of those.
    """

    def __init__(self, tar: tarfile.TarFile, known: dict[str, str]) -> None:
        self._tar, self._known, self._there = tar, known, set[str]()
        self.contents = BackupContents()

    def leave_out(self, name: str) -> bool:
        """Leaves a part out that is here, or in another backup, as is told from then on.

        Returns:
            Whether it did; if not, the part has to be added.
        """
        if name not in self._there and (where := self._known.get(name)):
            self.contents.elsewhere.setdefault(where, []).append(name)
            self._there.add(name)
        return name in self._there

    def add(self, name: str, content: IO[bytes]) -> None:
        """Writes a part."""
        self._there.add(name)
        member = tarfile.TarInfo(name)
        content.seek(0, io.SEEK_END)
        member.size = content.tell()
        member.mode = 0o600
        content.seek(0)
        self._tar.addfile(member, content)

    def finish(self) -> None:
        """Writes what belongs to it all."""
        self.add(CONTENTS, io.BytesIO(self.contents.write()))


class PartReader:
    """Reads the parts of a backup, those, too, that are in others beside it.

    Raises:
        BackupError: it is none, of another release, or was cut short.
        OSError: it can't be read.
    """

    def __init__(self, file: Path, ends: ExitStack) -> None:
        self._folder, self._ends = file.parent, ends
        self._tars: dict[str, tuple[tarfile.TarFile, dict[str, tarfile.TarInfo]]] = {}
        try:
            tar, members = self._opened(file)
        except (tarfile.TarError, EOFError) as error:
            words = gettext(
                "%(file)s is no backup, or was cut short: %(error)s", file=file, error=error
            )
            raise BackupError(words) from None
        self._own = file.name
        self.about = _about(tar, members)
        if CONTENTS not in members:
            raise _cut_short(CONTENTS)
        self.contents = BackupContents.read(_read(tar, members[CONTENTS]))
        self._where = {
            name: other for other, names in self.contents.elsewhere.items() for name in names
        }

    def known(self) -> dict[str, str]:
        """The names of all parts, with the file that each is in.

        Raises:
            BackupError: another backup that it needs is not beside it.
        """
        for other in self.contents.elsewhere:
            if not (self._folder / other).is_file():
                raise self._lacks(other)
        _, members = self._tars[self._own]
        own = members.keys() - {ABOUT, CONTENTS}
        return self._where | dict.fromkeys(own, self._own)

    def open(self, name: str) -> IO[bytes]:
        """A part, from its beginning.

        Raises:
            BackupError: it is not where it is to be.
        """
        other = self._where.get(name, self._own)
        if other not in self._tars:
            file = self._folder / other
            try:
                self._opened(file)
            except FileNotFoundError:
                raise self._lacks(other) from None
            except (tarfile.TarError, EOFError) as error:
                words = gettext(
                    "%(file)s is no backup, or was cut short: %(error)s", file=file, error=error
                )
                raise BackupError(words) from None
        tar, members = self._tars[other]
        content = tar.extractfile(members[name]) if name in members else None
        if content is None:
            raise _cut_short(name)
        return content

    def _opened(self, file: Path) -> tuple[tarfile.TarFile, dict[str, tarfile.TarInfo]]:
        tar = self._ends.enter_context(tarfile.open(file, "r:"))  # noqa: SIM115
        self._tars[file.name] = tar, {member.name: member for member in tar}
        return self._tars[file.name]

    def _lacks(self, other: str) -> BackupError:
        return BackupError(
            gettext(
                "the backup is an increment, and %(file)s, which it needs, is not beside it in "
                "%(folder)s",
                file=other,
                folder=self._folder,
            )
        )


def _cut_short(part: str) -> BackupError:
    return BackupError(gettext("the backup was cut short: it has no %(part)s", part=part[:80]))


def _read(tar: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    content = tar.extractfile(member)
    return b"" if content is None else content.read()


def _about(tar: tarfile.TarFile, members: dict[str, tarfile.TarInfo]) -> dict[str, Any]:
    if next(iter(members), None) != ABOUT:
        raise BackupError(gettext("this is a tar, but no backup of an arena"))
    try:
        about: dict[str, Any] = json.loads(_read(tar, members[ABOUT]))
        form, _ = about["format"], about["schema"]
    except (ValueError, KeyError, TypeError):
        raise BackupError(
            gettext("the backup is damaged: it doesn't say of which release it is")
        ) from None
    if form != FORMAT:
        raise BackupError(
            gettext(
                "the backup is of another release (format %(format)s, and not %(ours)s): restore "
                "it with that one, then start this one on it",
                format=form,
                ours=FORMAT,
            )
        )
    return about


@contextmanager
def alone(path: Path, refusal: str) -> Iterator[int]:
    """Opens a file, or makes it for its owner to read, and keeps it from other commands meanwhile.

    Raises:
        BackupError: another command has it, which is told by this refusal.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(path, flags, 0o600)
    try:
        with suppress(OSError):  # a file system without locks
            if not lock_file(descriptor):
                raise BackupError(refusal)
        # The other may have given the file its last name since it was opened here.
        if not path.exists() or not os.path.samestat(os.fstat(descriptor), path.stat()):
            raise BackupError(refusal)
        yield descriptor
    finally:
        os.close(descriptor)


def copy_proven(content: IO[bytes], to: IO[bytes], digest: str) -> bool:
    """Copies a file, and says whether it has this SHA-256."""
    proof = hashlib.sha256()
    while chunk := content.read(CHUNK):
        proof.update(chunk)
        to.write(chunk)
    return proof.hexdigest() == digest
