"""Commits of git repositories as pages elsewhere: what each known forge calls them.

A forge is known by the name of its host. Of one that is not, or of a repository that is not known,
there is no page to lead to.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from arena.ground.outside import OutsideError, read_address
from arena.models import BotVersion

SHORT = 10
"""Characters of a commit's name where people see it."""
HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}", re.ASCII)
_SSH = re.compile(r"(?:ssh://)?(?:[\w.-]+@)([\w.-]+)(?::(?:\d+/)?|/)(?!/)(.+)", re.ASCII)
"""How git writes an address for SSH: ``git@github.com:me/bot.git``, ``ssh://git@host/me/bot``."""


class Forge(NamedTuple):
    """Where a forge has the page of a commit, and of what changed between two, below that of its
    repository; empty where it has none."""

    commit: str
    comparison: str


_GITLAB = Forge("/-/commit/{new}", "/-/compare/{old}...{new}")
_GITEA = Forge("/commit/{new}", "/compare/{old}...{new}")
KNOWN: Mapping[str, Forge] = {
    "github.com": Forge("/commit/{new}", "/compare/{old}...{new}"),
    "gitlab.com": _GITLAB,
    "codeberg.org": _GITEA,
    "gitea.com": _GITEA,
    "bitbucket.org": Forge("/commits/{new}", "/branches/compare/{new}..{old}"),
    "git.sr.ht": Forge("/commit/{new}", ""),
}
"""The forges that are known, by their hosts."""
ALIKE: Sequence[tuple[str, Forge]] = (
    ("gitlab.", _GITLAB),
    ("gitea.", _GITEA),
    ("forgejo.", _GITEA),
)
"""The forges of other hosts, by how these hosts' names begin."""


@dataclass(frozen=True, slots=True)
class Commit:
    """The commit that a bot's files are of."""

    hash: str
    """Its name in full, in hexadecimal digits."""
    subject: str = ""
    """The first line of what its author said of it."""
    repository: str = ""
    """The https address of the repository; empty where it is not known."""
    dirty: bool = False
    """Whether files were changed since."""

    @property
    def short(self) -> str:
        """Its name in short, with a plus sign where files were changed since."""
        return self.hash[:SHORT] + ("+" if self.dirty else "")

    @property
    def page(self) -> str:
        """The address of its page; empty if that is not known."""
        forge = _forge_of(self.repository)
        return forge and page_of(self.repository) + forge.commit.format(new=self.hash) or ""

    def comparison(self, before: Commit) -> str:
        """The address of a page that shows what changed since another; empty if there is none."""
        forge = _forge_of(self.repository)
        is_same = page_of(self.repository) == page_of(before.repository)
        if forge is None or not forge.comparison or not is_same or self.hash == before.hash:
            return ""
        its = forge.comparison.format(old=before.hash, new=self.hash)
        return page_of(self.repository) + its


def commit_of(version: BotVersion) -> Commit | None:
    """The commit that a version is of, if somebody said."""
    if version.commit_hash is None:
        return None
    return Commit(
        version.commit_hash,
        version.commit_subject or "",
        version.commit_repository or "",
        bool(version.commit_dirty),
    )


def keep(version: BotVersion, commit: Commit) -> None:
    """Has a version remember its commit, unless it has one."""
    if version.commit_hash is None:
        version.commit_hash, version.commit_subject = commit.hash, commit.subject
        version.commit_repository, version.commit_dirty = commit.repository, commit.dirty


def page_of(repository: str) -> str:
    """The address of a repository's own page."""
    return re.sub(r"(\.git)?/*$", "", repository)


def https_address(remote: str) -> str:
    """The https address of what git calls a remote, without a name or a password in it; empty if
    it has none."""
    found = _SSH.fullmatch(remote)
    remote = f"https://{found[1]}/{found[2]}" if found else remote
    remote = re.sub(r"^https://[^/@]*@", "https://", remote)
    try:
        read_address(remote)
    except OutsideError:
        return ""
    return remote


def _forge_of(repository: str) -> Forge | None:
    try:
        host = read_address(repository).host
    except OutsideError:
        return None
    alike = (forge for beginning, forge in ALIKE if host.startswith(beginning))
    return KNOWN.get(host) or next(alike, None)
