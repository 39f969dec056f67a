"""A bot's files, taken from a file, folder or archive that a stranger made.

Nothing is written to disk here, so no name and no link can lead anywhere; what is no plain
file of a plain name is refused, and every read is bounded, whatever an archive says of itself.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path

MIB = 1 << 20
MAX_BYTES = 16 * MIB
"""All files of a bot together, unpacked."""
MAX_FILES = 1000
MAX_MEMBERS = 20 * MAX_FILES
"""What an archive may name, with folders and all that is left out; each takes a time to read."""
MAX_NAME_BYTES = 200
MAX_HEADER_BYTES = 4096
"""What a tar may say of one file beside its name and size."""
MAX_HEADERS_BYTES = 4 * MAX_HEADER_BYTES
"""The same in all headers before the file, and in what lists the holes of a sparse one."""
MAX_ARCHIVE_BYTES = MAX_BYTES + 4 * MIB
"""An archive with its headers and padding, and a tar unpacked from gzip."""

LEFT_OUT = frozenset({".git", ".venv", "__pycache__", "__MACOSX", ".DS_Store"})
"""Names that tools leave behind and no bot needs, with all below them."""
READABLE = "a zip, tar or tar.gz archive"
OTHER_ARCHIVES = (".7z", ".rar", ".gz", ".bz2", ".xz", ".zst", ".tbz", ".tbz2", ".txz", ".lzma")


class BundleError(ValueError):
    """Files that are no bot; one sentence for its author."""


TOO_MANY = f"the archive names more than {MAX_MEMBERS} files and folders"
BROKEN_ZIP = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    OSError,
    RuntimeError,
    ValueError,
    OverflowError,
)
"""What Python raises of a zip file that is none; the last, of a place that it can't count to."""
ZIP_ENTRY = b"PK\x01\x02"
"""What an entry of a zip's table of contents begins with (APPNOTE 4.3.12)."""

ZIP_UNIX, ZIP_UTF8 = 3, 0x800
"""Who made an entry, and the flag by which its name is UTF-8 (the same, 4.4.2 and 4.4.4)."""


@dataclass(frozen=True, slots=True)
class File:
    """One file of a bot."""

    content: bytes
    executable: bool = False


Files = Mapping[str, File]
"""A bot's files by their path below its folder, with ``/`` between names."""


def is_archive(path: Path) -> bool:
    """Whether a file's name says that it holds others."""
    return path.name.lower().endswith((".zip", ".tar", ".tar.gz", ".tgz"))


def read_files(path: Path) -> dict[str, File]:
    """The files at a path: of a folder, of an archive, or a single file.

    Raises:
        BundleError: there is none, too many or too large ones, or not only plain ones.
    """
    collected = Collected(LEFT_OUT)
    name = path.name.lower()
    try:
        if path.is_dir():
            _from_folder(collected, path)
        elif name.endswith(".zip"):
            _from_zip(collected, _whole(path, MAX_ARCHIVE_BYTES))
        elif name.endswith(".tar"):
            read_tar(collected, _whole(path, MAX_ARCHIVE_BYTES))
        elif name.endswith((".tar.gz", ".tgz")):
            read_tar(collected, _gunzip(_whole(path, MAX_ARCHIVE_BYTES)))
        elif name.endswith(OTHER_ARCHIVES):
            raise BundleError(f"{path.name} can't be read: give {READABLE}")
        else:
            executable = bool(path.stat().st_mode & stat.S_IXUSR)
            collected.add(path.name, _whole(path, MAX_BYTES), executable=executable)
    except OSError as error:
        raise BundleError(f"{path} can't be read: {error.strerror or error}") from None
    if not collected.files:
        raise BundleError(f"{path.name} holds no files")
    return _without_common_folder(collected.files)


