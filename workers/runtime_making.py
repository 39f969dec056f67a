"""Makes runtimes on the operator's machine, without root and without running a package's code.

Theory of operation. A tool that is there already (pip, npm) chooses versions and puts packages
into a new folder: of Python wheels alone, of Node packages without their scripts, so that nothing
of them runs. What it chose is the lock, with a digest for each package, by which the same can be
made again. Then a box imports the packages, once, which shows that they work where bots run, and
how long that takes. No index is named here: the tools ask those that they are set up for.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import Distribution, distributions
from math import ceil
from pathlib import Path
from types import MappingProxyType

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from engine.clock import ALLOWANCES
from engine.translation import gettext, pgettext
from workers.box_folder import discard
from workers.launches import LEAST_PYTHON, box_program, version_of
from workers.program import BoxError
from workers.runtime_files import files_of, try_out
from workers.runtimes import (
    CARD,
    MODULES,
    PACKAGES,
    REGISTER,
    Card,
    NoRuntimeError,
    Package,
    UnpackedRuntime,
    interpreter_here,
    platform,
)
from workers.sandbox import Sandbox

SLOWER = 5.0
"""How many times longer a bot's start may take than the packages took to be imported here."""
LEFT_OUT_OF_PYTHON = {
    *("site-packages", "dist-packages", "test", "idlelib", "tkinter", "turtledemo", "ensurepip"),
    *("lib2to3", "__pycache__"),
}
"""Parts of Python's library that no bot needs."""
UNREACHABLE = re.compile(
    r"name resolution|NewConnectionError|ConnectTimeout|Max retries exceeded|ProxyError|Network is "
    r"unreachable|ConnectionError|Connection (broken|refused)|timed out|ENOTFOUND|EAI_AGAIN|"
    r"ECONNREFUSED|ECONNRESET|ETIMEDOUT",
    re.IGNORECASE,
)
"""What pip and npm write where they can't reach their index."""
WORK_WORDS = re.compile(r"\s*(Collecting|Downloading|Installing|added) ")
HOOKS = """\
// Has a bot's modules find those of its runtime: NODE_PATH is for require alone.
import * as module from "node:module";
const own = new URL("./register.mjs", import.meta.url).href;
if (module.registerHooks) {
  module.registerHooks({
    resolve(name, context, next) {
      try {
        return next(name, context);
      } catch (error) {
        if (error.code !== "ERR_MODULE_NOT_FOUND" || /^[./]|^\\w+:/.test(name)) throw error;
        return next(name, { ...context, parentURL: own });
      }
    },
  });
} else {
  module.register("./resolve.mjs", import.meta.url, { data: own });
}
"""
RESOLVE = """\
// The same for releases of Node that run hooks beside the bot.
let own;
export function initialize(data) {
  own = data;
}
export async function resolve(name, context, next) {
  try {
    return await next(name, context);
  } catch (error) {
    if (error.code !== "ERR_MODULE_NOT_FOUND" || /^[./]|^\\w+:/.test(name)) throw error;
    return next(name, { ...context, parentURL: own });
  }
}
"""

Tell = Callable[[str], None]
"""Is told a line of progress."""


@dataclass(frozen=True, slots=True)
class WantedPackages:
    """What an operator asks for."""

    packages: tuple[str, ...]
    """The packages as pip or npm take them, without options."""
    indexes: Mapping[str, str] = field(default_factory=dict)
    """The addresses of the indexes that some Python packages are to come from, by these
    packages."""


def read_wanted(words: Sequence[str], indexes: Mapping[str, str]) -> WantedPackages:
    """What is asked for by words such as ``numpy`` and ``torch --index cpu``.

    Args:
        indexes: the addresses of indexes by their names.

    Raises:
        NoRuntimeError: one asks for something else than a package of an index.
    """
    packages, found = [], dict[str, str]()
    for word in words:
        package, option, index = word.partition("--index")
        package, index = package.strip(), index.strip().removeprefix("=")
        if not package or package.startswith("-"):
            raise NoRuntimeError(
                gettext(
                    "%(word)r is no package: give NAME, 'NAME==VERSION', or 'NAME --index INDEX'",
                    word=word[:80],
                )
            )
        packages.append(package)
        if option and not re.match(r"https?://|file://", index):
            if index not in indexes:
                known = ", ".join(indexes) or pgettext("of indexes", "none")
                raise NoRuntimeError(
                    gettext(
                        "there is no index called %(name)r (%(known)s by name): give its address, "
                        "or say it once as NAME=ADDRESS in ARENA_INDEXES",
                        name=index[:60],
                        known=known,
                    )
                )
            index = indexes[index]
        if option:
            found[package] = index
    return WantedPackages(tuple(packages), found)


