"""A bot's files, taken from a file, folder or archive that a stranger made.

Nothing is written to disk here by a name of theirs, so no name and no link can lead anywhere;
what is no plain file of a plain name is refused, and every read is bounded, whatever an archive
says of itself. What is large is never in memory (`workers.large_files`).
"""

from __future__ import annotations

import gzip
import os
import re
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from fnmatch import translate
from functools import partial
from itertools import takewhile
from pathlib import Path, PurePath
from typing import IO, cast

from workers.large_files import (
    CHUNK,
    SMALL_BYTES,
    Aside,
    Large,
    Source,
    UnwritableError,
    is_large,
    read_link,
    write,
)
from workers.large_files import MAX_BYTES as MAX_BYTES
from workers.large_files import MIB as MIB
from workers.large_files import BundleError as BundleError

MAX_FILES = 1000
MAX_MEMBERS = 20 * MAX_FILES
"""What an archive may name, with folders and all that is left out; each takes a time to read."""
MAX_NAME_BYTES = 200
MAX_HEADER_BYTES = 4096
"""What a tar may say of one file beside its name and size."""
MAX_HEADERS_BYTES = 4 * MAX_HEADER_BYTES
"""The same in all headers before the file, and in what lists the holes of a sparse one."""
SPARE_BYTES = 4 * MIB
"""What an archive has besides its files: headers and padding; so has a tar unpacked from gzip."""
MAX_ARCHIVE_BYTES = MAX_BYTES + SPARE_BYTES
"""A bundle's tar, in which no large file is. No more of an archive is ever in memory."""

MADE_BY_BUILDS = frozenset({"CMakeFiles", "cmake-build-*", "meson-private"})
"""Of the following: what a build leaves on its author's machine, with programs of its own in it."""
LEFT_OUT = MADE_BY_BUILDS | {
    *(".git", ".hg", ".svn", ".venv", "__pycache__", "__MACOSX", ".DS_Store"),
    "._*",  # beside each file, where a Mac's disk or archive has no other place for attributes
    ".AppleDouble",  # the same, on a server for Macs
    ".bin",  # links of npm's, in node_modules
}
"""Names that tools leave behind and no bot needs, with all below them; ``*`` is any letters."""
LEFT_OUT_WITH = frozenset({"CMakeCache.txt", "pyvenv.cfg", "CACHEDIR.TAG"})
"""Files that tell of such a folder, whatever its name: one in which CMake has built, a virtual
environment of Python, a cache (https://bford.info/cachedir). The bot's own folder is none."""
READABLE = "a zip, tar or tar.gz archive"
OTHER_ARCHIVES = (
    *(".7z", ".rar", ".gz", ".bz2", ".xz", ".zst", ".lzma", ".lz", ".lz4", ".z", ".br"),
    *(".tbz", ".tbz2", ".txz", ".tzst", ".tlz", ".cpio", ".cab", ".dmg", ".iso", ".deb", ".rpm"),
)


TOO_MANY = f"the archive names more than {MAX_MEMBERS} files and folders"
GZIP = b"\x1f\x8b"
"""How gzip begins (RFC 1952, 2.3.1)."""
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
    """Of a large one the beginning."""
    executable: bool = False
    large: Large | None = None

    @property
    def size(self) -> int:
        """Bytes."""
        return self.large.size if self.large else len(self.content)


Files = Mapping[str, File]
"""A bot's files by their path below its folder, with ``/`` between names."""


def is_archive(path: PurePath) -> bool:
    """Whether a file's name says that it holds others."""
    return path.name.lower().endswith((".zip", ".tar", ".tar.gz", ".tgz"))


@dataclass(frozen=True, slots=True)
class Member:
    """A file as an archive or a folder names it, before it is read."""

    name: str
    kind: int
    """The kind of file, as in `stat.S_IFMT`."""
    executable: bool
    open: Callable[[], AbstractContextManager[Source]]
    """What reads its content, in order."""
    path: Path | None = None
    """Where it lies by itself, if it does."""
    large: tuple[str, int] | None = None
    """The digest and size of the large file that it stands for."""


