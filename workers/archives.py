"""A bot's files, taken from a file, folder or archive that a stranger made.

Nothing is written to disk here by a name of theirs, so no name and no link can lead anywhere;
what is no plain file of a plain name is refused, and every read is bounded, whatever an archive
says of itself. What is large is never in memory (`workers.large_files`).
"""

from __future__ import annotations

import gzip
import stat
import tarfile
import tempfile
import zipfile
import zlib
from functools import partial
from pathlib import Path, PurePath
from typing import IO, cast

from engine.translation import N_, gettext, translated
from workers.files import (
    MAX_FILES,
    Collected,
    File,
    Member,
    file_at,
    in_mib,
    open_plain,
    parts_of,
)
from workers.large_files import (
    CHUNK,
    Aside,
    UnwritableError,
    read_link,
    write,
)
from workers.large_files import MAX_BYTES as MAX_BYTES
from workers.large_files import MIB as MIB
from workers.large_files import BundleError as BundleError

MAX_MEMBERS = 20 * MAX_FILES
"""What an archive may name, with folders and all that is left out; each takes a time to read."""
MAX_HEADER_BYTES = 4096
"""What a tar may say of one file beside its name and size."""
MAX_HEADERS_BYTES = 4 * MAX_HEADER_BYTES
"""What a tar may have in all headers before a file, and in what lists the holes of a sparse one."""
SPARE_BYTES = 4 * MIB
"""What an archive has besides its files: headers and padding; so has a tar unpacked from gzip."""
MAX_ARCHIVE_BYTES = MAX_BYTES + SPARE_BYTES
"""A bundle's tar, in which no large file is. No more of an archive is ever in memory."""

MADE_BY_BUILDS = frozenset({"CMakeFiles", "cmake-build-*", "meson-private"})
"""What a build leaves on its author's machine, of what is left out: it has programs of its own in
it."""
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
READABLE = N_("a zip, tar or tar.gz archive")
OTHER_ARCHIVES = (
    *(".7z", ".rar", ".gz", ".bz2", ".xz", ".zst", ".lzma", ".lz", ".lz4", ".z", ".br"),
    *(".tbz", ".tbz2", ".txz", ".tzst", ".tlz", ".cpio", ".cab", ".dmg", ".iso", ".deb", ".rpm"),
)


TOO_MANY = N_("the archive names more than %(number)s files and folders")
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


def is_archive(path: PurePath) -> bool:
    """Whether a file's name says that it holds others."""
    return path.name.lower().endswith((".zip", ".tar", ".tar.gz", ".tgz"))


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
            with open_plain(path, max_bytes + SPARE_BYTES) as file:
                _from_archive(collected, name, file)
        elif name.endswith(OTHER_ARCHIVES):
            raise BundleError(
                gettext(
                    "%(name)s can't be read: give %(kind)s",
                    name=path.name,
                    kind=translated(READABLE),
                )
            )
        else:
            collected.take([file_at(path.name, path, path.stat().st_mode, max_bytes)])
    except UnwritableError as error:
        raise error.cause from None
    except OSError as error:
        raise BundleError(
            gettext("%(path)s can't be read: %(reason)s", path=path, reason=error.strerror or error)
        ) from None
    if not collected.files:
        words = gettext("%(name)s holds no files", name=path.name)
        if collected.left_out:
            words = gettext(
                "%(name)s holds no files, but for what tools leave behind", name=path.name
            )
        raise BundleError(words)
    collected.files = _without_common_folder(collected.files)
    return collected


def _without_common_folder(files: dict[str, File]) -> dict[str, File]:
    """Files that all lie in one folder, as archives of a repository do, without it."""
    while all("/" in name for name in files) and len({name.split("/")[0] for name in files}) == 1:
        files = {name.partition("/")[2]: file for name, file in files.items()}
    return files


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
                        gettext(
                            "the files have more than %(number)s MiB unpacked",
                            number=in_mib(collected.max_bytes),
                        )
                    )
                write(found, chunk)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        found.close()
        raise BundleError(
            gettext("the archive is no whole gzip file: give %(kind)s", kind=translated(READABLE))
        ) from None
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
                gettext(
                    "the archive says too much of one of its files, as tar does of extended "
                    "attributes: leave them out by --no-xattrs, or give a zip"
                )
            )
        self.room -= size


class _Contents(_Guarded):
    """A zip, of which no longer table of contents is read than files may be named."""

    left: int | None = MAX_MEMBERS
    """How many entries may still come; None once they are read."""

    def _allow(self, size: int) -> None:
        if size > MAX_ARCHIVE_BYTES:
            raise BundleError(gettext(TOO_MANY, number=MAX_MEMBERS))

    def _look(self, data: bytes) -> None:
        # Counted before Python takes all of them in.
        if self.left is not None and data.count(ZIP_ENTRY) > self.left:
            raise BundleError(gettext(TOO_MANY, number=MAX_MEMBERS))


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
                    raise BundleError(gettext("the archive is no whole tar file"))
                place = archive.offset
                if count > MAX_MEMBERS:
                    raise BundleError(gettext(TOO_MANY, number=MAX_MEMBERS))
                parts_of(member.name)
                if not member.isdir():
                    members.append(_in_tar(file, member))
                headers.room = MAX_HEADERS_BYTES
            # Of a header that is none Python says nothing, and takes it for the end.
            file.seek(place)
            end = file.read(tarfile.BLOCKSIZE)
            if archive.offset != place or end.strip(b"\0"):
                raise BundleError(gettext("the archive is no whole tar file"))
    except (tarfile.TarError, EOFError, ValueError, OverflowError, RecursionError) as error:
        if isinstance(error, BundleError):
            raise
        whole = gettext(
            "the archive is no tar file, whatever its name: give %(kind)s",
            kind=translated(READABLE),
        )
        if place:
            whole = gettext(
                "the archive is no whole tar file: give %(kind)s", kind=translated(READABLE)
            )
        raise BundleError(whole) from None
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
        """Reads so many bytes more, or all that are left."""
        wanted = min(size, self._left)
        found = self._file.read(wanted)
        if len(found) != wanted:
            raise BundleError(gettext("the archive is no whole tar file"))
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
                parts_of(name)
                if not name.endswith("/"):
                    kind = stat.S_IFMT(mode) or stat.S_IFREG
                    opened = partial(_open_in_zip, archive, member)
                    members.append(Member(name, kind, bool(mode & stat.S_IXUSR), opened))
            collected.take(members)
    except NotImplementedError:
        raise BundleError(
            gettext("the zip file is compressed in a way that is not supported")
        ) from None
    except (BundleError, UnwritableError):
        raise
    except BROKEN_ZIP:
        file.seek(0)
        is_begun = file.read(2) == b"PK"
        whole = gettext(
            "the archive is no zip file, whatever its name: give %(kind)s",
            kind=translated(READABLE),
        )
        if is_begun:
            whole = gettext(
                "the archive is no whole zip file: give %(kind)s", kind=translated(READABLE)
            )
        raise BundleError(whole) from None


def _open_in_zip(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> IO[bytes]:
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise NotImplementedError
    if member.flag_bits & 1:
        raise BundleError(gettext("the archive has a password: give one without"))
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
