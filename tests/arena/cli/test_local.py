"""Commands that speak to the arena of a data folder."""

from __future__ import annotations

import json
import resource
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa

from arena.bots.submissions import enter
from arena.cli import prepare
from arena.ground.db import SERVED_MARK, Database
from arena.models import Bot, BotVersion, Ladder
from tests.arena.cli.conftest import assert_refused
from tests.arena.conftest import Cli


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh arena's folder, as a start of `arena up` prepares it."""
    folder = tmp_path_factory.mktemp("arena")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ARENA_DATA", str(folder))
        patch.setenv("ARENA_GAMES", "clobber")
        assert prepare.main() == 0
    return folder


def test_who_wants_one_competition_gets_no_ladders(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As `arena tournament run` starts an arena, whichever games it had; it must be there."""
    monkeypatch.setenv("ARENA_DATA", str(tmp_path))
    monkeypatch.setenv("ARENA_ONLY", "cup")
    assert prepare.main() == 2
    assert "ARENA_ONLY: there is no ladder or tournament 'cup'" in capsys.readouterr().err
    assert cli("ladder", "create", "cup", "--game", "oxono", "--data", tmp_path).code == 0
    assert prepare.main() == 0
    capsys.readouterr()
    ladders = cli("ladders", "--data", tmp_path, "--json").json
    assert [row["name"] for row in ladders] == ["cup"]


def test_a_fresh_arena_is_listed(cli: Cli, data: Path) -> None:
    """Ladders and bots for people and for programs; nobody is rated yet."""
    ladders = cli("ladders", "--data", data, "--json").json
    assert {"clobber-6x7", "clobber-5x6"} <= {row["name"] for row in ladders}
    assert "clobber-6x7" in cli("ladders", "--data", data).out
    bots = cli("bots", "--data", data, "--json").json
    assert {"random", "greedy"} <= {row["bot"] for row in bots}
    assert {row["status"] for row in bots} == {"checking"}
    board = cli("leaderboard", "clobber-6x7", "--data", data, "--json").json
    assert board["bots"] == []
    rebuilt = cli("ratings", "rebuild", "--check", "--data", data, "--json")
    assert rebuilt.code == 0
    assert {row["equal"] for row in rebuilt.json} == {True}


def test_a_bot_is_taken_in(cli: Cli, data: Path, tmp_path: Path) -> None:
    """A file becomes version 1, the same file no new version, another one version 2."""
    bot = tmp_path / "mine.py"
    labels = []
    for text in ("one", "one", "two"):
        bot.write_text(f"# {text}\n")
        said = cli("submit", bot, "--ladder", "clobber-6x7", "--owner", "ada", "--data", data)
        assert said.code == 0, said.err
        labels.append(said.out.partition(" was taken in")[0])
    assert labels == ["mine v1", "mine v1", "mine v2"]
    rows = cli("bots", "--data", data, "--json").json
    mine = [row for row in rows if row["bot"] == "mine"]
    assert [(row["version"], row["owner"], row["language"]) for row in mine] == [
        (1, "ada", "Python"),
        (2, "ada", "Python"),
    ]


def test_what_becomes_of_a_submission_is_told(cli: Cli, data: Path, tmp_path: Path) -> None:
    """It goes by what plays there at that moment: only an older version is to be tested against."""
    bot = tmp_path / "hopeful.py"

    def hand_in(text: str, *options: str) -> str:
        bot.write_text(f"# {text}\n")
        where = ("--ladder", "clobber-6x7", "--owner", "ada", "--data", data)
        out = cli("submit", bot, *options, *where).out
        return out.partition("); ")[2].partition(". See")[0]

    checked = "it is checked, and enters clobber-6x7 when it has passed"
    nobody = f"{checked}, since no version is there to test it against"
    assert [hand_in("one"), hand_in("one", "--test-first")] == [checked, nobody]
    with closing(Database(f"sqlite:///{data}/arena.db")) as database, database.begin() as session:
        version = session.scalars(sa.select(BotVersion).join(Bot).filter_by(name="hopeful")).one()
        ladder = session.scalars(sa.select(Ladder).filter_by(name="clobber-6x7")).one()
        enter(session, ladder, version, datetime.now(UTC))
    again = "it plays on clobber-6x7 already, and is checked once more"
    assert [hand_in("one"), hand_in("one", "--test-first")] == [again, again]
    tested = f"{checked} that and a strength test against hopeful v1"
    assert [hand_in("two"), hand_in("two", "--test-first")] == [checked, tested]


def empty(folder: Path) -> Path:
    (folder / "empty").mkdir()
    return folder / "empty"


def missing(folder: Path) -> Path:
    return folder / "missing.py"


def too_large(folder: Path) -> Path:
    path = folder / "large.py"
    with path.open("wb") as file:
        file.truncate(16 * 1024 * 1024 + 1)
    return path


def linked(folder: Path) -> Path:
    (folder / "linked").mkdir()
    (folder / "linked" / "bot.py").write_text("print()\n")
    (folder / "linked" / "secret").symlink_to("/etc/passwd")
    return folder / "linked"


def pipe(folder: Path) -> Path:
    return Path("/dev/null")


def plain(folder: Path) -> Path:
    (folder / "bot.py").write_text("print()\n")
    return folder / "bot.py"


@pytest.mark.parametrize(
    ("make", "options", "words"),
    [
        (empty, [], "empty holds no files"),
        (missing, [], "missing.py can't be read: No such file"),
        (too_large, [], r"the bot has 167\d+ bytes, and clobber-6x7 takes at most 16777216"),
        (linked, [], "'secret' is a link: put the file itself there"),
        (pipe, [], "'null' is no plain file"),
        (plain, ["--ladder", "chess"], "there is no ladder 'chess'; there are: .*clobber-6x7"),
        (plain, ["--name", "a bot"], "'a bot' is no name for a bot: 1 to 40 letters"),
        (plain, ["--name", "a.json"], "'a.json' is no name for a bot: .*no .json at the end"),
        (plain, ["--name", "random"], "there is a bot random already, of another owner"),
        (plain, ["--owner", " "], "the owner's name is empty: give one with --owner"),
        (plain, ["--team", "knights"], "--team is for a server: here --owner takes a team's name"),
    ],
)
def test_what_is_no_bot_is_not_taken_in(
    cli: Cli,
    data: Path,
    tmp_path: Path,
    make: Callable[[Path], Path],
    options: list[str],
    words: str,
) -> None:
    """One line says why, and nothing is kept."""
    before = cli("bots", "--data", data, "--json").out
    ladder = [] if "--ladder" in options else ["--ladder", "clobber-6x7"]
    said = cli("submit", make(tmp_path), "--owner", "ada", *ladder, *options, "--data", data)
    assert_refused(said, words)
    assert cli("bots", "--data", data, "--json").out == before


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ("0002", "the database is not prepared .* schema is 0002.*: first arena up"),
        ("9999", "the database is of another release .schema 9999.; use that release, or another"),
    ],
)
def test_a_database_of_another_release_is_left_alone(
    cli: Cli, data: Path, tmp_path: Path, schema: str, words: str
) -> None:
    """Every command that opens one leaves it: that release may be at work on it."""
    shutil.copytree(data, tmp_path / "var")
    with closing(sqlite3.connect(tmp_path / "var" / "arena.db")) as connection:
        connection.execute("UPDATE alembic_version SET version_num = ?", (schema,))
        connection.execute("DELETE FROM mark WHERE key = ?", (SERVED_MARK,))
        connection.commit()
        said = cli("ladders", "--data", tmp_path / "var")
        assert_refused(said, words)
        left = connection.execute("SELECT version_num FROM alembic_version").fetchall()
    assert left == [(schema,)]
    still_open = [str(fd.readlink()) for fd in Path("/proc/self/fd").iterdir() if fd.is_symlink()]
    assert str(tmp_path / "var" / "arena.db") not in still_open


def test_a_full_disk_is_told_in_one_line(cli: Cli, data: Path, tmp_path: Path) -> None:
    """Here the largest file that may be written is full, just when the command writes its row."""
    shutil.copytree(data, tmp_path / "var")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (32_768, before[1]))
    try:
        said = cli("user", "add", "grace", "--data", tmp_path / "var")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert_refused(said, r"can't use the database: .*(I/O error|disk is full)")
    listed = cli("user", "list", "--json", "--data", tmp_path / "var").out
    assert "grace" not in [one["name"] for one in json.loads(listed)]
