"""Strength tests that were stopped: how they are kept, and how they go on."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from xml.etree import ElementTree

import pytest

from arena.cli import InputError
from arena.cli.arguments import find_bots
from arena.cli.report import Saves
from arena.cli.runner import go_on, launch_all
from arena.cli.versions import version_of
from arena.ratings.sprt import Decision
from arena.strength.sequential import SequentialTest, StrengthSettings, Version
from arena.strength.terms import StrengthTerms
from engine.clock import TimeControl
from engine.games import find_variant
from tests.arena.cli.strength_command import PROGRAM, SMALL, arena, saved, write_json


def test_what_is_played_is_never_played_again():
    """A test stopped when five matches were begun and resumed has the games of one that was not."""
    candidate, baseline = find_bots(["random", "random"])
    settings = StrengthSettings(
        find_variant("clobber", ["size=4x4"]),
        version_of(candidate),
        version_of(baseline),
        TimeControl(move_ms=1000),
        terms=StrengthTerms(games=16),
    )
    mine, theirs = launch_all([candidate, baseline], no_box=True, say=print)
    whole = list(go_on(SequentialTest.begin(settings), mine, theirs, concurrency=2))

    asked = count()  # before each match whether it is to be begun, whichever ends first
    parted = list(
        go_on(
            SequentialTest.begin(settings),
            mine,
            theirs,
            concurrency=2,
            stopped=lambda: next(asked) >= 5,
        )
    )
    assert len(parted) == 5
    half = SequentialTest.from_json(json.loads(json.dumps(parted[-1][0].to_json())), settings)
    assert half.decision is Decision.CONTINUE
    parted += go_on(half, mine, theirs, concurrency=2)

    digests = [record.digest() for _, records in parted for record in records]
    assert digests == [record.digest() for _, records in whole for record in records]
    assert len(digests) == len(set(digests)) == 16
    assert parted[-1][0] == whole[-1][0]


def test_what_is_no_saved_test_is_named(tmp_path, capsys):
    """JSON of another kind, by its file."""
    path = tmp_path / "list.json"
    path.write_text("[]")
    assert arena("random", "greedy", *SMALL, "--resume", str(path)) == 2
    assert capsys.readouterr().err.startswith(f"arena: {path}: this is no saved strength test")


def test_a_file_is_found_for_what_nobody_named(tmp_path, monkeypatch):
    """An interrupted test is saved under the bots' names, and never over another file."""
    monkeypatch.chdir(tmp_path)
    bots = find_bots(["random", "greedy"])
    variant = find_variant("clobber")
    versions = [version_of(bot) for bot in bots]
    test = SequentialTest.begin(StrengthSettings(variant, *versions, TimeControl(move_ms=9)))
    names = [str(Saves(None, "random-greedy.test", may_exist=False).keep(test)) for _ in range(2)]
    assert names == ["random-greedy.test.json", "random-greedy-2.test.json"]
    assert SequentialTest.from_json(saved(Path(names[0])), test.settings) == test
    with pytest.raises(InputError, match="--resume"):
        Saves(names[0], "random-greedy.test", may_exist=False)


def test_where_nothing_can_be_written_it_is_kept_elsewhere(tmp_path, monkeypatch, capsys):
    """An interrupted test in a folder that is gone, as in one that is read-only or full."""
    here, temporary = tmp_path / "here", tmp_path / "temporary"
    for folder in (here, temporary):
        folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.chdir(here)
    here.rmdir()
    versions = [Version(name, "1" * 64) for name in ("random", "greedy")]
    begun = SequentialTest.begin(
        StrengthSettings(find_variant("clobber"), *versions, TimeControl(move_ms=9))
    )
    path = Saves(None, "random-greedy.test", may_exist=False).keep(begun)
    assert path.parent.parent == temporary
    assert SequentialTest.from_json(saved(path), begun.settings) == begun
    assert "can't write random-greedy.test.json" in capsys.readouterr().err
    monkeypatch.setattr(tempfile, "tempdir", str(here))
    with pytest.raises(InputError, match=r"can't write random-greedy.test.json"):
        Saves(None, "random-greedy.test", may_exist=False).keep(begun)


SOURCE = "print({})\n"