def make(
    folder: Path,
    box: Sandbox,
    wanted: WantedPackages,
    *,
    kind: str = "python",
    python: Path | None = None,
    lock: str | None = None,
    tell: Tell = lambda _: None,
) -> UnpackedRuntime:
    """Makes a runtime in an empty folder.

    Args:
        box: where it is tried.
        python: an interpreter that it is to have for its own, with all that it needs beside it.
        lock: what an earlier one was made by; then nothing else is wanted.

    Raises:
        NoRuntimeError: it can't be made so; one sentence.
        LanguageError: there is no interpreter for it here.
        BoxError: no box can be built to try it.
    """
    if box.box is None:
        raise BoxError(
            gettext(
                "a runtime is tried in a box, and none can be built: %(reasons)s",
                reasons="; ".join(box.failures),
            )
        )
    if kind == "node":
        card = _make_node(folder, wanted, lock, tell)
    else:
        card = _make_python(folder, wanted, python, lock, tell)
    folder.chmod(0o755)
    for above, names, files in os.walk(folder):
        for name in (*names, *files):
            path = Path(above, name)
            if not path.is_symlink():
                path.chmod(0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644)
    for _ in files_of(folder):
        pass  # refuses what is no plain file before it is tried
    tell(gettext("trying it in a box"))
    found = UnpackedRuntime(folder, card, "")
    # Twice: the first may be slow for what else was done just now, and is to be allowed.
    seconds = max(try_out(found, box) for _ in range(2))
    start = max(ALLOWANCES.start_seconds, card.language.start_seconds, ceil(SLOWER * seconds))
    card = replace(card, start_seconds=float(start))
    (folder / CARD).write_text(json.dumps(card.to_json(), indent=1) + "\n", encoding="utf-8")
    return UnpackedRuntime(folder, card, "")


def _make_python(
    folder: Path, wanted: WantedPackages, own: Path | None, lock: str | None, tell: Tell
) -> Card:
    program = ""
    python = box_program("python3")
    if own is not None:
        tell(gettext("copying %(path)s", path=own))
        program = _copy_python(own, folder / "python")
        python = str(own)
    version = version_of(python)
    if version < LEAST_PYTHON:
        raise NoRuntimeError(
            gettext(
                "%(path)s is Python %(version)s, and bots need %(least)s or later",
                path=python,
                version=".".join(map(str, version)),
                least=".".join(map(str, LEAST_PYTHON)),
            )
        )
    packages = folder / PACKAGES
    packages.mkdir()
    report, given = folder / "report.json", folder / "given.txt"
    words = ["install", "--only-binary=:all:", "--no-compile", "--ignore-installed"]
    words += ["--target", str(packages), "--report", str(report)]
    further = list(dict.fromkeys(wanted.indexes.values()))
    words += [word for index in further for word in ("--extra-index-url", index)]
    if lock is not None:
        given.write_text(lock, encoding="utf-8")
        words += ["--require-hashes", "--no-deps", "-r", str(given)]
    else:
        asked = [
            _of_index(python, one, wanted.indexes[one], folder, tell)
            if one in wanted.indexes
            else _requirement(one)
            for one in wanted.packages
        ]
        words += ["--", *asked]
    _run(_pip(python, words), folder, tell)
    found = json.loads(report.read_text(encoding="utf-8"))["install"]
    report.unlink()
    given.unlink(missing_ok=True)
    # Programs for a shell, which name an interpreter of this machine.
    shutil.rmtree(packages / "bin", ignore_errors=True)
    _compile(python, folder)
    named = {canonicalize_name(one["metadata"]["name"]) for one in found if one.get("requested")}
    each = sorted(distributions(path=[str(packages)]), key=lambda one: one.name.lower())
    imports = [name for one in each if canonicalize_name(one.name) in named for name in _tops(one)]
    return Card(
        "python",
        f"Python {'.'.join(map(str, version))}",
        program,
        platform("python", program),
        tuple(Package(one.name, one.version, _licence(one)) for one in each),
        tuple(imports),
        lock or "".join(f"--extra-index-url {one}\n" for one in further) + _lock(found),
        ALLOWANCES.start_seconds,
    )


