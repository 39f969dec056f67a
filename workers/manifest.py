"""What a bot says of itself in ``bot.toml``, and how it is therefore built and run.

The file is optional, as are its keys:

    name = "greedy-gus"
    main = "src/player.py"      # the file to start; by default bot.* or main.*
    language = "python"         # if the file's name and first line don't tell
    run = "./player --fast"     # instead of main and language: the whole command
    build = "make player"       # what a shell runs first, in place of the language's compiler
    games = ["clobber"]         # the games that it knows; by default it isn't said
    threads = 4                 # how many it uses; by default one
    processes = 2               # how many it needs, with those that it starts; by default one
    bridge = "gtp"              # what it speaks in place of the arena's protocol: gtp or ugi
    runtime = "scientific"      # the packages that it needs, of those that its arena offers

    [options]                   # what can be chosen about it, as docs/protocol.md has it
    depth = "int 1 20 6"
"""

from __future__ import annotations

import re
import shlex
import tomllib
from codecs import BOM_UTF32_LE
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from engine.bot_options import BotOptionError, read_options
from engine.bridges.command import Bridge
from engine.jobs import MOST_PROCESSES
from engine.translation import N_, gettext, translated
from workers.archives import BundleError
from workers.files import File, Files
from workers.foreign_files import PROGRAM, UTF16_MARKS, kind_of
from workers.languages import (
    LANGUAGES,
    STEM,
    SUFFIXES,
    Language,
    LanguageError,
    find_language,
    interpreter_named,
    language_named,
    shebang_language,
    without_env,
)
from workers.launches import Launch, launch_bridge, launch_build, launch_file, launch_words
from workers.runtimes import UnpackedRuntime

MANIFEST = "bot.toml"
STEMS = ("bot", "main")
"""What the file to start is called, in any case: Java's has a capital."""
KIT = "arena_bot"
"""What the kits' files are called; beside a bot they are none."""
MAX_THREADS = 64
MAX_NAME = 60
RUNTIME_NAME = re.compile(r"[a-z0-9][a-z0-9.-]{0,39}", re.ASCII)
MAX_BYTES = 8192
"""The longest file: the time it takes to read grows with its length squared."""
PACKAGE = re.compile(
    r"(?:\s++|//[^\n]*+|/\*(?>(?s:.*?)\*/))*+package\s++([\w.]++)\s*+;",
)
"""How a file of Java begins whose class is in a package; read once, whatever a file holds."""


class MissingError(BundleError):
    """What is to be started is none of the bot's files."""

    def __init__(self, name: str, words: str) -> None:
        super().__init__(f"{MANIFEST}: {words}")
        self.name = name


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
    processes: int = 1
    bridge: Bridge | None = None
    """What stands before a program that speaks another protocol."""
    runtime: str = ""
    """The name of the runtime that it is run with; empty for none."""
    options: tuple[str, ...] = ()
    """What can be chosen about it, each as `engine.bot_options` declares it."""
    package: str = ""
    """What stands before the name of the file, in a language that starts a class by its whole
    name."""

    def launch(self, runtime: UnpackedRuntime | None = None) -> Launch:
        """The command for a box on this machine.

        Args:
            runtime: the one that it names; left out where that isn't there, it is started without.

        Raises:
            LanguageError: the interpreter is not installed, or its runtime is not for it, or not
                for a bridge.
        """
        found = self._launch_alone()
        if runtime is not None and self.runtime:
            if self.bridge and runtime.card.program:
                # What finds the one's own library would mislead the other's.
                raise LanguageError(
                    gettext(
                        "the runtime %(runtime)s brings its own interpreter, beside which no "
                        "bridge is started: name one of packages alone",
                        runtime=self.runtime,
                    )
                )
            found = runtime.given_to(found, self.language, self.threads)
        found = replace(found, options=self.options)
        if self.bridge:
            return launch_bridge(self.bridge, found, processes=self.processes)
        return replace(found, processes=self.processes)

    def _launch_alone(self) -> Launch:
        """The command for a box on this machine without a bridge, and without a runtime."""
        if self.language and self.words:
            return launch_words(self.language, self.words, threads=self.threads)
        file = f"{self.package}.{PurePosixPath(self.main).name}" if self.package else self.main
        found = launch_file(file, self.language, threads=self.threads)
        return replace(found, command=(*found.command, *self.arguments))

    @property
    def is_built(self) -> bool:
        """Whether there is something to be done before it can be run."""
        return bool(self.build or (self.language and self.language.build and not self.words))

    def building(self, files: Iterable[str], runtime: UnpackedRuntime | None = None) -> Launch:
        """The command that builds it in a box, for a bot that is built.

        Args:
            files: the names of all its files.
            runtime: the one that it names.

        Raises:
            LanguageError: the compiler is not installed, or its runtime is not for it.
        """
        found = launch_build(self.language, self.main, files, script=self.build)
        if runtime is None or not self.runtime:
            return found
        return runtime.shown_to(found, self.language)


