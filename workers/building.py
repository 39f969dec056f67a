"""Bots that are built before they play, in a box of its own kind and once on each worker.

Theory of operation. A worker gets sources, never programs, and builds them for itself: that is
the least to trust and to move. The build box has the walls of a bot's box and no network, but
what runs in it may start processes, lock files, and write to a copy of the sources in a folder
of bounded size. Large files are not shown to it: they stand beside what was built when that is
done. A shell inside makes that copy, runs the compiler, or what the author says in its place, and
sends back all files as a tar. What comes out is read as a stranger's archive is: no links, no
devices, bounded in number and size. Then the box is ended, and whatever is left in it; nothing of
it was ever written where another process could come across it.

A memory group bounds what a build uses. Where there is none, its processes are looked at every
few milliseconds and counted together, and so is the folder in which it writes.

What was built is kept by the bundle's digest and by what identifies the compilers, so a new
compiler builds anew. One build runs at a time on a machine; who waits finds the other's result.
That a bot can't be built is its author's affair (`BuildError`, with the log); that no build box
stands is ours (`BoxError`).
"""

from __future__ import annotations

import hashlib
import io
import os
import select
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from engine.channel import ErrorFile, HeadAndTail
from engine.program import Program
from engine.protocol import clean
from engine.reporting import LONGEST_BUILD
from engine.translation import gettext
from workers.archives import (
    LEFT_OUT,
    MADE_BY_BUILDS,
    read_tar,
)
from workers.box_folder import FreshFolder, discard, one_at_a_time, open_to_readers
from workers.bundles import digest_of, unpacked_files, write_files
from workers.cores import claimed_core
from workers.files import Collected, File, Files
from workers.foreign_files import PROGRAM, other_processor, windows_lines, wrong_text
from workers.languages import LANGUAGES, LanguageError, find_language
from workers.large_files import MIB, BundleError
from workers.launches import Launch, box_program
from workers.limits import Limits
from workers.manifest import read_manifest
from workers.processes import descendants, usage
from workers.program import BoxProgram
from workers.runtimes import UnpackedRuntime
from workers.sandbox import Sandbox

LIMITS = Limits(memory_bytes=1024 * MIB, threads=128, work_bytes=256 * MIB)
MAX_FILES = 10_000
"""Files in the folder of a build, while it runs."""
MAX_OPEN_FILES = 4096
"""How many all processes of a build have room for, outside a memory group, each for 64 at least:
the kernel keeps some 200 KiB of what was written to a socket and not yet read."""
MAX_BUILT_BYTES = 64 * MIB
"""All files together, those of the bundle and those made of them."""
LOG_BYTES = 32 * 1024
"""How much of a build's output is kept, half from its beginning and half from its end."""
WATCH_MS = 20
READ_BYTES = 1 << 16

SCRIPT = """\
set -e
mkdir "$HOME/work"
cp -R . "$HOME/work"
cd "$HOME/work"
"$@" </dev/null >&2
exec tar -cf - .
"""


class BuildError(ValueError):
    """A bot that can't be built; one sentence for its author."""

    def __init__(self, words: str, log: str) -> None:
        super().__init__(words)
        self.log = log
        """What the build wrote, its beginning and its end."""
        self.seconds = 0.0
        """How long it went on."""


@dataclass(frozen=True, slots=True)
class StartableBot:
    """A bot that can be started in a box."""

    folder: Path
    launch: Launch
    log: str = ""
    """What its build wrote; empty if there was nothing to build."""
    built: bool = False
    build_seconds: float = 0.0
    """How long that took; 0 if it was built before, or there was nothing to build."""


