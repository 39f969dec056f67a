"""Checks of a bot by a command, in the box of an arena."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy.orm import Session

from arena.bots.submissions import SubmissionError, submit
from arena.cli.arguments import find_bots
from arena.models import Ladder, User
from tests.arena.cli.conftest import DICE, ROOT, assert_refused
from tests.arena.conftest import Cli
from workers.sandbox import Sandbox
from workers.walls import ONE_PROCESS

pytestmark = pytest.mark.usefixtures("briskly")


def test_a_check_tells_what_a_bot_does(cli: Cli, tmp_path: Path) -> None:
    """One that plays passes, one that does not fails; in the weakest box that is accepted."""
    words = ("--game", "clobber size=4x4", "--minimum", "reduced")
    good = cli("check", DICE, *words, "--json")
    assert good.code == 0, good.err
    assert good.json["passed"] is True
    assert good.json["findings"][-1]["clause"] == "a whole game"
    for finding in good.json["findings"]:
        assert finding["kept"]
        assert finding["words"]
    bad = tmp_path / "bad.py"
    bad.write_text("print('hello?')\n")
    said = cli("check", bad, *words)
    assert said.code == 1
    assert "BROKEN hello: protocol: expected 'ready NAME' after 'hello', got 'hello?'" in said.out
    assert "         > hello 1\n         < hello?\n" in said.out
    assert said.out.endswith("failed: 1 broken\n")


def test_a_bot_is_checked_in_its_own_game(cli: Cli, tmp_path: Path) -> None:
    """The first of its bot.toml; a folder and a sample's name do as well as a file."""
    folder = tmp_path / "mine"
    folder.mkdir()
    shutil.copy(DICE, folder / "bot.py")
    (folder / "bot.toml").write_text('games = ["oxoxo", "clobber"]\n')
    words = ("--minimum", "reduced", "--json")
    assert cli("check", folder, *words).json["variant"] == "oxoxo"
    assert cli("check", "random", *words).json["variant"] == "clobber size=6x7"
    (folder / "bot.toml").write_text('games = ["Oxoxo"]\n')
    assert_refused(cli("check", folder, *words), r"bot\.toml: there is no game 'Oxoxo'")


def test_a_check_and_a_submission_refuse_the_same_names(cli: Cli, tmp_path: Path) -> None:
    """A name that a bot's author can mend is told by both, in the same words."""
    folder = tmp_path / "mine"
    folder.mkdir()
    shutil.copy(DICE, folder / "bot.py")
    (folder / "bot.toml").write_text('name = "My Bot"\n')
    words = ("--game", "clobber size=4x4", "--minimum", "reduced", "--json")
    said = cli("check", folder, *words)
    broken = [finding for finding in said.json["findings"] if not finding["kept"]]
    assert (said.code, [finding["clause"] for finding in broken]) == (1, ["name"])
    with pytest.raises(SubmissionError) as refused:
        submit(
            Session(),
            User(name="ada"),
            "My Bot",
            digest="",
            size=0,
            language="",
            ladder=Ladder(),
            now=datetime.now(UTC),
        )
    assert broken[0]["words"].startswith(f"{refused.value}; ")
    assert cli("check", folder, "--name", "gus", *words).code == 0


