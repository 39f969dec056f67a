"""Bots in C++ at home: built for play, for tests and for checks, and told if they can't be."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from arena.cli import run
from tests.requirements import need

KIT = Path(__file__).parents[3] / "bots" / "kit"
BROKEN = "int main() { return oops; }\n"
HEADER = "#include <cstdio>\n#include <cstring>\n"
PLAIN = """\
#include "arena_bot.hpp"

int main() {
    static char line[65536], first[65536];
    while (std::fgets(line, sizeof line, stdin)) {
        if (std::strncmp(line, "hello", 5) == 0) std::puts("ready plain want=legal");
        if (std::strncmp(line, "newgame", 7) == 0) std::puts("ok");
        std::sscanf(line, "legal %s", first);
        if (std::strncmp(line, "go", 2) == 0) std::printf("move %s\\n", first);
        if (std::strncmp(line, "quit", 4) == 0) break;
        std::fflush(stdout);
    }
}
"""
"""Compiled in a tenth of the time that the kit takes."""


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder with a bot that is right and one that is wrong, as the working directory."""
    need(shutil.which("g++"), "g++ is not installed")
    (tmp_path / "arena_bot.hpp").write_text(HEADER)
    # Of no other run: that is built already.
    (tmp_path / "mine.cpp").write_text(f"{PLAIN}// {tmp_path}\n")
    (tmp_path / "broken.cpp").write_text(BROKEN)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ended(*words: str) -> int:
    """The exit code of a command line."""
    try:
        return run(list(words))
    except SystemExit as error:
        return int(error.code or 0)


@pytest.mark.parametrize(
    "words",
    [
        "play clobber size=4x4 mine.cpp random --games 2",
        "play clobber size=4x4 mine.cpp random --games 2 --no-box",
        "test mine.cpp random --game clobber size=4x4 --games 4 --concurrency 2",
        "test mine.cpp random --game clobber size=4x4 --games 4 --against random,random",
    ],
)
def test_plays(words: str, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is built once from the file as it is now, with the header beside it, and plays."""
    assert ended(*words.split()) in (0, 1)
    said = capsys.readouterr()
    assert said.err.count("building mine, once") == 1, said.err
    assert "mine.cpp" in said.out
    assert "Traceback" not in said.out + said.err


@pytest.mark.parametrize(
    "words",
    [
        "play clobber broken.cpp random",
        "play clobber broken.cpp random --no-box",
        "test broken.cpp random --game clobber --games 2",
    ],
)
def test_is_told_what_is_wrong(words: str, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Why it can't be built, with the compiler's words, before anything is played."""
    assert ended(*words.split()) == 2
    said = capsys.readouterr()
    assert said.err.count("building broken, once") == 1
    assert "broken.cpp can't be built: the build failed: exit 1" in said.err
    assert "was not declared" in said.err


def test_what_is_built_is_never_stale(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A change of the source or of the header beside it is built before the next game."""
    play = ["play", "clobber", "size=4x4", "mine.cpp", "random", "--games", "2"]
    builds = []
    for file in ("mine.cpp", None, "arena_bot.hpp"):
        if file:
            with (home / file).open("a") as source:
                source.write(f"// {home}\n")
        assert ended(*play) == 0
        builds.append(capsys.readouterr().err.count("building"))
    assert builds == [1, 0, 1]


def test_check_has_the_build(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The build is the first clause of a check; a bot that can't be built has broken it.

    This one has the kit beside it, as whoever begins with it.
    """
    shutil.copy(KIT / "arena_bot.hpp", home)
    shutil.copy(KIT / "example_bot.cpp", home / "mine.cpp")
    assert ended("check", "mine.cpp", "--game", "clobber size=4x4") == 0
    assert "build: it was built from its sources" in capsys.readouterr().out
    assert ended("check", "broken.cpp", "--game", "clobber") == 1
    assert "BROKEN build: the build failed: exit 1" in capsys.readouterr().out