def collect(
    path: Path,
    *,
    whole: bool = False,
    max_bytes: int = MAX_BYTES,
    aside: Aside | None = None,
) -> Collected:
    """The files at a path: of a folder, of an archive, or a single file.

    Args:
        whole: nothing is left out; so are the files of a bundle read, which were sorted before.
        max_bytes: that they may have together.
        aside: where large ones are put out of an archive.

    Raises:
        BundleError: there is none, too many or too large ones, or not only plain ones.
    """
    left_out = ((), ()) if whole else (LEFT_OUT, LEFT_OUT_WITH)
    collected = Collected(*left_out, max_bytes=max_bytes, aside=aside or Aside())
    name = path.name.lower()
    try:
        if path.is_dir():
            collected.take_folder(path, left_out[0])
        elif is_archive(path):
            with _open_plain(path, max_bytes + SPARE_BYTES) as file:
                _from_archive(collected, name, file)
        elif name.endswith(OTHER_ARCHIVES):
            raise BundleError(f"{path.name} can't be read: give {READABLE}")
        else:
            collected.take([_file(path.name, path, path.stat().st_mode, max_bytes)])
    except UnwritableError as error:
        raise error.cause from None
    except OSError as error:
        raise BundleError(f"{path} can't be read: {error.strerror or error}") from None
    if not collected.files:
        why = ", but for what tools leave behind" if collected.left_out else ""
        raise BundleError(f"{path.name} holds no files{why}")
    collected.files = _without_common_folder(collected.files)
    return collected