def read_manifest(files: Files, left_out: Collection[str] = ()) -> Manifest:
    """How these files are run, by their manifest and their names.

    Args:
        left_out: the names of files that were there, too, if it may be that one is missed.

    Raises:
        BundleError: the manifest is wrong, or it can't be told.
    """
    said = _parse(files[MANIFEST].content) if MANIFEST in files else {}
    try:
        found = _command(said, files)
    except MissingError as error:
        if not any(f"/{name}".endswith(f"/{error.name}") for name in left_out):
            raise
        raise _wrong(
            gettext(
                "%(name)r lies in a folder of a tool's, which is left out: put it elsewhere",
                name=error.name,
            )
        ) from None
    return replace(
        found,
        package=_package_of(found, files),
        build=said.get("build", ""),
        name=said.get("name", ""),
        games=tuple(said.get("games", ())),
        threads=said.get("threads", 1),
        processes=said.get("processes", 2 if "bridge" in said else 1),
        bridge=_bridge(said["bridge"]) if "bridge" in said else None,
        runtime=said.get("runtime", ""),
        options=_options(said.get("options", {})),
    )


def _wrong(words: object) -> BundleError:
    return BundleError(f"{MANIFEST}: {words}")


def _options(said: Mapping[str, Any]) -> tuple[str, ...]:
    """The declarations of a manifest's options."""
    if not all(isinstance(words, str) for words in said.values()):
        raise _wrong(gettext('an option is a text in quotes, as in depth = "int 1 20 6"'))
    try:
        found = read_options(f"{name} {words}" for name, words in said.items())
    except BotOptionError as error:
        raise _wrong(error) from None
    return tuple(option.declaration for option in found.values())


def _bridge(text: str) -> Bridge:
    """The bridge that a manifest names."""
    try:
        return Bridge.read(shlex.split(text))
    except ValueError as error:
        raise _wrong(
            gettext("bridge can't be %(text)r: %(reason)s", text=text[:60], reason=error)
        ) from None


def _package_of(found: Manifest, files: Files) -> str:
    """The package that the main file says its class is of; empty if none, or in other languages."""
    if found.language is None or STEM not in found.language.arguments or found.main not in files:
        return ""
    said = PACKAGE.match(files[found.main].content.decode("utf-8", "replace"))
    return said[1] if said else ""


