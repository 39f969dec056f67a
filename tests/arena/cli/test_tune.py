"""Numbers of a bot's options tuned by a command."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from tests.arena.conftest import Cli

BOT = """
opening = "resign"
for line in iter(input, "quit"):
    verb, *words = line.split()
    if verb == "hello":
        print("# option aim int -10 10 0")
        print("# option style choice fast|solid solid")
        print("ready aimer want=legal", flush=True)
    elif verb == "set" and words[0] == "aim":
        opening = "resign" if int(words[1]) < 0 else None
    elif verb == "newgame":
        print("ok", flush=True)
    elif verb == "legal":
        legal = words
    elif verb == "go":
        print("move", opening or legal[0], flush=True)
"""
"""Resigns at once with an aim below zero."""


@pytest.fixture
def bot(tmp_path: Path) -> Path:
    """A bot with an option."""
    path = tmp_path / "aimer.py"
    path.write_text(BOT)
    return path


def test_a_bot_is_tuned(cli: Cli, bot: Path, tmp_path: Path) -> None:
    """What came out is told as the manifest has it, is kept, and the same at any concurrency."""
    words = ("tune", f"{bot}:style=fast", "--game", "clobber", "size=3x3", "--games", "8")
    words += ("--option", "aim=-1:-10:10:2:0.5", "--batch", "2", "--no-box", "--no-test")
    found = [
        cli(*words, "--concurrency", number, "--json", str(tmp_path / f"{number}.json"))
        for number in ("1", "2")
    ]
    results = [json.loads((tmp_path / f"{number}.json").read_text()) for number in (1, 2)]
    assert results[0] | {"result": None} == results[1] | {"result": None}
    (value,) = results[0]["values"]
    assert -1 < value <= 10
    for said in found:
        assert said.code == 0
        assert f"aim: -1 -> {math.floor(value + 0.5)}" in said.out
        assert f'[options]\naim = "int -10 10 {math.floor(value + 0.5)}"\n' in said.out
    saved = tmp_path / "saved.json"
    saved.write_text(json.dumps(results[0] | {"matches": 3}))
    again = cli(*words, "--resume", str(saved), "--json", "-")
    assert (again.code, again.json["matches"], again.json["result"]["games"]) == (0, 4, 8)


def test_what_came_out_is_tested(cli: Cli, bot: Path) -> None:
    """Against the start, by a sequential test of other games; its end is the command's."""
    words = ("tune", str(bot), "--game", "clobber", "size=3x3", "--games", "4", "--seed", "1")
    words += ("--option", "aim=-1:-10:10:3:1", "--batch", "2", "--no-box", "--max-games", "32")
    said = cli(*words, "--json", "-")
    proof = said.json["result"]["proof"]
    assert proof["settings"]["baseline"] == "aimer.py:aim=-1"
    assert proof["settings"]["candidate"] == f"aimer.py:aim={said.json['result']['chosen']['aim']}"
    assert said.code == (0 if proof["decision"] == "accept" else 1)


def test_without_more_openings_it_ends_undecided(cli: Cli, bot: Path, tmp_path: Path) -> None:
    """What was played until then is kept."""
    words = ("tune", str(bot), "--game", "clobber", "size=2x2", "--games", "200", "--no-box")
    saved = tmp_path / "saved.json"
    said = cli(*words, "--option", "aim", "--save", str(saved))
    assert (said.code, said.out) == (1, "")
    assert "there are no more different openings\nended after 2 games\nsaved; " in said.err
    assert json.loads(saved.read_text())["pending"] != []


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--option", "aims"), "aimer.py has no option aims: it has aim, style"),
        (("--option", "aim=1:2"), "write NAME=START:LEAST:MOST, and :STEP:RATE if you like"),
        (("--option", "aim=1:2:x"), "a number can't be read"),
        (("--option", "aim=1:2:3"), "aim is to begin within its bounds"),
        (("--option", "style"), "the option style is no number, and can't be tuned so"),
        (("--option", "aim", "--option", "aim"), "an option is named twice"),
        (("--option", "aim", "--resume", "none.json"), "can't read none.json"),
    ],
)
def test_what_can_not_be_tuned(cli: Cli, bot: Path, words: tuple[str, ...], why: str) -> None:
    """It is refused before a game is played."""
    said = cli("tune", str(bot), "--game", "clobber", "--no-box", *words)
    assert (said.code, said.out, why in said.err.splitlines()[-1]) == (2, "", True), said.err