def test_the_folder_one_is_in_has_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of bots has no blank in the place of one."""
    (tmp_path / "gus" / "src").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "gus" / "src")
    assert [bot.name for bot in find_bots([".", "..", "./", "random"])] == [
        "src", "gus", "src#2", "random",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("commands", "names"),
    [
        (["sh new.sh", "sh old.sh"], ["sh new.sh", "sh old.sh"]),
        (["sh new.sh", "sh new.sh"], ["sh", "sh#2"]),
        (["sh a.sh -v 1 -q", "sh a.sh -v 2 -q"], ["sh 1", "sh 2"]),
        (["sh a", "sh a -f", "sh a"], ["sh", "sh -f", "sh#2"]),
        (["env -- ./1/e x", "env -- ./2/e x"], ["./1/e", "./2/e"]),
        (["env -u A -- e", "env -u B -- e"], ["e A", "e B"]),
        (["sh new.sh", "env old.sh"], ["sh", "env"]),
    ],
)
def test_commands_are_named_by_what_differs(commands: list[str], names: list[str]) -> None:
    """One program with two scripts is two bots, and a table says which is which."""
    assert [bot.name for bot in find_bots(commands)] == names


@pytest.mark.parametrize("kind", ["file", "package", "bot", "empty", "link"])
def test_the_name_of_a_sample_is_the_sample(
    kind: str, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever lies beside, which is said, and is had by its path and under that name."""
    monkeypatch.chdir(tmp_path)
    here = Path("greedy")
    if kind == "file":
        here.write_text("#!/bin/sh\nexit 1\n")
        here.chmod(0o755)
    elif kind == "link":
        here.symlink_to("nowhere")
    else:
        here.mkdir()
        if kind != "empty":
            (here / ("__init__.py" if kind == "package" else "bot.py")).write_text("")
    words = ("clobber", "size=4x4", "--move", "50", "--json")
    said = cli("play", *words, "greedy", "random")
    what = "folder" if here.is_dir() else "file"
    assert (said.code, said.json["bots"][0]["faults"]) == (0, {})
    assert f"greedy is the sample of that name; the {what} that lies here is ./greedy" in said.err
    assert cli("check", "greedy", "--game", "clobber size=4x4", "--minimum", "reduced").code == 0
    if here.exists():
        assert [bot.name for bot in find_bots(["greedy", "./greedy", f"{tmp_path}/greedy/"])] == [
            "greedy", "./greedy", f"{tmp_path}/greedy",
        ]  # fmt: skip
    if here.is_dir():
        assert [bot.name for bot in find_bots(["greedy/"])] == [str(tmp_path / "greedy")]
        monkeypatch.chdir(here)
        assert [bot.name for bot in find_bots(["."])] == [str(tmp_path / "greedy")]


@pytest.mark.parametrize(
    ("needs", "words"),
    [
        ("threads = 17", "it needs 17 threads, and the limit is 16"),
        (
            "processes = 3",
            "it needs 3 processes, and the limit is 1, unless --processes 3 grants them as a "
            "ladder may",
        ),
    ],
)
def test_a_check_refuses_what_no_ladder_grants(
    needs: str, words: str, cli: Cli, tmp_path: Path
) -> None:
    """A bot that needs more than the usual limits is not started, which is no fault of ours."""
    shutil.copy(DICE, tmp_path / "bot.py")
    (tmp_path / "bot.toml").write_text(f"{needs}\n")
    said = cli("check", tmp_path, "--minimum", "reduced", "--json")
    (finding,) = said.json["findings"]
    assert (said.code, finding["kept"]) == (1, False)
    if needs == "processes = 3" and (level := said.json["isolation"]) != "full":
        words = f"{ONE_PROCESS}; the best box here is {level!r}"
    assert finding["words"] == f"it can't be run here: {words}"
    refused = cli("play", "clobber", tmp_path, "greedy", "--minimum", "reduced")
    assert (refused.code, refused.err.endswith(f"{words}\n")) == (2, True)


def test_the_kit_goes_with_a_single_file(cli: Cli, tmp_path: Path) -> None:
    """A bot that imports the kit is checked as it lies there, beside others."""
    for name in ("arena_bot.py", "example_bot.py"):
        shutil.copy(ROOT / "bots" / "kit" / name, tmp_path)
    (tmp_path / "arena_bot.mjs").touch()
    (tmp_path / "other.py").touch()
    words = ("--game", "clobber size=4x4", "--minimum", "reduced", "--json")
    said = cli("check", tmp_path / "example_bot.py", *words)
    assert (said.code, said.json["bot"]) == (0, "example_bot")


@pytest.mark.parametrize(
    "command",
    [
        ["play", "clobber", "size=4x4", DICE, DICE],
        ["test", DICE, DICE, "size=4x4", "--game", "clobber", "--games", "2"],
        ["check", DICE],
        ["doctor"],
    ],
    ids=lambda words: words[0],
)
def test_what_killed_runs_left_of_boxes_is_ended(
    command: list[str], cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine without workers has nobody else to do so; how it is done, test_orphans tests."""
    swept: list[Sandbox] = []

    def end_orphans(sandbox: Sandbox) -> int:
        swept.append(sandbox)
        return ended(sandbox)

    ended = Sandbox.end_orphans
    monkeypatch.setattr(Sandbox, "end_orphans", end_orphans)
    cli(*command)
    assert len(swept) == 1
