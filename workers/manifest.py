"""What a bot says of itself in ``bot.toml``, and how it is therefore built and run.

The file is optional, as are its keys:

    name = "greedy-gus"
    main = "src/player.py"      # the file to start; by default bot.* or main.*
    language = "python"         # if the file's name and first line don't tell
    run = "./player --fast"     # instead of main and language: the whole command
    build = "make player"       # what a shell runs first, in place of the language's compiler
    games = ["clobber"]         # the games that it knows; by default it isn't said
    threads = 4                 # how many it uses; by default one
"""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from workers.archives import BundleError, File, Files
from workers.languages import (
    LANGUAGES,
    STEM,
    SUFFIXES,
    Language,
    find_language,
    interpreter_named,
    language_named,
    shebang_language,
)
from workers.launches import Launch, launch_build, launch_file, launch_words

MANIFEST = "bot.toml"
STEMS = ("bot", "main")
"""What the file to start is called, in any case: Java's has a capital."""
KIT = "arena_bot"
"""What the kits' files are called; beside a bot they are none."""
MAX_THREADS = 64
MAX_NAME = 60
MAX_BYTES = 8192
"""Of the file; it takes a time to read that grows with its length squared."""
ELF = b"\x7fELF"
PACKAGE = re.compile(
    r"(?:\s++|//[^\n]*+|/\*(?>(?s:.*?)\*/))*+package\s++([\w.]++)\s*+;",
)
"""How a file of Java begins whose class is in a package; read once, whatever a file holds."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """How a bot is run."""

    main: str
    """The file that is started, or built."""
    language: Language | None
    """None if that is a program by itself."""
    arguments: tuple[str, ...] = ()
    """What follows the file on the command line."""
    words: tuple[str, ...] = ()
    """What follows the language's interpreter instead, if the author said so."""
    build: str = ""
    """What a shell runs to build the bot, in place of the language's compiler."""
    name: str = ""
    games: tuple[str, ...] = ()
    threads: int = 1
    package: str = ""
    """Of a language that starts a class by its whole name: what stands before that of the file."""

    def launch(self) -> Launch:
        """The command for a box on this machine.

        Raises:
            LanguageError: the interpreter is not installed.
        """
        if self.language and self.words:
            return launch_words(self.language, self.words, threads=self.threads)
        file = f"{self.package}.{PurePosixPath(self.main).name}" if self.package else self.main
        found = launch_file(file, self.language, threads=self.threads)
        return replace(found, command=(*found.command, *self.arguments))

    @property
    def is_built(self) -> bool:
        """Whether there is something to be done before it can be run."""
        return bool(self.build or (self.language and self.language.build and not self.words))

    def building(self, files: Iterable[str]) -> Launch:
        """The command that builds it in a box, for a bot that is built.

        Args:
            files: the names of all its files.

        Raises:
            LanguageError: the compiler is not installed.
        """
        return launch_build(self.language, self.main, files, script=self.build)


def read_manifest(files: Files) -> Manifest:
    """How these files are run, by their manifest and their names.

    Raises:
        BundleError: the manifest is wrong, or it can't be told.
    """
    said = _parse(files[MANIFEST].content) if MANIFEST in files else {}
    found = _command(said, files)
    return replace(
        found,
        package=_package_of(found, files),
        build=said.get("build", ""),
        name=said.get("name", ""),
        games=tuple(said.get("games", ())),
        threads=said.get("threads", 1),
    )


def _package_of(found: Manifest, files: Files) -> str:
    """The package that the main file says its class is of; empty if none, or in other languages."""
    if found.language is None or STEM not in found.language.arguments or found.main not in files:
        return ""
    said = PACKAGE.match(files[found.main].content.decode("utf-8", "replace"))
    return said[1] if said else ""


def _parse(content: bytes) -> Mapping[str, Any]:
    """The manifest's keys, each of the right type."""
    if len(content) > MAX_BYTES:
        raise BundleError(f"{MANIFEST} has more than {MAX_BYTES // 1024} KiB")
    try:
        # Editors of Windows put a mark before the text.
        said = tomllib.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        hint = "; texts stand in quotes" if str(error).startswith("Invalid value") else ""
        raise BundleError(f"{MANIFEST}: {error}{hint}") from None
    for key, value in said.items():
        if key not in KEYS:
            raise BundleError(f"{MANIFEST}: there is no key {key[:40]!r}; {', '.join(KEYS)} are")
        if type(value) is not KEYS[key]:
            raise BundleError(f"{MANIFEST}: {key} takes {KINDS[KEYS[key]]}")
        if isinstance(value, str) and "\0" in value:
            # No command line can hold one.
            raise BundleError(f"{MANIFEST}: {key} has a zero byte")
    if not all(isinstance(game, str) for game in said.get("games", ())):
        raise BundleError(f"{MANIFEST}: games takes {KINDS[list]}")
    if not said.get("name", "x").isprintable() or not 1 <= len(said.get("name", "x")) <= MAX_NAME:
        raise BundleError(f"{MANIFEST}: name is one line of 1 to {MAX_NAME} characters")
    if not 1 <= said.get("threads", 1) <= MAX_THREADS:
        raise BundleError(f"{MANIFEST}: threads is a number from 1 to {MAX_THREADS}")
    if "run" in said and said.keys() & {"main", "language"}:
        raise BundleError(f"{MANIFEST}: run stands for main and language, so give one or the other")
    return said


