"""Which release is the one before, as a clone has it."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.drills.releases import NoReleaseError, before

NAMES = ("-c", "user.name=a", "-c", "user.email=a@example.org")


@pytest.mark.parametrize(
    ("steps", "found"),
    [
        (["Begin", "Release 0.1.0", "tag v0.1.0", "Go on"], "v0.1.0"),
        (["Release 0.9.0", "tag v0.9.0", "Release 0.10.0", "tag v0.10.0", "Go on"], "v0.10.0"),
        (["Release 0.1.0", "tag v0.1.0", "Release 0.2.0", "tag v0.2.0"], "v0.1.0"),
        (["Begin", "Release 0.1.0", "Go on"], "Release 0.1.0"),
        (["Release 0.1.0", "Release 0.2.0"], "Release 0.1.0"),
        (["Begin", "Release what is held", "Go on"], None),
        (["Begin", "Go on"], None),
    ],
)
def test_the_release_before(steps: Sequence[str], found: str | None, tmp_path: Path) -> None:
    """The last tag that is not what stands there; a clone without tags goes by its commits."""

    def git(*words: str) -> str:
        done = subprocess.run(
            ["git", *NAMES, *words], cwd=tmp_path, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    git("init", "-q")
    for step in steps:
        if step.startswith("tag "):
            git("tag", step.removeprefix("tag "))
        else:
            git("commit", "-q", "--allow-empty", "-m", step)
    if found is None:
        with pytest.raises(NoReleaseError, match="git fetch --unshallow --tags"):
            before(tmp_path)
        return
    name = before(tmp_path)
    assert found in (name, git("log", "-1", "--format=%s", name))