class Collected:
    """Files as they come, each one judged."""

    def __init__(
        self, left_out: AbstractSet[str] = frozenset(), *, max_bytes: int = MAX_BYTES
    ) -> None:
        self.files: dict[str, File] = {}
        self._left_out = left_out
        self._folders: set[str] = set()
        self._max_bytes = max_bytes
        self._room = max_bytes

    @property
    def room(self) -> int:
        """How many bytes the next file may have."""
        return self._room

    def wants(self, name: str) -> bool:
        """Whether a name belongs to a bot's files at all.

        Raises:
            BundleError: it is no plain relative path.
        """
        parts = _parts(name)
        return bool(parts) and not self._left_out & set(parts)

    def add(self, name: str, content: bytes, *, executable: bool) -> None:
        """Takes in a file.

        Raises:
            BundleError: its name or size, or the number of files, is not allowed.
        """
        parts = _parts(name)
        path = "/".join(parts)
        if not path:
            raise BundleError(f"the name {name[:60]!r} is none of a file")
        if (length := len(path.encode())) > MAX_NAME_BYTES:
            raise BundleError(
                f"the name {name[:60]!r}... has {length} bytes: "
                f"shorten it to {MAX_NAME_BYTES}, its folders' names included"
            )
        self._room -= len(content)
        if self._room < 0:
            raise BundleError(f"the files have more than {self._max_bytes // MIB} MiB unpacked")
        if len(self.files) >= MAX_FILES:
            raise BundleError(f"there are more than {MAX_FILES} files")
        above = {"/".join(parts[:depth]) for depth in range(1, len(parts))}
        if path in self.files or path in self._folders or above & self.files.keys():
            raise BundleError(f"the name {path!r} is there twice")
        self._folders |= above
        self.files[path] = File(content, executable)


def _parts(name: str) -> list[str]:
    """A path's names; none for the folder itself."""
    if name.startswith("/") or re.match(r"[A-Za-z]:", name) or "\\" in name:
        raise BundleError(f"the name {name[:60]!r} is not relative with '/' between its parts")
    if not name.isprintable():
        raise BundleError(f"the name {name[:60]!r} has characters that can't be printed")
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise BundleError(f"the name {name[:60]!r} leads out of the bot's folder")
    return parts


def _without_common_folder(files: dict[str, File]) -> dict[str, File]:
    """Files that all lie in one folder, as archives of a repository do, without it."""
    while all("/" in name for name in files) and len({name.split("/")[0] for name in files}) == 1:
        files = {name.partition("/")[2]: file for name, file in files.items()}
    return files


def _whole(path: Path, limit: int) -> bytes:
    # A pipe that nobody writes to is not waited for.
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise BundleError(f"{path.name} is no plain file")
        data = file.read(limit + 1)
    if len(data) > limit:
        raise BundleError(f"the file {path.name} has more than {limit // MIB} MiB")
    return data


