"""A user for each running bot of a root worker, and the files that are shown to it alone.

A claim of a user number is a lock on a file in a folder of root's, so that nobody else on the
machine can make one, and the kernel gives it back when its holder dies. It is one folder for the
whole machine, whatever box folders its workers have.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from engine.translation import gettext
from workers.box_folder import closed_to_others
from workers.processes import lives, status_of

BOT_USERS = range(60800, 61184)
"""User numbers for bots of a root worker.

They lie in the range 60706 to 61183 that neither Debian nor systemd gives to anybody (see
systemd's UIDS-GIDS page), and below 65536, so that a container with its own users has them.
"""
CLAIMS = Path("/run/arena-box")
CHROOT = shutil.which("chroot", path="/usr/sbin:/usr/bin:/sbin:/bin") or "/usr/sbin/chroot"


class BoxUserError(Exception):
    """No user number can be had."""


class BotUser:
    """A user number that no other bot on this machine has while this is held."""

    def __init__(self, numbers: Iterable[int] = BOT_USERS) -> None:
        """Takes the first free number.

        Raises:
            BoxUserError: none is free, or none can be claimed.
        """
        self._lent: Path | None = None
        try:
            claims = _folder_of_root(CLAIMS)
            for self.number in numbers:
                self._claim = os.open(
                    claims / str(self.number), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600
                )
                # What a worker left that was killed may take a while to end.
                if _lock(self._claim) and not _has_processes(self.number):
                    return
                os.close(self._claim)
        except OSError as error:
            raise BoxUserError(
                gettext("no user number for bots can be claimed: %(reason)s", reason=error)
            ) from None
        raise BoxUserError(gettext("every user number for bots is taken on this machine"))

    @property
    def becoming(self) -> Sequence[str]:
        """What stands before a command that this user is to run.

        To change the user between fork and exec, as Popen can, copies the worker's page tables
        first, which takes longer than this program.
        """
        return (CHROOT, f"--userspec=+{self.number}:+{self.number}", "--groups=", "/")

    def lend(self, folder: Path, box_folder: Path) -> Path:
        """Shows this user a folder that is closed to others, until `release`.

        Returns:
            The folder itself if everybody may enter it; else one with its files, which they share
            by hard links where that can be, and into which only this user can look.

        Raises:
            OSError: that can't be made in the box folder.
        """
        if not closed_to_others(folder):
            return folder
        views = box_folder / "lent"
        views.mkdir(mode=0o711, exist_ok=True)
        views.chmod(0o711)
        self._lent = views / str(self.number)
        # An earlier holder of the number may have been killed.
        shutil.rmtree(self._lent, ignore_errors=True)
        self._lent.mkdir(mode=0o700)
        shutil.copytree(folder, self._lent / "bot", symlinks=True, copy_function=_link)
        os.chown(self._lent, -1, self.number)
        self._lent.chmod(0o710)
        return self._lent / "bot"

    def release(self) -> None:
        """Gives it back; the bot must have ended."""
        if self._lent:
            shutil.rmtree(self._lent, ignore_errors=True)
        # A child that is just being started may have the file open as well.
        fcntl.flock(self._claim, fcntl.LOCK_UN)
        os.close(self._claim)


def sweep_lent(box_folder: Path) -> None:
    """Removes from a box folder what was shown to bots whose workers were killed."""
    for number in BOT_USERS:
        view = box_folder / "lent" / str(number)
        if view.exists():
            with suppress(BoxUserError):  # it is shown to a bot that runs
                user = BotUser([number])
                shutil.rmtree(view, ignore_errors=True)
                user.release()


def _folder_of_root(folder: Path) -> Path:
    """A folder that root alone can write to, made if need be.

    Raises:
        OSError: it is another kind of folder, or can't be made.
    """
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    info = folder.lstat()
    if not stat.S_ISDIR(info.st_mode) or info.st_uid != 0 or info.st_mode & 0o022:
        raise PermissionError(
            gettext(
                "%(folder)s is not a folder that root alone can write to: remove it", folder=folder
            )
        )
    return folder


def _lock(file: int) -> bool:
    """Whether a lock on a file could be had."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _has_processes(user: int) -> bool:
    """Whether a process of a user lives.

    One that has ended may stay for ever where nobody asks for its end, as in some containers.
    """
    try:
        os.getpriority(os.PRIO_USER, user)
    except ProcessLookupError:
        return False  # not even such
    for entry in filter(str.isdecimal, os.listdir("/proc")):
        with suppress(OSError, KeyError):  # it has ended
            if status_of(int(entry))["Uid"].split()[0] == str(user) and lives(int(entry)):
                return True
    return False


def _link(source: str, target: str) -> None:
    """A file under another name, or a copy of it where that can't be."""
    try:
        os.link(source, target)
    except OSError:  # another file system, or one without links
        shutil.copy2(source, target)
