"""Somebody who lost a game finds the move that lost it, asks two bots, and sends a friend the link.

Counted in clicks, from the leaderboard on; on a phone they are taps.
"""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa
from playwright.sync_api import Locator, expect

from arena.ground.db import Database
from arena.models import BotAnswer, JobStatus, Question
from engine.analysis import Tree
from engine.record import GameRecord
from tests.browser.conftest import PHONE, Watched

expect.set_options(timeout=30_000)
TOUCHED: dict[str, Any] = {"viewport": PHONE, "has_touch": True, "is_mobile": True}


def answer(database: Database, loser: int) -> int:
    """Answers what is asked: the loser is ahead until its last move; gives that move's number."""
    with database.begin() as session:
        asked = session.scalars(sa.select(Question).where(Question.status == JobStatus.OPEN)).all()
        assert len(asked) == 2
        for one in asked:
            game = GameRecord.from_json(one.game)
            tree = Tree.of_record(game)
            last = max(number for number, ply in enumerate(game.plies) if ply.seat == loser)
            for ply, key in zip(one.plies, one.keys, strict=True):
                state = tree.states[ply]
                ahead = (state.to_move == loser) == (ply <= last)
                session.add(
                    BotAnswer(
                        question_id=one.id,
                        ply=ply,
                        key=key,
                        version_id=one.version_id,
                        seat=state.to_move,
                        move=state.legal_moves()[0],
                        detail="",
                        text="",
                        share=0.75 if ahead else 0.25,
                        pv=[],
                        cpu_us=5,
                        move_ms=1000,
                        answered=one.created,
                    )
                )
            one.end_lease(JobStatus.FIXED)
    return last + 1


@pytest.mark.long
@pytest.mark.parametrize("touched", [False, True], ids=["clicks", "taps"])
def test_the_move_that_lost(site: Watched, touched: bool) -> None:
    """It takes five: the bot, the game, the analysis, to ask, and the move."""
    options = TOUCHED if touched else {"viewport": {"width": 1366, "height": 768}}
    pressed = []
    with site.database.begin() as session:  # what was asked the other way is known
        session.execute(sa.delete(BotAnswer))
        session.execute(sa.delete(Question))
    with site.context("owner", **options) as context, site.context() as others:
        page = context.new_page()

        def press(what: Locator) -> None:
            what.scroll_into_view_if_needed()
            (what.tap if touched else what.click)()
            pressed.append(what)

        page.goto(site.address("/ladders/ladder-0"))
        press(page.locator("#board").get_by_role("link", name="bot-1").first)
        row = page.locator("tr", has=page.locator("td.lost", has_text="lost")).last
        loser = 0 if "White" in row.inner_text() else 1
        press(row.locator("a").first)
        press(page.get_by_role("button", name="Analyse from here"))
        press(page.get_by_role("button", name="Ask about every move"))
        page.wait_for_url("**/analysis?**")
        expect(page.locator("#asked .pulse")).to_have_count(2)
        move = answer(site.database, loser)
        swing = page.locator(".swings a").first
        expect(swing).to_contain_text(f"move {move},")
        press(swing)
        expect(page.locator(".steps span")).to_contain_text(f"move {move - 1} of ")
        assert len(pressed) == 5
        friend = others.new_page()
        friend.goto(page.url)
        expect(friend.locator("#asked tbody tr")).to_have_count(2)
        expect(friend.locator(".swings li").first).to_contain_text("gave 50 % away")