class Collected:
    """Files as they come, each one judged."""

    def __init__(
        self,
        left_out: Collection[str] = (),
        left_out_with: Collection[str] = (),
        *,
        max_bytes: int = MAX_BYTES,
        small_bytes: int = MAX_BYTES,
        aside: Aside | None = None,
    ) -> None:
        """Takes names and marks that are left out; see `LEFT_OUT` and `LEFT_OUT_WITH`.

        Args:
            small_bytes: what all but large files may have together, if there are large ones.
            aside: where large files are put; without it all are kept in memory.
        """
        self.files: dict[str, File] = {}
        self.left_out: list[str] = []
        """The names of files that were."""
        self._is_left_out = named_by(left_out)
        self._marks = left_out_with
        self._folders: set[str] = set()
        self._max_bytes = max_bytes
        self._room = max_bytes
        self._aside = aside
        self._small_bytes = self._small_room = small_bytes if aside else max_bytes

    @property
    def max_bytes(self) -> int:
        """All files together."""
        return self._max_bytes

    @property
    def aside(self) -> Aside | None:
        """Where large files are put."""
        return self._aside

    def take(self, members: Iterable[Member]) -> None:
        """Takes in those of these files that are wanted.

        Raises:
            BundleError: one is no plain file of a plain name, or they are too many or too large.
        """
        paths = [(path, member) for member in members if (path := tuple(_parts(member.name)))]
        named = [path for path, _ in paths if not any(map(self._is_left_out, path))]
        above = zip(*(path[:-1] for path in named), strict=False)
        own = len([*takewhile(lambda names: len({*names}) == 1, above)])
        marked = {path[:-1] for path in named if path[-1] in self._marks}
        kept = {
            path
            for path in named
            if path[-1] not in self._marks
            and not any(path[:depth] in marked for depth in range(own + 1, len(path)))
        }
        wanted = [(path[own:], member) for path, member in paths if path in kept]
        self.left_out += ["/".join(path) for path, _ in paths if path not in kept]
        if len(wanted) > MAX_FILES:
            [(folder, most)] = Counter(path[0] for path, _ in wanted).most_common(1)
            where = f", {most} of them in {folder!r}" if 2 * most > len(wanted) else ""
            raise BundleError(f"there are more than {MAX_FILES} files{where}")
        for _, member in wanted:
            if member.kind == stat.S_IFLNK and not member.large:
                raise BundleError(f"{member.name!r} is a link: put the file itself there")
            if member.kind not in (stat.S_IFREG, stat.S_IFLNK):
                raise BundleError(f"{member.name!r} is no plain file")
            self._add(member.name, self._read(member))
        self._settle()

    def take_folder(self, folder: Path, left_out: Collection[str] = ()) -> None:
        """The same of all files below a folder, but for those in folders that are left out.

        Raises:
            BundleError: as `take`.
            OSError: they can't be read.
        """
        self.take(
            _file(path.relative_to(folder).as_posix(), path, info.st_mode, self._max_bytes)
            for path, info in walk(folder, left_out)
        )

    def _read(self, member: Member) -> File:
        """What a member has, never more than a byte too many."""
        if member.large:
            if self._aside is None:
                raise BundleError(f"{member.name!r} is a link: put the file itself there")
            large = self._aside.named(*member.large)
            return File(large.beginning(), member.executable, large)
        most = self._room + 1
        with member.open() as source:
            content = source.read(min(most, SMALL_BYTES + 1) if self._aside else most)
            if self._aside is None or len(content) <= SMALL_BYTES:
                return File(content, member.executable)
            if member.path is not None:
                large = self._aside.at(member.path, most)
            else:
                large = self._aside.put(content, source, most)
        return File(content, member.executable, large)

    def _settle(self) -> None:
        """Takes to memory again what is not large after all, by the size of all together."""
        total = self._max_bytes - self._room
        for name, file in self.files.items():
            if file.large and not is_large(file.size, total):
                self.files[name] = File(file.large.content(), file.executable)

    def _add(self, name: str, file: File) -> None:
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
        self._room -= file.size
        if self._room < 0:
            raise BundleError(f"the files have more than {in_mib(self._max_bytes)} MiB unpacked")
        self._small_room -= 0 if file.large else file.size
        if self._small_room < 0:
            raise BundleError(
                f"the files of at most {in_mib(SMALL_BYTES)} MiB have more than "
                f"{in_mib(self._small_bytes)} MiB together: put them into a larger one"
            )
        if len(self.files) >= MAX_FILES:
            raise BundleError(f"there are more than {MAX_FILES} files")
        above = {"/".join(parts[:depth]) for depth in range(1, len(parts))}
        if path in self.files or path in self._folders or above & self.files.keys():
            raise BundleError(f"the name {path!r} is there twice")
        self._folders |= above
        self.files[path] = file


def in_mib(size: int) -> str:
    """A number of bytes in MiB, as messages have it."""
    return f"{size / MIB:g}"


def named_by(patterns: Collection[str]) -> Callable[[str], bool]:
    """Tells which names some patterns of the shell stand for."""
    pattern = re.compile("|".join(map(translate, sorted(patterns))) or r"(?!)")
    return lambda name: pattern.match(name) is not None


def _parts(name: str) -> list[str]:
    """A path's names; none for the folder itself."""
    if name.startswith("/") or re.match(r"[A-Za-z]:", name) or "\\" in name:
        raise BundleError(
            f"the name {name[:60]!r} is not relative with '/' between its parts: "
            "pack the files anew, with another program if need be"
        )
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


def _open_plain(path: Path, limit: int) -> IO[bytes]:
    """Opens a file to read it.

    Raises:
        BundleError: it is none, or has more bytes than that.
    """
    # A pipe that nobody writes to is not waited for.
    file = open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK))  # noqa: SIM115 - the caller closes it
    info = os.fstat(file.fileno())
    if stat.S_ISREG(info.st_mode) and info.st_size <= limit:
        return file
    file.close()
    if stat.S_ISREG(info.st_mode):
        raise BundleError(f"the file {path.name} has more than {in_mib(limit)} MiB")
    raise BundleError(f"{path.name} is no plain file")


