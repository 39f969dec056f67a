"""Games of a server and of a data folder, as records and as tables."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.arena.cli.remote.conftest import Arena
from tests.requirements import need


@pytest.mark.parametrize("words", [(), ("ladder-0",), ("--where", "result=won", "--after", "2")])
def test_a_data_folder_has_what_its_server_has(
    owner: Arena, site: SimpleNamespace, words: tuple[str, ...]
) -> None:
    """The same lines."""
    there, here = owner("export", *words), owner("export", *words, "--data", site.folder)
    assert there == here
    assert there[0] == 0
    assert there[1]


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("none",), "there is no competition none"),
        (("--where", "bot=nobody"), "there is no bot nobody"),
        (("--where", "plies=many"), "plies: give a number of plies"),
        (("--where", "size=3"), "size: there is no such word; there are: competition, game, bot"),
    ],
)
def test_a_data_folder_refuses_what_can_not_be(
    arena: Arena, site: SimpleNamespace, words: tuple[str, ...], error: str
) -> None:
    """It says so in one line, before anything is written."""
    code, said, errors = arena("export", *words, "--data", site.folder)
    assert (code, said, errors.count("\n")) == (2, "", 1)
    assert error in errors


@pytest.mark.extras
def test_tables_are_written(owner: Arena, site: SimpleNamespace, tmp_path: Path) -> None:
    """A server and its data folder give the same; what is finished is left as it is."""
    both = find_spec("pyarrow") and find_spec("pandas")
    need(both, "pyarrow and pandas are not installed: pip install -e '.[data]'")
    from arena import data

    export = ("export", "ladder-0", "--parquet", "-o")
    there, here = tmp_path / "there", tmp_path / "here"
    code, said, errors = owner(*export, there, "--licence", "CC0-1.0")
    assert (code, said) == (0, "")
    assert "games up to number" in errors
    assert owner(*export, here, "--data", site.folder)[0] == 0
    dump, same = data.read(there), data.read(here)
    assert (dump.about.arena, dump.about.licence) == (site.url, "CC0-1.0")
    assert dump.about.where == {"competition": "ladder-0"}
    assert dump.about.count == same.about.count > 0
    for table in ("games", "seats", "plies"):
        assert dump.frame(table).equals(same.frame(table))
    files = {file: file.stat().st_mtime_ns for file in there.rglob("*")}
    again = owner(*export, there, "--licence", "CC0-1.0")
    assert (again[0], again[2].splitlines()[-1]) == (0, errors.splitlines()[-1])
    assert {file: file.stat().st_mtime_ns for file in there.rglob("*")} == files
    code, _, errors = owner(*export, there)
    assert (code, errors.count("\n")) == (2, 1)
    assert "holds another dump" in errors
    earlier = owner(*export, tmp_path / "new", "--earlier", there, "--licence", "CC0-1.0")
    assert earlier[0] == 0
    assert data.read(tmp_path / "new").frame("plies").equals(dump.frame("plies"))


def test_without_pyarrow_it_is_said_what_to_install(
    arena: Arena, site: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is one line, and nothing is written."""
    for module in ("writing", "tables"):
        monkeypatch.delitem(sys.modules, f"arena.dumps.{module}", raising=False)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    words = ("export", "--parquet", "-o", tmp_path / "dump", "--data", site.folder)
    code, _, errors = arena(*words)
    assert (code, (tmp_path / "dump").exists()) == (2, False)
    assert "dumps of games need pip install 'game-bot-arena[data]'" in errors