@pytest.mark.parametrize(
    ("changed", "words", "no_box"),
    [
        # As a file, in a folder, and in a command, whose program is the interpreter.
        ("bot.py", "bot.py", False),
        ("bot.py", ".", False),
        ("bot.py", "{python} bot.py", False),
        ("bot.py", "{python} -m bot", False),
        ("brain/__main__.py", "{python} brain", False),
        ("bot.py", "sh -c '{python} bot.py'", False),
        # The kit goes with it into its box; all else beside it only where it runs in its place.
        ("arena_bot.py", "bot.py", False),
        ("brain/net.py", "bot.py", True),
        ("brain.py", "{python} bot.py", False),
        # Behind a name that the path of programs finds, and in an option.
        ("engine", "{python} -m arena bridge ugi -- engine", False),
        ("engine", "nice engine", False),
        ("net.bin", "engine --net=net.bin", False),
    ],
)
def test_a_bot_that_changed_is_another_one(changed, words, no_box, tmp_path, monkeypatch):
    """Whatever of it did; and one that did not is the same."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    Path("brain").mkdir()
    files = ("arena_bot.py", "bot.py", "brain.py", "brain/__main__.py", "brain/net.py", "net.bin")
    for name in (*files, "engine"):
        Path(name).write_text(SOURCE.format(1))
    Path("engine").chmod(0o755)

    def digest() -> str:
        (bot,) = find_bots([words.format(python=sys.executable)])
        return version_of(bot, no_box=no_box).digest

    before = digest()
    Path("notes.md").write_text("not a part of it") if words != "." else None
    assert digest() == before
    Path(changed).write_text(SOURCE.format(2))
    assert digest() != before


def test_what_a_bot_in_a_box_does_not_see_makes_it_no_other(tmp_path):
    """Only the kit goes with it of the files beside it."""
    path = tmp_path / "bot.py"
    path.write_text(SOURCE.format(1))
    (bot,) = find_bots([str(path)])
    before = version_of(bot)
    (tmp_path / "brain.py").write_text(SOURCE.format(1))
    assert version_of(bot) == before
    assert version_of(bot, no_box=True) != before


def test_a_save_may_have_the_longest_name_of_a_file(tmp_path):
    """255 bytes (NAME_MAX of linux/limits.h), and not some fewer for a file beside it."""
    path = tmp_path / ("x" * 255)
    write_json(path, {"passed": True})
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_long_names_of_bots_are_shortened_in_that_of_a_save(tmp_path, monkeypatch):
    """Two of 200 bytes each, letters of more than one byte among them, would be no file's name."""
    monkeypatch.chdir(tmp_path)
    begun = SequentialTest.begin(
        StrengthSettings(
            find_variant("clobber", ["size=4x4"]),
            Version("\N{GREEK SMALL LETTER ALPHA}" * 100, "1" * 64),
            Version("b" * 200, "2" * 64),
            TimeControl(move_ms=1000),
            terms=StrengthTerms(games=16),
        )
    )
    bots = f"{begun.settings.candidate.name}-{begun.settings.baseline.name}"
    kept = [Saves(None, f"{bots}.test", may_exist=False).keep(begun) for _ in range(2)]
    assert len(set(kept)) == 2
    assert sorted(tmp_path.iterdir()) == sorted(tmp_path / path for path in kept)
    assert all(path.name.endswith(".test.json") for path in kept)


@contextmanager
def under_way(*words: object, cwd: Path) -> Iterator[subprocess.Popen[str]]:
    """A test that is going on, for somebody to stop; it ends with its block at the latest."""
    pipe, program = subprocess.PIPE, [*PROGRAM, "test", *map(str, words)]
    with subprocess.Popen(program, stdout=pipe, stderr=pipe, text=True, cwd=cwd) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.long
def test_an_interrupted_test_is_saved_and_goes_on(tmp_path):
    """Ctrl-C ends the matches under way, saves, and says how to go on."""
    state = tmp_path / "state.json"
    command = ["random", "greedy", *SMALL, "--games", "60"]
    words = [*command, "--save", state, "--junit", "cases.xml"]
    with under_way(*words, cwd=tmp_path) as process:
        while not state.exists() and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=60)
        assert process.returncode == 130
    assert f"--resume {state}" in error
    assert out.endswith("\nnot finished\n")
    assert ElementTree.parse(tmp_path / "cases.xml").getroot().get("errors") == "1"
    before = sum(saved(state)["counts"])
    assert 0 < before < 30
    arena(*command, "--resume", str(state))
    assert sum(saved(state)["counts"]) == 30


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_who_ends_a_job_may_not_wait(number, tmp_path):
    """What was played is saved at the signal, although the match under way takes minutes."""
    bot, begun = tmp_path / "tired.py", tmp_path / "begun"
    bot.write_text(
        "import pathlib, sys, time\n"
        "begun = pathlib.Path(sys.argv[1])\n"
        "for line in sys.stdin:\n"
        "    if line.startswith('hello'): print('ready tired', flush=True)\n"
        "    if line.startswith('quit'): break\n"
        "    if line.startswith('newgame'): begun.open('a').write('x'), print('ok', flush=True)\n"
        "    if line.startswith('go'):\n"
        "        if len(begun.read_text()) > 6: time.sleep(300)\n"
        "        print('move resign', flush=True)\n"
    )
    words = [f"{sys.executable} {bot} {begun}", "greedy", *SMALL, "--move", "300000"]
    with under_way(*words, "--concurrency", "1", cwd=tmp_path) as process:
        while not begun.exists() or len(begun.read_text()) <= 6:
            assert process.poll() is None
            time.sleep(0.01)
        # One at a time: the fourth match was begun when the third was counted.
        process.send_signal(number)
        assert process.stderr
        while "saved in " not in (line := process.stderr.readline()):
            assert process.poll() is None
        (state,) = tmp_path.glob("*.test.json")
        assert state.name in line
        assert sum(saved(state)["counts"]) == 3
        process.send_signal(number)
        process.communicate(timeout=60)
        assert process.returncode == 130
