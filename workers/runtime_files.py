"""Runtimes as files: how one is kept, moved and unpacked.

Theory of operation. A runtime's folder is one tar in one fixed form, named by its SHA-256 as
bundles are, but never whole in memory: it may have gigabytes. A worker unpacks it as it comes, and
keeps what it unpacked only if the digest is right and a box can import the packages there; so what
a machine can't run is that machine's failure, and no bot's.

It is proven whole when it is unpacked. Later, at each use, only the sizes and times of its files
are looked at: to hash a gigabyte before each match is no option, and bots can't write there, which
each box's walls see to. What is left are accidents, such as a disk that was full or somebody who
tidied up, and these change sizes or times.
"""

from __future__ import annotations

import hashlib
import os
import select
import stat
import tarfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO, cast

from engine.jobs import RuntimeFiles
from engine.translation import gettext
from workers.archives import BundleError
from workers.box_folder import FreshFolder, discard, one_at_a_time, open_to_readers
from workers.bundles import DIGEST
from workers.fetching import fetch_to, is_address
from workers.languages import LanguageError
from workers.limits import Limits
from workers.program import BoxError
from workers.runtimes import ALL_IMPORTED, NoRuntimeError, UnpackedRuntime, trial
from workers.sandbox import Sandbox

MOST_BYTES = 8 << 30
MOST_FILES = 200_000
CHUNK = 1 << 20
OFTEN = 100
"""Files, after which it is shown that somebody still unpacks."""
TRIAL_LIMITS = Limits(memory_bytes=4 << 30, threads=64)
TRIAL_SECONDS = 120.0


class _Proven:
    """Reads from a source, and knows the digest and the length of what it has read."""

    def __init__(self, source: BinaryIO) -> None:
        self._source, self._digest, self.count = source, hashlib.sha256(), 0

    def read(self, size: int = CHUNK, /) -> bytes:
        data = self._source.read(size)
        self.count += len(data)
        if self.count > MOST_BYTES:
            raise NoRuntimeError(
                gettext("it has more than %(number)s GiB", number=MOST_BYTES >> 30)
            )
        self._digest.update(data)
        return data

    def digest(self) -> str:
        """The digest of all there is."""
        while self.read(CHUNK):
            pass
        return self._digest.hexdigest()


class _Counted:
    """Writes to a file, and knows the digest and the length of what it has written."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._digest, self.count = file, hashlib.sha256(), 0

    def write(self, data: bytes, /) -> int:
        self._digest.update(data)
        self.count += len(data)
        return self._file.write(data)

    def digest(self) -> str:
        """The digest of all that was written."""
        return self._digest.hexdigest()


def pack(folder: Path, file: BinaryIO) -> tuple[str, int]:
    """Writes the one tar of a runtime's folder to a file.

    Returns:
        Its digest, and its bytes.

    Raises:
        NoRuntimeError: something there is no plain file.
        OSError: the file can't be written.
    """
    out = _Counted(file)
    # Of what is no more than a stream, tarfile asks no more than to write.
    stream = cast(IO[bytes], out)
    with tarfile.open(fileobj=stream, mode="w|", format=tarfile.GNU_FORMAT) as archive:
        for path, info in files_of(folder):
            member = tarfile.TarInfo(path.relative_to(folder).as_posix())
            member.size = info.st_size
            member.mode = 0o755 if info.st_mode & stat.S_IXUSR else 0o644
            with path.open("rb") as content:
                archive.addfile(member, content)
    if out.count > MOST_BYTES:
        raise NoRuntimeError(gettext("it has more than %(number)s GiB", number=MOST_BYTES >> 30))
    return out.digest(), out.count


def files_of(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """All files below a folder in the order of their names.

    Raises:
        NoRuntimeError: something there is no plain file.
    """
    found = [Path(above, name) for above, _, names in os.walk(folder) for name in names]
    links = [Path(above, n) for above, names, _ in os.walk(folder) for n in names]
    for path in filter(os.path.islink, links):
        raise NoRuntimeError(
            gettext("%(file)s is a link: a runtime has plain files", file=path.relative_to(folder))
        )
    for path in sorted(found, key=lambda path: path.relative_to(folder).as_posix()):
        info = path.lstat()
        if not stat.S_ISREG(info.st_mode):
            raise NoRuntimeError(
                gettext("%(file)s is no plain file", file=path.relative_to(folder))
            )
        yield path, info


def unpack(
    files: RuntimeFiles, cache: Path, prove: Callable[[UnpackedRuntime], None] = lambda _: None
) -> UnpackedRuntime:
    """A runtime on this machine, unpacked in a cache if it isn't yet.

    Any number of processes may do this at once; one of them unpacks.

    Args:
        prove: tries an unpacked runtime before it is used for the first time; raises if it fails.

    Raises:
        NoRuntimeError: what is there is not this runtime.
        OSError: it can't be read or fetched, or the cache not be written.
    """
    if not DIGEST.fullmatch(files.digest):
        raise NoRuntimeError(gettext("%(digest)r is no digest", digest=files.digest[:80]))
    target = cache / files.digest
    if found := _ready(target, files.digest):
        return found
    with one_at_a_time(cache):
        if found := _ready(target, files.digest):
            return found
        if target.is_dir():
            discard(target)
        with _at_hand(files, cache) as path, FreshFolder(target) as made:
            (made / "files").mkdir(mode=0o755)
            made.chmod(0o711)  # a bot's user is to reach it before it has its name
            _extract_proven(made / "files", path, files.digest)
            open_to_readers(made / "files")
            prove(UnpackedRuntime.read(made / "files", files.digest))
            (made / "stamp").write_text(_stamp(made / "files"))
    found = _ready(target, files.digest)
    if found is None:
        raise NoRuntimeError(
            gettext(
                "the runtime %(digest)s did not stay as it was unpacked", digest=files.digest[:12]
            )
        )
    return found


def _ready(target: Path, digest: str) -> UnpackedRuntime | None:
    """What was unpacked before, if it is still as it was; then it counts as used just now."""
    with suppress(FileNotFoundError):
        if (target / "stamp").read_text() == _stamp(target / "files"):
            os.utime(target)  # for `bundles.sweep`
            return UnpackedRuntime.read(target / "files", digest)
    return None


def _stamp(folder: Path) -> str:
    """The sizes and times of all files, as one digest; takes some microseconds for each."""
    digest = hashlib.sha256()
    waiting = [str(folder)]
    lines = []
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                info = entry.stat(follow_symlinks=False)
                kind = stat.S_IFMT(info.st_mode)
                size = 0 if kind == stat.S_IFDIR else info.st_size
                name = entry.path[len(str(folder)) :]
                lines.append(f"{name} {kind} {size} {info.st_mtime_ns}\n")
    for line in sorted(lines):
        digest.update(line.encode(errors="surrogateescape"))
    return digest.hexdigest()


@contextmanager
def _at_hand(files: RuntimeFiles, cache: Path) -> Iterator[Path]:
    """A runtime's file on this machine; what had to be fetched is gone at the end."""
    if not is_address(files.location):
        yield Path(files.location)
        return
    came = cache / f"{files.digest}.tar"
    try:
        fetch_to(came, files.location, files.digest, MOST_BYTES)
        yield came
    except BundleError as error:
        raise NoRuntimeError(str(error)) from None
    finally:
        came.unlink(missing_ok=True)