def _of_index(python: str, word: str, index: str, folder: Path, tell: Tell) -> str:
    """A package as an index has it, whatever newer one others have, as pip takes that one file.

    Raises:
        NoRuntimeError: it can't be had there.
    """
    report, nothing = folder / "report.json", folder / "nothing"
    nothing.mkdir(exist_ok=True)
    words = ["install", "--dry-run", "--no-deps", "--only-binary=:all:", "--ignore-installed"]
    words += ["--report", str(report), "--index-url", index, "--", _requirement(word)]
    # What pip is set up with besides must not be asked.
    alone = {"PIP_EXTRA_INDEX_URL": index, "PIP_FIND_LINKS": str(nothing), "PIP_NO_INDEX": "0"}
    _run(_pip(python, words), folder, tell, alone)
    (one,) = json.loads(report.read_text(encoding="utf-8"))["install"]
    report.unlink()
    nothing.rmdir()
    digest = one["download_info"].get("archive_info", {}).get("hashes", {}).get("sha256", "")
    address = one["download_info"]["url"]
    return f"{one['metadata']['name']} @ {address}" + (f"#sha256={digest}" if digest else "")


def _requirement(word: str) -> str:
    """A package as pip takes it, and not a file, an address or an option.

    Raises:
        NoRuntimeError: it is none.
    """
    try:
        found = Requirement(word)
    except InvalidRequirement:
        found = None
    if found is None or found.url:
        raise NoRuntimeError(
            gettext("%(word)r is no package: give NAME or 'NAME==VERSION'", word=word[:80])
        )
    return str(found)


def _pip(python: str, words: Sequence[str]) -> list[str]:
    quiet = ["--disable-pip-version-check", "--no-input", "--retries=1", "--timeout=20"]
    quiet += ["--progress-bar=off", "--no-color", "--root-user-action=ignore"]
    options = [] if os.path.samefile(python, sys.executable) else ["--python", python]
    return [sys.executable, "-m", "pip", *options, words[0], *quiet, *words[1:]]


