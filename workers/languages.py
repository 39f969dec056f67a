"""How a bot's file is run, by its language."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


class LanguageError(ValueError):
    """A file that can't be run here; one sentence that says what to do."""


@dataclass(frozen=True, slots=True)
class Language:
    """One language of bots."""

    name: str
    suffix: str
    runner: Sequence[str]
    """The command in front of the file; its first word is looked up on the PATH."""


LANGUAGES = (
    # Unbuffered, for bots that forget to flush.
    Language("Python", ".py", (sys.executable, "-u")),
    Language("JavaScript", ".js", ("node",)),
    Language("JavaScript", ".mjs", ("node",)),
    Language("Ruby", ".rb", ("ruby",)),
    Language("Perl", ".pl", ("perl",)),
    Language("Lua", ".lua", ("lua",)),
    Language("shell", ".sh", ("sh",)),
)


def find_language(path: Path) -> Language | None:
    """The language of a file by its ending; None for others, programs among them."""
    return next((known for known in LANGUAGES if known.suffix == path.suffix), None)


def command_for(path: Path) -> list[str]:
    """The command that runs a bot's file.

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
            endings = ", ".join(sorted({known.suffix for known in LANGUAGES}))
            raise LanguageError(
                f"{path} is not executable: chmod +x it, or give it the ending of a language "
                f"({endings})"
            )
        return [file]
    if shutil.which(language.runner[0]) is None:
        raise LanguageError(f"{path} needs {language.runner[0]}, which is not installed here")
    return [*language.runner, file]
