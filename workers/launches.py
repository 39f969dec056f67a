"""How a bot is run or built, plainly or in a box, as one command.

Outside the box a bot runs with what is on the author's PATH, Python bots with the arena's own
interpreter. In the box it is built and run with the system's programs below /usr, since that
is all a box shows of the machine.
"""

from __future__ import annotations

import glob
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path, PurePath
from typing import NamedTuple

from engine.bridges.command import Bridge
from engine.bridges.foreign import SAYS
from engine.clock import ALLOWANCES
from engine.translation import gettext
from workers.languages import (
    LANGUAGES,
    MAIN,
    SOURCES,
    STEM,
    SUFFIXES,
    SYSTEM_FOLDERS,
    Language,
    LanguageError,
    find_language,
)

BOX_PATH = ":".join(SYSTEM_FOLDERS)
"""The PATH of a box."""
LEAST_PYTHON = (3, 11)


@dataclass(frozen=True, slots=True)
class Launch:
    """How a bot is run in a box, where its folder is the working directory."""

    command: Sequence[str]
    """A program of the box by its full path, or one of the bot's files as ``./NAME``."""
    memory_bytes: int = 0
    """The least memory without which it can't start."""
    reserved_bytes: int = 0
    """Memory that it asks for and hardly uses: it is none of what it may use."""
    threads: int = 1
    """The most threads that it uses at once."""
    environment: Mapping[str, str] = field(default_factory=dict)
    start_seconds: float = ALLOWANCES.start_seconds
    """How long it may take until it is ready."""
    readable: Sequence[str] = ()
    """Folders outside of /usr that it needs read-only."""
    itself: str = ""
    """What /proc/self/exe says; empty if there is no such file."""
    processes: int = 1
    """The most processes that it uses at once."""
    told_by: str = ""
    """The beginning of what a bridge says, as `engine.program.Program` has it."""
    options: tuple[str, ...] = ()
    """What can be chosen about it, each as the bot's manifest declares it."""
    runtime: Path | None = None
    """The folder of its runtime, to which its command and environment refer by `RUNTIME`."""

    @property
    def is_python(self) -> bool:
        """Whether the system's Python runs it, and no other program behind that."""
        with suppress(LanguageError):
            return self.command[0] == box_python() and not self.told_by
        return False

    def placed(self, library: str, place: str) -> Launch:
        """The launch with the library and the runtime in their places, as the bot sees them."""
        if self.runtime is None:
            return self

        def put(word: str) -> str:
            return word.replace(RUNTIME.library, library).replace(RUNTIME.place, place)

        return replace(
            self,
            command=tuple(put(word) for word in self.command),
            environment={name: put(value) for name, value in self.environment.items()},
        )


class Marks(NamedTuple):
    """What stands in a launch for places that only the box knows."""

    library: str
    place: str


RUNTIME = Marks("\0library\0", "\0runtime\0")
"""Marks with zero bytes, which no author's word has."""


def command_for(path: Path) -> list[str]:
    """The command that runs a bot's file outside of any box.

    Raises:
        LanguageError: there is no such file, or it can't be run here.
    """
    if not path.exists():
        raise LanguageError(
            gettext("there is no bot %(path)s: give the path of a program", path=path)
        )
    if not path.is_file():
        raise LanguageError(gettext("%(path)s is no file: give the path of a program", path=path))
    file = str(path.resolve())
    language = find_language(path)
    if language is None:
        if not os.access(path, os.X_OK):
            endings = ", ".join(sorted(SUFFIXES))
            raise LanguageError(
                gettext(
                    "%(path)s is not executable: chmod +x it, or give it the ending of a language "
                    "(%(endings)s)",
                    path=path,
                    endings=endings,
                )
            )
        return [file]
    if language.build:
        raise LanguageError(gettext("%(path)s is to be built before it is run", path=path))
    if language.program == "python3":
        return [sys.executable, "-u", file]
    if shutil.which(language.program) is None:
        raise LanguageError(
            gettext(
                "%(path)s needs %(program)s, which is not installed here",
                path=path,
                program=language.program,
            )
        )
    return [language.program, *language.options, file]


def launch_file(file: str, language: Language | None, *, threads: int = 1) -> Launch:
    """How one of a bot's files is run in a box.

    Args:
        file: relative to the bot's folder.
        language: None if the file is a program by itself.
        threads: how many the bot uses itself.

    Raises:
        LanguageError: the box has no interpreter for it.
    """
    if language is None:
        return Launch((f"./{file}",), threads=threads)
    return launch_words(language, _filled(language.arguments, file, ()), threads=threads)


def launch_words(language: Language, words: Iterable[str], *, threads: int = 1) -> Launch:
    """How a bot is run in a box by its language's program with these arguments.

    Raises:
        LanguageError: the box has no interpreter for it.
    """
    program = box_program(language.program)
    return Launch(
        (program, *language.options, *words),
        language.memory_bytes,
        threads * language.reserved_bytes,
        language.threads + threads - 1,
        language.environment,
        language.start_seconds,
        box_folders(language),
        _itself(language, program),
    )


