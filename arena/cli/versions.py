"""Which bots a strength test was begun with: a digest of each that changes with its program.

A bot in a box sees its bundle and nothing else, so that is its digest. A program that runs where
it lies may read what it likes; what counts is what it most likely runs: itself, the files of its
language beside it and below, and of a command every program and file that its words name.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from hashlib import file_digest, sha256
from pathlib import Path

from arena.cli.arguments import GivenBot
from arena.cli.boxed import pack
from arena.strength.sequential import Version
from workers.archives import BundleError, is_archive
from workers.languages import LanguageError, find_language

LIBRARIES = {"__pycache__", "node_modules", "site-packages", "dist-packages"}
"""Folders of what others made, or what is made again of the files beside."""


def version_of(bot: GivenBot, *, no_box: bool = False) -> Version:
    """The bot as its files are now.

    Raises:
        LanguageError: it is no bot.
    """
    if bot.words:
        return Version(bot.name, _digest(_named(bot.words)))
    language = find_language(bot.path)
    is_unpacked = is_archive(bot.path) or (language and language.build)
    if no_box and bot.path.is_file() and not is_unpacked:
        return Version(bot.name, _digest(_program(bot.path)))
    try:
        return Version(bot.name, pack(bot.path).digest)
    except BundleError as error:
        raise LanguageError(str(error)) from None


def _digest(parts: Iterator[tuple[str, str]]) -> str:
    """The digest of names and of the digests of what is behind them, in their order."""
    whole = sha256()
    for part in parts:
        whole.update(repr(part).encode())
    return whole.hexdigest()


def _named(words: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """The words of a command, and whatever programs and files they name.

    The program may be an interpreter or a bridge, with the bot among its arguments: as a word, in
    a word such as ``--net=FILE``, in a command in quotes, or as the module behind ``-m``.
    """
    for word in words:
        yield word, ""
        for piece in dict.fromkeys((word, *re.split(r"[\s=]+", word))):
            found = [piece, f"{piece}.py", f"{piece}/__main__.py", shutil.which(piece) or ""]
            for path in dict.fromkeys(name for name in found if os.path.isfile(name)):
                yield from _program(Path(path))


def _program(path: Path) -> Iterator[tuple[str, str]]:
    """A file, and those of its language beside it and below, by their names there."""
    yield "", _content(path)
    language = find_language(path)
    if language is None:
        return
    beside = path.resolve().parent
    for folder, folders, names in os.walk(beside):
        folders[:] = sorted(name for name in folders if _is_own(Path(folder, name), beside))
        for name in sorted(names):
            if name.endswith(tuple(language.suffixes)):
                file = Path(folder, name)
                yield str(file.relative_to(beside)), _content(file)


def _is_own(folder: Path, beside: Path) -> bool:
    """Whether a folder may hold parts of a program: none of a library, and of no other disk."""
    if folder.name.startswith(".") or folder.name in LIBRARIES or (folder / "pyvenv.cfg").exists():
        return False
    with suppress(OSError):
        return folder.stat().st_dev == beside.stat().st_dev
    return False


def _content(path: Path) -> str:
    """The digest of a file; nothing of one that can't be read, by the bot either."""
    with suppress(OSError), path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
    return ""
