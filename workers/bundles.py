"""A bundle: a bot's files as one thing that never changes, named by its digest.

The files are put into a tar in one fixed form (sorted, no owners, no times, only whether a
file is executable), and the digest is the SHA-256 of that tar. So the same files are the same
bundle wherever they came from, a stored bundle can be proven with ``sha256sum``, and what a
worker unpacks is what was stored. Large files stand in it by their own digests, and lie beside it
in a store (see `workers.large_files`).
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
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from engine.translation import gettext
from workers.archives import collect, read_tar
from workers.box_folder import FreshFolder, discard, one_at_a_time
from workers.fetching import fetch, is_address, plain
from workers.files import Collected, Files
from workers.foreign_files import PROGRAM, windows_lines, wrong_text
from workers.kept_files import KeptFiles, Proven
from workers.languages import find_language
from workers.large_files import (
    MAX_BYTES,
    MOST_BYTES,
    UNFINISHED,
    Aside,
    BundleError,
    Large,
    keep,
)
from workers.launches import Launch
from workers.manifest import MANIFEST, STEMS, Manifest, read_manifest

DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)
GIVEN_UP_SECONDS = 24 * 60 * 60
"""The age at which nobody writes to such a file any more."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """A bot's files, found to be a bot."""

    digest: str
    archive: bytes
    """The tar itself."""
    files_bytes: int
    """Those of its files, each of the large ones once: without what an archive adds."""
    name: str
    """What the bot is called by its manifest, its only file, its archive or its folder."""
    manifest: Manifest
    large: tuple[Large, ...] = ()
    """The large files that it names, each once, in the order of their digests."""
    aside: Aside | None = None
    """What keeps those of them that were in an archive."""

    @property
    def language(self) -> str:
        """Its language's name; ``program`` if it is one by itself."""
        return self.manifest.language.name if self.manifest.language else "program"

    @property
    def size(self) -> int:
        """Bytes, as it is stored."""
        return len(self.archive) + sum(one.size for one in self.large)


def pack(path: Path, *, max_bytes: int = MAX_BYTES, aside: Aside | None = None) -> Bundle:
    """The bundle of a single file, a folder, or a zip, tar or tar.gz archive.

    Args:
        max_bytes: that its files may have together.
        aside: where large ones are put out of an archive, or are found that it only names.

    Raises:
        BundleError: it is no bot; one sentence for its author.
        OSError: large files can't be put aside.
    """
    aside = aside or Aside()
    collected = collect(path, max_bytes=max_bytes, aside=aside)
    files = collected.files
    _demand_manifest_name(files)
    manifest = read_manifest(files, collected.left_out)
    _demand_texts(files, manifest)
    # An upload of a single file or a zip from Windows lost the mark of a program.
    files |= {name: replace(files[name], executable=True) for name in _programs(files, manifest)}
    archive = _tar(files)
    name = manifest.name or _name(path, files, manifest.main)
    large = {file.large.digest: file.large for file in files.values() if file.large}
    its = tuple(large[digest] for digest in sorted(large))
    bytes_ = sum(len(file.content) for file in files.values() if not file.large)
    bytes_ += sum(one.size for one in its)
    digest = hashlib.sha256(archive).hexdigest()
    return Bundle(digest, archive, bytes_, name, manifest, its, aside)


