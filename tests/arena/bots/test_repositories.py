"""Bots that follow git repositories: what is new there is handed in, once; else it is said why."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from arena import audit
from arena.audit import ARENA
from arena.bots import repositories
from arena.bots.forges import Commit
from arena.bots.intake import TakenIn
from arena.bots.repository_deeds import FetchRepository, FollowRepository, UnfollowRepository
from arena.cli.fetch import Fetching
from arena.deeds import By, perform
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.ground.refusals import NotAllowed, NotThere, Refusal, WrongField
from arena.models import (
    AuditEntry,
    Bot,
    BotVersion,
    Check,
    CompetitionState,
    Ladder,
    Mark,
    Notification,
    Repository,
    Scope,
    User,
    Visibility,
)
from arena.signing import SECRET_MARK
from tests.arena.bots.forge import BOT, TOKEN, Forge, commit, git, repository
from tests.arena.web.conftest import furnish
from tests.arena.web.signing_in import now, person
from tests.furnished import furnished_database
from tests.secure import serving


class Arena:
    """An arena with a bot of Ada's, who follows a repository of a forge."""

    def __init__(self, database: Database, settings: Settings, forge: str) -> None:
        self.database, self.settings, self.forge = database, settings, forge
        self.ada = person(database, "ada")
        with database.begin() as session:
            bot = session.scalars(sa.select(Bot).where(Bot.name == "bot-0")).one()
            bot.owner_id = self.ada.id

    def by(self) -> By:
        return By(audit.Actor(self.ada.id, "ada", ""), frozenset(Scope), now())

    def follow(self, path: str = "/bot.git", **more: Any) -> None:
        values: dict[str, Any] = {"ladders": ("ladder-0",), "revision": "main", **more}
        with self.database.begin() as session:
            perform(session, FollowRepository("bot-0", f"{self.forge}{path}", **values), self.by())

    def fetch(self) -> str:
        """Asks what is due; the problem that is kept then."""
        Fetching(self.settings, self.database, os.getppid()).run()
        return self.kept().problem

    def fetch_now(self) -> str:
        """The same once more, at once."""
        with self.database.begin() as session:
            session.execute(sa.update(Repository).values(fetched=None))
            perform(session, FetchRepository("bot-0"), self.by())
        return self.fetch()

    def kept(self) -> Repository:
        with self.database.read() as session:
            return session.scalars(sa.select(Repository)).one()

    def versions(self) -> list[BotVersion]:
        """Those that are of a commit, the first first."""
        with self.database.read() as session:
            its = sa.select(BotVersion).where(BotVersion.commit_hash.is_not(None))
            return list(session.scalars(its.order_by(BotVersion.number)))


@pytest.fixture
def arena(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Arena]:
    (tmp_path / "served").mkdir()
    Forge.root = tmp_path / "served"
    Forge.asked.clear()
    repository(Forge.root / "bot.git")
    (Forge.root / "private").symlink_to(Forge.root)
    request.param = "sqlite"
    data = tmp_path / "data"
    data.mkdir()
    with (
        furnished_database(request, data, furnish) as (database, _),
        serving(Forge, tmp_path, monkeypatch) as forge,
    ):
        settings = Settings(data=data, database=database.url, inside="localhost")
        yield Arena(database, settings, forge)


def test_what_is_new_is_handed_in_once(arena: Arena) -> None:
    """With its commit; the same one never again, and another when it is there, forced or not."""
    root = Forge.root / "bot.git"
    arena.follow()
    assert arena.fetch() == ""
    (first,) = arena.versions()
    assert first.commit_hash == git(root, "rev-parse", "HEAD")
    assert (first.commit_subject, first.commit_dirty) == ("two", False)
    assert first.commit_repository == f"{arena.forge}/bot.git"
    with arena.database.read() as session:
        checks = session.scalars(sa.select(Check).where(Check.version_id == first.id)).all()
        assert [(check.ladder.name, check.enters) for check in checks] == [("ladder-0", True)]
        note = session.scalars(sa.select(AuditEntry).where(AuditEntry.action == "submit")).one()
        assert (note.actor, note.origin, note.subject) == ("ada", "git", "bot bot-0")
    packs = sum("upload-pack" in path for path in Forge.asked)
    assert arena.fetch_now() == ""
    assert len(arena.versions()) == 1
    assert sum("upload-pack" in path for path in Forge.asked) == packs + 2, "no pack is fetched"
    # A push that is forced, to a commit that has the old one not even as its parent.
    git(root, "checkout", "--quiet", "--orphan", "other")
    commit(root, "anew\x1b[31m \N{SNOWMAN}", bot=BOT * 3)
    git(root, "branch", "--force", "main", "other")
    assert arena.fetch_now() == ""
    assert [one.commit_subject for one in arena.versions()] == ["two", "anew \N{SNOWMAN}"]
    assert arena.kept().due > now() + timedelta(minutes=9)


