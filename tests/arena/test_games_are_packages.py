"""Nothing outside a game's own folder knows it by name.

Let through is what people read and nobody obeys: docstrings, which are also the helps of commands
with their examples, and what an option's ``help`` says. In a template any mention counts.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from engine.games import GAMES

ROOT = Path(__file__).parents[2]
NAME = re.compile(rf"\b({'|'.join(map(re.escape, GAMES.declared))})\b", re.IGNORECASE)
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def texts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The strings of a module that are neither docstrings nor helps, with their lines."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield node.lineno, ast.unparse(node)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue  # a docstring, be it of a variable
        elif not (isinstance(node, ast.keyword) and node.arg == "help"):
            yield from texts(node)


def test_no_game_is_named() -> None:
    """Whoever needs one asks the shelf, and what is special about a game it says itself."""
    found = []
    for top in ("arena", "engine", "workers"):
        for file in sorted((ROOT / top).rglob("*.py")):
            is_its_own = file.is_relative_to(ROOT / "engine/games") and (
                file.parent != ROOT / "engine/games"
            )
            if not is_its_own and "new_game" not in file.parts:
                tree = ast.parse(file.read_text())
                found += [(file, line, text) for line, text in texts(tree) if NAME.search(text)]
    for file in sorted((ROOT / "arena/web").rglob("*")):
        if file.suffix in (".html", ".js", ".css", ".xml", ".txt"):
            found += [(file, 0, name) for name in NAME.findall(file.read_text(errors="replace"))]
    assert [f"{file.relative_to(ROOT)}:{line}: {text[:80]}" for file, line, text in found] == []
