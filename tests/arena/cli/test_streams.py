"""Commands of which nobody reads what they say."""

from __future__ import annotations

import fcntl
import os
import shlex
import subprocess
import time
from pathlib import Path

import pytest

from tests.arena.cli.conftest import DICE
from tests.arena.running import COMMAND

TEST = "test greedy {mute} --game clobber size=3x3 --games 6 --no-box --junit {file}"
CHECK = "check {mute} --minimum none"


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "code", "redirected"),
    [
        ("play clobber size=2x2 {mute} {dice} --no-box --records {file}", 1, "2>&1 | true"),
        ("play clobber size=2x2 {dice} {dice} --no-box --records {file}", 0, "2>/dev/full | true"),
        ("play clobber size=2x2 {mute} {dice} --no-box --log --trace", 1, "2>&1 | head -1"),
        ("play clobber size=2x2 {mute} {dice} --no-box --json", 1, ">&- 2>&-"),
        (
            "test random random --game clobber size=3x3 --games 6 --no-box --json {file}",
            1,
            "| true",
        ),
        (TEST, 3, "2>&1 | true"),
        (TEST, 3, ">&- 2>&-"),
        (TEST, 3, ">/dev/null 2>/dev/full"),
        (f"{TEST} --against random", 2, "2>&1 | true"),
        (CHECK, 1, "2>&1 | true"),
        (f"{CHECK} --json", 1, "| true"),
        ("replay {mute}", 2, "2>&1 | true"),
        ("test --no-such-option", 2, "2>/dev/full"),
    ],
)
def test_what_a_command_found_depends_on_no_reader(
    words: str, code: int, redirected: str, tmp_path: Path
) -> None:
    """Neither its exit code, by a shell's pipefail, nor the files that it leaves."""
    mute, file = tmp_path / "mute.py", tmp_path / "file"
    mute.write_text("")
    filled = words.format(mute=mute, dice=DICE, file=file)
    line = f"set -o pipefail; {shlex.join(COMMAND)} {filled} {redirected}"
    said = subprocess.run(["bash", "-c", line], capture_output=True, check=False)
    assert said.returncode == code
    assert ("{file}" not in words) or code == 2 or file.read_text()


def test_a_result_is_in_its_file_although_it_can_not_be_printed(tmp_path: Path) -> None:
    """Files come first; that standard output is on a full disk is told."""
    file = tmp_path / "result.json"
    words = f"test random random --game clobber size=3x3 --games 2 --no-box --json {file}"
    line = f"{shlex.join(COMMAND)} {words} >/dev/full"
    said = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
    assert said.returncode == 2
    assert said.stderr.endswith("arena: can't write the output: No space left on device\n")
    assert '"undecided"' in file.read_text()


def test_who_reads_slowly_reads_all(tmp_path: Path) -> None:
    """Also from a pipe that does not block, as programs inherit it from some that start them."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    os.set_blocking(writer, False)
    started = subprocess.Popen([*COMMAND, "moves", "blokus"], stdout=writer)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        time.sleep(0.5)  # it is full by then
        assert len(pipe.read()) > 4096, "all, and so more than it holds"
    assert started.wait() == 0


def test_an_output_that_takes_nothing_is_told() -> None:
    """One that is open for reading only, say, as one on a full disk."""
    line = f"{shlex.join(COMMAND)} moves clobber 1</dev/null"
    said = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
    assert (said.returncode, said.stderr) == (
        2,
        "arena: can't write the output: Bad file descriptor\n",
    )