def test_what_goes_wrong_is_one_line(arena: Arena, subtests: pytest.Subtests) -> None:
    """And is told once, until it is put right."""
    root = Forge.root / "bot.git"
    arena.follow()
    arena.fetch()
    done = len(arena.versions())

    def away() -> None:
        root.rename(root.with_name("gone.git"))

    def back() -> None:
        root.with_name("gone.git").rename(root)

    def branch_gone() -> None:
        git(root, "checkout", "--quiet", "--detach")
        git(root, "branch", "-D", "main")

    def no_bot() -> None:
        git(root, "checkout", "--quiet", "-B", "main", "v1")
        git(root, "rm", "--quiet", "-r", "bot.py", "other")
        commit(root, "nothing", **{"README.md": "hello"})

    def hostile() -> None:
        (root / "bot.py").symlink_to("/etc/passwd")
        commit(root, "a link")

    def mended() -> None:
        (root / "bot.py").unlink()
        (root / "README.md").unlink()
        commit(root, "mended", bot=BOT * 4)

    rows: dict[str, tuple[Callable[[], Any], str]] = {
        "gone": (away, "there is no repository localhost:"),
        "back": (back, ""),
        "no branch": (branch_gone, "has no branch or tag 'main'"),
        "no bot": (no_bot, "commit [0-9a-f]{10}: "),
        "a link": (hostile, "commit [0-9a-f]{10}: 'bot.py' is a link"),
        "mended": (mended, ""),
    }
    for name, (change, words) in rows.items():
        with subtests.test(name):
            change()
            problem = arena.fetch_now()
            assert re.search(words or "^$", problem), problem
            assert "\n" not in problem
            assert "/tmp" not in problem
    assert len(arena.versions()) == done + 1
    with arena.database.read() as session:
        told = session.scalars(sa.select(AuditEntry).where(AuditEntry.action == repositories.FAIL))
        assert [one.actor for one in told] == [ARENA.name] * 2, "the first of each row of failures"
        ours = Notification.message.startswith("nothing new was handed in")
        heard = session.scalars(sa.select(Notification).where(ours)).all()
        assert [one.user_id for one in heard] == [arena.ada.id] * 2
        assert {one.address for one in heard} == {"/bots/bot-0/repository"}


def test_it_is_asked_later_and_later(arena: Arena) -> None:
    """A host that fails is not asked all the time; one that tells of pushes seldom besides."""
    arena.follow("/broken/bot.git")
    usual = timedelta(seconds=arena.settings.fetch_seconds)
    for factor in (1, 2, 4):
        with arena.database.begin() as session:
            session.execute(sa.update(Repository).values(due=now()))
        assert "answers 502" in arena.fetch()
        assert abs(arena.kept().due - now() - usual * factor) < timedelta(seconds=30)
    arena.follow()
    arena.fetch()
    with arena.database.begin() as session:
        kept = session.scalars(sa.select(Repository)).one()
        assert repositories.told_of_push(session, kept.code, now())
        assert not repositories.told_of_push(session, "else", now())
        soon = kept.due - now()
    assert timedelta() < soon <= repositories.LEAST_PAUSE, "soon, though not at every word"
    with arena.database.begin() as session:
        session.execute(sa.update(Repository).values(due=now()))
    arena.fetch()
    assert arena.kept().due > now() + usual * 5