def _parse(content: bytes) -> Mapping[str, Any]:
    """The manifest's keys, each of the right type."""
    if len(content) > MAX_BYTES:
        raise BundleError(
            gettext(
                "%(manifest)s has more than %(number)s KiB",
                manifest=MANIFEST,
                number=MAX_BYTES // 1024,
            )
        )
    marked = content.startswith(UTF16_MARKS)
    if content.startswith(BOM_UTF32_LE) or (b"\0" in content and not marked):
        raise BundleError(
            gettext(
                "%(manifest)s has zero bytes, as text in UTF-16 or UTF-32: save it as UTF-8",
                manifest=MANIFEST,
            )
        )
    try:
        # Windows puts a mark before a text, and its PowerShell writes UTF-16.
        said = tomllib.loads(content.decode("utf-16" if marked else "utf-8-sig"))
    except (ValueError, RecursionError) as error:
        hint = (
            "; " + gettext("texts stand in quotes")
            if str(error).startswith("Invalid value")
            else ""
        )
        hint = ": " + gettext("save it as UTF-8") if isinstance(error, UnicodeError) else hint
        raise _wrong(f"{error}{hint}") from None
    for key, value in said.items():
        if key not in KEYS:
            raise _wrong(
                gettext(
                    "there is no key %(key)r; %(known)s are", key=key[:40], known=", ".join(KEYS)
                )
            )
        if type(value) is not KEYS[key]:
            raise _wrong(
                gettext("%(key)s takes %(kind)s", key=key, kind=translated(KINDS[KEYS[key]]))
            )
        if isinstance(value, str) and "\0" in value:
            # No command line can hold one.
            raise _wrong(gettext("%(key)s has a zero byte", key=key))
    if not all(isinstance(game, str) for game in said.get("games", ())):
        raise _wrong(gettext("games takes %(kind)s", kind=translated(KINDS[list])))
    if not said.get("name", "x").isprintable() or not 1 <= len(said.get("name", "x")) <= MAX_NAME:
        raise _wrong(gettext("name is one line of 1 to %(most)s characters", most=MAX_NAME))
    if not RUNTIME_NAME.fullmatch(said.get("runtime", "x")):
        raise _wrong(gettext('runtime is the name of one, as in runtime = "scientific"'))
    if not 1 <= said.get("threads", 1) <= MAX_THREADS:
        raise _wrong(gettext("threads is a number from 1 to %(most)s", most=MAX_THREADS))
    least = 2 if "bridge" in said else 1
    if not least <= said.get("processes", least) <= MOST_PROCESSES:
        if "bridge" in said:
            words = gettext(
                "processes is a number from %(least)s to %(most)s, as a bridge and its program "
                "are two",
                least=least,
                most=MOST_PROCESSES,
            )
        else:
            words = gettext(
                "processes is a number from %(least)s to %(most)s",
                least=least,
                most=MOST_PROCESSES,
            )
        raise _wrong(words)
    if "run" in said and said.keys() & {"main", "language"}:
        raise _wrong(gettext("run stands for main and language, so give one or the other"))
    return said


KEYS: Mapping[str, type] = {
    "name": str, "main": str, "language": str, "run": str, "build": str, "games": list,
    "threads": int, "processes": int, "bridge": str, "runtime": str, "options": dict,
}  # fmt: skip
KINDS = {
    str: N_("a text in quotes"),
    int: N_("a whole number"),
    list: N_('a list of texts, ["a", "b"]'),
    dict: N_('a table: [options], and below it depth = "int 1 20 6"'),
}


def _command(said: Mapping[str, Any], files: Files) -> Manifest:
    """How it is run, by what it says or by its files."""
    if "run" in said:
        return _run(said["run"], files, built="build" in said)
    main = str(PurePosixPath(said["main"])) if "main" in said else _find_main(files)
    if main not in files:
        raise MissingError(
            main, gettext("main is %(file)r, and there is no such file", file=main[:60])
        )
    if "language" not in said:
        return Manifest(main, _language_of(main, files[main]))
    language = language_named(said["language"])
    if language is None:
        known = ", ".join(known.name for known in LANGUAGES)
        raise _wrong(
            gettext(
                "the language %(name)r is not known; %(known)s are",
                name=said["language"][:40],
                known=known,
            )
        )
    return Manifest(main, language)