def _from_archive(collected: Collected, name: str, file: IO[bytes]) -> None:
    begins = file.read(len(GZIP))
    file.seek(0)
    if name.endswith(".zip"):
        _from_zip(collected, file)
    # Browsers and mail programs unpack on the way, and leave the name as it was.
    elif begins == GZIP:
        with _gunzip(file, collected) as unpacked:
            read_tar(collected, unpacked)
    else:
        read_tar(collected, file)


def _gunzip(packed: IO[bytes], collected: Collected) -> IO[bytes]:
    """Unpacks gzip to a file, but never more than a tar may have."""
    most = collected.max_bytes + SPARE_BYTES
    found = tempfile.SpooledTemporaryFile(  # noqa: SIM115 - the caller closes it
        MAX_ARCHIVE_BYTES, dir=str(collected.aside.folder) if collected.aside else None
    )
    try:
        with gzip.GzipFile(fileobj=packed) as file:
            while chunk := file.read(CHUNK):
                if found.tell() + len(chunk) > most:
                    raise BundleError(
                        f"the files have more than {in_mib(collected.max_bytes)} MiB unpacked"
                    )
                write(found, chunk)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        found.close()
        raise BundleError(f"the archive is no whole gzip file: give {READABLE}") from None
    except BaseException:
        found.close()
        raise
    found.seek(0)
    return found