def test_what_comes_meanwhile_is_seen_to(arena: Arena) -> None:
    """A push that is told of, and a change, while it is asked: it is asked once more."""
    arena.follow()
    arena.fetch()
    for change in ("push", "folder"):
        with arena.database.begin() as session:
            session.execute(sa.update(Repository).values(due=now()))
        with arena.database.begin() as session:
            wanted = repositories.take_due(session, (), now())
        assert wanted is not None
        if change == "push":
            with arena.database.begin() as session:
                assert repositories.told_of_push(session, arena.kept().code, now())
        else:
            arena.follow(folder="other")
        with arena.database.begin() as session:
            repositories.conclude(session, wanted, "", arena.settings, now(), commit="a" * 40)
        assert arena.kept().due <= now() + repositories.LEAST_PAUSE
        assert arena.kept().commit_hash != "a" * 40
    # Nor is anything handed in of what is not followed any more.
    before = len(arena.versions())
    with arena.database.begin() as session:
        perform(session, UnfollowRepository("bot-0"), arena.by())
    with arena.database.begin() as session:
        taken = TakenIn("f" * 64, 1, 1, "Python", "bot-0")
        its = Commit("b" * 40)
        repositories.take_in(session, wanted, wanted.ladders[0], taken, its, arena.settings)
        repositories.conclude(session, wanted, "", arena.settings, now(), commit="a" * 40)
    assert len(arena.versions()) == before


def test_whose_it_is(arena: Arena, subtests: pytest.Subtests) -> None:
    """What a person may do no more, their repository does no more."""
    arena.follow("/private/bot.git", token=TOKEN)
    assert arena.fetch() == ""
    kept = arena.kept()
    assert TOKEN not in str(vars(kept))
    with arena.database.read() as session:
        notes = session.scalars(sa.select(AuditEntry.detail)).all()
        assert TOKEN not in " ".join(notes)
    other = person(arena.database, "other")
    with arena.database.begin() as session:
        stranger = replace(arena.by(), actor=audit.Actor(other.id, "other", ""))
        for deed in (FetchRepository("bot-0"), UnfollowRepository("bot-0")):
            with pytest.raises(NotAllowed, match="is not yours"):
                perform(session, deed, stranger)
    commit(Forge.root / "bot.git", "three", bot=BOT * 3)
    ada = arena.ada.id
    rows: dict[str, tuple[sa.Update, sa.Update]] = {
        "owns the bot no more": (
            sa.update(Bot).where(Bot.name == "bot-0").values(owner_id=other.id),
            sa.update(Bot).where(Bot.name == "bot-0").values(owner_id=ada),
        ),
        "who had it followed": (
            sa.update(User).where(User.id == ada).values(active=False),
            sa.update(User).where(User.id == ada).values(active=True),
        ),
        "takes bots: choose another": (
            sa.update(Ladder).values(state=CompetitionState.FROZEN),
            sa.update(Ladder).values(state=CompetitionState.OPEN),
        ),
        "no ladder that it is handed in to": (  # which Ada does not see
            sa.update(Ladder).values(visibility=Visibility.PRIVATE),
            sa.update(Ladder).values(visibility=Visibility.PUBLIC),
        ),
        "the token can't be read any more": (
            sa.update(Mark).where(Mark.key == SECRET_MARK).values(value="0" * 64),
            sa.update(Repository).values(sealed=""),
        ),
    }
    before = len(arena.versions())
    for words, (change, back) in rows.items():
        with subtests.test(words):
            with arena.database.begin() as session:
                session.execute(change)
                session.execute(sa.update(Repository).values(due=now()))
            assert words in arena.fetch()
            with arena.database.begin() as session:
                session.execute(back)
    assert len(arena.versions()) == before
    # Without the token it is private.
    with arena.database.begin() as session:
        session.execute(sa.update(Repository).values(due=now()))
    assert "give a token that may read it" in arena.fetch()