def _run(text: str, files: Files, *, built: bool) -> Manifest:
    """A whole command: a file of the bot, or an interpreter and a file, with arguments.

    The file may be one that is still to be ``built``.
    """
    try:
        words = without_env(shlex.split(text))
    except ValueError as error:
        raise _wrong(gettext("run can't be read: %(reason)s", reason=error)) from None
    language = interpreter_named(words[0]) if words else None
    names = [str(PurePosixPath(word)) for word in words]
    if language:
        main = _started(language, words[1:], files)
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
    # A program's path is said as it was given.
    by_name = language is not None and "/" not in words[0]
    first = next(iter(names[1:] if by_name else names), "")
    raise MissingError(
        first,
        gettext(
            "run starts %(file)r, which is none of the bot's files: it is a file, or an "
            "interpreter and a file, and then arguments",
            file=first[:60],
        ),
    )


def _started(language: Language, words: Sequence[str], files: Files) -> str:
    """The file that an interpreter starts; empty if it is none of the bot's.

    Options may come before it. Python's ``-m`` takes a module in its place.
    """
    for word, following in zip(words, (*words[1:], ""), strict=True):
        if (name := str(PurePosixPath(word))) in files:
            return name
        if word == "-m" and language.takes_modules:
            module = following.replace(".", "/")
            possible = (f"{module}.py", f"{module}/__main__.py")
            if found := next((name for name in possible if name in files), ""):
                return found
            raise MissingError(
                possible[0],
                gettext(
                    "run starts the module %(module)r, and there is neither %(file)s nor %(other)s",
                    module=following[:60],
                    file=possible[0][:60],
                    other=possible[1][:60],
                ),
            )
    return ""


def _find_main(files: Files) -> str:
    """The file to start where nothing is said."""
    top = [name for name in files if "/" not in name and name != MANIFEST]
    sure = [name for name in top if _is_runnable(name, files[name])]
    # On the disks of other systems all files have this right, so it says little.
    able = [name for name in top if files[name].executable]
    foreign = [name for name in top if kind_of(name, files[name].content)]
    for choice in (
        _named(sure),
        _named(name for name in able if "." not in name),
        [name for name in sure if PurePosixPath(name).stem != KIT],
        sure,
        _named(foreign),
        foreign,
        able,
        top,
    ):
        if len(choice) == 1:
            return choice[0]
        if choice:
            raise BundleError(
                gettext(
                    'which of %(files)s is the bot? Call it bot, or say main = "%(file)s" in '
                    "%(manifest)s",
                    files=", ".join(sorted(choice)[:5]),
                    file=sorted(choice)[0],
                    manifest=MANIFEST,
                )
            )
    raise BundleError(
        gettext(
            "there is no bot at the top: put bot.py there, or say main in %(manifest)s",
            manifest=MANIFEST,
        )
    )


def _named(names: Iterable[str]) -> list[str]:
    """Those that are called as the file to start is."""
    return [name for name in names if PurePosixPath(name).stem.lower() in STEMS]


def _is_runnable(name: str, file: File) -> bool:
    return find_language(PurePosixPath(name)) is not None or file.content.startswith(PROGRAM)


def _language_of(name: str, file: File) -> Language | None:
    """The language of a file by its ending or first line; None for a program."""
    if language := find_language(PurePosixPath(name)):
        return language
    first_line = file.content[:200].partition(b"\n")[0].decode("utf-8", "replace")
    if language := shebang_language(first_line):
        return language
    if kind := kind_of(name, file.content):
        raise BundleError(gettext("%(name)r is %(kind)s", name=name, kind=kind))
    if not file.executable and not file.content.startswith(PROGRAM):
        endings = ", ".join(sorted(SUFFIXES))
        raise BundleError(
            gettext(
                "how is %(name)r run? Give it the ending of a language (%(endings)s), or say "
                "language in %(manifest)s",
                name=name,
                endings=endings,
                manifest=MANIFEST,
            )
        )
    return None
