"""Boxes for bots: the strongest that this machine can build, and never less than was asked.

Theory of operation. A bot is a stranger's program. `Sandbox` finds out once, when a worker
starts, what the machine can do, by starting a probe in a real box and looking what holds;
then it starts bots, each in a box of its own, and hands the referee a `Program`.

Four levels are told apart, and stamped on every game's record:

``full``      namespaces, call filter, resource limits, and a memory group that counts all and
              freezes and charges several processes as one.
``good``      the same without the memory group: no writable place at all, and memory that no
              resource limit counts can't be had.
``reduced``   no namespaces: Landlock, a stricter call filter, resource limits.
``none``      an ordinary process of the worker's user. Never for a root worker.

What is below the operator's minimum is refused, never used silently.

A box is closed before its bot runs a line. Bubblewrap makes the namespaces and mounts, drops
its privileges, tells the number of the bot's process, and waits. While it waits the process is
put into its memory group and gets its limits; then one byte lets it go on to load the filter
and become the bot. The bot is process 1 of its own namespace, so that the kernel ends with it
whatever it may have started. There is no step between fork and exec in our own process, hence
nothing that threads could trip over.

A bot is one process, threads included, unless it is granted several. So one signal stops it, one
clock knows its CPU time and one limit bounds its memory, with or without a group. Several are
frozen by their group, which knows the CPU time of all that ever ran in it: full boxes alone have
such bots. Between its turns a bot is stopped, whichever it is.
Whatever goes wrong while a box is built raises `BoxError`, which makes the game void and is
nobody's loss; whatever the bot does inside ends in its `Program`.

A worker that is an ordinary user runs bots as that user, in a user namespace. A root worker
gives every running bot a user of its own, of which nobody else on the machine has anything and
to whom alone its files are shown, and keeps copies of programs that bots need in its box
folder.

If the worker dies, the kernel kills its boxes. It goes by the *thread* that started them:
start bots from a thread that lives as long as their match, not from one of a pool that may
shrink. What escapes that all the same `end_orphans` ends.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from engine.program import PlainProgram, Program
from engine.referee import ISOLATION_LEVELS
from engine.translation import N_, gettext, translated
from workers import seccomp
from workers.box_folder import BoxFolder
from workers.bubblewrap import Bubblewrap, candidates
from workers.cgroups import GroupError, Places, find_places
from workers.kept_files import USUAL_BYTES, KeptFiles
from workers.languages import LanguageError
from workers.launches import Launch, box_python
from workers.library import library_files
from workers.limits import Limits
from workers.orphans import end_orphans
from workers.probe import ProbeFinding, probe
from workers.program import BoxError
from workers.users import sweep_lent
from workers.walls import ONE_PROCESS, Box, LandlockBox, NamespaceBox, environment

DEFAULT_LIMITS = Limits()
NOT_INSTALLED = N_("bubblewrap is not installed")
LAUNCHER_FILES = ("__init__.py", "landlock.py", "processes.py", "seccomp.py")


class Sandbox:
    """The means to start bots, at one level of isolation."""

    def __init__(
        self,
        minimum: str = "good",
        box_folder: Path | None = None,
        *,
        maximum: str = "full",
        bubblewrap: Path | None = None,
        kept_bytes: int = USUAL_BYTES,
    ) -> None:
        """Finds the strongest box that can be built here.

        Args:
            minimum: the weakest level that the operator accepts.
            box_folder: the box folder; by default one in the cache of the machine or user.
            maximum: the strongest level to be tried.
            bubblewrap: the program that builds boxes; by default the first found that works.
            kept_bytes: that bots' large files may have together that are kept here.

        Raises:
            BoxError: no box of the minimum can be built here; says what failed.
        """
        self.level = "none"
        """One of engine.referee.ISOLATION_LEVELS."""
        self.layers: tuple[ProbeFinding, ...] = ()
        """What the probe found in boxes of this level."""
        self.failures: list[str] = []
        """Why there is no better box, a sentence each."""
        self.box: Box | None = None
        try:
            self._folder = BoxFolder(box_folder)
            self.bundles = self._folder.closed("bundles")
            """A place for unpacked bundles, each of which is shown to its bot's user alone."""
            self.builds = self._folder.closed("builds")
            """A place for what was built of them, likewise."""
            self.kept = KeptFiles(
                self._folder.closed("large"), (self.bundles, self.builds), most_bytes=kept_bytes
            )
            """Large files of both."""
            self.runtimes = self._folder.open("runtimes")
            """A place for unpacked runtimes, which every bot's user may read."""
        except OSError as error:
            raise BoxError(gettext("no box folder: %(reason)s", reason=error)) from None
        programs = [bubblewrap] if bubblewrap else list(candidates())
        ceiling = ISOLATION_LEVELS.index(maximum)
        try:
            for box in self._boxes(maximum, programs):
                if ISOLATION_LEVELS.index(box.level) <= ceiling and self._holds(box):
                    self.box, self.level = box, box.level
                    # Of two forms of one level the sterner may have failed: this one is no worse.
                    self.failures = [
                        words for words in self.failures if not words.startswith(f"{box.level}: ")
                    ]
                    break
        except OSError as error:
            raise BoxError(
                gettext("what boxes need can't be put in place: %(reason)s", reason=error)
            ) from None
        if ISOLATION_LEVELS.index(self.level) < ISOLATION_LEVELS.index(minimum):
            raise BoxError(
                gettext(
                    "the best box here is %(level)r and %(minimum)r is asked for (%(reasons)s); "
                    "`arena doctor` says what helps",
                    level=self.level,
                    minimum=minimum,
                    reasons="; ".join(self.failures),
                )
            )

    def start(
        self,
        folder: Path,
        launch: Launch,
        limits: Limits = DEFAULT_LIMITS,
        *,
        core: int | None = None,
    ) -> Program:
        """Starts a bot in a box of its own.

        Call it from a thread that outlives the bot (see above).

        Args:
            folder: the bot's files, which it sees read-only as its working directory.
            core: the processor core to which all its threads are bound.

        Raises:
            BoxError: the box can't be built, or the limits are below what the bot needs.
            CrashError: the bot can't be started; only at level ``none``, elsewhere the box
                starts and the bot's end is seen when it is spoken to.
        """
        if words := self.refusal(launch, limits):
            raise BoxError(gettext("the bot can't be run: %(reason)s", reason=words))
        folder = folder.absolute()
        if not folder.is_dir():
            raise BoxError(
                gettext("there is no bot in %(folder)s: the folder is missing", folder=folder)
            )
        if self.box:
            return self.box.start(folder, launch, limits, core=core)
        if os.geteuid() == 0:
            raise BoxError(gettext("no box can be built here, and root runs no bot without one"))
        library = str(self._library())
        launch = launch.placed(library, str(launch.runtime))
        variables = environment(launch, library)
        return PlainProgram(launch.command, cwd=folder, env=variables)

    @property
    def has_several(self) -> bool:
        """Whether its boxes are for bots of several processes, too."""
        return self.level == ISOLATION_LEVELS[-1]

    def refusal(self, launch: Launch, limits: Limits) -> str | None:
        """Why a bot can't be run here within these limits, in one sentence; None if it can."""
        if words := limits.refusal(launch):
            return words
        if limits.processes > 1 and not self.has_several:
            here = gettext("the best box here is %(level)r", level=self.level)
            return f"{translated(ONE_PROCESS)}; {here}"
        return None

    def end_orphans(self) -> int:
        """Ends and removes what workers that were killed left of boxes.

        Returns:
            How many processes were ended.
        """
        self._folder.sweep(self.bundles, self.builds, self.runtimes)
        if os.geteuid() == 0:
            sweep_lent(self._folder.folder)
        spaced = self.box if isinstance(self.box, NamespaceBox) else None
        ended = end_orphans(spaced.bubblewrap.path if spaced else None)
        if spaced and spaced.places:
            spaced.places.sweep()
        return ended

    def _holds(self, box: Box) -> bool:
        """Whether a probe finds every layer of a box in place."""
        with tempfile.TemporaryDirectory(prefix="arena-probe-") as scratch:
            try:
                layers = probe(box, Path(scratch))
            except BoxError as error:
                self._failed(f"{box.level}: {error}")
                return False
        broken = [layer for layer in layers if not layer.holds]
        if broken:
            lacking = ", ".join(f"{layer.name}: {layer.detail}" for layer in broken)
            words = gettext("does not hold (%(layers)s)", layers=lacking)
            self._failed(f"{box.level}: {words}")
        else:
            self.layers = layers
        return not broken

    def _failed(self, words: str) -> None:
        """Keeps why a box was not built; two attempts may fail alike."""
        if words not in self.failures:
            self.failures.append(words)

    def _boxes(self, maximum: str, programs: Sequence[Path]) -> Iterator[Box]:
        """Every kind of box, the strongest first."""
        if os.uname().machine not in seccomp.ARCHITECTURES:
            self._failed(
                gettext("there is no call filter for %(machine)s", machine=os.uname().machine)
            )
            return
        library = self._library()
        places = self._places() if maximum == "full" else None
        bubblewraps = [
            Bubblewrap(self._folder.program(path), disable_userns)
            for path in programs
            for disable_userns in (True, False)
        ]
        if not bubblewraps:
            self._failed(translated(NOT_INSTALLED))
        if places:
            yield from (NamespaceBox(found, library, places) for found in bubblewraps)
        yield from (NamespaceBox(found, library, None) for found in bubblewraps)
        try:
            python = box_python()
        except LanguageError as error:
            self._failed(f"reduced: {error}")
            return
        files = {f"workers/{name}": Path(__file__).with_name(name) for name in LAUNCHER_FILES}
        contents = {name: file.read_bytes() for name, file in files.items()}
        launcher = self._folder.library("workers", contents, python)
        yield LandlockBox(python, launcher, library)

    def _places(self) -> Places | None:
        try:
            return find_places()
        except GroupError as error:
            self._failed(f"full: {error}")
            return None

    def _library(self) -> Path:
        """The folder from which Python bots import the engine and games."""
        python = None
        with suppress(LanguageError):  # then there are no Python bots to read it
            python = box_python()
        return self._folder.library("engine", library_files(), python)
