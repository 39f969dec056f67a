"""What kind of box this machine can build, layer by layer, and what would help.

`examine` builds a real box and reports what held in it; the facts of the host beside it say
what may stand in the way of a better one, or weaken a good one.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from engine.games import GAMES
from engine.measure import unfit
from engine.player import BotError
from engine.plurals import counted
from engine.referee import ISOLATION_LEVELS
from engine.translation import gettext, pgettext, translated
from workers import landlock, seccomp
from workers.bubblewrap import NO_NAMESPACES, Bubblewrap, candidates
from workers.cgroups import SWAP_LIMIT, GroupError, find_places
from workers.cores import available, claimed_core
from workers.languages import LANGUAGES, LanguageError
from workers.launches import BOX_PATH, programs_of
from workers.measuring import measured
from workers.probe import ProbeFinding
from workers.program import BoxError
from workers.sandbox import NOT_INSTALLED, Sandbox
from workers.users import BOT_USERS
from workers.walls import ONE_PROCESS

CORE_PATTERN = Path("/proc/sys/kernel/core_pattern")
APPARMOR = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
USER_NAMESPACES = Path("/proc/sys/user/max_user_namespaces")
DEBIAN_SWITCH = Path("/proc/sys/kernel/unprivileged_userns_clone")
SYSTEMD = Path("/run/systemd/system")
"""Is there where systemd runs (sd_booted(3)), as it does in few containers."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What was found on a machine."""

    level: str
    """The strongest box that holds, one of engine.referee.ISOLATION_LEVELS."""
    minimum: str
    layers: tuple[ProbeFinding, ...]
    """The layers of that box."""
    host: tuple[ProbeFinding, ...]
    """What the machine has, and lacks."""
    languages: tuple[ProbeFinding, ...]
    """The languages whose bots can be run."""
    games: tuple[ProbeFinding, ...]
    """The games that are installed, by their packages, and those that can't be loaded."""

    @property
    def suffices(self) -> bool:
        """Whether bots may be run here at the operator's minimum."""
        return ISOLATION_LEVELS.index(self.level) >= ISOLATION_LEVELS.index(self.minimum)

    def to_json(self) -> dict[str, Any]:
        """The report as JSON's types."""
        return asdict(self) | {"suffices": self.suffices}


def examine(minimum: str = "good", box_folder: Path | None = None) -> Diagnosis:
    """Looks at this machine, and ends what was left of boxes; takes well under a second.

    Args:
        minimum: the weakest level that the operator accepts.
        box_folder: as for `Sandbox`.
    """
    try:
        sandbox = Sandbox("none", box_folder)
    except BoxError as error:
        broken = ProbeFinding(
            gettext("box folder"), False, str(error), gettext("give a box folder elsewhere")
        )
        host = (broken, *_host())
        return Diagnosis("none", minimum, (), host, tuple(_languages()), tuple(_games()))
    sandbox.end_orphans()
    better = [
        ProbeFinding(
            gettext("better box"), False, failure, remedy_for(failure, systemd=SYSTEMD.is_dir())
        )
        for failure in sandbox.failures
    ]
    if not sandbox.has_several:  # where it has, that is one of its layers
        better.append(ProbeFinding(gettext("several processes"), False, translated(ONE_PROCESS)))
    return Diagnosis(
        sandbox.level,
        minimum,
        sandbox.layers,
        (*better, *_host(), _speed(sandbox)),
        tuple(_languages()),
        tuple(_games()),
    )


def remedy_for(failure: str, *, systemd: bool) -> str:
    """What to do about a box that could not be built.

    Args:
        systemd: whether it runs here.
    """
    if failure.startswith("full: "):
        if systemd:
            return gettext("run the worker in a systemd unit with Delegate=yes, or as root")
        return gettext(
            "nothing in a container, where `good` is the best; elsewhere run the worker as root"
        )
    if translated(NOT_INSTALLED) in failure:
        return gettext("install the package bubblewrap")
    if translated(NO_NAMESPACES) in failure:
        return gettext(
            "start a container with --security-opt seccomp=docs/containers/seccomp.json; "
            "elsewhere see docs/sandbox.md"
        )
    return gettext("see docs/sandbox.md")


def _host() -> Iterator[ProbeFinding]:
    """The facts of the machine that bear on its boxes."""
    machine = os.uname().machine
    yield ProbeFinding(
        gettext("system"),
        machine in seccomp.ARCHITECTURES,
        f"Linux {os.uname().release} on {machine}",
        "" if machine in seccomp.ARCHITECTURES else gettext("use a machine with x86_64 or aarch64"),
    )
    if os.geteuid() == 0:
        words = gettext(
            "root; bots run as users %(first)s to %(last)s",
            first=BOT_USERS.start,
            last=BOT_USERS.stop - 1,
        )
        yield ProbeFinding(gettext("user"), True, words)
    else:
        yield ProbeFinding(
            gettext("user"),
            True,
            gettext("an ordinary one, %(number)s; bots run as it too", number=os.geteuid()),
        )
    found = [f"{path}, {Bubblewrap(path).version}" for path in candidates()]
    yield ProbeFinding(
        "bubblewrap",
        bool(found),
        "; ".join(found) or pgettext("programs", "none"),
        "" if found else gettext("install the package bubblewrap"),
    )
    yield from _switches()
    version = landlock.version()
    yield ProbeFinding(
        "Landlock",
        version > 0,
        gettext("version %(version)s", version=version)
        if version
        else gettext("not in this kernel, or off"),
        "" if version else gettext("only the level 'reduced' needs it"),
    )
    yield _swap()
    yield core_dumps(_text(CORE_PATTERN))


