"""A bundle: a bot's files as one thing that never changes, named by its digest.

The files are put into a tar in one fixed form (sorted, no owners, no times, only whether a
file is executable), and the digest is the SHA-256 of that tar. So the same files are the same
bundle wherever they came from, a stored bundle can be proven with ``sha256sum``, and what a
worker unpacks is what was stored.
"""

from __future__ import annotations

import fcntl
import hashlib
import io
import os
import re
import shutil
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from workers.archives import (
    MAX_BYTES,
    BundleError,
    Collected,
    Files,
    collect,
    read_tar,
    walk,
)
from workers.fetching import fetch
from workers.foreign_files import PROGRAM, windows_lines, wrong_text
from workers.languages import find_language
from workers.launches import Launch
from workers.manifest import MANIFEST, STEMS, Manifest, read_manifest
from workers.runtime import FreshFolder

DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)
UNFINISHED = ".new-"
"""How the names of files begin that are being written."""
GIVEN_UP_SECONDS = 24 * 60 * 60
"""The age at which nobody writes to such a file any more."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """A bot's files, found to be a bot."""

    digest: str
    archive: bytes
    """The tar itself."""
    name: str
    """What the bot is called by its manifest, its only file, its archive or its folder."""
    manifest: Manifest

    @property
    def language(self) -> str:
        """Its language's name; ``program`` if it is one by itself."""
        return self.manifest.language.name if self.manifest.language else "program"


def pack(path: Path) -> Bundle:
    """The bundle of a single file, a folder, or a zip, tar or tar.gz archive.

    Raises:
        BundleError: it is no bot; one sentence for its author.
    """
    collected = collect(path)
    files = collected.files
    _demand_manifest_name(files)
    manifest = read_manifest(files, collected.left_out)
    _demand_texts(files, manifest)
    # An upload of a single file or a zip from Windows lost the mark of a program.
    files |= {name: replace(files[name], executable=True) for name in _programs(files, manifest)}
    archive = _tar(files)
    name = manifest.name or _name(path, files, manifest.main)
    return Bundle(hashlib.sha256(archive).hexdigest(), archive, name, manifest)


def _demand_manifest_name(files: Files) -> None:
    """Refuses a manifest that would not be read, by a system that shows and spells names its way.

    Raises:
        BundleError: there is one.
    """
    if MANIFEST in files:
        return
    for name in files:
        if name.lower() in (MANIFEST, f"{MANIFEST}.txt"):
            raise BundleError(f"{name} is not read under that name: call it {MANIFEST}")


def _demand_texts(files: Files, manifest: Manifest) -> None:
    """Refuses sources that their language does not read.

    Raises:
        BundleError: there is one.
    """
    main, language = manifest.main, manifest.language
    for name in sorted(files):
        is_source = language is not None and find_language(PurePath(name)) is language
        if (name == main or is_source) and (words := wrong_text(name, files[name], language)):
            raise BundleError(words)
    goes_by_lines = language is None or language.unix_lines
    if main in files and goes_by_lines and (words := windows_lines(main, files[main], language)):
        raise BundleError(words)


def _programs(files: Files, manifest: Manifest) -> set[str]:
    """The files that have to have the right to be executed: the bot's, and those of its build."""
    found = {manifest.main} if manifest.language is None else set()
    if manifest.build:
        words = re.split(r"[\s;&|()<>'\"]+", manifest.build)
        found |= {PurePath(word).as_posix() for word in words}
        found |= {name for name, file in files.items() if file.content.startswith(PROGRAM)}
    return found & files.keys()


def _name(path: Path, files: Files, main: str) -> str:
    """What a bot is called that doesn't say so: as its only file, or as what holds its files."""
    only = Path(main).stem
    if len(files) == 1 and only.lower() not in STEMS:
        return only
    if path.is_dir():
        return path.resolve().name  # of "." too
    return Path(re.sub(r"\.tar\.gz$", ".tgz", path.name, flags=re.IGNORECASE)).stem


def store(folder: Path, bundle: Bundle) -> Path:
    """Keeps a bundle in a folder, and returns its file there, which is named by the digest.

    One that is there and damaged is put right.
    """
    target = folder / bundle.digest
    if not target.exists() or target.read_bytes() != bundle.archive:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, prefix=UNFINISHED, delete=False) as file:
            try:
                file.write(bundle.archive)
                file.flush()
                os.fsync(file.fileno())
                Path(file.name).replace(target)
            except BaseException:
                Path(file.name).unlink(missing_ok=True)
                raise
    return target