def _extract_proven(folder: Path, path: Path, digest: str) -> None:
    with path.open("rb") as file:
        proven = _Proven(file)
        _extract(proven, folder)
        if proven.digest() != digest:
            raise NoRuntimeError(
                gettext(
                    "%(path)s is not the runtime %(digest)s: have it made again",
                    path=path,
                    digest=digest[:12],
                )
            )


def _extract(source: _Proven, folder: Path) -> None:
    """Puts the files of a tar into an empty folder that is nobody else's.

    It is not proven yet, so that nothing of it is believed but what `pack` writes.
    """
    try:
        with tarfile.open(fileobj=cast(IO[bytes], source), mode="r|") as archive:
            for number, member in enumerate(archive):
                name = PurePosixPath(member.name)
                plain = member.isreg() and not member.issparse() and ".." not in name.parts
                if not plain or name.is_absolute() or number >= MOST_FILES:
                    raise NoRuntimeError(
                        gettext("%(name)r is none of a runtime's files", name=member.name[:80])
                    )
                if number % OFTEN == 0:
                    os.utime(folder.parent)  # or it would be taken for one that was left behind
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
                content = archive.extractfile(member)
                assert content is not None
                with path.open("xb") as file:
                    while data := content.read(CHUNK):
                        file.write(data)
                path.chmod(0o755 if member.mode & stat.S_IXUSR else 0o644)
    except (tarfile.TarError, FileExistsError, NotADirectoryError, ValueError) as error:
        if isinstance(error, NoRuntimeError):
            raise
        raise NoRuntimeError(gettext("what came is no runtime: %(reason)s", reason=error)) from None


def try_out(runtime: UnpackedRuntime, box: Sandbox) -> float:
    """Imports a runtime's packages in a box, and says how many seconds that took.

    Raises:
        BoxError: that does not work on this machine, or no box can be built.
    """
    began = time.monotonic()
    try:
        launch = trial(runtime)
    except LanguageError as error:
        raise BoxError(
            gettext("the runtime can't be used here: %(reason)s", reason=error)
        ) from None
    program = box.start(runtime.folder, launch, TRIAL_LIMITS)
    try:
        said, poll = b"", select.poll()
        poll.register(program.stdout, select.POLLIN)
        while ALL_IMPORTED.encode() not in said:
            left = began + TRIAL_SECONDS - time.monotonic()
            if left <= 0 or not poll.poll(left * 1000):
                raise BoxError(
                    gettext(
                        "the runtime's packages were not imported in %(seconds)s s",
                        seconds=f"{TRIAL_SECONDS:.0f}",
                    )
                )
            data = os.read(program.stdout, 4096)
            if not data:
                lines = os.pread(program.stderr, 1 << 16, 0).decode(errors="replace").split("\n")
                last = next((line for line in reversed(lines) if line.strip()), gettext("it ended"))
                raise BoxError(
                    gettext(
                        "the runtime's packages can't be imported here: %(reason)s",
                        reason=last[:300],
                    )
                )
            said += data
    finally:
        program.kill()
    return time.monotonic() - began
