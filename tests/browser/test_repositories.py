"""The page by which a bot follows a repository: by the keyboard alone, and for everybody."""

from __future__ import annotations

from collections.abc import Callable

import sqlalchemy as sa
from playwright.sync_api import Page

from arena.models import BotVersion, Repository
from tests.browser.conftest import PHONE, WIDE, Watched
from tests.browser.test_every_page import spilled

ADDRESS = "https://github.com/me/bot.git"


def test_following_by_the_keyboard(
    site: Watched, owner: Page, object_to: Callable[..., list[str]]
) -> None:
    """The bot's page leads to a repository that it follows, and back."""
    try:
        owner.goto(site.address("/bots/bot-0"))
        owner.get_by_role("button", name="Follow a git repository").focus()
        owner.keyboard.press("Enter")
        owner.wait_for_url("**/bots/bot-0/repository")
        owner.get_by_label("Address").focus()
        owner.keyboard.type(ADDRESS)
        owner.keyboard.press("Tab")
        owner.keyboard.type("main")
        for _ in range(3):  # over the folder and the token, to the first ladder
            owner.keyboard.press("Tab")
        owner.keyboard.press("Space")
        owner.keyboard.press("Enter")
        owner.get_by_text("follows").first.wait_for()
        with site.database.begin() as session:
            found = session.scalars(sa.select(Repository)).one()
            assert (found.address, found.revision, len(found.ladders)) == (ADDRESS, "main", 1)
            # What it shows when something is wrong, and of a version that came so.
            found.problem = "there is no repository github.com/me/bot.git; if it is private, " * 2
            version = session.scalars(
                sa.select(BotVersion).where(BotVersion.bot_id == found.bot_id)
            ).first()
            assert version is not None
            version.commit_hash, version.commit_dirty = "a" * 40, True
            version.commit_subject = "Look deeper where there is time, " * 4
            version.commit_repository = ADDRESS
        for path in ("/bots/bot-0/repository", "/bots/bot-0"):
            owner.goto(site.address(path))
            for size in (WIDE, PHONE):
                owner.set_viewport_size(size)
                assert spilled(owner) == []
            assert object_to(owner) == []
        owner.goto(site.address("/bots/bot-0/repository"))
        owner.get_by_role("button", name="Follow it no more").focus()
        owner.keyboard.press("Enter")
        owner.wait_for_url("**/bots/bot-0")
        owner.get_by_role("button", name="Follow a git repository").wait_for()
    finally:
        with site.database.begin() as session:
            session.execute(sa.delete(Repository))
            session.execute(sa.update(BotVersion).values(commit_hash=None))