KEYS: Mapping[str, type] = {
    "name": str, "main": str, "language": str, "run": str, "build": str, "games": list,
    "threads": int,
}  # fmt: skip
KINDS = {str: "a text in quotes", int: "a whole number", list: 'a list of texts, ["a", "b"]'}


def _command(said: Mapping[str, Any], files: Files) -> Manifest:
    """How it is run, by what it says or by its files."""
    if "run" in said:
        return _run(said["run"], files, built="build" in said)
    main = str(PurePosixPath(said["main"])) if "main" in said else _find_main(files)
    if main not in files:
        raise BundleError(f"{MANIFEST}: main is {main[:60]!r}, and there is no such file")
    if "language" not in said:
        return Manifest(main, _language_of(main, files[main]))
    language = language_named(said["language"])
    if language is None:
        known = ", ".join(known.name for known in LANGUAGES)
        raise BundleError(
            f"{MANIFEST}: the language {said['language'][:40]!r} is not known; {known} are"
        )
    return Manifest(main, language)


def _run(text: str, files: Files, *, built: bool) -> Manifest:
    """A whole command: a file of the bot, or an interpreter and a file, with arguments.

    The file may be one that is still to be ``built``.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise BundleError(f"{MANIFEST}: run can't be read: {error}") from None
    language = interpreter_named(words[0]) if words else None
    names = [str(PurePosixPath(word)) for word in words]
    if language:
        # Options may come before the file.
        main = next((name for name in names[1:] if name in files), "")
        if main or (built and names[1:]):
            filed = zip(words[1:], names[1:], strict=True)
            # By ./NAME, so that no program takes the name for an option or looks for it elsewhere.
            start = [f"./{name}" if name in files else word for word, name in filed]
            return Manifest(main, language, words=tuple(start))
    elif names and names[0] in files:
        main = names[0]
        return Manifest(main, _language_of(main, files[main]), tuple(words[1:]))
    elif names and built:
        return Manifest(names[0], find_language(PurePosixPath(names[0])), tuple(words[1:]))
    first = next(iter(names[1:] if language else names), "")
    raise BundleError(
        f"{MANIFEST}: run starts {first[:60]!r}, which is none of the bot's files: it is a "
        "file, or an interpreter and a file, and then arguments"
    )


def windows_lines(name: str, file: File, language: Language | None = None) -> str | None:
    """What is wrong with a script whose lines end as on Windows; None if it runs all the same.

    Args:
        language: its language, if its name and first line need not tell.
    """
    first = file.content[:200].partition(b"\n")[0]
    by_kernel = first.startswith(b"#!") and first.endswith(b"\r")
    known = language or find_language(PurePosixPath(name))
    known = known or shebang_language(first.decode("utf-8", "replace"))
    if by_kernel or (known and known.unix_lines and b"\r\n" in file.content):
        words = "which count as a part of the last word: save it with those of Unix"
        return f"{name} has line ends of Windows, {words}"
    return None


def _find_main(files: Files) -> str:
    """The file to start where nothing is said."""
    top = [name for name in files if "/" not in name and name != MANIFEST]
    runnable = [name for name in top if _may_run(name, files[name])]
    named = [name for name in runnable if PurePosixPath(name).stem.lower() in STEMS]
    own = [name for name in runnable if PurePosixPath(name).stem != KIT]
    for choice in (named, own, runnable, top):
        if len(choice) == 1:
            return choice[0]
        if choice:
            raise BundleError(
                f"which of {', '.join(sorted(choice)[:5])} is the bot? Call it bot, or say "
                f'main = "{sorted(choice)[0]}" in {MANIFEST}'
            )
    raise BundleError(f"there is no bot at the top: put bot.py there, or say main in {MANIFEST}")


def _may_run(name: str, file: File) -> bool:
    return (
        find_language(PurePosixPath(name)) is not None
        or file.executable
        or file.content.startswith((b"#!", ELF))
    )


def _language_of(name: str, file: File) -> Language | None:
    """The language of a file by its ending or first line; None for a program."""
    if language := find_language(PurePosixPath(name)):
        return language
    first_line = file.content[:200].partition(b"\n")[0].decode("utf-8", "replace")
    if language := shebang_language(first_line):
        return language
    if not _may_run(name, file):
        endings = ", ".join(sorted(SUFFIXES))
        raise BundleError(
            f"how is {name!r} run? Give it the ending of a language ({endings}), or say "
            f"language in {MANIFEST}"
        )
    return None