def prepare(
    box: Sandbox,
    folder: Path,
    digest: str,
    *,
    core: int | None = None,
    runtime: UnpackedRuntime | None = None,
) -> StartableBot:
    """Makes an unpacked bundle's bot ready to play; builds it if that was not done before.

    Args:
        folder: the bundle's files, proven to be those of the digest.
        core: the processor core for a build.
        runtime: the one that it names, for its build, too.

    Raises:
        BundleError: the folder is no unpacked bundle.
        LanguageError: its interpreter or compiler is not installed here, or it is a program for
            another processor.
        BuildError: it can't be built.
        BoxError: no build box can be made.
    """
    files = unpacked_files(folder)
    manifest = read_manifest(files)
    if manifest.runtime and runtime is None:
        raise LanguageError(
            gettext(
                "it asks for the runtime %(runtime)s, which it was not given",
                runtime=manifest.runtime,
            )
        )
    launch = manifest.launch(runtime)
    if manifest.language is None and manifest.main in files:
        machine = os.uname().machine
        if other := other_processor(files[manifest.main].content, machine):
            raise LanguageError(
                gettext(
                    "%(file)s is a program for %(processor)s, and this machine has %(machine)s: "
                    "hand in its source, or build it for that",
                    file=manifest.main,
                    processor=other,
                    machine=machine,
                )
            )
    if not manifest.is_built:
        return StartableBot(folder, launch)
    target = _place(box, digest, runtime)
    if found := _cached(target, launch):
        return found
    command = manifest.building(files, runtime)
    box.builds.mkdir(parents=True, exist_ok=True, mode=0o700)
    with one_at_a_time(box.builds):
        if found := _cached(target, launch):
            return found
        if target.is_dir():
            discard(target)
        began = time.monotonic()
        try:
            large = {name: file for name, file in files.items() if file.large}
            with _without(folder, files, large, box.builds) as sources:
                built, log = build(box, sources, command, core=core)
            if both := sorted(large.keys() & built.keys()):
                raise BuildError(
                    gettext("the build made %(file)r, which the bot has already", file=both[0]), log
                )
            program = launch.command[0].removeprefix("./")
            if launch.command[0].startswith("./") and program not in built:
                raise BuildError(gettext("the build made no file %(file)r", file=program), log)
        except BuildError as error:
            why = _spoilt_script(files) if manifest.build else ""
            failed = BuildError(f"{error}{why}", error.log)
            failed.seconds = time.monotonic() - began
            raise failed from None
        seconds = time.monotonic() - began
        with FreshFolder(target) as made:
            (made / "files").mkdir()
            write_files(made / "files", {**built, **large}, box.kept)
            (made / "log").write_text(log, encoding="utf-8")
            found_digest = digest_of(made / "files", small_bytes=MAX_BUILT_BYTES)
            (made / "digest").write_text(found_digest or "")
    return StartableBot(target / "files", launch, log, built=True, build_seconds=seconds)


@contextmanager
def _without(folder: Path, files: Files, large: Files, above: Path) -> Iterator[Path]:
    """A folder of a bot's files without its large ones, which no build needs or can hold."""
    if not large:
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix=".work-", dir=above) as made:
        write_files(Path(made), {name: files[name] for name in files.keys() - large.keys()})
        open_to_readers(Path(made))
        yield Path(made)


def _spoilt_script(files: Files) -> str:
    """Why the script of a build may have failed, if it is a text as only Windows reads it."""
    for name, file in sorted(files.items()):
        language = find_language(PurePosixPath(name))
        wrong = language and wrong_text(name, file, language)
        if words := wrong or windows_lines(name, file):
            return f" ({words})"
    return ""


def _place(box: Sandbox, digest: str, runtime: UnpackedRuntime | None) -> Path:
    """Where a bot is kept once it is built."""
    return box.builds / f"{digest}-{toolchain(runtime.digest if runtime else '')}"


def is_ready(
    box: Sandbox, folder: Path, digest: str, runtime: UnpackedRuntime | None = None
) -> bool:
    """Whether `prepare` has nothing to build.

    Raises:
        BundleError: the folder is no unpacked bundle.
    """
    built = read_manifest(unpacked_files(folder)).is_built
    return not built or _place(box, digest, runtime).is_dir()


def toolchain(runtime: str = "") -> str:
    """Stands for this machine and its compilers, another after each change of them.

    Args:
        runtime: the digest of that with which a bot is built.
    """
    parts: list[object] = [os.uname().nodename, os.uname().machine, SCRIPT, runtime]
    for language in LANGUAGES:
        if language.build:
            parts += [language.build, language.environment]
            with suppress(LanguageError, OSError):
                program = Path(box_program(language.build[0])).resolve()
                info = program.stat()
                parts += [program, info.st_size, info.st_mtime_ns]
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def _cached(target: Path, launch: Launch) -> StartableBot | None:
    """What was built before, if it is still as it was."""
    with suppress(FileNotFoundError):
        digest = (target / "digest").read_text()
        if digest_of(target / "files", small_bytes=MAX_BUILT_BYTES) == digest:
            os.utime(target)  # for `bundles.sweep`
            log = (target / "log").read_text(encoding="utf-8")
            return StartableBot(target / "files", launch, log, built=True)
    return None