def _speed(sandbox: Sandbox) -> ProbeFinding:
    """How fast bots are here, and whether a worker with a slot for each core may play by the
    reference machine's clock."""
    remedy = gettext(
        "matches by the reference machine's clock go to other workers; all others are played"
    )
    try:
        with claimed_core() as core:
            found = measured(sandbox, core)
    except (LanguageError, BoxError, BotError) as error:
        return ProbeFinding(
            gettext("speed"), False, gettext("not to be measured: %(error)s", error=error), remedy
        )
    cores = len(available())
    words = gettext(
        "%(python)s for Python and %(others)s for other programs, the reference machine being 1; "
        "%(cores)s",
        python=f"{found.interpreted:.2f}",
        others=f"{found.compiled:.2f}",
        cores=counted(cores, "core"),
    )
    if problem := unfit(found, cores, cores):
        return ProbeFinding(
            gettext("speed"),
            False,
            f"{words}; {problem}",
            remedy,
        )
    return ProbeFinding(gettext("speed"), True, words)


def _switches() -> Iterator[ProbeFinding]:
    """Ways in which a kernel is told to refuse user namespaces."""
    for file, bad, remedy in (
        (USER_NAMESPACES, "0", "sysctl user.max_user_namespaces=10000"),
        (DEBIAN_SWITCH, "0", "sysctl kernel.unprivileged_userns_clone=1"),
        (
            APPARMOR,
            "1",
            gettext("install the package bubblewrap and AppArmor's profile bwrap-userns-restrict"),
        ),
    ):
        if _text(file) == bad and os.geteuid() != 0:
            yield ProbeFinding(
                gettext("user namespaces"),
                False,
                gettext("%(file)s is %(value)s", file=file, value=bad),
                remedy,
            )


def _swap() -> ProbeFinding:
    active = len(_text(Path("/proc/swaps")).splitlines()) > 1
    if not active:
        return ProbeFinding(gettext("swap"), True, pgettext("swap", "off"))
    try:
        places = find_places()
        bounded = places.version == 2 or (places.memory / SWAP_LIMIT).exists()
    except GroupError:
        bounded = True  # without memory groups the limit counts what is swapped out as well
    remedy = "" if bounded else gettext("boot with swapaccount=1, or turn swap off")
    return ProbeFinding(
        gettext("swap"),
        bounded,
        pgettext("swap", "on") if bounded else gettext("on, and bots' use has no bound"),
        remedy,
    )


def core_dumps(pattern: str) -> ProbeFinding:
    """Whether the kernel's pattern for core files hands bots' crashes to a program.

    No resource limit stops that (see core(5)).
    """
    if pattern.startswith("|"):
        remedy = f"echo core > {CORE_PATTERN}"
        return ProbeFinding(
            gettext("core dumps"),
            False,
            gettext("crashes are piped to %(program)s", program=pattern[1:60]),
            remedy,
        )
    return ProbeFinding(gettext("core dumps"), True, gettext("off for bots"))


def _games() -> Iterator[ProbeFinding]:
    """What a worker here says to have, and what it can't have."""
    by_rules: dict[str, list[str]] = {}
    for name in GAMES:
        by_rules.setdefault(GAMES.rules(name), []).append(name)
    for rules, names in by_rules.items():
        yield ProbeFinding(rules, True, ", ".join(names))
    for name, reason in GAMES.faults.items():
        yield ProbeFinding(name, False, reason, gettext("mend or uninstall its package"))


def _languages() -> Iterator[ProbeFinding]:
    """Which interpreters and compilers boxes here have."""
    found: dict[str, list[str] | LanguageError] = {}
    for language in LANGUAGES:
        try:
            found[language.name] = programs_of(language)
        except LanguageError as error:
            found[language.name] = error
    programs = {path for paths in found.values() if isinstance(paths, list) for path in paths}
    versions = _versions(programs)
    for name, paths in found.items():
        if isinstance(paths, LanguageError):
            yield ProbeFinding(name, False, str(paths))
        else:
            words = (f"{path} {versions[path]}".strip() for path in paths)
            yield ProbeFinding(name, True, ", ".join(words))


def _versions(programs: Collection[str]) -> dict[str, str]:
    """What version each of some programs is, asked all at once; empty if it does not say."""
    asked = {
        path: subprocess.Popen(
            [path, VERSION_OPTIONS.get(Path(path).name, "--version")],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={"PATH": BOX_PATH},
            text=True,
            errors="replace",
        )
        for path in programs
        if Path(path).name not in SILENT
    }
    deadline = time.monotonic() + VERSION_SECONDS
    found = dict.fromkeys(programs, "")
    for path, process in asked.items():
        with process:
            try:
                said, _ = process.communicate(timeout=max(0.05, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                said = ""
        version = re.search(r"\d+(\.\d+)+", said)
        found[path] = version[0] if version else ""
    return found


VERSION_OPTIONS = {"go": "version", "lua": "-v"}
"""How programs are asked that do not take --version."""
SILENT = frozenset({"sh", "javac"})
"""The commands that are not asked for a version: a shell need not know, and javac takes long to say
what java says as well."""
VERSION_SECONDS = 0.5


def _text(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError:
        return ""