def launch_bridge(bridge: Bridge, behind: Launch, *, processes: int = 2) -> Launch:
    """How a bridge is run in a box, with a bot's program behind it.

    Args:
        processes: of both together.

    Raises:
        LanguageError: the box has no Python.
    """
    python = LANGUAGES[0]
    # No module of the bot's folder is taken for one of the bridge's.
    start = (box_program(python.program), *python.options, "-P", "-m", "engine.bridges")
    return replace(
        behind,
        command=(*start, *bridge.words, "--", *behind.command),
        memory_bytes=python.memory_bytes + behind.memory_bytes,
        threads=1 + behind.threads,
        environment={**python.environment, **behind.environment},
        processes=processes,
        told_by=SAYS,
    )


def launch_build(
    language: Language | None, main: str, files: Iterable[str], *, script: str = ""
) -> Launch:
    """How a bot is built, in a copy of its folder in a box.

    Args:
        language: None if only a script can tell.
        main: its main file.
        files: all its files.
        script: what a shell runs in place of the language's compiler.

    Raises:
        LanguageError: the box has no compiler for it.
    """
    # A script may run any interpreter; a compiler runs none.
    reserved = max(one.reserved_bytes for one in LANGUAGES) if script else 0
    if language is None or not language.build:
        shell = ("/bin/sh", "-c", script)
        return Launch(shell, reserved_bytes=reserved, readable=box_folders())
    compiler, *words = language.build
    program = box_program(compiler)
    sources = [name for name in sorted(files) if find_language(PurePath(name)) is language]
    command = [program, *_filled(words, main, sources)]
    return Launch(
        ("/bin/sh", "-c", script) if script else tuple(command),
        reserved_bytes=reserved,
        environment=language.environment,
        readable=box_folders(),
        itself=_itself(language, program),
    )


def _itself(language: Language, program: str) -> str:
    return str(Path(program).resolve()) if language.finds_itself else ""


def _filled(words: Iterable[str], main: str, sources: Iterable[str]) -> list[str]:
    """A command's words, with files in the place of names for them.

    Files go by ``./NAME``, so that no name is taken for an option.
    """
    filled: list[str] = []
    for word in words:
        if word == SOURCES:
            filled += [f"./{name}" for name in sources]
        else:
            filled.append({MAIN: f"./{main}", STEM: PurePath(main).stem}.get(word, word))
    return filled


def box_folders(language: Language | None = None) -> tuple[str, ...]:
    """The folders outside of /usr that a language needs, or all of them, as far as they exist."""
    languages = [language] if language else LANGUAGES
    return tuple(
        sorted(path for one in languages for pattern in one.readable for path in glob.glob(pattern))
    )


def programs_of(language: Language) -> list[str]:
    """The full paths of all that a language's bots are built and run with in the box.

    Raises:
        LanguageError: one is not installed, or too old.
    """
    names = [*language.build[:1], *([language.program] if language.interpreted else [])]
    return [box_program(name) for name in names]


def installed_languages() -> list[str]:
    """The names of the languages whose bots boxes here can build and run."""
    found = []
    for language in LANGUAGES:
        with suppress(LanguageError):
            programs_of(language)
            found.append(language.name)
    return found


def box_program(name: str) -> str:
    """The full path of a program in the box; ``./NAME`` is one of the bot's own.

    Raises:
        LanguageError: the system has none, or only one that is too old.
    """
    if name.startswith("./"):
        return name
    if name == "python3":
        return box_python()
    path = shutil.which(name, path=BOX_PATH)
    if path and not _leads_out(Path(path)):
        return path
    if path or shutil.which(name):
        raise LanguageError(
            gettext(
                "%(name)s is not where bots can run it: install it below /usr, with the "
                "system's packages",
                name=name,
            )
        )
    raise LanguageError(gettext("%(name)s is not installed on this machine", name=name))


def _leads_out(path: Path) -> bool:
    """Whether it is a link from /usr to elsewhere, which a box doesn't show."""
    return path.is_relative_to("/usr") and not path.resolve().is_relative_to("/usr")


@cache
def box_python() -> str:
    """The system's Python.

    Raises:
        LanguageError: there is none, or only one that is too old.
    """
    return find_python(BOX_PATH, LEAST_PYTHON)


def find_python(path: str, least: tuple[int, int]) -> str:
    """The first Python of a search path that boxes show and that is new enough.

    Raises:
        LanguageError: there is none.
    """
    too_old = []
    for name in ("python3", *(f"python3.{minor}" for minor in range(30, least[1] - 1, -1))):
        python = shutil.which(name, path=path)
        if python is None or not Path(python).resolve().is_relative_to("/usr"):
            continue
        version = version_of(python)
        if version >= least:
            return python
        too_old.append(
            gettext(
                "%(program)s is %(version)s", program=python, version=".".join(map(str, version))
            )
        )
    raise LanguageError(
        gettext(
            "bots need a system Python of %(version)s or later below /usr (%(found)s): install one "
            "with the system's packages",
            version=".".join(map(str, least)),
            found=", ".join(too_old) or gettext("there is none"),
        )
    )


def version_of(path: str) -> tuple[int, ...]:
    """The first two numbers of an interpreter's version; empty if it doesn't run."""
    try:
        done = subprocess.run(
            [path, "--version"], env={}, capture_output=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ()
    found = re.search(r"(\d+)\.(\d+)", done.stdout.decode(errors="replace"))
    return (int(found[1]), int(found[2])) if found else ()
