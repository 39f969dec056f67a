"""What commands print, in a language that marks every text: what is left unmarked is data."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.cli.report import Display, aligned, junit_text, report
from arena.strength.sequential import SequentialTest, StrengthSettings, Version
from engine.clock import TimeControl
from engine.games import GAMES
from engine.translation import speaking
from tests.arena.cli.conftest import DICE
from tests.arena.conftest import Cli
from tests.marked import END, MARK, MARKED, unmarked


@pytest.mark.parametrize(
    ("line", "data"),
    [
        ("replay {records}", ""),
        ("replay {records} --game 1 --ply 0", "clobber size dice"),
        ("moves clobber size=2x2 --after a2a1,b2b1,a1b1", ""),
        ("truth show clobber size=3x2", ""),
        ("replay {records} --game 1 --text", "clobber size dice"),
        ("play clobber size=4x4 {dice} {dice} --no-box", "clobber size dice Elo"),
        ("play clobber size=4x4 {dice} {dice} --no-box --watch terminal", "clobber size dice Elo"),
    ],
)
def test_what_is_printed_is_translated(cli: Cli, records: Path, line: str, data: str) -> None:
    """All that people read of a command, but for names; and not a letter of its JSON."""
    words = [word.replace(",", " ").format(records=records, dice=DICE) for word in line.split()]
    with speaking(MARKED):
        said = cli(*words)
    assert said.code == 0, said.err
    assert unmarked(said.out + said.err) <= set(data.split())


LISTINGS = {
    "match list": "",
    "preset list": "",
    "runtime list": "",
    "strength list": "Elo LLR",
    "tournament list": "",
    "tuning list": "",
    "user list": "ada",
    "worker list": "",
    "top --once": "",
    "notice": "",
}
"""What stands in them that is a name, or a word that people type."""


@pytest.mark.usefixtures("sqlite_database")
def test_listings_are_translated(cli: Cli, tmp_path: Path) -> None:
    """Their headings, and what they say of an arena in which nothing was played."""
    assert cli("user", "add", "ada", "--data", tmp_path).code == 0
    for line, data in LISTINGS.items():
        with speaking(MARKED):
            said = cli(*line.split(), "--data", tmp_path)
        assert said.code == 0, said.err
        assert unmarked(said.out + said.err) <= set(data.split()), line


@pytest.mark.parametrize(
    "line", ["replay {records}", "moves clobber", "truth show clobber size=3x2"]
)
def test_what_programs_read_is_in_english(cli: Cli, records: Path, line: str) -> None:
    """Not a letter of JSON goes by who asks."""
    words = [*line.format(records=records).split(), "--json"]
    with speaking(MARKED):
        said = cli(*words)
    assert said.out == cli(*words).out


@pytest.mark.parametrize(
    ("line", "data"),
    [
        ("moves clobber size=5x6 6x7", ""),
        ("draw clobber --chosen z9", ""),
        ("match requeue", ""),
        ("new random", ""),
        ("notice text --clear", ""),
        ("play clobber {dice} {dice} --seat 1", ""),
        ("play clobber {dice}", ""),
        ("play clobber {dice} {folder} --no-box", ""),
        ("play clobber {dice} {wrong} --no-box", "bot toml"),
        ("replay {records} --game 3", ""),
        ("replay {records} --ply 1", ""),
        ("run recorder", ""),
        ("strength show x-17", ""),
        ("submit --git nowhere --ladder x", ""),
        ("test {dice} {dice} --game clobber --estimate --games 2 --save x", ""),
        ("tournament create cup --format swiss --game clobber", ""),
        ("truth make clobber", ""),
        ("watch", ""),
    ],
)
def test_refusals_are_translated(
    cli: Cli, records: Path, tmp_path: Path, line: str, data: str
) -> None:
    """The one line of each."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "wrong").mkdir()
    (tmp_path / "wrong" / "bot.toml").write_text("threads = 0")
    places = {"records": records, "dice": DICE}
    places |= {name: tmp_path / name for name in ("folder", "wrong")}
    with speaking(MARKED):
        said = cli(*line.format(**places).split())
    assert (said.code, said.out) == (2, "")
    assert unmarked(said.err.removeprefix("arena: ")) <= set(data.split())


def test_a_bot_begins_in_the_language_of_its_author(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its page, that is, and what a command says; the code is as ever."""
    monkeypatch.chdir(tmp_path)
    with speaking(MARKED):
        assert f"({MARK}the one to begin with{END})" in " ".join(cli("new", "--help").out.split())
        assert cli("new", "mine").code == 0
    assert cli("new", "other").code == 0
    text = (tmp_path / "mine" / "README.md").read_text()
    assert unmarked(re.sub(r"```.*?```|^# .*$", "", text, flags=re.DOTALL | re.MULTILINE)) == set()
    code = (tmp_path / "mine" / "bot.py").read_text()
    assert code.replace("mine", "other") == (tmp_path / "other" / "bot.py").read_text()


CLOBBER = GAMES["clobber"].variant(size="4x4")
TEST = SequentialTest.begin(
    StrengthSettings(
        CLOBBER, Version("new", "aa"), Version("old", "bb"), TimeControl(move_ms=1000), 0
    )
)


@pytest.mark.parametrize(
    "make",
    [lambda: report(TEST, 1.0, "none", ()), lambda: junit_text(TEST, 1.0, ())],
    ids=["JSON", "JUnit"],
)
def test_reports_are_in_english(make: Callable[[], object]) -> None:
    """Programs read them, and whoever gets the file."""
    with speaking(MARKED):
        made = make()
    assert made == make()


def test_what_a_thread_draws_is_in_the_language_of_its_command() -> None:
    """As a terminal's display is renewed by one."""
    found = []
    with speaking(MARKED):
        display = Display(TEST)
    thread = threading.Thread(target=lambda: found.append(display._table()))
    thread.start()
    thread.join()
    names = [str(cell) for cell in found[0].columns[0].cells]
    assert f"{MARK}speed{END}" in names


def test_what_rows_are_called_may_be_long() -> None:
    """All texts begin in one column."""
    assert aligned([("Elo", "1"), ("LLR", "2")]) == "Elo      1\nLLR      2"
    assert aligned([("probabilità", "1"), ("Elo", "2")]) == "probabilità 1\nElo         2"