def build(
    box: Sandbox,
    folder: Path,
    command: Launch,
    *,
    limits: Limits = LIMITS,
    wall_seconds: float = LONGEST_BUILD,
    core: int | None = None,
) -> tuple[Files, str]:
    """Runs a command in a copy of a folder in a build box.

    Where there is no box at all it runs as a process of this user (see `Sandbox.start`).

    Args:
        wall_seconds: the time of the whole build, which has one core.

    Returns:
        All files that are there at its end, and what it wrote.

    Raises:
        BuildError: it failed, or went beyond a limit, or left what is no plain file.
        BoxError: no build box can be made.
    """
    words = ("/bin/sh", "-c", SCRIPT, "build", *command.command)
    launch = replace(command, command=words)
    kept = HeadAndTail(LOG_BYTES)
    with ExitStack() as stack:
        if core is None:
            # All its processes share one, so that the wall clock bounds what they use.
            core = stack.enter_context(claimed_core())
        if box.box is None:
            home = stack.enter_context(tempfile.TemporaryDirectory(prefix="arena-build-"))
            places = {"HOME": home, "TMPDIR": home, "PATH": os.environ.get("PATH", "")}
            launch = replace(launch, environment={**launch.environment, **places})
        program = box.start(folder, launch, limits, core=core)
        stack.callback(program.kill)
        watch = _Watch(program, limits, wall_seconds)
        archive, problem = _collect(program, ErrorFile(program.stderr, kept), watch)
        ended = program.kill()
    log = clean(kept.take())
    if problem is None and ended != "exit 0":
        problem = gettext("the build failed: %(reason)s", reason=ended)
    if problem:
        raise BuildError(problem, log)
    collected = Collected(LEFT_OUT - MADE_BY_BUILDS, max_bytes=MAX_BUILT_BYTES)
    try:
        read_tar(collected, io.BytesIO(archive))
    except BundleError as error:
        raise BuildError(
            gettext("what was built can't be taken: %(reason)s", reason=error), log
        ) from error
    return {name: _runnable(file) for name, file in collected.files.items()}, log


def _runnable(file: File) -> File:
    """A program is marked as one, also where the build might change no file's mode."""
    return replace(file, executable=file.executable or file.content.startswith(PROGRAM))


def _collect(program: Program, errors: ErrorFile, watch: _Watch) -> tuple[bytes, str | None]:
    """The archive that a build sends, and why it was broken off if it was."""
    most = MAX_BUILT_BYTES + 4 * MIB
    os.set_blocking(program.stdout, False)
    output = select.poll()
    output.register(program.stdout, select.POLLIN)
    archive = bytearray()
    problem = None
    while problem is None:
        ended = program.wait(0)
        errors.drain()
        ready = output.poll(0 if ended else WATCH_MS)
        data = os.read(program.stdout, READ_BYTES) if ready else b""
        archive += data
        if not data and (ended or (ready and program.wait(WATCH_MS / 1000))):
            break
        if len(archive) > most:
            problem = gettext(
                "the built files have more than %(number)s MiB", number=MAX_BUILT_BYTES // MIB
            )
        else:
            problem = watch.excess()
    errors.collect()
    return bytes(archive), problem


class _Watch:
    """Looks every few milliseconds at what a build uses."""

    def __init__(self, program: Program, limits: Limits, wall_seconds: float) -> None:
        self._program = program
        self._limits = limits
        self._wall_seconds = wall_seconds
        self._started = self._next = time.monotonic()

    def excess(self) -> str | None:
        """Which limit it has passed; None if none, or if it is not yet time to look again."""
        now = time.monotonic()
        if now - self._started > self._wall_seconds:
            return gettext(
                "the build took more than %(seconds)s s", seconds=f"{self._wall_seconds:g}"
            )
        if now < self._next:
            return None
        problem = self._look()
        # Many files take long to count; most of the time is left to the build.
        looked = time.monotonic()
        self._next = looked + max(WATCH_MS / 1000, 4 * (looked - now))
        return problem

    def _look(self) -> str | None:
        program, limits = self._program, self._limits
        if not isinstance(program, BoxProgram):
            return None  # a build of the author's own, in no box
        family = descendants(program.pid)
        if len(family) > limits.threads:
            return gettext("the build had more than %(number)s processes", number=limits.threads)
        if program.memory_kills():
            # However it goes on, it has failed; and the kernel's log tells each kill at length.
            return gettext("the build failed: memory limit reached")
        if program.isolation != "full":  # there its memory group counts
            used = [usage(pid) for pid in family]
            if sum(one.held_bytes for one in used) > limits.memory_bytes:
                return gettext(
                    "the build used more than %(number)s MiB of memory",
                    number=limits.memory_bytes // MIB,
                )
            if sum(one.file_slots for one in used) > MAX_OPEN_FILES:
                return gettext(
                    "the build had room for more than %(number)s open files", number=MAX_OPEN_FILES
                )
        files, size = program.written()
        if files > MAX_FILES:
            return gettext("the build had more than %(number)s files", number=MAX_FILES)
        if size > limits.work_bytes:
            return gettext(
                "the build wrote more than %(number)s MiB", number=limits.work_bytes // MIB
            )
        return None
