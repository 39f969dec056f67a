"""The page on the architecture: its rooms are the folders, in the order that imports keep."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text()

SHARED_NAMES = {
    "Board": {"engine/games"},  # each game has its own, and knows no other's
}
"""The classes of one name in several modules, and where alone they may be."""


def rooms() -> list[list[str]]:
    """The rooms of the page's table, row by row."""
    table = PAGE.split("## The rooms of the arena")[1].split("\n## ")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    return [re.findall(r"`(\w+)`", row) for row in rows]


def test_every_room_is_told() -> None:
    """A folder or module without a row fails, and a row without a folder does."""
    there = {
        path.stem
        for path in (ROOT / "arena").iterdir()
        if path.stem != "__init__" and (path.suffix == ".py" or (path / "__init__.py").is_file())
    }
    told = [room for row in rooms() for room in row]
    assert sorted(told) == sorted(there)


def test_the_order_is_the_one_that_is_checked() -> None:
    """The table goes from the doors to the ground as the contract of imports does."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    (layers,) = [one["layers"] for one in contracts["contracts"] if one["type"] == "layers"]
    floors = {room: floor for floor, row in enumerate(layers) for room in row.split(" | ")}
    told = [floors[room] for row in rooms() for room in row]
    assert told == sorted(told)


def test_what_the_page_names_is_there() -> None:
    """Modules and files that it speaks of can be opened."""
    tops = "engine|workers|" + "|".join(room for row in rooms() for room in row)
    missing = []
    for name in re.findall(rf"`((?:{tops})\.\w+(?:\.\w+)*)`", PAGE):
        parts = name.split(".")
        top = ROOT if parts[0] in ("engine", "workers") else ROOT / "arena"
        files = [top.joinpath(*parts[:n]) for n in (len(parts), len(parts) - 1)]
        if not any(file.with_suffix(".py").is_file() or file.is_dir() for file in files):
            missing.append(name)
    assert missing == []


def test_a_class_has_a_name_of_its_own() -> None:
    """Whoever reads a public name knows which class is meant, wherever it stands."""
    homes = defaultdict(list)
    for top in ("engine", "workers", "arena"):
        for file in sorted((ROOT / top).rglob("*.py")):
            for node in ast.parse(file.read_text()).body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    homes[node.name].append(file.relative_to(ROOT))
    several = {name: files for name, files in homes.items() if len(files) > 1}
    unknown = {
        name: files
        for name, files in several.items()
        if not all(
            any(file.is_relative_to(home) for home in SHARED_NAMES.get(name, ())) for file in files
        )
    }
    assert unknown == {}
    assert set(SHARED_NAMES) <= set(several), "a name that is no longer shared can go"