def _demand_manifest_name(files: Files) -> None:
    """Refuses a manifest that would not be read, by a system that shows and spells names its way.

    Raises:
        BundleError: there is one.
    """
    if MANIFEST in files:
        return
    for name in files:
        if name.lower() in (MANIFEST, f"{MANIFEST}.txt"):
            raise BundleError(
                gettext(
                    "%(name)s is not read under that name: call it %(manifest)s",
                    name=name,
                    manifest=MANIFEST,
                )
            )


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

    So are its large files. What is there and damaged is put right.

    Raises:
        BundleError: a large file is not what it was when it was packed.
    """
    target = folder / bundle.digest
    folder.mkdir(parents=True, exist_ok=True)
    for large in bundle.large:
        keep(folder, large)
    if not target.exists() or target.read_bytes() != bundle.archive:
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
            if file.stat().st_mtime >= oldest:
                continue
            if file.is_dir():
                shutil.rmtree(file)
            else:
                file.unlink()


def unpack(
    location: Path | str,
    digest: str,
    cache: Path,
    kept: KeptFiles | None = None,
    *,
    held: ExitStack | None = None,
) -> Path:
    """The folder of a bundle's files in a cache, unpacked there if they aren't yet.

    Args:
        location: where the bundle is: a path, or an address of the arena's pages.
        kept: where large files are kept; without it there may be none.
        held: for how long a bundle with large files is in use, and stays whatever else is
            wanted; by default for as long as this process.

    What it returns has been proven by the digest, also if it was there before. Any number of
    processes may do this at once.

    Raises:
        BundleError: the archive is not of that digest.
        RoomError: its large files have no room here.
        OSError: it can't be read, or the cache not written.
    """
    if not DIGEST.fullmatch(digest):
        raise BundleError(gettext("%(digest)r is no digest", digest=digest[:80]))
    target, held = cache / digest, _FOR_GOOD if held is None else held
    if _is_whole(target, digest, kept, held):
        return target
    where = str(location)
    data = fetch(where) if is_address(where) else Path(where).read_bytes()
    if hashlib.sha256(data).hexdigest() != digest:
        # An address is a key for some minutes, and so is in no message.
        raise BundleError(
            gettext(
                "%(path)s is not the bundle %(digest)s: store it again",
                path=plain(where),
                digest=digest[:12],
            )
        )
    collected = Collected(max_bytes=MOST_BYTES, aside=_Named())
    read_tar(collected, io.BytesIO(data))
    cache.mkdir(parents=True, exist_ok=True, mode=0o700)
    with ExitStack() as meanwhile:
        if any(file.large for file in collected.files.values()):
            if kept is None:
                raise BundleError(
                    gettext(
                        "the bundle %(digest)s has large files, kept nowhere here",
                        digest=digest[:12],
                    )
                )
            meanwhile.enter_context(kept.brought(collected.files, where, digest))
        with one_at_a_time(cache):
            # Once more: another process may have put it right, and its bot plays there by now.
            if not _is_whole(target, digest, kept, held):
                if target.is_dir():
                    discard(target)
                with FreshFolder(target) as made:
                    write_files(made, collected.files, kept)
                if not _is_whole(target, digest, kept, held):
                    raise OSError(f"{target} was changed as soon as it was unpacked")
    return target


class _Named(Aside):
    """Large files that a bundle names, which are brought later."""

    def named(self, digest: str, size: int) -> Large:
        return Large(digest, size)


_FOR_GOOD = ExitStack()
"""Holds what nobody lets go before this process ends."""


def _is_whole(folder: Path, digest: str, kept: KeptFiles | None, held: ExitStack) -> bool:
    """Whether a folder of the cache is there and as it was; then it counts as used just now."""
    with ExitStack() as meanwhile:
        try:
            in_use = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            meanwhile.callback(os.close, in_use)
            fcntl.flock(in_use, fcntl.LOCK_SH)
            files = _files_of(folder)
            if files is None or _digest(files) != digest:
                return False
            os.utime(folder)  # for `sweep`
        except (FileNotFoundError, NotADirectoryError):
            return False  # or no longer there, since another process found it changed
        if any(file.large for file in files.values()):
            if kept is None:
                return True
            held.enter_context(meanwhile.pop_all())
    return True


def write_files(folder: Path, files: Files, kept: KeptFiles | None = None) -> None:
    """Puts files into a folder that nobody else can write to; large ones are linked from there."""
    for name, file in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if file.large:
            assert kept, "who has large files has said where they are kept"
            os.link(kept.file_of(file), path)
        else:
            path.write_bytes(file.content)
            path.chmod(0o755 if file.executable else 0o644)


def launch(folder: Path) -> Launch:
    """How an unpacked bundle's bot is run in a box on this machine.

    Raises:
        BundleError: the folder is no unpacked bundle.
        LanguageError: the bot's interpreter is not installed here.
    """
    return read_manifest(unpacked_files(folder)).launch()


def unpacked_files(folder: Path) -> Files:
    """The files of an unpacked bundle.

    Raises:
        BundleError: the folder is none.
    """
    return collect(folder, whole=True, max_bytes=MOST_BYTES, aside=Proven()).files


def sweep(cache: Path, *, unused_seconds: float) -> None:
    """Removes unpacked and built bundles that were not asked for in that time."""
    oldest = time.time() - unused_seconds
    for folder in cache.glob("*"):
        with suppress(FileNotFoundError):  # another process swept it
            digest = folder.name.partition("-")[0]
            if DIGEST.fullmatch(digest) and folder.stat().st_mtime < oldest:
                discard(folder)


def _tar(files: Files) -> bytes:
    """Writes files as the one tar that any order of them gives."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name in sorted(files):
            member, file = tarfile.TarInfo(name), files[name]
            member.mode = 0o755 if file.executable else 0o644
            if file.large:
                member.type, member.linkname = tarfile.SYMTYPE, file.large.link
                archive.addfile(member)
            else:
                member.size = len(file.content)
                archive.addfile(member, io.BytesIO(file.content))
    return buffer.getvalue()


def _digest(files: Files) -> str:
    return hashlib.sha256(_tar(files)).hexdigest()


def digest_of(folder: Path, *, small_bytes: int = MAX_BYTES) -> str | None:
    """The digest of the files in a folder, all of them; None if they are no bundle's.

    Args:
        small_bytes: what all but large files may have together.

    Raises:
        OSError: they can't be read, which says nothing about them.
    """
    files = _files_of(folder, small_bytes)
    return None if files is None else _digest(files)


def _files_of(folder: Path, small_bytes: int = MAX_BYTES) -> Files | None:
    collected = Collected(
        max_bytes=MOST_BYTES + small_bytes, small_bytes=small_bytes, aside=Proven()
    )
    try:
        collected.take_folder(folder)
    except BundleError:
        return None
    return collected.files
