"""A bot begun by the command line: it plays at once, in every language, and its test passes."""

from __future__ import annotations

import errno
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from arena.cli import run
from arena.cli.new import TEMPLATES, play_command
from engine.games import GAMES, find_variant
from tests.requirements import need
from workers.languages import LANGUAGES, LanguageError, language_named
from workers.launches import programs_of

TESTED = ("python", "c")
"""Whose test is run: to pytest a bot is one that is built, or one that is not."""


def arena(*words: str) -> int:
    """Runs a command line and returns its exit code."""
    try:
        return run(list(words))
    except SystemExit as ended:
        return int(ended.code or 0)


@pytest.mark.long
@pytest.mark.usefixtures("briskly")
@pytest.mark.parametrize("language", TEMPLATES)
def test_a_new_bot_plays_and_passes(
    language: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The folder it writes is checked, played and tested as its README says."""
    known = language_named(language)
    assert known is not None
    try:
        programs_of(known)
    except LanguageError as error:
        need(False, str(error))
    monkeypatch.chdir(tmp_path)
    assert arena("new", "my-bot", "--language", language, "--game", "clobber size=4x4") == 0
    told = capsys.readouterr().out
    readme = (tmp_path / "my-bot" / "README.md").read_text()
    (play,) = re.findall(r"^arena play .*$", readme, re.MULTILINE)
    assert play.removesuffix(" --games 10") in told
    (check,) = re.findall(r"^arena check .*$", readme, re.MULTILINE)
    assert arena(*shlex.split(play)[1:-1], "2", "--json") == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["games"] == 2
    assert summary["bots"][0]["name"] == "my-bot"
    assert arena(*shlex.split(check)[1:], "--minimum", "reduced", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["bot"], found["passed"], found["variant"]) == ("my-bot", True, "clobber size=4x4")
    if language not in TESTED:
        return
    plugins = ["-p", "no:cacheprovider", "-p", "arena.pytest_plugin"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *plugins, "--arena", "my-bot"],
        cwd=tmp_path,
        # The other plugins of this environment take longer to load than the test.
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


def test_a_bot_is_begun_in_every_language() -> None:
    """Whatever a box can run, `arena new` can write."""
    assert {template.name for template in TEMPLATES.values()} == {one.name for one in LANGUAGES}
    assert all(language_named(name) is not None for name in TEMPLATES)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["there"], "there is there already: take another name"),
        (["1st"], "'1st' is no name for a bot"),
        (["../up"], "'../up' is no name for a bot"),
        (["a b"], "'a b' is no name for a bot"),
        (["mine", "--language", "cobol"], "'cobol' is not one of"),
        (["mine", "--game", "chess"], "there is no game 'chess'"),
        (["mine", "--game", "clobber size=1x1"], "clobber has no size=1x1"),
        (["greedy"], "greedy is the name of a sample bot: take another"),
    ],
)
def test_what_is_refused(
    words: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It is told in one line, and nothing is written."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "kept").touch()
    assert arena("new", *words) == 2
    said = capsys.readouterr()
    assert said.out == ""
    (line,) = said.err.splitlines()
    assert message in line
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["kept", "there"]


def test_no_half_of_a_bot_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """When the disk is full; the same command works once there is room."""
    monkeypatch.chdir(tmp_path)

    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as full:
        full.setattr(Path, "write_text", fail)
        assert arena("new", "mine") == 2
    error = capsys.readouterr().err
    assert error == "arena: can't write the folder mine: No space left on device\n"
    assert list(tmp_path.iterdir()) == []
    assert arena("new", "mine") == 0


@pytest.mark.parametrize("game", GAMES.singles)
def test_it_is_told_how_to_play_every_game(game: str) -> None:
    """With as many others as the game has seats, or one in a race; the usual options left out."""
    variant = GAMES[game].offered[-1]
    words = play_command(variant, "mine").split()
    options = [word for word in words if "=" in word]
    assert words[:3] == ["arena", "play", game]
    assert find_variant(game, options) == variant
    bots = words[words.index("mine") :]
    # Seats that are played by one entrant together need one bot.
    assert len(bots) == max(2, len(set(variant.entrant_of)))
