"""Memory groups for bots, where the system lets us make them.

A bot's group bounds its memory (all of it: also what the kernel holds for the bot) and its
number of tasks, tells whether the memory limit killed it, freezes and kills all its processes at
once and knows their CPU time, that of those that have ended included.

Groups are made in three places at most. On a host with cgroup v2 they are one folder below a
group that was delegated to the worker (``Delegate=yes`` in its systemd unit). On a host with
cgroup v1 the memory and pids groups lie below the worker's own, for which it must be root,
and the unified hierarchy beside them, which has no controllers there, freezes and counts.
Every limit is read back: where delegation is missing the kernel accepts the words and
does nothing.
"""

from __future__ import annotations

import itertools
import os
import re
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from engine.translation import gettext
from workers.cleanup import finish_later
from workers.processes import lives

PREFIX = "arena-bot-"
MAIN = "arena-worker"
"""The leaf to which a worker moves what runs in its delegated group."""
SWAP_LIMIT = "memory.memsw.limit_in_bytes"
"""The file of v1 for memory and swap together, missing where the kernel does not count swap."""
FILE_BYTES = 4096
"""How much is read of a file that tells of a group as a whole: more than it has."""
_NUMBERS = itertools.count(1)


class GroupError(Exception):
    """No group can be made here; one sentence that says why."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where groups can be made: folders of the cgroup file systems."""

    version: int
    memory: Path
    pids: Path
    unified: Path
    """The group for freezing and CPU time."""

    @property
    def folders(self) -> set[Path]:
        """All folders of the places, each once."""
        return {self.memory, self.pids, self.unified}

    def make(self, *, memory_bytes: int, tasks: int, freezable: bool = False) -> Group:
        """A new empty group with these limits.

        Args:
            freezable: its processes may be several: what it says of all of them is wanted. With
                v1 that takes a folder more, and to move a process costs milliseconds for each.

        Raises:
            GroupError: it can't be made, or a limit did not take.
        """
        name = f"{PREFIX}{os.getpid()}-{next(_NUMBERS)}"
        folders = self.folders if freezable or self.version == 2 else {self.memory, self.pids}
        group = Group(self, name, folders)
        try:
            for folder in folders:
                (folder / name).mkdir()
            for file, value in self._settings(name, memory_bytes, tasks).items():
                _set(file, value)
        except (OSError, GroupError) as error:
            group.remove()
            raise GroupError(
                gettext("no memory group can be made: %(reason)s", reason=error)
            ) from None
        return group

    def _settings(self, name: str, memory_bytes: int, tasks: int) -> Mapping[Path, str]:
        memory, pids = self.memory / name, self.pids / name
        settings = {pids / "pids.max": str(tasks)}
        if self.version == 2:
            settings[memory / "memory.max"] = str(memory_bytes)
            settings[memory / "memory.oom.group"] = "1"
            swap = memory / "memory.swap.max", "0"
        else:
            settings[memory / "memory.limit_in_bytes"] = str(memory_bytes)
            # Memory and swap together; the order of the two writes matters.
            swap = memory / SWAP_LIMIT, str(memory_bytes)
        # A kernel without swap accounting has no such file; doctor tells of active swap.
        if swap[0].exists():
            settings[swap[0]] = swap[1]
        return settings

    def sweep(self) -> None:
        """Removes groups that processes left behind which no longer live.

        What is in them may be on its way out; then they are removed when it is gone.
        """
        names = {left.name for folder in self.folders for left in folder.glob(f"{PREFIX}*")}
        for name in sorted(names):
            owner = name.removeprefix(PREFIX).partition("-")[0]
            if owner.isdecimal() and not lives(int(owner)):
                left = Group(self, name, self.folders)
                if not left.remove():
                    finish_later(left.remove)


