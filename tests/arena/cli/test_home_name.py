"""What the client of a bot at home calls itself: the same after a kill -9, and one at a time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from arena.cli import InputError, home_name
from arena.cli.home_name import own_name

ADDRESS = "https://arena.example"
HOLDER = f"""
from arena.cli.home_name import own_name
with own_name({ADDRESS!r}, 7) as name:
    print(name, flush=True)
    input()
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """This user's folder of settings."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    return home_name.folder()


def test_a_killed_client_leaves_its_name_to_its_successor(place: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as first:
        assert first.stdout
        name = first.stdout.readline().strip()
        with pytest.raises(InputError, match="connected from this machine already"):
            own_name(ADDRESS, 7).__enter__()
        for other in ((ADDRESS, 8), ("https://other.example", 7)):
            with own_name(*other) as another:
                assert another != name
        first.kill()
    with own_name(ADDRESS, 7) as again:
        assert again == name
    (file, *_) = place.iterdir()
    assert file.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("kept", ["", "x" * 32, "a" * 31, "\xff" * 40])
def test_what_is_no_name_is_made_anew(place: Path, kept: str) -> None:
    """As of a disk that was full when it was written."""
    with own_name(ADDRESS, 7):
        (file,) = place.iterdir()
    file.write_bytes(kept.encode("latin-1"))
    with own_name(ADDRESS, 7) as name:
        pass
    with own_name(ADDRESS, 7) as again:
        assert again == name != kept


def test_where_nothing_can_be_kept_a_name_is_new_each_time(place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("a file in its place")
    with own_name(ADDRESS, 7) as one, own_name(ADDRESS, 7) as other:
        assert one != other
