"""How a bot's file is run, by its language: plainly, or in a box.

Outside the box a bot runs with what is on the author's PATH, Python bots with the arena's own
interpreter. In the box it runs with the system's interpreters below /usr, since that is all a
box shows of the machine.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePath

BOX_PATH = "/usr/local/bin:/usr/bin:/bin"
"""Where interpreters are looked for in a box."""
LEAST_PYTHON = (3, 11)
MIB = 1 << 20


class LanguageError(ValueError):
    """A file that can't be run here; one sentence that says what to do."""


@dataclass(frozen=True, slots=True)
class Language:
    """One language of bots."""

    name: str
    suffixes: Sequence[str]
    """The endings of its files."""
    program: str
    """The interpreter's name."""
    options: Sequence[str] = ()
    """What stands between the interpreter and the file."""
    memory_bytes: int = 16 * MIB
    """The least memory that its interpreter starts with."""
    threads: int = 1
    """The threads that its interpreter needs for itself, the first one counted."""
    environment: Mapping[str, str] = field(default_factory=dict)


LANGUAGES = (
    Language(
        "Python",
        (".py",),
        "python3",
        # Unbuffered, for bots that forget to flush; and no packages of a user's own.
        ("-u", "-s"),
        memory_bytes=32 * MIB,
        # The same hashes each time, so that a bot that iterates over sets can be replayed.
        environment={"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"},
    ),
    Language("JavaScript", (".js", ".mjs", ".cjs"), "node", memory_bytes=96 * MIB, threads=11),
    Language("Ruby", (".rb",), "ruby", memory_bytes=64 * MIB, threads=2),
    Language("Perl", (".pl",), "perl"),
    Language("Lua", (".lua",), "lua"),
    Language("shell", (".sh",), "sh"),
)
SUFFIXES = {suffix: language for language in LANGUAGES for suffix in language.suffixes}


@dataclass(frozen=True, slots=True)
class Launch:
    """How a bot is run in a box, where its folder is the working directory."""

    command: Sequence[str]
    """A program of the box by its full path, or one of the bot's files as ``./NAME``."""
    memory_bytes: int = 0
    """The least memory without which it can't start."""
    threads: int = 1
    """The most threads that it uses at once."""
    environment: Mapping[str, str] = field(default_factory=dict)


def find_language(path: PurePath) -> Language | None:
    """The language of a file by its ending; None for others, programs among them."""
    return SUFFIXES.get(path.suffix)


def language_named(name: str) -> Language | None:
    """The language of this name (``python``) or interpreter (``python3``), in any case."""
    wanted = name.lower()
    return next(
        (known for known in LANGUAGES if wanted in (known.name.lower(), known.program)), None
    )


def shebang_language(first_line: str) -> Language | None:
    """The language of a ``#!`` line; None if it names none of them."""
    if not first_line.startswith("#!"):
        return None
    words = [word for word in first_line[2:].split() if not word.startswith("-")]
    if words and words[0].endswith("/env"):
        words = [word for word in words[1:] if "=" not in word]
    if not words:
        return None
    program = words[0].rpartition("/")[2]
    # python3.12 asks for Python, as bash asks for a shell: the box has one of each.
    program = re.sub(r"^python[0-9.]*$", "python3", program)
    return language_named(re.sub(r"^(ba|da)sh$", "sh", program))


def command_for(path: Path) -> list[str]:
    """The command that runs a bot's file outside of any box.

    Raises:
        LanguageError: there is no such file, or it can't be run here.
    """
    if not path.exists():
        raise LanguageError(f"there is no bot {path}: give the path of a program")
    if not path.is_file():
        raise LanguageError(f"{path} is no file: give the path of a program")
    file = str(path.resolve())
    language = find_language(path)
    if language is None:
        if not os.access(path, os.X_OK):
            endings = ", ".join(sorted(SUFFIXES))
            raise LanguageError(
                f"{path} is not executable: chmod +x it, or give it the ending of a language "
                f"({endings})"
            )
        return [file]
    if language.program == "python3":
        return [sys.executable, "-u", file]
    if shutil.which(language.program) is None:
        raise LanguageError(f"{path} needs {language.program}, which is not installed here")
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
    return Launch(
        (box_program(language), *language.options, f"./{file}"),
        language.memory_bytes,
        language.threads + threads - 1,
        language.environment,
    )


def box_program(language: Language) -> str:
    """The full path of a language's interpreter in the box.

    Raises:
        LanguageError: the system has none, or only one that is too old.
    """
    if language.program == "python3":
        return box_python()
    path = shutil.which(language.program, path=BOX_PATH)
    if path is None:
        raise LanguageError(f"{language.program} is not installed on this machine")
    return path


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
        # A link out of /usr would lead nowhere in the box.
        if python is None or not Path(python).resolve().is_relative_to("/usr"):
            continue
        version = _python_version(python)
        if version >= least:
            return python
        too_old.append(f"{python} is {'.'.join(map(str, version))}")
    raise LanguageError(
        f"bots need a system Python of {'.'.join(map(str, least))} or later below /usr "
        f"({', '.join(too_old) or 'there is none'}): install one with the system's packages"
    )


def _python_version(path: str) -> tuple[int, ...]:
    """An interpreter's version; empty if it doesn't run."""
    code = "import sys; print(*sys.version_info[:2])"
    try:
        done = subprocess.run(
            [path, "-I", "-S", "-c", code], env={}, capture_output=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ()
    return tuple(int(word) for word in done.stdout.split())