def _run(
    command: Sequence[str],
    folder: Path,
    tell: Tell,
    variables: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Runs a tool, and tells what it is at.

    Args:
        variables: of its environment, besides this process's.

    Raises:
        NoRuntimeError: it fails, or can't reach its index.
    """
    lines = []
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **variables}
    # Nothing of this program is to be found by pip in place of what it installs.
    environment.pop("PYTHONPATH", None)
    try:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
    except OSError as error:
        raise NoRuntimeError(
            gettext(
                "%(program)s can't be run: %(reason)s", program=command[0], reason=error.strerror
            )
        ) from None
    with process:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line.rstrip())
            if WORK_WORDS.match(line):
                tell(line.strip()[:120])
    if not process.returncode:
        return
    said = "\n".join(lines)
    if "No module named pip" in said:
        raise NoRuntimeError(
            gettext("pip is not here: run `python -m ensurepip` with the arena's Python")
        )
    if UNREACHABLE.search(said):
        raise NoRuntimeError(
            gettext(
                "the index of packages can't be reached from this machine, or not now: "
                "runtimes are made where it can be, nothing else needs it"
            )
        )
    errors = [line for line in lines if re.match(r"ERROR: |npm (error|ERR!) (?!code|A comp)", line)]
    words = re.sub(r"^(ERROR:|npm (error|ERR!)) *", "", errors[-1]) if errors else said[-300:]
    raise NoRuntimeError(gettext("the packages can't be had: %(reason)s", reason=words))


def _compile(python: str, folder: Path) -> None:
    """Compiles all modules, never to be checked against their sources: the digest says they fit."""
    options = ["-q", "--invalidation-mode", "unchecked-hash", "-j", "0"]
    options += ["-s", str(folder), "-p", "/runtime"]
    command = [python, "-I", "-m", "compileall", *options, str(folder)]
    # Some packages have files that are of another version, or no modules at all.
    subprocess.run(command, env={}, check=False, capture_output=True)


def _lock(installed: Sequence[Mapping[str, object]]) -> str:
    """A requirements file of what pip installed, with the digests of just those files."""
    lines = []
    for one in installed:
        about, download = one["metadata"], one["download_info"]
        assert isinstance(about, dict)
        assert isinstance(download, dict)
        digest = download.get("archive_info", {}).get("hashes", {}).get("sha256", "")
        if not digest:
            raise NoRuntimeError(
                gettext("pip doesn't tell the digest of %(package)s", package=about["name"])
            )
        lines.append(f"{about['name']}=={about['version']} --hash=sha256:{digest}\n")
    return "".join(sorted(lines, key=str.lower))


def _licence(found: Distribution) -> str:
    """The licence of a package as it says it, in a line."""
    about = found.metadata
    classified = [
        line.rpartition(" :: ")[2]
        for line in about.get_all("Classifier") or []
        if line.startswith("License ::")
    ]
    said = [line for key in ("License-Expression", "License") for line in about.get_all(key) or []]
    words = (
        said[0] if about.get_all("License-Expression") else "; ".join(classified) or "".join(said)
    )
    return " ".join(words.split())[:200]


def _tops(found: Distribution) -> list[str]:
    """The modules to import of a package: the one of its name, or else all at its top."""
    tops = set()
    for file in found.files or ():
        first = file.parts[0]
        if first.endswith((".dist-info", ".libs")) or first in ("..", "bin", "__pycache__"):
            continue
        if len(file.parts) > 1:
            tops |= {first} if file.parts[1] == "__init__.py" else set()
        elif first.endswith((".py", ".so")):
            tops.add(first.partition(".")[0])
    named = canonicalize_name(found.name).replace("-", "_")
    tops = {top for top in tops if top.isidentifier() and not top.startswith("_")}
    return [named] if named in tops else sorted(tops)


ABOUT_PYTHON = """\
import json, sys, sysconfig
v = sysconfig.get_config_vars()
print(json.dumps([sys.base_prefix, sysconfig.get_path("stdlib"), sys.executable,
    v.get("LIBDIR") or "", v.get("INSTSONAME") if v.get("Py_ENABLE_SHARED") else ""]))
"""


def _copy_python(own: Path, target: Path) -> str:
    """Puts a copy of an interpreter with its library there; returns the program's path.

    Raises:
        NoRuntimeError: it is no Python, or none that can be moved.
    """
    try:
        command = [str(own), "-I", "-c", ABOUT_PYTHON]
        done = subprocess.run(command, env={}, capture_output=True, timeout=20, check=True)
        prefix, library, program, place, shared = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        raise NoRuntimeError(gettext("%(path)s is no Python that runs here", path=own)) from None
    name = f"python{'.'.join(map(str, version_of(str(own))))}"
    if not Path(library).is_relative_to(prefix):
        raise NoRuntimeError(
            gettext(
                "%(path)s has its library outside of %(folder)s: it can't be moved",
                path=own,
                folder=prefix,
            )
        )
    (target / "bin").mkdir(parents=True)
    shutil.copy(Path(program).resolve(), target / "bin" / name)
    shutil.copytree(
        library,
        target / "lib" / name,
        ignore=lambda _, names: [
            one for one in names if one in LEFT_OUT_OF_PYTHON or one.startswith("config-")
        ],
    )
    if shared:
        shutil.copy(Path(place, shared).resolve(), target / "lib" / shared)
    return f"{target.name}/bin/{name}"


def _make_node(folder: Path, wanted: WantedPackages, lock: str | None, tell: Tell) -> Card:
    npm = shutil.which("npm")
    if npm is None:
        raise NoRuntimeError(gettext("npm is not here, which packages for Node are installed by"))
    interpreter = interpreter_here("node")
    quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-bin-links", "--no-progress"]
    quiet += ["--omit-lockfile-registry-resolved", "--no-update-notifier", "--fetch-retries=1"]
    packages = [word for word in wanted.packages if not _is_npm_package(word)]
    if packages:
        raise NoRuntimeError(
            gettext("%(word)r is no package: give NAME or NAME@VERSION", word=packages[0][:80])
        )
    if lock is None:
        (folder / "package.json").write_text('{"name": "runtime", "private": true}\n')
        _run([npm, "install", *quiet, "--", *wanted.packages], folder, tell)
    else:
        (folder / "package-lock.json").write_text(lock, encoding="utf-8")
        roots = _json_of(lock).get("packages", {}).get("", {})
        (folder / "package.json").write_text(json.dumps(roots) + "\n")
        _run([npm, "ci", *quiet], folder, tell)
    said = (folder / "package-lock.json").read_text(encoding="utf-8")
    for name in ("package.json", "package-lock.json"):
        (folder / name).unlink()
    for left in (folder / MODULES).glob(".*") if (folder / MODULES).is_dir() else ():
        discard(left)
    (folder / REGISTER).write_text(HOOKS, encoding="utf-8")
    (folder / "resolve.mjs").write_text(RESOLVE, encoding="utf-8")
    locked = _json_of(said)["packages"]
    each = [
        Package(path.rpartition(f"{MODULES}/")[2], str(one["version"]), str(one.get("license", "")))
        for path, one in sorted(locked.items())
        if path
    ]
    asked = tuple(sorted(locked[""].get("dependencies", {})))
    start = ALLOWANCES.start_seconds
    return Card("node", interpreter, "", platform("node"), tuple(each), asked, said, start)


def _is_npm_package(word: str) -> bool:
    """Whether it names a package of an index, and no folder, address or repository."""
    return bool(re.fullmatch(r"(@[a-z0-9][\w.-]*/)?[a-z0-9][\w.-]*(@[\w.^~<>=| *-]+)?", word))


def _json_of(text: str) -> dict[str, dict[str, dict[str, dict[str, str]]]]:
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise NoRuntimeError(gettext("the lock is no package-lock.json"))
    return found
