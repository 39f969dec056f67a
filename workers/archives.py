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
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import translate
from functools import partial
from itertools import takewhile
from pathlib import Path, PurePath

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


class BundleError(ValueError):
    """Files that are no bot; one sentence for its author."""


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
    executable: bool = False


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
    read: Callable[[int], bytes]
    """Its content; so many of its first bytes, if that unpacks it."""


def collect(path: Path, *, whole: bool = False) -> Collected:
    """The files at a path: of a folder, of an archive, or a single file.

    Args:
        whole: nothing is left out; so are the files of a bundle read, which were sorted before.

    Raises:
        BundleError: there is none, too many or too large ones, or not only plain ones.
    """
    collected = Collected() if whole else Collected(LEFT_OUT, LEFT_OUT_WITH)
    name = path.name.lower()
    try:
        if path.is_dir():
            collected.take(_in_folder(path, () if whole else LEFT_OUT))
        elif name.endswith(".zip"):
            _from_zip(collected, _whole(path, MAX_ARCHIVE_BYTES))
        elif is_archive(path):
            data = _whole(path, MAX_ARCHIVE_BYTES)
            # Browsers and mail programs unpack on the way, and leave the name as it was.
            read_tar(collected, _gunzip(data) if data.startswith(GZIP) else data)
        elif name.endswith(OTHER_ARCHIVES):
            raise BundleError(f"{path.name} can't be read: give {READABLE}")
        else:
            executable = bool(path.stat().st_mode & stat.S_IXUSR)
            collected.add(path.name, _whole(path, MAX_BYTES), executable=executable)
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
    ) -> None:
        """Takes names and marks that are left out; see `LEFT_OUT` and `LEFT_OUT_WITH`."""
        self.files: dict[str, File] = {}
        self.left_out: list[str] = []
        """The names of files that were."""
        self._is_left_out = named_by(left_out)
        self._marks = left_out_with
        self._folders: set[str] = set()
        self._max_bytes = max_bytes
        self._room = max_bytes

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
            if member.kind == stat.S_IFLNK:
                raise BundleError(f"{member.name!r} is a link: put the file itself there")
            if member.kind != stat.S_IFREG:
                raise BundleError(f"{member.name!r} is no plain file")
            # Never more than a byte too many.
            content = member.read(self._room + 1)
            self.add(member.name, content, executable=member.executable)

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
        raise BundleError(f"the archive is no whole gzip file: give {READABLE}") from None
    if len(found) > MAX_ARCHIVE_BYTES:
        raise BundleError(f"the files have more than {MAX_BYTES // MIB} MiB unpacked")
    return found


class _Headers(io.BytesIO):
    """A tar, of which no more is read than the headers of a file may have."""

    room = MAX_HEADERS_BYTES

    def read(self, size: int | None = -1, /) -> bytes:
        # For a header's words Python takes a time that grows with their length squared.
        if size is None or not 0 <= size <= min(MAX_HEADER_BYTES, self.room):
            raise BundleError(
                "the archive says too much of one of its files, as tar does of extended "
                "attributes: leave them out by --no-xattrs, or give a zip"
            )
        self.room -= size
        return super().read(size)


def read_tar(collected: Collected, data: bytes) -> None:
    """Takes in the files of an unpacked tar.

    Raises:
        BundleError: see `collect`.
    """
    headers = _Headers(data)
    members = []
    place = 0
    try:
        with tarfile.open(fileobj=headers, mode="r:", encoding="utf-8") as archive:
            for count, member in enumerate(archive, 1):
                # A size below zero leads back; some releases of Python go round for ever.
                if archive.offset <= place:
                    raise BundleError("the archive is no whole tar file")
                place = archive.offset
                if count > MAX_MEMBERS:
                    raise BundleError(TOO_MANY)
                _parts(member.name)
                if not member.isdir():
                    members.append(_in_tar(data, member))
                headers.room = MAX_HEADERS_BYTES
            # Of a header that is none Python says nothing, and takes it for the end.
            end = data[place : place + tarfile.BLOCKSIZE]
            if archive.offset != place or end.strip(b"\0"):
                raise BundleError("the archive is no whole tar file")
    except (tarfile.TarError, EOFError, ValueError, OverflowError, RecursionError) as error:
        if isinstance(error, BundleError):
            raise
        whole = "no whole tar file" if place else "no tar file, whatever its name"
        raise BundleError(f"the archive is {whole}: give {READABLE}") from None
    collected.take(members)


def _in_tar(data: bytes, member: tarfile.TarInfo) -> Member:
    def read(limit: int) -> bytes:
        content = data[member.offset_data : member.offset_data + member.size]
        if len(content) != member.size:
            raise BundleError("the archive is no whole tar file")
        return content[:limit]

    kind = 0
    if member.issym() or member.islnk():
        kind = stat.S_IFLNK
    elif member.isreg() and not member.issparse():
        kind = stat.S_IFREG
    return Member(member.name, kind, bool(member.mode & stat.S_IXUSR), read)


def _from_zip(collected: Collected, data: bytes) -> None:
    # Counted before Python takes all of them in.
    if data.count(ZIP_ENTRY) > MAX_MEMBERS:
        raise BundleError(TOO_MANY)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = []
            for member in archive.infolist():
                name, mode = _name_in_zip(member), member.external_attr >> 16
                _parts(name)
                if not name.endswith("/"):
                    kind = stat.S_IFMT(mode) or stat.S_IFREG
                    read = partial(_read_in_zip, archive, member)
                    members.append(Member(name, kind, bool(mode & stat.S_IXUSR), read))
            collected.take(members)
    except NotImplementedError:
        raise BundleError("the zip file is compressed in a way that is not supported") from None
    except BundleError:
        raise
    except BROKEN_ZIP:
        whole = "no whole zip file" if data.startswith(b"PK") else "no zip file, whatever its name"
        raise BundleError(f"the archive is {whole}: give {READABLE}") from None


def _read_in_zip(archive: zipfile.ZipFile, member: zipfile.ZipInfo, limit: int) -> bytes:
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise NotImplementedError
    if member.flag_bits & 1:
        raise BundleError("the archive has a password: give one without")
    with archive.open(member) as file:
        return file.read(limit)


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


def _in_folder(folder: Path, left_out: Collection[str]) -> Iterator[Member]:
    for path, info in walk(folder, left_out):
        name, mode = path.relative_to(folder).as_posix(), info.st_mode
        read = partial(_in_full, path)
        yield Member(name, stat.S_IFMT(mode), bool(mode & stat.S_IXUSR), read)


def _in_full(path: Path, _: int) -> bytes:
    return _whole(path, MAX_BYTES)


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