def _gunzip(data: bytes) -> bytes:
    """Unpacks gzip, but never more than a tar may have."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            found = file.read(MAX_ARCHIVE_BYTES + 1)
    except (OSError, EOFError, zlib.error):
        raise BundleError("the archive is no whole gzip file") from None
    if len(found) > MAX_ARCHIVE_BYTES:
        raise BundleError(f"the files have more than {MAX_BYTES // MIB} MiB unpacked")
    return found


class _Headers(io.BytesIO):
    """A tar, of which no more is read than the headers of a file may have."""

    room = MAX_HEADERS_BYTES

    def read(self, size: int | None = -1, /) -> bytes:
        # For a header's words Python takes a time that grows with their length squared.
        if size is None or not 0 <= size <= min(MAX_HEADER_BYTES, self.room):
            raise BundleError("the archive says too much of one of its files")
        self.room -= size
        return super().read(size)


def read_tar(collected: Collected, data: bytes) -> None:
    """Takes in the files of an unpacked tar.

    Raises:
        BundleError: see `read_files`.
    """
    headers = _Headers(data)
    try:
        with tarfile.open(fileobj=headers, mode="r:", encoding="utf-8") as archive:
            place = 0
            for count, member in enumerate(archive, 1):
                # A size below zero leads back; some releases of Python go round for ever.
                if archive.offset <= place:
                    raise BundleError("the archive is no whole tar file")
                place = archive.offset
                if count > MAX_MEMBERS:
                    raise BundleError(TOO_MANY)
                _from_tar(collected, data, member)
                headers.room = MAX_HEADERS_BYTES
            # Of a header that is none Python says nothing, and takes it for the end.
            end = data[place : place + tarfile.BLOCKSIZE]
            if archive.offset != place or end.strip(b"\0"):
                raise BundleError("the archive is no whole tar file")
    except (tarfile.TarError, EOFError, ValueError, OverflowError, RecursionError) as error:
        if isinstance(error, BundleError):
            raise
        raise BundleError("the archive is no whole tar file") from None


def _from_tar(collected: Collected, data: bytes, member: tarfile.TarInfo) -> None:
    if not collected.wants(member.name) or member.isdir():
        return
    if member.issym() or member.islnk():
        raise BundleError(f"{member.name!r} is a link: put the file itself there")
    if not member.isreg() or member.issparse():
        raise BundleError(f"{member.name!r} is no plain file")
    content = data[member.offset_data : member.offset_data + member.size]
    if len(content) != member.size:
        raise BundleError("the archive is no whole tar file")
    collected.add(member.name, content, executable=bool(member.mode & stat.S_IXUSR))


def _from_zip(collected: Collected, data: bytes) -> None:
    # Counted before Python takes all of them in.
    if data.count(ZIP_ENTRY) > MAX_MEMBERS:
        raise BundleError(TOO_MANY)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for member in archive.infolist():
                name, mode = _name_in_zip(member), member.external_attr >> 16
                if not collected.wants(name) or member.is_dir():
                    continue
                if stat.S_ISLNK(mode):
                    raise BundleError(f"{name!r} is a link: put the file itself there")
                if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
                    raise BundleError(f"{name!r} is no plain file")
                if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                    raise NotImplementedError
                if member.flag_bits & 1:
                    raise BundleError("the archive has a password: give one without")
                with archive.open(member) as file:
                    # Never more than a byte too many.
                    content = file.read(collected.room + 1)
                collected.add(name, content, executable=bool(mode & stat.S_IXUSR))
    except NotImplementedError:
        raise BundleError("the zip file is compressed in a way that is not supported") from None
    except BundleError:
        raise
    except BROKEN_ZIP:
        raise BundleError("the archive is no whole zip file") from None


def _name_in_zip(member: zipfile.ZipInfo) -> str:
    """What the archive says in full; its reader cuts names at a zero byte.

    The `zip` of Unix writes UTF-8 without saying so, and Python takes that for DOS's letters.
    """
    name = member.orig_filename
    if member.flag_bits & ZIP_UTF8 or member.create_system != ZIP_UNIX:
        return name
    try:
        return name.encode("cp437").decode("utf-8")
    except UnicodeError:
        return name


def _from_folder(collected: Collected, folder: Path) -> None:
    for path, info in walk(folder, LEFT_OUT):
        name = path.relative_to(folder).as_posix()
        if not collected.wants(name):
            continue
        if stat.S_ISLNK(info.st_mode):
            raise BundleError(f"{name!r} is a link: put the file itself there")
        if not stat.S_ISREG(info.st_mode):
            raise BundleError(f"{name!r} is no plain file")
        if info.st_size > collected.room:
            raise BundleError(f"the files have more than {MAX_BYTES // MIB} MiB")
        executable = bool(info.st_mode & stat.S_IXUSR)
        collected.add(name, _whole(path, MAX_BYTES), executable=executable)


def walk(
    folder: Path, left_out: AbstractSet[str] = frozenset()
) -> Iterator[tuple[Path, os.stat_result]]:
    """Everything below a folder but folders, in order; links are not followed."""
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if not entry.is_dir(follow_symlinks=False):
            yield Path(entry.path), entry.stat(follow_symlinks=False)
        elif entry.name not in left_out:
            yield from walk(Path(entry.path), left_out)
