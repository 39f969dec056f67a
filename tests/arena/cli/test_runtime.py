"""Runtimes on the command line: made, listed, shown, offered no longer, and what bots have here."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import sqlalchemy as sa

from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import AuditEntry, Runtime
from tests.arena.cli.conftest import assert_refused
from tests.arena.conftest import Cli
from tests.workers.test_runtimes import wheel
from workers.launches import box_python, version_of
from workers.runtimes import platform

BOT = """\
{first}
from engine.following import follow

follow("mine", lambda game: game, lambda game: f"move {{game.state.legal_moves()[0]}}")
"""
CHECK = ("--game", "clobber size=4x3", "--json")


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An arena's data folder, and an index with one package."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))
    monkeypatch.setenv("ARENA_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    wheel(tmp_path / "index", "pieces")
    (tmp_path / "data").mkdir()
    database = Database(Settings(data=tmp_path / "data").database_url)
    database.make_file()
    database.upgrade()
    database.close()
    return tmp_path / "data"


def write_bot(folder: Path, first: str, runtime: str = "small") -> Path:
    """A bot that begins with this line, and names a runtime."""
    folder.mkdir(exist_ok=True)
    (folder / "bot.py").write_text(BOT.format(first=first))
    (folder / "bot.toml").write_text(f'name = "mine"\nruntime = "{runtime}"\n')
    return folder


def test_a_runtime_from_its_making_to_its_end(cli: Cli, data: Path, tmp_path: Path) -> None:
    """Commands alone do it all, and a bot that needs it passes its check meanwhile."""
    made = cli("runtime", "add", "small", "pieces", "--json")
    assert made.code == 0, made.err
    assert made.json["packages"] == [{"name": "pieces", "version": "1.5", "licence": "MIT"}]
    assert made.json["platform"] == platform("python")
    assert (data / "runtimes" / made.json["digest"]).stat().st_size == made.json["size"]
    assert [path.name for path in (data / "runtimes").iterdir()] == [made.json["digest"]]
    assert cli("runtime", "list", "--json").json == [made.json]
    assert cli("runtime", "show", "small", "--json").json == made.json
    lock = cli("runtime", "show", "small", "--lock").out
    assert lock.startswith("pieces==1.5 --hash=sha256:")
    bot = write_bot(tmp_path / "mine", "import pieces; assert pieces.NAME == 'made'")
    checked = cli("check", bot, *CHECK)
    assert checked.code == 0, checked.out + checked.err
    assert cli("play", "clobber", "size=4x3", bot, "random", "--no-box", "--json").code == 0
    again = cli("runtime", "add", "small", "pieces", "--json").json
    assert again["digest"] == made.json["digest"]
    assert cli("runtime", "remove", "small").out == "the runtime small is offered no longer\n"
    assert_refused(
        cli("runtime", "show", "small"), "there is no runtime 'small' here; there are: n"
    )
    database = Database(Settings(data=data).database_url)
    with database.read() as session:
        actions = session.scalars(sa.select(AuditEntry.action)).all()
        assert session.scalar(sa.select(sa.func.count()).select_from(Runtime)) == 1
    database.close()
    assert actions == ["add runtime", "remove runtime"]


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (["Sc", "pieces"], "'Sc' is no name for a runtime"),
        (["small"], "name packages, or give a lock by --lock"),
        (["small", "nothing-there"], "No matching distribution found for nothing-there"),
        (["small", "pieces --index gpu"], "there is no index called 'gpu' .none by name."),
        (["small", "pieces", "--node", "--python", sys.executable], "leave out --node"),
        (["small", "../pieces", "--node"], "'../pieces' is no package: give NAME or NAME@VERSION"),
    ],
)
def test_what_is_refused_leaves_nothing(
    cli: Cli, data: Path, words: list[str], refusal: str
) -> None:
    """One line, and no file."""
    assert_last(cli("runtime", "add", *words), refusal)
    assert not (data / "runtimes").exists() or not list((data / "runtimes").iterdir())


def assert_last(said: object, refusal: str) -> None:
    """The last line on standard error; before it, it was told what was done."""
    err = said.err  # type: ignore[attr-defined]
    last = type(said)(said.code, said.out, err.splitlines()[-1])  # type: ignore[attr-defined,call-arg]
    assert_refused(last, refusal)


def test_where_a_runtime_is_not_here_it_is_said(cli: Cli, data: Path, tmp_path: Path) -> None:
    """A bot of Python has the packages of this one; any other is refused."""
    bot = write_bot(tmp_path / "mine", "import click")
    played = cli("play", "clobber", "size=4x3", bot, "random", "--json")
    if version_of(box_python()) != sys.version_info[:2]:
        assert_refused(played, "this Python's packages are not for the Python of boxes")
        return
    assert played.code == 0, played.err
    assert played.json["bots"][0]["faults"] == {}
    assert "the runtime small is not here: the bot has the packages of" in played.err
    (bot / "bot.py").rename(bot / "bot.mjs")
    assert_refused(
        cli("play", "clobber", bot, "random"),
        "the runtime small is not here: `arena runtime fetch small --server URL`",
    )


def test_a_new_bot_may_begin_with_a_runtime(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there are runtimes for its language."""
    monkeypatch.chdir(tmp_path)
    assert cli("new", "mine", "--runtime", "small").code == 0
    assert 'runtime = "small"\n' in (tmp_path / "mine" / "bot.toml").read_text()
    assert_refused(cli("new", "other", "--runtime", "A b"), "is no name of a runtime")
    assert_refused(
        cli("new", "other", "--lang", "lua", "--runtime", "small"), "no runtimes for Lua"
    )
    assert json.dumps(sorted(path.name for path in tmp_path.iterdir())) == '["mine"]'
