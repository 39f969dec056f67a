"""The languages of bots: what each is known by, and what it takes to build and run one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from engine.clock import ALLOWANCES

MIB = 1 << 20
BUILT = "bot"
"""The program that a compiler makes, at the top of the bot's folder."""
MAIN, STEM, SOURCES = "{main}", "{stem}", "{sources}"
"""What stands in a command for the main file, its name without the ending (in Java with its package
before it), and all files of the language."""


class LanguageError(ValueError):
    """A file that can't be run here; one sentence that says what to do."""


@dataclass(frozen=True, slots=True)
class Language:
    """One language of bots."""

    name: str
    suffixes: Sequence[str]
    """The endings of its files."""
    program: str
    """The interpreter's name, or ``./bot`` where building makes the program itself."""
    options: Sequence[str] = ()
    """What follows it in every bot's command."""
    arguments: Sequence[str] = (MAIN,)
    """What follows these, unless the author says otherwise."""
    build: Sequence[str] = ()
    """The compiler and its arguments; nothing for a language that is only run."""
    memory_bytes: int = 16 * MIB
    """The least memory that a bot starts with."""
    reserved_bytes: int = 0
    """Memory that its interpreter asks for, and hardly uses, for each thread of the bot itself."""
    threads: int = 1
    """The threads that its interpreter needs for itself, the first one counted."""
    start_seconds: float = ALLOWANCES.start_seconds
    """How long a bot may take until it is ready."""
    readable: Sequence[str] = ()
    """Folders outside of /usr that it needs read-only, as patterns."""
    finds_itself: bool = False
    """Whether its programs ask /proc/self/exe where they are; the box has no more of /proc."""
    environment: Mapping[str, str] = field(default_factory=dict)
    unix_lines: bool = False
    """Whether the carriage return of a Windows line end is a part of the last word to it."""
    takes_mark: bool = True
    """Whether a source may begin with a byte order mark."""
    takes_modules: bool = False
    """Whether its option ``-m`` takes the name of a module for that of its file."""

    @property
    def interpreted(self) -> bool:
        """Whether a program of the system runs its bots."""
        return not self.program.startswith("./")


NATIVE = f"./{BUILT}"
LANGUAGES = (
    Language(
        "Python",
        (".py", ".pyz"),
        "python3",
        # Unbuffered, for bots that forget to flush; and no packages of a user's own.
        ("-u", "-s"),
        memory_bytes=32 * MIB,
        # The same hashes each time, so that a bot that iterates over sets can be replayed.
        environment={"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"},
        takes_modules=True,
    ),
    Language(
        "JavaScript",
        (".js", ".mjs", ".cjs"),
        "node",
        memory_bytes=96 * MIB,
        # Room for compiled code, which it could write and run from the start (Node 24).
        reserved_bytes=512 * MIB,
        threads=11,
    ),
    Language(
        "C",
        (".c",),
        NATIVE,
        arguments=(),
        build=("gcc", "-O2", "-std=gnu17", "-pthread", "-o", BUILT, SOURCES, "-lm"),
    ),
    Language(
        "C++",
        (".cpp", ".cc", ".cxx"),
        NATIVE,
        arguments=(),
        build=("g++", "-O2", "-std=c++20", "-pthread", "-o", BUILT, SOURCES),
    ),
    Language(
        "Rust",
        (".rs",),
        NATIVE,
        arguments=(),
        build=("rustc", "--edition=2021", "-O", "-o", BUILT, MAIN),
        finds_itself=True,
    ),
    Language(
        "Go",
        (".go",),
        NATIVE,
        arguments=(),
        build=("go", "build", "-o", BUILT, "."),
        # Its scheduler and collector start threads as they see fit.
        memory_bytes=64 * MIB,
        threads=8,
        # Without go.mod, too; and nothing is ever fetched.
        environment={
            "GO111MODULE": "auto",
            "GOPROXY": "off",
            "GOTOOLCHAIN": "local",
            "CGO_ENABLED": "0",
            "GOFLAGS": "-buildvcs=false",
        },
        finds_itself=True,
    ),
    Language(
        "Java",
        (".java",),
        "java",
        # One collector and one compiler, with fewer threads; and no files of its own in /tmp.
        (
            *("-Xms16m", "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
            *("-XX:CICompilerCount=1", "-XX:ReservedCodeCacheSize=32m", "-XX:-UsePerfData"),
            # Its own warnings are no lines of the protocol.
            *("-Xlog:disable", "-Xlog:all=warning:stderr", "-cp", "."),
        ),
        arguments=(STEM,),
        build=("javac", "-J-Xmx512m", "-J-XX:-UsePerfData", "-d", ".", SOURCES),
        memory_bytes=224 * MIB,
        # Two more than it was seen to have: on a busy machine the exact number failed once.
        threads=15,
        start_seconds=20.0,
        readable=("/etc/java-*",),
        finds_itself=True,
        takes_mark=False,
    ),
    Language("Ruby", (".rb",), "ruby", memory_bytes=64 * MIB, threads=2),
    Language("Perl", (".pl",), "perl"),
    Language("Lua", (".lua",), "lua"),
    Language("shell", (".sh",), "sh", unix_lines=True, takes_mark=False),
)
SYSTEM_FOLDERS = ("/usr/local/bin", "/usr/bin", "/bin")
"""The folders where a box has its programs."""
PYTHON_VERSION = re.compile(r"^python[0-9.]*$")
SUFFIXES = {suffix: language for language in LANGUAGES for suffix in language.suffixes}


def find_language(path: PurePath) -> Language | None:
    """The language of a file by its ending; None for others, programs among them."""
    return SUFFIXES.get(path.suffix)


def language_named(name: str) -> Language | None:
    """The language of this name (``python``), program (``python3``) or ending, in any case."""
    wanted = name.lower()
    for known in LANGUAGES:
        programs = (*known.build[:1], *([known.program] if known.interpreted else []))
        if wanted in (known.name.lower(), *programs) or f".{wanted}" in known.suffixes:
            return known
    return None


def interpreter_named(name: str) -> Language | None:
    """The language whose bots are run by a program of this name, or path of the system's.

    ``python`` will do, too, and so will ``python3.12``: the box has one of each.
    """
    folder, _, program = name.rpartition("/")
    if folder not in ("", *SYSTEM_FOLDERS):
        return None
    program = PYTHON_VERSION.sub("python3", program.lower())
    for known in LANGUAGES:
        if known.interpreted and program in (known.name.lower(), known.program):
            return known
    return None


def without_env(words: Sequence[str]) -> Sequence[str]:
    """A command without the ``env`` that looks for its program, where that does no more."""
    looks = words[:1] in (["env"], ["/usr/bin/env"], ["/bin/env"]) and words[1:]
    return words[1:] if looks and "=" not in words[1] and not words[1].startswith("-") else words


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
    # As python3.12 asks for Python, bash asks for a shell.
    program = PYTHON_VERSION.sub("python3", program)
    return language_named(re.sub(r"^(ba|da)sh$", "sh", program))
