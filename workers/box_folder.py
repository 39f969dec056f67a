"""A folder for what boxes need from the machine.

A bot must reach bubblewrap, the `engine` package and its own files. A worker that is an
ordinary user shares all it has with its bots' user, which is itself, and with nobody else. A
worker that is root runs every bot as a user of its own (see `workers.users`), who can read
neither a virtual environment nor a clone in a closed home; for them it keeps copies of programs
in the box folder, which belongs to root and can be entered but not listed. What strangers
handed in lies there in folders closed to all but root. Copies are named by their content, so
that workers can share a folder and an upgrade needs no cleaning up.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from engine.translation import gettext

UNFINISHED = (".new-*", ".old-*", ".work-*")
"""What is being made, thrown away or built in, until it has its name or is gone."""
UNFINISHED_SECONDS = 600.0
"""Far more than any of that takes: what is older was left by a process that was killed."""
RM = shutil.which("rm", path="/usr/bin:/bin") or "/bin/rm"
CHMOD = shutil.which("chmod", path="/usr/bin:/bin") or "/bin/chmod"


def default_folder() -> Path:
    """Where the box folder lies unless the operator says otherwise."""
    if os.geteuid() == 0:
        return Path("/var/cache/arena-box")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    if not cache.is_absolute():  # a user without a home
        return Path(tempfile.gettempdir(), f"arena-box-of-{os.geteuid()}")
    return cache / "arena-box"


class BoxFolder:
    """A folder where a worker keeps what boxes need from it."""

    def __init__(self, folder: Path | None = None) -> None:
        """Makes it, if need be.

        Raises:
            OSError: it can't be made, or isn't ours, or a bot's user could not enter it.
        """
        self.folder = (folder or default_folder()).absolute()
        as_root = os.geteuid() == 0
        if not self.folder.exists():
            self.folder.mkdir(mode=0o711, parents=True, exist_ok=True)
            self.folder.chmod(0o711)
        info = self.folder.lstat()
        if not stat.S_ISDIR(info.st_mode) or info.st_uid != os.geteuid():
            raise PermissionError(
                gettext("%(folder)s is not a folder of this user: give another", folder=self.folder)
            )
        if info.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise PermissionError(
                gettext("others can write to %(folder)s: give another", folder=self.folder)
            )
        if above := _others_place(self.folder):
            raise PermissionError(
                gettext(
                    "others can put another folder in the place of %(folder)s, since %(above)s is "
                    "theirs to change: give another",
                    folder=self.folder,
                    above=above,
                )
            )
        if not as_root:
            self.folder.chmod(0o700)
        if as_root and (closed := closed_to_others(self.folder)):
            raise PermissionError(
                gettext(
                    "bots' users can't reach %(folder)s, since %(above)s is closed to others: "
                    "give a box folder outside it",
                    folder=self.folder,
                    above=closed,
                )
            )

    def closed(self, name: str) -> Path:
        """A folder in it into which this user alone can look, made if need be.

        Raises:
            OSError: it can't be made.
        """
        return self._made(name, 0o700)

    def open(self, name: str) -> Path:
        """A folder in it that bots' users may enter and not list, made if need be.

        Raises:
            OSError: it can't be made.
        """
        return self._made(name, 0o711)

    def _made(self, name: str, mode: int) -> Path:
        folder = self.folder / name
        folder.mkdir(mode=mode, exist_ok=True)
        folder.chmod(mode)
        return folder

    def library(self, name: str, contents: Mapping[str, bytes], python: str | None) -> Path:
        """A folder to be put on the module search path, compiled for the Python that imports it.

        Args:
            name: what it is called, before a digest.
            contents: of its files, by their paths in it.
            python: the box's interpreter; None leaves it without compiled files.
        """
        digest = hashlib.sha256(repr((python, sorted(contents.items()))).encode()).hexdigest()
        target = self.folder / f"{name}-{digest[:16]}"
        if not target.exists():
            with FreshFolder(target) as made:
                for path, content in contents.items():
                    file = made / path
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_bytes(content)
                if python:
                    # Never checked against the source again: the name says what is in it.
                    options = ["-q", "--invalidation-mode", "unchecked-hash"]
                    command = [python, "-I", "-m", "compileall", *options, str(made)]
                    subprocess.run(command, env={}, check=False, capture_output=True)
        return target

    def program(self, path: Path) -> Path:
        """A program that a bot's user can run: the path itself, or a copy if that is closed.

        The copy takes the libraries along that a wheel keeps beside its package.
        """
        if os.geteuid() != 0 or not closed_to_others(path):
            return path
        package = path.parent.parent
        libraries = package.with_name(f"{package.name}.libs")
        files = [path, *(sorted(libraries.iterdir()) if libraries.is_dir() else ())]
        contents = [(file.name, file.read_bytes()) for file in files]
        digest = hashlib.sha256(repr(contents).encode()).hexdigest()
        target = self.folder / f"{path.name}-{digest[:16]}"
        relative = [file.relative_to(package.parent) for file in files]
        if not target.exists():
            with FreshFolder(target) as made:
                for name, (_, content) in zip(relative, contents, strict=True):
                    file = made / name
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_bytes(content)
                    file.chmod(0o755)
        return target.joinpath(relative[0])

    def sweep(self, *caches: Path) -> int:
        """Removes what processes that were killed left unfinished, here and in its caches.

        Returns:
            How many folders it was.
        """
        oldest = time.time() - UNFINISHED_SECONDS
        places = (self.folder, *caches)
        left = [path for place in places for name in UNFINISHED for path in place.glob(name)]
        swept = 0
        for path in left:
            with suppress(FileNotFoundError):  # another process swept it
                if path.lstat().st_mtime < oldest:
                    remove_tree(path)
                    swept += 1
        return swept


def remove_tree(folder: Path) -> None:
    """Removes a folder in which strangers could write, as far as that is possible.

    Folders in folders can be deeper than Python goes, and closed to their owner.
    """
    remove, unlock = [RM, "-rf", "--", str(folder)], [CHMOD, "-R", "u+rwX", "--", str(folder)]
    for command in (remove, unlock, remove):
        subprocess.run(command, env={}, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        if not folder.exists():
            break


class FreshFolder:
    """A new folder that appears at its place, open to all readers, once it is complete."""

    def __init__(self, target: Path) -> None:
        self._target = target
        self._made = Path(tempfile.mkdtemp(prefix=".new-", dir=target.parent))

    def __enter__(self) -> Path:
        return self._made

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            open_to_readers(self._made)
            with suppress(OSError):  # another process was faster, with the same content
                self._made.rename(self._target)
                return
        shutil.rmtree(self._made, ignore_errors=True)


@contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    """What one process of this machine does at a time with a folder."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def discard(folder: Path) -> None:
    """Removes a folder of a cache, out of others' sight first."""
    hidden = Path(tempfile.mkdtemp(prefix=".old-", dir=folder.parent))
    with suppress(FileNotFoundError):
        folder.rename(hidden / folder.name)
    shutil.rmtree(hidden, ignore_errors=True)


def open_to_readers(folder: Path) -> None:
    """Lets everybody read a tree of our own making, whatever the umask was."""
    for path in (folder, *folder.rglob("*")):
        executable = path.is_dir() or path.stat().st_mode & stat.S_IXUSR
        path.chmod(0o755 if executable else 0o644)


def _others_place(folder: Path) -> Path | None:
    """The first folder above one in which others than root and this user may rename it.

    Who owns the root folder is root, also where a namespace shows it under another number.
    """
    trusted = {0, os.geteuid(), os.stat("/").st_uid}
    for above in folder.resolve().parents:
        info = above.stat()
        open_to_all = info.st_mode & stat.S_IWOTH and not info.st_mode & stat.S_ISVTX
        if info.st_uid not in trusted or open_to_all:
            return above
    return None


def closed_to_others(path: Path) -> Path | None:
    """The first folder or file on the way to a path that other users can't enter or read."""
    path = path.resolve()
    for folder in reversed(path.parents):
        if not folder.stat().st_mode & stat.S_IXOTH:
            return folder
    mode = path.stat().st_mode
    needed = stat.S_IXOTH if path.is_dir() else stat.S_IXOTH | stat.S_IROTH
    return None if mode & needed == needed else path