class Group:
    """One bot's group."""

    def __init__(self, places: Places, name: str, folders: Iterable[Path]) -> None:
        """Takes its name and where its folders are, which may still have to be made."""
        self._folders = [folder / name for folder in folders]
        self._version = places.version
        self._memory = places.memory / name
        self._unified = places.unified / name
        # Kept open, since they are asked at every move, and to open them takes ten times as long.
        self._files: dict[str, int] = {}

    def add(self, pid: int) -> None:
        """Moves a process into it.

        Raises:
            GroupError: the kernel refuses.
        """
        try:
            for folder in self._folders:
                (folder / "cgroup.procs").write_text(str(pid))
        except OSError as error:
            raise GroupError(
                gettext("no process can be moved to a memory group: %(reason)s", reason=error)
            ) from None

    def freeze(self, frozen: bool) -> None:
        """Stops all its processes, those that are just being started too, or lets them run."""
        os.pwrite(self._file("cgroup.freeze"), b"1" if frozen else b"0", 0)

    def is_frozen(self) -> bool:
        """Whether all its processes stand since `freeze`, or have ended."""
        return b"frozen 1" in self._told("cgroup.events")

    def cpu_us(self) -> int:
        """CPU time of all its processes so far, those that have ended included, in microseconds.

        What is just running is counted up to the last tick of the kernel; what is frozen, to its
        end.
        """
        return _field(self._told("cpu.stat"), b"usage_usec")

    def threads(self) -> list[str]:
        """The folders below /proc of the threads of all its processes."""
        threads = (self._unified / "cgroup.threads").read_text().split()
        return [f"/proc/{thread}" for thread in threads]

    def _told(self, name: str) -> bytes:
        """What a file says of all its processes."""
        return os.pread(self._file(name), FILE_BYTES, 0)

    def _file(self, name: str) -> int:
        if name not in self._files:
            mode = os.O_WRONLY if name == "cgroup.freeze" else os.O_RDONLY
            self._files[name] = os.open(self._unified / name, mode | os.O_CLOEXEC)
        return self._files[name]

    def memory_kills(self) -> int:
        """How many processes its memory limit has killed."""
        file = "memory.events" if self._version == 2 else "memory.oom_control"
        return _field((self._memory / file).read_bytes(), b"oom_kill")

    def kill(self) -> None:
        """Kills what is still in it."""
        # There is no such file before Linux 5.14, and no such folder where it is one process: the
        # end of process 1 kills them, too.
        with suppress(OSError):
            (self._unified / "cgroup.kill").write_text("1")

    def remove(self) -> bool:
        """Removes it; what is in it must have been killed, and may take a moment to go.

        Returns:
            Whether it is gone.
        """
        for file in self._files.values():
            os.close(file)
        self._files.clear()
        deadline = time.monotonic() + 0.5
        for folder in self._folders:
            while True:
                try:
                    folder.rmdir()
                except FileNotFoundError:
                    break
                except OSError:
                    if time.monotonic() > deadline:
                        return False
                    time.sleep(0.001)
                else:
                    break
        return True


def find_places() -> Places:
    """Where this process can make groups, proven by making one.

    Raises:
        GroupError: nowhere.
    """
    try:
        places = _find_places()
    except OSError as error:
        raise GroupError(gettext("no memory group can be made: %(reason)s", reason=error)) from None
    group = places.make(memory_bytes=1 << 26, tasks=4, freezable=True)
    try:
        group.freeze(False)
    except OSError as error:
        raise GroupError(gettext("no group can be frozen: %(reason)s", reason=error)) from None
    finally:
        group.remove()
    # What others left is theirs to remove where this process may make none.
    places.sweep()
    return places