def sweep_store(folder: Path) -> None:
    """Removes what was begun by a `store` that was killed, once it is old: others may be at it."""
    oldest = time.time() - GIVEN_UP_SECONDS
    for file in folder.glob(f"{UNFINISHED}*"):
        with suppress(FileNotFoundError):  # another process swept it, or has finished it
            if file.stat().st_mtime < oldest:
                file.unlink()


def unpack(location: Path | str, digest: str, cache: Path) -> Path:
    """The folder of a bundle's files in a cache, unpacked there if they aren't yet.

    Args:
        location: where the bundle is: a path, or an address of the arena's pages.

    What it returns has been proven by the digest, also if it was there before. Any number of
    processes may do this at once.

    Raises:
        BundleError: the archive is not of that digest.
        OSError: it can't be read, or the cache not written.
    """
    if not DIGEST.fullmatch(digest):
        raise BundleError(f"{digest[:80]!r} is no digest")
    target = cache / digest
    if _is_whole(target, digest):
        return target
    where = str(location)
    data = fetch(where) if where.startswith(("http://", "https://")) else Path(where).read_bytes()
    if hashlib.sha256(data).hexdigest() != digest:
        # An address is a key for some minutes, and so is in no message.
        raise BundleError(
            f"{where.partition('?')[0]} is not the bundle {digest[:12]}: store it again"
        )
    collected = Collected()
    read_tar(collected, data)
    cache.mkdir(parents=True, exist_ok=True, mode=0o700)
    with one_at_a_time(cache):
        # Once more: another process may have put it right, and its bot plays from there by now.
        if not _is_whole(target, digest):
            if target.is_dir():
                discard(target)
            with FreshFolder(target) as made:
                write_files(made, collected.files)
    return target


def _is_whole(folder: Path, digest: str) -> bool:
    """Whether a folder of the cache is there and as it was; then it counts as used just now."""
    try:
        if digest_of(folder) != digest:
            return False
        os.utime(folder)  # for `sweep`
    except FileNotFoundError:  # or no longer there, since another process found it changed
        return False
    return True


@contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    """What one process of this machine does at a time with a folder."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def write_files(folder: Path, files: Files) -> None:
    """Puts files into a folder that nobody else can write to."""
    for name, file in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.content)
        path.chmod(0o755 if file.executable else 0o644)


def launch(folder: Path) -> Launch:
    """How an unpacked bundle's bot is run in a box on this machine.

    Raises:
        BundleError: the folder is no unpacked bundle.
        LanguageError: the bot's interpreter is not installed here.
    """
    return read_manifest(collect(folder, whole=True).files).launch()


def sweep(cache: Path, *, unused_seconds: float) -> None:
    """Removes unpacked and built bundles that were not asked for in that time."""
    oldest = time.time() - unused_seconds
    for folder in cache.glob("*"):
        with suppress(FileNotFoundError):  # another process swept it
            digest = folder.name.partition("-")[0]
            if DIGEST.fullmatch(digest) and folder.stat().st_mtime < oldest:
                discard(folder)


def discard(folder: Path) -> None:
    """Removes a folder of the cache, out of others' sight first."""
    hidden = Path(tempfile.mkdtemp(prefix=".old-", dir=folder.parent))
    with suppress(FileNotFoundError):
        folder.rename(hidden / folder.name)
    shutil.rmtree(hidden, ignore_errors=True)


def _tar(files: Files) -> bytes:
    """The one tar of these files."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name in sorted(files):
            member = tarfile.TarInfo(name)
            member.size = len(files[name].content)
            member.mode = 0o755 if files[name].executable else 0o644
            archive.addfile(member, io.BytesIO(files[name].content))
    return buffer.getvalue()


def digest_of(folder: Path, *, max_bytes: int = MAX_BYTES) -> str | None:
    """The digest of the files in a folder, all of them; None if they are no bundle's.

    Raises:
        OSError: they can't be read, which says nothing about them.
    """
    collected = Collected(max_bytes=max_bytes)
    try:
        for path, info in walk(folder):
            if path.is_symlink():
                return None
            name = path.relative_to(folder).as_posix()
            collected.add(name, path.read_bytes(), executable=bool(info.st_mode & 0o100))
    except BundleError:
        return None
    return hashlib.sha256(_tar(collected.files)).hexdigest()
