"""How bots are run: plainly and in a box, and by which interpreter."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from workers.languages import LanguageError, language_named
from workers.launches import (
    BOX_PATH,
    box_program,
    box_python,
    command_for,
    find_python,
    launch_file,
)


def test_plain_command_speaks(tmp_path: Path) -> None:
    """Outside a box Python bots run with the arena's own interpreter, programs by themselves."""
    bot = tmp_path / "bot.py"
    bot.write_text("print('hi')")
    assert command_for(bot)[0] == sys.executable
    assert subprocess.check_output(command_for(bot)) == b"hi\n"
    program = tmp_path / "bot"
    program.write_text("#!/bin/sh\necho hi\n")
    program.chmod(0o755)
    assert command_for(program) == [str(program)]
    script = tmp_path / "bot.sh"
    script.write_text("echo hi")
    assert command_for(script) == ["sh", str(script)]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("missing.py", r"there is no bot .*missing.py: give the path of a program"),
        (".", "is no file: give the path of a program"),
        ("text", r"is not executable: chmod \+x it, or give it the ending of a language \(.c, "),
        ("bot.js", "needs node, which is not installed here"),
        ("bot.cc", "is to be built before it is run"),
    ],
)
def test_plain_command_refused(
    name: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each in one line."""
    monkeypatch.setenv("PATH", str(tmp_path))
    for file in ("text", "bot.js", "bot.cc"):
        (tmp_path / file).write_text("")
    with pytest.raises(LanguageError, match=words):
        command_for(tmp_path / name)


def test_box_has_a_python_that_is_new_enough() -> None:
    """It lies where every box shows it, and is what it is taken for."""
    python = box_python()
    assert Path(python).resolve().is_relative_to("/usr")
    code = "import sys; print(sys.version_info >= (3, 11))"
    assert subprocess.check_output([python, "-c", code]) == b"True\n"


def test_missing_interpreter_is_named() -> None:
    """The worker lacks it, which is no fault of the bot."""
    with pytest.raises(LanguageError, match="own-lang is not installed on this machine"):
        box_program("own-lang")


def test_python_that_will_not_do(tmp_path: Path) -> None:
    """One that is too old is named; one that no box shows counts for nothing."""
    with pytest.raises(
        LanguageError, match=r"Python of 99.0 or later below /usr .*/python3 is 3\."
    ):
        find_python(BOX_PATH, (99, 0))
    (tmp_path / "python3").write_text("#!/bin/sh\necho 3 99\n")
    (tmp_path / "python3").chmod(0o755)
    with pytest.raises(LanguageError, match="there is none"):
        find_python(str(tmp_path), (3, 11))


def test_threads_of_a_bot_come_on_top() -> None:
    """An interpreter's own threads are counted beside those that the bot starts."""
    assert launch_file("tool", None, threads=4).threads == 4
    assert launch_file("bot.py", language_named("python"), threads=4).threads == 4
