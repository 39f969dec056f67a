"""The page on the architecture: its rooms are the folders, in the order that imports keep."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import defaultdict
from pathlib import Path

from arena.competitions.kinds import KINDS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text()

SHARED_NAMES = {
    "Board": {"engine/games"},  # each game has its own, and knows no other's
}
"""The classes of one name in several modules, and where alone they may be."""

ASKS_KIND = {
    "bots/deletion.py": "a ladder alone names nobody in a plan: else a tombstone is left",
    "bots/directory.py": "the ladders that a bot is on are listed",
    "bots/first_tests.py": "a strength test that is passed has its candidate enter a ladder",
    "bots/member_deeds.py": "bots are taken off ladders, as their owners can do",
    "bots/spent_quotas.py": "quotas are those of ladders",
    "bots/teams.py": "bots are taken off ladders, as their owners can do",
    "web/competitions.py": "kinds have pages of their own; any other has the one for all",
    "web/lines.py": "games are gone on with by the rules of a ladder",
    "web/queries.py": "the ladders that a bot is on are listed",
}
"""Where it is asked of what kind a competition is, and why a new kind needs nothing there. All else
asks the kind (`CompetitionKind`), or the competition for what its class says of it."""


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


def test_one_place_knows_the_order_of_locks() -> None:
    files = sorted((ROOT / "arena").rglob("*.py"))
    locks = [str(file.relative_to(ROOT)) for file in files if "with_for_update" in file.read_text()]
    assert locks == ["arena/ground/locks.py"]


def asks_kind(node: ast.AST) -> bool:
    """Whether a piece of code asks of which of some kinds a competition is: by its class, or by the
    name that the database knows it by."""
    classes = {kind.model.__name__ for kind in KINDS.values()}
    match node:
        case ast.Call(func=ast.Name(id="isinstance"), args=[_, asked]):
            return any(isinstance(one, ast.Name) and one.id in classes for one in ast.walk(asked))
        case ast.MatchClass(cls=ast.Name(id=name)):
            return name in classes
        case ast.Compare(left=left, comparators=others):
            return any(map(_is_kind, (left, *others))) and any(map(_names_kind, (left, *others)))
        case ast.Call(func=ast.Attribute(value=asked, attr="in_" | "not_in"), args=args):
            return _is_kind(asked) and any(map(_names_kind, args))
    return False


def _is_kind(node: ast.AST) -> bool:
    return (isinstance(node, ast.Attribute) and node.attr == "kind") or (
        isinstance(node, ast.Name) and node.id == "kind"
    )


def _names_kind(node: ast.AST) -> bool:
    return any(isinstance(one, ast.Constant) and one.value in KINDS for one in ast.walk(node))


def test_whatever_is_played_otherwise_is_asked_of_the_kind() -> None:
    """One more kind of competition is a file and a line, and nothing falls through elsewhere."""
    asking = {
        str(file.relative_to(ROOT / "arena"))
        for file in sorted((ROOT / "arena").rglob("*.py"))
        if any(map(asks_kind, ast.walk(ast.parse(file.read_text()))))
    }
    assert asking == ASKS_KIND.keys(), "ask the kind; what asks no more can go from the list"
    named = re.compile(rf"""kind *[!=]= *["'](?:{"|".join(KINDS)})["']""")
    templates = sorted((ROOT / "arena/web/templates").rglob("*.*"))
    assert templates
    assert not [one.name for one in templates if named.search(one.read_text())]
