"""Bots out of git repositories: real ones, made here, and what is refused."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from arena.bots.forges import Commit
from arena.cli import InputError
from arena.cli.sources import commit_at, git_folder
from tests.requirements import need
from workers.bundles import pack

BOT = "print('ready first')\n"


def git(folder: Path, *words: str) -> str:
    """Runs git as somebody without settings of their own."""
    who = {
        f"GIT_{role}_{key}": "ada" for role in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")
    }
    done = subprocess.run(
        ["git", "-C", str(folder), "-c", "protocol.file.allow=always", *words],
        env={"PATH": os.environ["PATH"], "HOME": str(folder), **who},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Two commits of a bot, the first one tagged, and one of another bot in a folder below."""
    folder = tmp_path / "mybot.git"
    folder.mkdir()
    try:
        git(folder, "init", "--quiet", "--initial-branch=main")
    except FileNotFoundError:
        need(False, "git is not installed")
    (folder / "bot.py").write_text(BOT)
    (folder / "other").mkdir()
    (folder / "other" / "main.py").write_text(BOT)
    (folder / "away").symlink_to("/etc")
    git(folder, "add", "bot.py", "other")
    git(folder, "commit", "--quiet", "-m", "one")
    git(folder, "tag", "v1")
    (folder / "bot.py").write_text(BOT * 2)
    git(folder, "commit", "--quiet", "-am", "two")
    return folder


@pytest.mark.parametrize("revision", ["v1", "main", "commit"])
def test_revision(revision: str, repository: Path) -> None:
    """A tag, a branch or a commit; without git's own folder, and under the repository's name."""
    wanted = BOT if revision == "v1" else BOT * 2
    if revision == "commit":
        revision = git(repository, "rev-parse", "HEAD")
    with git_folder(f"file://{repository}#{revision}") as (folder, commit):
        its = git(repository, "rev-parse", "v1" if wanted == BOT else "main")
        assert commit == Commit(its, "one" if wanted == BOT else "two")
        assert (folder / "bot.py").read_text() == wanted
        assert not (folder / ".git").exists()
        assert pack(folder).name == "mybot"
    assert not folder.exists()


def test_folder_of_a_repository(repository: Path) -> None:
    """One repository may hold several bots."""
    with git_folder(f"{repository}#main:other") as (folder, _):
        assert [path.name for path in folder.iterdir()] == ["main.py"]


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("{url}", "--git takes URL#REVISION"),
        ("#main", "--git takes URL#REVISION"),
        ("--upload-pack=x#main", "--git takes URL#REVISION"),
        ("{url}#--all", "--git takes URL#REVISION"),
        ("{url}#v7", "can't fetch it: fatal: couldn't find remote ref v7"),
        ("{url}/nowhere#main", "can't fetch it: fatal: .*nowhere"),
        ("ext::sh -c id#main", "can't fetch it: fatal: transport 'ext' not allowed"),
        ("{url}#main:nowhere", "there is no folder 'nowhere'"),
        ("{url}#main:../..", "the folder '../..' is none of the repository's"),
        ("{url}#main:/etc", "the folder '/etc' is none of the repository's"),
        ("{url}#links:away", "there is no folder 'away'"),
        ("{url}#modules", "has submodules, which are not fetched"),
    ],
)
def test_refused(address: str, words: str, repository: Path) -> None:
    """Each in one line."""
    git(repository, "checkout", "--quiet", "-b", "links")
    git(repository, "add", "away")
    git(repository, "commit", "--quiet", "-m", "a link")
    git(repository, "checkout", "--quiet", "-b", "modules")
    (repository / ".gitmodules").write_text("")
    git(repository, "add", ".gitmodules")
    git(repository, "commit", "--quiet", "-m", "a submodule")
    where = address.format(url=f"file://{repository}")
    with pytest.raises(InputError, match=words) as caught, git_folder(where):
        pass
    assert "\n" not in caught.value.message


def test_the_commit_of_a_work_tree(repository: Path, tmp_path: Path) -> None:
    """With whether the bot itself was changed since, and where the repository is, without a
    password; nothing of what is no part of a commit."""
    git(repository, "remote", "add", "origin", "https://me:secret@github.com/me/mybot.git")
    its = git(repository, "rev-parse", "HEAD")
    clean = Commit(its, "two", "https://github.com/me/mybot.git")
    (repository / "bot.py").write_text("changed")
    assert commit_at(repository / "other") == clean
    assert commit_at(repository) == commit_at(repository / "bot.py") == replace(clean, dirty=True)
    (repository / "new.py").write_text(BOT)
    assert commit_at(repository / "new.py") is None
    assert commit_at(tmp_path) is None
