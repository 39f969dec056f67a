"""Bots that follow repositories, at the pages and by the API; and what forges say of pushes."""

from __future__ import annotations

import hmac
import re
from collections.abc import Iterator
from datetime import timedelta
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlencode

import pytest
import sqlalchemy as sa

from arena.models import Bot, BotVersion, Repository
from arena.signing import push_secret, unseal
from tests.arena.web.conftest import Site
from tests.arena.web.signing_in import now
from tests.arena.web.test_access import opened, unchanged

ADDRESS = "https://github.com/me/bot.git"
PUSH = b'{"ref": "refs/heads/main"}'


@pytest.fixture(scope="module")
def door(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """The site with people at browsers."""
    with unchanged(site.database):
        found = opened(site, tmp_path_factory.mktemp("data"))
        found.database = site.database
        yield found
        found.app.extensions["arena.database"].close()
    with site.database.begin() as session:
        session.execute(sa.delete(Repository))
        session.execute(sa.update(BotVersion).values(commit_hash=None))


def kept(door: SimpleNamespace) -> Repository:
    with door.database.read() as session:
        return session.scalars(sa.select(Repository)).one()


def follow(door: SimpleNamespace, **more: Any) -> Any:
    fields = {"repository": ADDRESS, "ladders": "ladder-0", **more}
    return door.browsers["owner"].post(
        "/bots/bot-0/repository", fields, page="/bots/bot-0/repository"
    )


def test_by_the_form(door: SimpleNamespace) -> None:
    """It comes back with what is wrong, keeps several ladders, and never shows the token."""
    owner = door.browsers["owner"]
    for field, value, words in (
        ("repository", "git@github.com:me/bot.git", "Give an address that begins with https://."),
        ("revision", "-x", "This is no name of a branch or a tag."),
        ("ladders", [], "This is needed."),
    ):
        wrong = follow(door, **{field: value})
        assert wrong.status_code == 422
        assert words in wrong.text
    follow(door, ladders=["ladder-0", "ladder-2"], token="secret-token", revision="main")
    its = kept(door)
    assert len(its.ladders) == 2
    with door.database.read() as session:
        assert unseal(session, its.sealed) == "secret-token"
        secret = push_secret(session, its.code)
    page = owner.get("/bots/bot-0/repository")
    assert page.headers["Cache-Control"] == "private, no-store"
    assert "secret-token" not in page.text
    assert f"/api/push/{its.code}" in page.text
    assert secret in page.text
    assert page.text.count('name="ladders"') >= 2
    assert page.text.count(" checked") == 2
    assert f"It follows <bdi>{ADDRESS}</bdi>" in owner.get("/bots/bot-0").text
    for who in ("anonymous", "other", "administrator"):
        assert ADDRESS not in door.browsers[who].get("/bots/bot-0").text


def test_a_page_that_asks_first_asks_for_the_token_anew(door: SimpleNamespace) -> None:
    """It stands in no page."""
    follow(door, token="first-token")
    fields = {
        "repository": ADDRESS.replace("github", "gitlab"),
        "ladders": "ladder-0",
        "token": "secret-token",
    }
    there = "/bots/bot-0/repository"
    asked = door.browsers["owner"].send(there, fields, page=there)
    assert 'id="ask"' in asked.text
    assert "secret-token" not in asked.text
    assert re.search(r'<input type="password" name="token" required', asked.text)


SIGNED: dict[str, tuple[Any, int]] = {
    "GitHub": (
        lambda s, h: {"X-Hub-Signature-256": f"sha256={h}", "X-Hub-Signature": "sha1=x"},
        204,
    ),
    "Gitea": (lambda s, h: {"X-Gitea-Signature": h}, 204),
    "Bitbucket": (lambda s, h: {"X-Hub-Signature": f"sha256={h}"}, 204),
    "GitLab": (lambda s, h: {"X-Gitlab-Token": s}, 204),
    "another secret": (lambda s, h: {"X-Hub-Signature-256": f"sha256={'0' * 64}"}, 403),
    "another token": (lambda s, h: {"X-Gitlab-Token": h}, 403),
    "an empty token": (lambda s, h: {"X-Gitlab-Token": ""}, 403),
    "no letters": (lambda s, h: {"X-Gitlab-Token": "\xe9", "X-Hub-Signature-256": h}, 403),
    "by SHA-1 alone": (lambda s, h: {"X-Hub-Signature": "sha1=" + "0" * 40}, 403),
    "nothing": (lambda s, h: {}, 403),
}
"""What forges send with a push, by the secret and the HMAC of what they say."""


def test_a_push(door: SimpleNamespace, subtests: pytest.Subtests) -> None:
    """Who proves the secret has the repository asked soon; nobody else changes anything."""
    follow(door)
    its = kept(door)
    client = door.browsers["anonymous"].client
    with door.database.read() as session:
        secret = push_secret(session, its.code)
    later = now() + timedelta(hours=5)
    for name, (headers, status) in SIGNED.items():
        for kind in ("application/json", "application/x-www-form-urlencoded"):
            body = PUSH if kind.endswith("json") else urlencode({"payload": PUSH}).encode()
            told = headers(secret, hmac.digest(secret.encode(), body, "sha256").hex())
            with subtests.test((name, kind)):
                with door.database.begin() as session:
                    session.execute(sa.update(Repository).values(due=later, pushed=None))
                answer = client.post(
                    f"/api/push/{its.code}", data=body, headers=told, content_type=kind
                )
                assert answer.status_code == status, answer.text
                assert (kept(door).due < later) is (status == 204)
                assert (kept(door).pushed is not None) is (status == 204)
    # The secret of another address is none of this one, and one that is left is told so.
    with door.database.begin() as session:
        other = push_secret(session, "else")
        session.execute(sa.delete(Repository))
    signed = {"X-Gitlab-Token": secret}
    assert client.post(f"/api/push/{its.code}", data=PUSH, headers=signed).status_code == 404
    signed = {"X-Gitlab-Token": other}
    assert client.post("/api/push/else", data=PUSH, headers=signed).status_code == 404
    assert client.post(f"/api/push/{its.code}", data=PUSH, headers=signed).status_code == 403
    assert client.get(f"/api/push/{its.code}").status_code == 405


def test_commits_are_for_who_may_read_the_code(door: SimpleNamespace) -> None:
    """The page and the API show them, with what changed since; no markup of theirs is."""
    with door.database.begin() as session:
        bot = session.scalars(sa.select(Bot).where(Bot.name == "bot-0")).one()
        its = session.scalars(sa.select(BotVersion).where(BotVersion.bot_id == bot.id)).all()
        for version in its:
            version.commit_hash = f"{version.number:040x}"
            version.commit_subject = f"<b>change {version.number}</b>"
            version.commit_repository = ADDRESS
        newest = max(its, key=lambda one: one.number)
        newest.commit_dirty = True
        number = newest.number
    for who, sees in (("anonymous", False), ("other", False), ("owner", True)):
        browser = door.browsers[who]
        page = browser.get("/bots/bot-0").text
        assert (f"&lt;b&gt;change {number}&lt;/b&gt;" in page) is sees
        assert "<b>change" not in page
        assert (f"https://github.com/me/bot/commit/{number:040x}" in page) is sees
        if number > 1:
            since = f"https://github.com/me/bot/compare/{number - 1:040x}...{number:040x}"
            assert (since in page) is sees
        (told, *_) = browser.get("/api/v1/bots/bot-0/versions").json["items"]
        assert (told["commit"] is not None) is sees
        if sees:
            assert told["commit"] == {
                "commit": f"{number:040x}",
                "subject": f"<b>change {number}</b>",
                "repository": ADDRESS,
                "dirty": True,
                "page": f"https://github.com/me/bot/commit/{number:040x}",
            }