class _Guarded:
    """A file that others read, as far as `_allow` lets them."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int | None = -1, /) -> bytes:
        self._allow(-1 if size is None else size)
        data = self._file.read(-1 if size is None else size)
        self._look(data)
        return data

    def _allow(self, size: int) -> None:
        pass

    def _look(self, data: bytes) -> None:
        pass


class _Headers(_Guarded):
    """A tar, of which no more is read than the headers of a file may have."""

    room = MAX_HEADERS_BYTES

    def _allow(self, size: int) -> None:
        # For a header's words Python takes a time that grows with their length squared.
        if not 0 <= size <= min(MAX_HEADER_BYTES, self.room):
            raise BundleError(
                "the archive says too much of one of its files, as tar does of extended "
                "attributes: leave them out by --no-xattrs, or give a zip"
            )
        self.room -= size


class _Contents(_Guarded):
    """A zip, of which no longer table of contents is read than files may be named."""

    left: int | None = MAX_MEMBERS
    """How many entries may still come; None once they are read."""

    def _allow(self, size: int) -> None:
        if size > MAX_ARCHIVE_BYTES:
            raise BundleError(TOO_MANY)

    def _look(self, data: bytes) -> None:
        # Counted before Python takes all of them in.
        if self.left is not None and data.count(ZIP_ENTRY) > self.left:
            raise BundleError(TOO_MANY)


def read_tar(collected: Collected, file: IO[bytes]) -> None:
    """Takes in the files of an unpacked tar.

    Raises:
        BundleError: see `collect`.
    """
    headers = _Headers(file)
    members = []
    place = 0
    try:
        with tarfile.open(
            fileobj=cast("IO[bytes]", headers), mode="r:", encoding="utf-8"
        ) as archive:
            for count, member in enumerate(archive, 1):
                # A size below zero leads back; some releases of Python go round for ever.
                if archive.offset <= place:
                    raise BundleError("the archive is no whole tar file")
                place = archive.offset
                if count > MAX_MEMBERS:
                    raise BundleError(TOO_MANY)
                _parts(member.name)
                if not member.isdir():
                    members.append(_in_tar(file, member))
                headers.room = MAX_HEADERS_BYTES
            # Of a header that is none Python says nothing, and takes it for the end.
            file.seek(place)
            end = file.read(tarfile.BLOCKSIZE)
            if archive.offset != place or end.strip(b"\0"):
                raise BundleError("the archive is no whole tar file")
    except (tarfile.TarError, EOFError, ValueError, OverflowError, RecursionError) as error:
        if isinstance(error, BundleError):
            raise
        whole = "no whole tar file" if place else "no tar file, whatever its name"
        raise BundleError(f"the archive is {whole}: give {READABLE}") from None
    collected.take(members)


class _InTar:
    """A file in a tar."""

    def __init__(self, file: IO[bytes], place: int, size: int) -> None:
        self._file = file
        self._left = size
        file.seek(place)

    def __enter__(self) -> _InTar:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def read(self, size: int) -> bytes:
        """So many bytes more, or all that are left."""
        wanted = min(size, self._left)
        found = self._file.read(wanted)
        if len(found) != wanted:
            raise BundleError("the archive is no whole tar file")
        self._left -= wanted
        return found


def _in_tar(file: IO[bytes], member: tarfile.TarInfo) -> Member:
    kind, large = 0, None
    if member.issym() or member.islnk():
        kind = stat.S_IFLNK
        large = read_link(member.linkname) if member.issym() else None
    elif member.isreg() and not member.issparse():
        kind = stat.S_IFREG
    opened = partial(_InTar, file, member.offset_data, member.size)
    return Member(member.name, kind, bool(member.mode & stat.S_IXUSR), opened, large=large)


def _from_zip(collected: Collected, file: IO[bytes]) -> None:
    contents = _Contents(file)
    try:
        with zipfile.ZipFile(cast("IO[bytes]", contents)) as archive:
            contents.left = None
            members = []
            for member in archive.infolist():
                name, mode = _name_in_zip(member), member.external_attr >> 16
                _parts(name)
                if not name.endswith("/"):
                    kind = stat.S_IFMT(mode) or stat.S_IFREG
                    opened = partial(_open_in_zip, archive, member)
                    members.append(Member(name, kind, bool(mode & stat.S_IXUSR), opened))
            collected.take(members)
    except NotImplementedError:
        raise BundleError("the zip file is compressed in a way that is not supported") from None
    except (BundleError, UnwritableError):
        raise
    except BROKEN_ZIP:
        file.seek(0)
        is_begun = file.read(2) == b"PK"
        whole = "no whole zip file" if is_begun else "no zip file, whatever its name"
        raise BundleError(f"the archive is {whole}: give {READABLE}") from None


def _open_in_zip(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> IO[bytes]:
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise NotImplementedError
    if member.flag_bits & 1:
        raise BundleError("the archive has a password: give one without")
    return archive.open(member)


def _name_in_zip(member: zipfile.ZipInfo) -> str:
    """What the archive says in full; its reader cuts names at a zero byte.

    The `zip` of Unix writes UTF-8 without saying so, and Python takes that for DOS's letters.
    Programs of Windows, its PowerShell 5 among them, put backslashes between names, against
    APPNOTE 4.4.17.
    """
    name = member.orig_filename
    if member.create_system != ZIP_UNIX:
        return name.replace("\\", "/")
    if member.flag_bits & ZIP_UTF8:
        return name
    try:
        return name.encode("cp437").decode("utf-8")
    except UnicodeError:
        return name


def _file(name: str, path: Path, mode: int, max_bytes: int) -> Member:
    opened = partial(_open_plain, path, max_bytes)
    return Member(name, stat.S_IFMT(mode), bool(mode & stat.S_IXUSR), opened, path)


def walk(folder: Path, left_out: Collection[str] = ()) -> Iterator[tuple[Path, os.stat_result]]:
    """Everything below a folder but folders, in order; links are not followed.

    Args:
        left_out: what is not looked into, by patterns of names.
    """
    is_left_out = named_by(left_out)
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if not entry.is_dir(follow_symlinks=False):
            yield Path(entry.path), entry.stat(follow_symlinks=False)
        elif not is_left_out(entry.name):
            yield from walk(Path(entry.path), left_out)
