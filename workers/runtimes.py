"""Runtimes: interpreters and packages beside the system's, of which a bot names one in bot.toml.

A runtime is a folder of plain files with a card, `CARD`, that tells what it is. How it is kept and
comes to workers is `workers.runtime_files`, how it is made `workers.runtime_making`.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from engine.translation import gettext
from workers.languages import Language, LanguageError, language_named
from workers.launches import RUNTIME, Launch, box_program, version_of

CARD = "runtime.json"
PACKAGES = "packages"
"""Where a runtime for Python has its packages: on the path of modules, and no site-packages, so
that no file of theirs runs before the bot does."""
MODULES = "node_modules"
REGISTER = "register.mjs"
"""What has modules of a bot find those of a runtime for Node."""
FORMAT = 1
KINDS = {"python": "Python", "node": "JavaScript"}
"""The kinds of runtimes, each with the language whose bots it is for."""
MOST_CARD_BYTES = 4 << 20
THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "RAYON_NUM_THREADS",
    "UV_THREADPOOL_SIZE",
)
"""Where numeric libraries look how many threads they may have; PyTorch asks the first, too."""
IDLE = {"OMP_WAIT_POLICY": "PASSIVE", "KMP_BLOCKTIME": "0"}
"""Has threads without work wait, instead of using up the clock of their bot (OpenMP 5.0, 6.6)."""


class NoRuntimeError(ValueError):
    """A runtime that is none, or can't be had; one sentence."""


@dataclass(frozen=True, slots=True)
class Package:
    """One of a runtime's packages."""

    name: str
    version: str
    licence: str
    """The licence as its authors say it; empty if they don't."""


