"""How bots are run: plainly and in a box, and by which interpreter."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.requirements import need
from workers.languages import LANGUAGES, LanguageError, language_named
from workers.launches import (
    BOX_PATH,
    box_program,
    box_python,
    command_for,
    find_python,
    launch_file,
)

ROOT = Path(__file__).parents[2]


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


@pytest.mark.parametrize(
    "name", sorted({one.build[0] for one in LANGUAGES if one.build} | {"node"})
)
def test_a_program_that_only_its_user_can_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Installed by rustup or nvm, say, into a home: a box has what is below /usr."""
    program = tmp_path / name
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("workers.launches.BOX_PATH", "/nowhere")
    with pytest.raises(LanguageError, match=f"^{re.escape(name)} is not where bots can run it: "):
        box_program(name)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(LanguageError, match=f"^{re.escape(name)} is not installed on this machine"):
        box_program(name)


def test_a_link_out_of_what_a_box_shows() -> None:
    """Also from where bots' programs are, which is how some installers put them there."""
    need(os.geteuid() == 0, "a mount for this process alone takes root")
    code = (
        "from pathlib import Path; from workers.launches import box_program\n"
        "Path('/usr/local/bin/rustc').symlink_to('/root/rustc')\n"
        "Path('/root/rustc').write_text('#!/bin/sh'); Path('/root/rustc').chmod(0o755)\n"
        "box_program('rustc')"
    )
    mounts = 'mount -t tmpfs none /usr/local/bin && mount -t tmpfs none /root && exec "$@"'
    command = ["unshare", "--mount", "/bin/sh", "-c", mounts, "sh", "/usr/bin/python3", "-c", code]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    assert done.stderr.splitlines()[-1].endswith(
        "rustc is not where bots can run it: install it below /usr, with the system's packages"
    )


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
