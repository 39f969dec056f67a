"""What a process was at that hung in a game's rules is known to the next one."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from engine import rules_trail
from engine.rules_trail import at, follow, forget

ENDLESS_IN_C = """
import itertools, pathlib, sys
from engine.rules_trail import at, follow
follow(pathlib.Path(sys.argv[1]), lambda *words: print("off", *words, flush=True), 0.1)
with at("other", "something that does not last"):
    pass
print("ready", flush=True)
with at("endless", sys.argv[2]):
    sum(itertools.repeat(0))
"""


@pytest.fixture(autouse=True)
def own_trail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules_trail, "_trail", rules_trail._Trail())


def hang_and_die(place: Path, *words: str, seconds: float = 0.3) -> list[str]:
    """A process begins each of these and is killed in it; returns what games the last took off."""
    said: list[str] = []
    for one in words:
        command = [sys.executable, "-c", ENDLESS_IN_C, str(place), one]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout
            said = []
            while (line := process.stdout.readline().strip()) != "ready":
                said.append(line)
            time.sleep(seconds)
            process.kill()
    return said


@pytest.mark.parametrize(
    ("killed", "seconds", "is_off"),
    [
        (["match 1"], 0.3, False),
        (["match 1", "match 1"], 0.3, True),
        (["match 1", "match 2"], 0.3, False),
        (["match 1", "match 1"], 0.0, False),
    ],
    ids=["once", "twice", "at two things", "for something else, at once"],
)
def test_what_hung_twice_is_not_begun_again(
    tmp_path: Path, killed: Sequence[str], seconds: float, is_off: bool
) -> None:
    place = tmp_path / "trail"
    assert hang_and_die(place, *killed, seconds=seconds) == []
    off: list[tuple[str, str]] = []
    follow(place, lambda *words: off.append(words), 60 if not seconds else 0.1)
    reason = "its rules hung 2 times at match 1, in a place where no Python runs"
    assert off == ([("endless", reason)] if is_off else [])
    off.clear()
    patience = 60 if not seconds else 0.1
    follow(place, lambda *words: off.append(words), patience, lambda game: f"{game} 2")
    assert off == [], "a new version has another chance"
    forget(place)
    follow(place, lambda *words: off.append(words), 0.1)
    assert off == []


def _fail_after(what: str) -> None:
    with at("endless", what):
        pass
    raise ValueError("wrong")


def test_what_is_over_blames_nobody(tmp_path: Path) -> None:
    """Whether it ended well or not; nor does what was begun within it, once that is over."""
    place = tmp_path / "trail"
    hang_and_die(place, "match 1")
    follow(place, lambda *_: None, 0.1)
    with pytest.raises(ValueError, match="wrong"), at("endless", "match 1"):
        _fail_after("match 2")
    off = hang_and_die(place, "match 1")
    assert off == []


NOW = b'["[\\"x\\"]", 0]'.ljust(rules_trail.ROOM)


@pytest.mark.parametrize(
    "left", [b"", b"\0" * 600, b"{" * 600, b"[1]", NOW + b"3", NOW + b'{"x": 2}']
)
def test_what_can_not_be_read_is_nothing(tmp_path: Path, left: bytes) -> None:
    """As where the disk was full."""
    place = tmp_path / "trail"
    place.write_bytes(left)
    follow(place, lambda *_: pytest.fail("nothing hung"))


def test_where_nothing_can_be_kept_all_goes_on(tmp_path: Path) -> None:
    follow(tmp_path / "missing" / "trail", lambda *_: pytest.fail("nothing hung"))
    with at("endless", "match 1"):
        pass