@dataclass(frozen=True, slots=True)
class Card:
    """What a runtime says of itself."""

    kind: str
    """One of `KINDS`."""
    interpreter: str
    """Its name and version, ``Python 3.11`` for the system's, whose last number may differ."""
    program: str
    """The interpreter's path in the runtime; empty for the system's own."""
    platform: str
    """The processor, and the interpreter if that is the system's; what a worker must be."""
    packages: tuple[Package, ...]
    imports: tuple[str, ...]
    """The modules that a box is seen to import before it is used."""
    lock: str
    """All versions with their digests, as the tool reads them that installed them."""
    start_seconds: float
    """How long its bots may take until they are ready."""

    @property
    def language(self) -> Language:
        """The language of the bots that it is for."""
        found = language_named(KINDS[self.kind])
        assert found is not None
        return found

    def to_json(self) -> dict[str, Any]:
        """The card as JSON's types."""
        return {"format": FORMAT, **asdict(self)}

    @classmethod
    def from_json(cls, data: Any) -> Card:
        """The card that `to_json` wrote.

        Raises:
            NoRuntimeError: it is none, or of another release.
        """
        try:
            if data["format"] != FORMAT or data["kind"] not in KINDS:
                raise NoRuntimeError(gettext("the runtime is of another release: make it anew"))
            return cls(
                str(data["kind"]),
                str(data["interpreter"]),
                str(data["program"]),
                str(data["platform"]),
                tuple(
                    Package(str(one["name"]), str(one["version"]), str(one["licence"]))
                    for one in data["packages"]
                ),
                tuple(str(one) for one in data["imports"]),
                str(data["lock"]),
                float(data["start_seconds"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            if isinstance(error, NoRuntimeError):
                raise
            raise NoRuntimeError(
                gettext("it is no runtime: its %(file)s is wrong", file=CARD)
            ) from None


@dataclass(frozen=True, slots=True)
class UnpackedRuntime:
    """A runtime on this machine, ready to be shown to bots."""

    folder: Path
    card: Card
    digest: str
    packages: str = PACKAGES
    """Where in the folder Python's packages are."""

    @classmethod
    def read(cls, folder: Path, digest: str) -> UnpackedRuntime:
        """The runtime in an unpacked folder.

        Raises:
            NoRuntimeError: it is none.
        """
        try:
            text = (folder / CARD).read_bytes()[:MOST_CARD_BYTES]
            return cls(folder, Card.from_json(json.loads(text)), digest)
        except (OSError, ValueError) as error:
            if isinstance(error, NoRuntimeError):
                raise
            raise NoRuntimeError(
                gettext("%(folder)s is no runtime: it has no %(file)s", folder=folder, file=CARD)
            ) from None

    def given_to(self, launch: Launch, language: Language | None, threads: int) -> Launch:
        """How a bot is started with it that is started so without.

        Args:
            threads: how many the bot uses itself.

        Raises:
            LanguageError: the bot is of another language than it is for.
        """
        found = self.shown_to(launch, language)
        first, *words = found.command
        variables = {**found.environment, **dict.fromkeys(THREADS, str(threads)), **IDLE}
        if self.card.program:
            first = f"{RUNTIME.place}/{self.card.program}"
            above = PurePosixPath(self.card.program).parents[1]
            variables["PYTHONHOME"] = f"{RUNTIME.place}/{above}"
            variables["LD_LIBRARY_PATH"] = f"{RUNTIME.place}/{above}/lib"
        if self.card.kind == "node":
            words.insert(0, f"--import={RUNTIME.place}/{REGISTER}")
        return replace(
            found,
            command=(first, *words),
            environment=variables,
            start_seconds=max(launch.start_seconds, self.card.start_seconds),
        )

    def shown_to(self, launch: Launch, language: Language | None) -> Launch:
        """What is started with its packages in sight, and its interpreter as it was.

        Raises:
            LanguageError: it is for another language.
        """
        if language is None or language.name != KINDS[self.card.kind]:
            said = language.name if language else gettext("a program by itself")
            raise LanguageError(
                gettext(
                    "its runtime is for %(language)s, and the bot is %(bot)s: leave out runtime, "
                    "or take another",
                    language=KINDS[self.card.kind],
                    bot=said,
                )
            )
        variables = dict(launch.environment)
        if self.card.kind == "python":
            variables["PYTHONPATH"] = f"{RUNTIME.library}:{RUNTIME.place}/{self.packages}"
        else:
            variables["NODE_PATH"] = f"{RUNTIME.place}/{MODULES}"
        return replace(launch, environment=variables, runtime=self.folder)


def platform(kind: str, program: str = "") -> str:
    """What a runtime made here is for.

    Args:
        program: its own interpreter; empty for the system's.

    Raises:
        LanguageError: the system has no such interpreter.
    """
    machine = os.uname().machine
    return machine if program else f"{machine} {interpreter_here(kind).replace(' ', '').lower()}"


@cache
def interpreter_here(kind: str) -> str:
    """The system's interpreter for a kind of runtime, with as much of its version as must fit.

    Raises:
        LanguageError: there is none.
    """
    if kind == "python":
        return "Python " + ".".join(map(str, version_of(box_program("python3"))))
    return f"Node {version_of(box_program('node'))[0]}"


def platforms_here() -> tuple[str, ...]:
    """The platforms of the runtimes that can be used on this machine."""
    found = [os.uname().machine]
    for kind in KINDS:
        with suppress(LanguageError):
            found.append(platform(kind))
    return tuple(found)


def trial(runtime: UnpackedRuntime) -> Launch:
    """What imports the modules of a runtime and says so, as a bot of it is started.

    Raises:
        LanguageError: the system has no interpreter for it.
    """
    language = runtime.card.language
    command = [box_program(language.program), *language.options]
    if runtime.card.kind == "python":
        lines = [f"import {name}" for name in runtime.card.imports]
        command += ["-c", "\n".join([*lines, f"print({ALL_IMPORTED!r})"])]
    else:
        lines = [f"await import({json.dumps(name)});" for name in runtime.card.imports]
        command += [
            "--input-type=module",
            "-e",
            "\n".join([*lines, f"console.log('{ALL_IMPORTED}')"]),
        ]
    launch = Launch(
        command,
        language.memory_bytes,
        language.reserved_bytes,
        language.threads,
        language.environment,
    )
    return runtime.given_to(launch, language, 1)


ALL_IMPORTED = "all was imported"
