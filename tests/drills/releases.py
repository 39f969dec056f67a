"""The release before, as files of this repository's history and an interpreter that finds them."""

from __future__ import annotations

import json
import subprocess
import sysconfig
import venv
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


class NoReleaseError(RuntimeError):
    """What stands in this clone has no release before; one sentence that says what to do."""


@dataclass(frozen=True, slots=True)
class Release:
    """A release beside this one, with the libraries of this one."""

    name: str
    python: Path

    @classmethod
    def unpack(cls, name: str, folder: Path) -> Release:
        """Puts the files of a release into a folder, which is made.

        Args:
            name: a tag or another name of a commit.
        """
        files, its = folder / "files", folder / "venv"
        files.mkdir(parents=True)
        archive = subprocess.run(
            ["git", "archive", name], cwd=ROOT, check=True, capture_output=True
        ).stdout
        subprocess.run(["tar", "-x", "-C", str(files)], input=archive, check=True)
        venv.create(its, symlinks=True)
        # Its files come first; where this one is found stands in a file that is not read there.
        places = f"{files}\n{sysconfig.get_path('purelib')}\n"
        own = sysconfig.get_path("purelib", vars={"base": str(its), "platbase": str(its)})
        (Path(own) / "release.pth").write_text(places)
        return cls(name, its / "bin" / "python")

    @property
    def command(self) -> list[str]:
        """The command ``arena``."""
        return [str(self.python), "-P", "-c", "from arena.cli import main; main()"]

    def ask(self, code: str) -> object:
        """What a piece of Python, which prints JSON, says in this release."""
        words = [str(self.python), "-P", "-c", code]
        done = subprocess.run(words, check=True, capture_output=True, text=True, cwd="/")
        return json.loads(done.stdout.splitlines()[-1])


def before(clone: Path = ROOT) -> str:
    """The last release before what stands in a clone: its tag, or without tags its commit.

    Raises:
        NoReleaseError: there is none.
    """
    head = _git(clone, "rev-parse", "HEAD")
    tags = _git(clone, "tag", "--list", "v*", "--merged", "HEAD", "--sort=-v:refname").split()
    commits = _git(clone, "log", "--format=%H", "--grep=^Release [0-9]").split()
    for name in [*tags, *commits]:
        if _git(clone, "rev-parse", f"{name}^{{commit}}") != head:
            return name
    raise NoReleaseError(
        "no release before this one is in this clone: git fetch --unshallow --tags, or name a "
        "commit by RELEASE"
    )


def _git(clone: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=clone, check=False, capture_output=True, text=True)
    return done.stdout.strip()