def _find_places() -> Places:
    own = parse_groups(Path("/proc/self/cgroup").read_text())
    mounts = parse_mounts(Path("/proc/self/mountinfo").read_text())
    unified = None
    if "" in own and "" in mounts:
        unified = folder_of(mounts[""], own[""])
    if {"memory", "pids"} <= own.keys() & mounts.keys():
        memory, pids = (folder_of(mounts[name], own[name]) for name in ("memory", "pids"))
        if unified is None:
            raise GroupError(gettext("no cgroup2 file system is mounted, by which bots are frozen"))
        return Places(1, memory, pids, unified)
    if unified is not None:
        folder = delegated_group(unified)
        return Places(2, folder, folder, folder)
    raise GroupError(gettext("no cgroup file system with the memory controller is mounted"))


def delegated_group(own: Path) -> Path:
    """The group below which a v2 worker may make groups, with the controllers turned on.

    Raises:
        GroupError: it is not ours to divide, or has no memory controller.
    """
    if own.name == MAIN:
        own = own.parent  # another process of this worker, or an earlier call, moved us there
    if not os.access(own, os.W_OK):
        raise GroupError(gettext("%(group)s belongs to the system", group=own))
    control = own / "cgroup.subtree_control"
    if not {"memory", "pids"} <= set(control.read_text().split()):
        if not _marked_as_delegated(own):
            raise GroupError(gettext("%(group)s is not delegated to the worker", group=own))
        # A group with controllers for its children may hold no processes itself.
        leaf = own / MAIN
        leaf.mkdir(exist_ok=True)
        for _ in range(10):  # while they are moved, some may fork
            for pid in (own / "cgroup.procs").read_text().split():
                with suppress(ProcessLookupError):
                    (leaf / "cgroup.procs").write_text(pid)
        control.write_text("+memory +pids")
        if not {"memory", "pids"} <= set(control.read_text().split()):
            raise GroupError(gettext("%(group)s has no memory controller", group=own))
    return own


def _marked_as_delegated(group: Path) -> bool:
    """Whether systemd says that this group is ours to divide.

    Only then are its processes moved: those of a terminal's group, say, are not ours.
    """
    for attribute in ("user.delegate", "trusted.delegate"):
        with suppress(OSError):
            if os.getxattr(group, attribute) == b"1":
                return True
    return False


def parse_groups(text: str) -> dict[str, str]:
    """A process's group by controller; the unified hierarchy has an empty name."""
    groups = {}
    for line in text.splitlines():
        _, controllers, path = line.split(":", 2)
        groups.update(dict.fromkeys(controllers.split(","), path))
    return groups


def parse_mounts(text: str) -> dict[str, tuple[str, Path]]:
    """Where each controller's hierarchy is mounted, and which of its groups that shows."""
    found: dict[str, tuple[str, Path]] = {}
    for line in text.splitlines():
        before, _, after = line.partition(" - ")
        root, mount = (_unescape(word) for word in before.split()[3:5])
        kind, _, options = after.split()[:3]
        names = {"cgroup2": [""], "cgroup": options.split(",")}.get(kind, [])
        for name in names:
            found.setdefault(name, (root, Path(mount)))
    return found


def _unescape(word: str) -> str:
    """A word of mountinfo, where blanks are written in octal."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), word)


def folder_of(mount: tuple[str, Path], group: str) -> Path:
    """The folder of a group in a mounted hierarchy."""
    root, folder = mount
    relative = os.path.relpath(group, root)
    return folder if relative.startswith("..") else folder / relative


def _set(file: Path, value: str) -> None:
    """Writes a limit and reads it back; the kernel rounds down to whole pages."""
    file.write_text(value)
    found = file.read_text().strip()
    if found != value and not (found.isdecimal() and 0 <= int(value) - int(found) < 65536):
        raise GroupError(
            gettext(
                "%(file)s says %(found)r after %(value)r was written",
                file=file,
                found=found,
                value=value,
            )
        )


def _field(text: bytes, key: bytes) -> int:
    """A number of a flat keyed file; 0 if the kernel doesn't tell it."""
    for line in text.splitlines():
        name, _, value = line.partition(b" ")
        if name == key:
            return int(value)
    return 0
