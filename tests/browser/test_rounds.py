"""The table of a ladder's rounds, and the form in which they are set: for everybody."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest
import sqlalchemy as sa
from playwright.sync_api import Locator, Page, expect

from arena.ground.db import database_time
from arena.models import (
    Bot,
    BotVersion,
    CompetitionDate,
    CompetitionState,
    DateKind,
    DivisionPlace,
    Entrant,
    Ladder,
    LadderRound,
    Tournament,
)
from tests.browser.conftest import LAPTOP, PHONE, TABLET, WIDE, Watched
from tests.browser.test_every_page import spilled

DATES = "/competitions/ladder-0/dates"


@contextmanager
def rounds(site: Watched) -> Iterator[None]:
    """Has the ladder have divisions, with a boss, in which a tournament was a round."""
    kept = (DivisionPlace, LadderRound, CompetitionDate)
    with site.database.begin() as session:
        ladder = session.scalars(sa.select(Ladder).where(Ladder.name == "ladder-0")).one()
        cup = session.scalars(sa.select(Tournament).where(Tournament.name == "cup")).one()
        usual, cup.state = cup.state, CompetitionState.CLOSED
        played = sa.select(Entrant).where(Entrant.competition_id == cup.id)
        versions = (
            sa.select(BotVersion.bot_id).join(Entrant).where(Entrant.competition_id == cup.id)
        )
        bots = session.scalars(sa.select(Bot).where(Bot.id.in_(versions)).order_by(Bot.id)).all()
        for place, one in enumerate(session.scalars(played), 1):
            one.final_place, one.final_points = place, 1.5 - 0.5 * place
        session.add(
            LadderRound(
                competition_id=ladder.id,
                number=1,
                division=1,
                begun=database_time(session),
                made=cup,
            )
        )
        for number, bot in enumerate(bots):
            session.add(
                DivisionPlace(
                    competition_id=ladder.id,
                    bot_id=bot.id,
                    division=1 + number // 2,
                    number=number % 2,
                    is_boss=number == 2,
                )
            )
        session.add(
            CompetitionDate(
                competition=ladder,
                what=DateKind.ROUND,
                at=database_time(session) + timedelta(days=1),
                settings={"every": "day", "size": 2, "moves": 1, "format": "swiss", "settings": {}},
                outcome="round 1 was not over, so that none was begun",
            )
        )
    try:
        yield
    finally:
        with site.database.begin() as session:
            for kind in kept:
                session.execute(sa.delete(kind))
            session.execute(sa.update(Entrant).values(final_place=None, final_points=None))
            session.get_one(Tournament, cup.id).state = usual


@pytest.mark.long
def test_rounds_are_for_everybody(
    page: Page, site: Watched, object_to: Callable[..., list[str]]
) -> None:
    """Nothing spills over, and axe-core finds nothing; so it is in the form."""
    with rounds(site), site.context("administrator") as context:
        organiser = context.new_page()
        page.goto(site.address("/ladders/ladder-0"))
        table = page.get_by_role("table").filter(has_text="Division 1")
        expect(table).to_contain_text("1st (1)")
        organiser.goto(site.address(DATES))
        for each in organiser.locator("#round ~ details > summary").all():
            each.click()
        for one in (page, organiser):
            for scheme in ("light", "dark"):
                one.emulate_media(color_scheme=scheme)
                for size in (PHONE, TABLET, LAPTOP, WIDE):
                    one.set_viewport_size(size)
                    assert spilled(one) == []
                assert object_to(one) == []


@pytest.mark.long
def test_rounds_by_the_keyboard_alone(site: Watched) -> None:
    """The table leads to a round and to a list of all; and how large divisions are is changed."""
    with rounds(site), site.context("administrator") as context:
        page = context.new_page()
        page.goto(site.address("/ladders/ladder-0"))
        table = page.locator("section[aria-labelledby=rounds]")
        for name, heading in (("Round 1", "cup"), ("tournaments", "Rounds of")):
            tab_to(page, table.get_by_role("link", name=name, exact=True))
            page.keyboard.press("Enter")
            expect(page.get_by_role("heading", level=1)).to_contain_text(heading)
            page.go_back()
        page.goto(site.address(DATES))
        section = page.locator("section[aria-labelledby=round]")
        tab_to(page, section.locator("summary").first)
        page.keyboard.press("Enter")
        tab_to(page, section.get_by_label("Bots in a division"))
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.type("3")
        page.keyboard.press("Enter")
        expect(section).to_contain_text("In divisions of 3; 1 up, 1 down.")


def tab_to(page: Page, wanted: Locator) -> None:
    """Goes from one element to the next until it is the wanted one."""
    expect(wanted).to_have_count(1)
    for _ in range(300):
        if wanted.evaluate("one => one === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"no way leads to {wanted}")
