"""Where forges have the pages of commits."""

from __future__ import annotations

import pytest

from arena.bots.forges import Commit, https_address

OLD, NEW = "a" * 40, "b" * 40
PAGES = {
    "https://github.com/me/bot.git": (f"/commit/{NEW}", f"/compare/{OLD}...{NEW}"),
    "https://gitlab.com/me/group/bot": (f"/-/commit/{NEW}", f"/-/compare/{OLD}...{NEW}"),
    "https://gitlab.example.org/me/bot.git": (f"/-/commit/{NEW}", f"/-/compare/{OLD}...{NEW}"),
    "https://codeberg.org/me/bot/": (f"/commit/{NEW}", f"/compare/{OLD}...{NEW}"),
    "https://gitea.example.org:3000/me/bot": (f"/commit/{NEW}", f"/compare/{OLD}...{NEW}"),
    "https://bitbucket.org/me/bot": (f"/commits/{NEW}", f"/branches/compare/{NEW}..{OLD}"),
    "https://git.sr.ht/~me/bot": (f"/commit/{NEW}", ""),
    "https://git.example.org/me/bot.git": ("", ""),
    "": ("", ""),
    "javascript:alert(1)": ("", ""),
}
"""As the forges' own pages have them, below the page of the repository."""
REMOTES = {
    "git@github.com:me/bot.git": "https://github.com/me/bot.git",
    "ssh://git@git.example.org:2222/me/bot": "https://git.example.org/me/bot",
    "ssh://git@git.example.org/me/bot": "https://git.example.org/me/bot",
    "https://me:secret@github.com/me/bot.git": "https://github.com/me/bot.git",
    "https://token@github.com/me/bot.git": "https://github.com/me/bot.git",
    "https://github.com/me/bot.git": "https://github.com/me/bot.git",
    "http://github.com/me/bot.git": "",
    "/home/me/bot": "",
    "../bot": "",
    "file:///home/me/bot": "",
    "": "",
}
"""What `git remote get-url` says."""


def test_pages(subtests: pytest.Subtests) -> None:
    for repository, (page, comparison) in PAGES.items():
        with subtests.test(repository):
            top = repository.removesuffix("/").removesuffix(".git")
            new, old = Commit(NEW, "", repository), Commit(OLD, "", repository)
            assert new.page == (page and top + page)
            assert new.comparison(old) == (comparison and top + comparison)
            assert new.comparison(new) == ""
            assert new.comparison(Commit(OLD, "", "https://github.com/other/bot")) == ""


def test_remotes(subtests: pytest.Subtests) -> None:
    """No secret of an address is ever told."""
    for remote, address in REMOTES.items():
        with subtests.test(remote):
            assert https_address(remote) == address
    assert Commit(NEW, dirty=True).short == "bbbbbbbbbb+"