def test_a_token_is_for_one_repository(arena: Arena, subtests: pytest.Subtests) -> None:
    """It is forgotten with the address, after a question, whoever changes it, and is kept where
    all else changes."""
    bob = person(arena.database, "bob")
    with arena.database.read() as session:
        bot = session.scalars(sa.select(Bot.id).where(Bot.name == "bot-0")).one()
    co_owner = replace(arena.by(), actor=audit.Actor(bob.id, "bob", ""), shared=frozenset({bot}))
    places = {
        "another host": "https://git.example.org/private/bot.git",
        "another port": "https://localhost:1024/private/bot.git",
        "another repository": f"{arena.forge}/private/other.git",
    }
    for words, place in places.items():
        with subtests.test(words):
            arena.follow("/private/bot.git", token=TOKEN)
            arena.follow("/private/bot.git", folder="other")
            assert arena.kept().sealed
            with arena.database.begin() as session:
                same = FollowRepository("bot-0", f"{arena.forge}/private/bot.git", ("ladder-0",))
                assert same.asks(session, co_owner) == ""
                perform(session, same, co_owner)
            assert arena.kept().sealed
            with arena.database.begin() as session:
                elsewhere = FollowRepository("bot-0", place, ("ladder-0",))
                assert "is forgotten" in elsewhere.asks(session, co_owner)
                perform(session, elsewhere, co_owner)
            assert arena.kept().sealed == ""


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("http://git.example.org/x", {}, "begins with https://"),
    ("file:///etc", {}, "begins with https://"),
    ("ext::sh -c id", {}, "without spaces"),
    ("git@github.com:me/bot.git", {}, "begins with https://"),
    ("--upload-pack=id", {}, "begins with https://"),
    ("https://me:secret@git.example.org/x", {}, "leave the name and the password out"),
    ("https://git.example.org", {}, "https://HOST/PATH"),
    ("https://git.example.org/x?y", {}, "https://HOST/PATH"),
    ("https://git.example.org/x", {"revision": "-x"}, "no name of a branch"),
    ("https://git.example.org/x", {"revision": "a..b"}, "no name of a branch"),
    ("https://git.example.org/x", {"revision": "a\nb"}, "no name of a branch"),
    ("https://git.example.org/x", {"revision": "a b"}, "no name of a branch"),
    ("https://git.example.org/x", {"folder": "../x"}, "no folder of a repository"),
    ("https://git.example.org/x", {"folder": ".git"}, "no folder of a repository"),
    ("https://git.example.org/x", {"folder": "a:b"}, "no folder of a repository"),
    ("https://git.example.org/x", {"folder": "--help"}, "no folder of a repository"),
    ("https://git.example.org/x", {"token": "a\r\nX: y"}, "a token has no spaces"),
]


def test_what_names_no_repository(arena: Arena, subtests: pytest.Subtests) -> None:
    for address, more, words in WRONG:
        asked = FollowRepository("bot-0", address, ("ladder-0",), **more)
        with (
            subtests.test((address, *more.values())),
            arena.database.begin() as session,
            pytest.raises(WrongField, match=words),
        ):
            perform(session, asked, arena.by())


def test_a_host_of_the_inside_is_not_asked(arena: Arena) -> None:
    """Unless the operator names it; the repository's page says so, and nobody came there."""
    arena.settings = replace(arena.settings, inside="")
    arena.follow()
    assert arena.fetch() == "localhost is not on the public internet, and so is not asked"
    assert not Forge.asked


def test_nobody_is_held_up(arena: Arena) -> None:
    """Of one person one repository is asked at a time; what somebody asks nobody else does."""
    with arena.database.begin() as session:
        names = ["bot-0", "bot-1", "bot-2"]
        for number, name in enumerate(names):
            bot = session.scalars(sa.select(Bot).where(Bot.name == name)).one()
            owner = arena.ada.id if number < 2 else bot.owner_id
            its = {"address": f"https://git.example.org/{name}", "ladders": []}
            moment: datetime = now() - timedelta(minutes=3 - number)
            session.add(Repository(bot_id=bot.id, user_id=owner, due=moment, **its))
    busy: set[int] = set()
    found = []
    for _ in range(3):
        with arena.database.begin() as session:
            one = repositories.take_due(session, busy, now())
            if one:
                busy.add(one.user_id)
                found.append(one.bot)
    assert found == ["bot-0", "bot-2"]
    with arena.database.begin() as session:
        assert repositories.take_due(session, set(), now()).bot == "bot-1"  # type: ignore[union-attr]
        assert not repositories.is_any_due(session, now())
        for deed in (UnfollowRepository("bot-3"), FetchRepository("bot-3")):
            with pytest.raises((NotThere, Refusal)):
                perform(session, deed, replace(arena.by(), at_machine=True))
