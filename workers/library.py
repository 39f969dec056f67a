"""What Python bots may import in their box: the engine, and the games that are on the shelf here.

The packages of other people's games come with it, found by the same entry points (see
`engine.shelf`), so that ``GAMES`` is in the box what it is outside: but for games whose package
needs others, which the box's bare interpreter has not.
"""

from __future__ import annotations

import importlib.util
import logging
from pathlib import Path

import engine
from engine.games import GAMES
from engine.shelf import GROUP, OWN, Declared

MOST_BYTES = 64 << 20
"""The most that one game's package may have: bots of every match are shown a copy of it."""
log = logging.getLogger(__name__)


def library_files() -> dict[str, bytes]:
    """The contents of all files, by their paths in the library's folder."""
    source = Path(engine.__file__).parent
    found = {
        f"engine/{path.relative_to(source)}": path.read_bytes() for path in source.rglob("*.py")
    }
    by_package: dict[str, list[Declared]] = {}
    for declared in GAMES.declared.values():
        by_package.setdefault(declared.package, []).append(declared)
    for package, games in by_package.items():
        if package != OWN:
            try:
                found |= _modules({one.module.partition(".")[0] for one in games})
            except (OSError, ImportError, ValueError) as error:
                log.warning("bots can't import the games of %s: %s", package, error)
                continue
        folder = f"{package.replace('-', '_')}-{games[0].version}.dist-info"
        found[f"{folder}/METADATA"] = f"Name: {package}\nVersion: {games[0].version}\n".encode()
        found[f"{folder}/entry_points.txt"] = "".join(
            (f"[{GROUP}]\n", *(f"{one.name} = {one.module}:{one.attribute}\n" for one in games))
        ).encode()
    return found


def _modules(names: set[str]) -> dict[str, bytes]:
    """The files of packages, or single modules, as they are imported here.

    Raises:
        ImportError: one is not to be found as files.
        ValueError: they are too large.
    """
    found: dict[str, bytes] = {}
    left = MOST_BYTES
    for name in sorted(names):
        spec = importlib.util.find_spec(name)
        if spec is None or (spec.origin is None and not spec.submodule_search_locations):
            raise ImportError(f"there is no module {name}")
        if not spec.submodule_search_locations:
            assert spec.origin is not None
            file = Path(spec.origin)
            found[file.name] = file.read_bytes()
        for place in spec.submodule_search_locations or ():
            for file in Path(place).rglob("*"):
                if file.is_file() and file.suffix != ".pyc":
                    left -= file.stat().st_size
                    if left < 0:
                        raise ValueError(f"{name} has more than {MOST_BYTES >> 20} MiB")
                    found[f"{name}/{file.relative_to(place)}"] = file.read_bytes()
    return found
