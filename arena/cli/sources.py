"""A bot's files out of a git repository, fetched on the author's side, and their commit."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from arena.bots.forges import HASH, Commit, https_address
from arena.cli import InputError
from engine.translation import gettext

FETCH_SECONDS = 120


LOOK_SECONDS = 10
"""What git may take to tell of a work tree."""


def commit_at(path: Path) -> Commit | None:
    """The commit of which a bot's files are, with whether they were changed since; None if they lie
    in no work tree, or are no part of it."""
    above = path if path.is_dir() else path.parent
    its = "." if path.is_dir() else path.name
    found = _said(above, "rev-parse", "HEAD")
    if found is None or not HASH.fullmatch(found) or not _said(above, "ls-files", "--", its):
        return None
    return Commit(
        found,
        _said(above, "log", "-1", "--encoding=UTF-8", "--format=%s") or "",
        https_address(_said(above, "remote", "get-url", "origin") or ""),
        dirty=_said(above, "status", "--porcelain", "--", its) != "",
    )


def _said(folder: Path, *words: str) -> str | None:
    """What git says of a work tree; None if it can't, or there is no git."""
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), "-c", "core.fsmonitor=false", *words],
            env={**os.environ, "LC_ALL": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LOOK_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


@contextmanager
def git_folder(address: str) -> Iterator[tuple[Path, Commit]]:
    """The files of ``URL#REVISION`` or ``URL#REVISION:FOLDER``, for as long as the block runs, and
    the commit that they are of.

    Only that revision is fetched, without its history; submodules are not, and none of the
    repository's own hooks or filters is run.

    Raises:
        InputError: there is no git, no such repository, revision or folder.
    """
    url, _, rest = address.partition("#")
    revision, _, below = rest.partition(":")
    if not url or not revision or url.startswith("-") or revision.startswith("-"):
        raise InputError(
            gettext(
                "--git takes URL#REVISION, a branch, a tag or a whole commit, or URL#REV:FOLDER"
            )
        )
    if ".." in PurePosixPath(below).parts or below.startswith("/"):
        raise InputError(gettext("the folder %(folder)r is none of the repository's", folder=below))
    if shutil.which("git") is None:
        raise InputError(
            gettext("git is not installed here; give a folder or an archive instead of --git")
        )
    with tempfile.TemporaryDirectory(prefix="arena-git-") as made:
        # A name of its own, since the bundle takes its name from the folder.
        name = re.sub(r"\.git$", "", url.rstrip("/").rpartition("/")[2].rpartition(":")[2])
        folder = Path(made) / (re.sub(r"[^A-Za-z0-9_.-]", "-", name).strip(".") or "bot")
        _git(None, "init", "--quiet", "--template=", str(folder))
        options = ("--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules")
        _git(folder, "fetch", *options, "--end-of-options", url, revision)
        _git(folder, "checkout", "--quiet", "--detach", "FETCH_HEAD")
        if (folder / ".gitmodules").exists():
            raise InputError(
                gettext(
                    "%(url)s has submodules, which are not fetched: put their files into it",
                    url=url,
                )
            )
        commit = Commit(
            _said(folder, "rev-parse", "HEAD") or "",
            _said(folder, "log", "-1", "--encoding=UTF-8", "--format=%s") or "",
            https_address(url),
        )
        shutil.rmtree(folder / ".git")
        found = folder / below
        # A link of the repository could lead anywhere.
        if not found.is_dir() or found.resolve() != folder.resolve() / below:
            raise InputError(
                gettext(
                    "there is no folder %(folder)r in %(url)s at %(revision)s",
                    folder=below,
                    url=url,
                    revision=revision,
                )
            )
        yield found, commit


def _git(folder: Path | None, *words: str) -> None:
    where = ["-C", str(folder)] if folder else []
    quiet = ["-c", "core.hooksPath=/dev/null", "-c", "protocol.ext.allow=never"]
    try:
        done = subprocess.run(
            ["git", *where, *quiet, *words],
            # Nobody is there to be asked for a password.
            env={**os.environ, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=FETCH_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise InputError(
            gettext(
                "git took more than %(seconds)s s to fetch: give it later", seconds=FETCH_SECONDS
            )
        ) from None
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.startswith(("fatal:", "error:"))]
        words_said = lines[0] if lines else done.stderr.strip() or gettext("git failed")
        reason = words_said.replace(str(folder), gettext("the repository"))
        raise InputError(gettext("git can't fetch it: %(reason)s", reason=reason))
