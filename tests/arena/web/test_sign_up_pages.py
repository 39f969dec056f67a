"""Signing up for a tournament on its page: who sees what, and what can be done there."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa
from flask import Flask

from arena.bots.submissions import enter
from arena.competitions.happenings import happen_next
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import (
    Bot,
    BotVersion,
    Check,
    CompetitionDate,
    CompetitionState,
    Entrant,
    Ladder,
    Role,
    Tournament,
    VersionStatus,
    Visibility,
)
from arena.web.app import create_app
from tests.arena.competitions.tournament_simulation import TournamentSimulation
from tests.arena.simulator import CALM
from tests.arena.web.signing_in import Browser, now, person, signed_in
from tests.arena.web.test_pages import read as looked_at


def read(page: str) -> str:
    """The words of a page, to which no careful reader objects."""
    assert looked_at(page).verdict() == []
    main = re.search(r"<main.*</main>", page, re.DOTALL)
    assert main is not None
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", main[0])).split())


@dataclass(frozen=True, slots=True)
class Desk:
    """An arena with a ladder of four bots: bot-0 and bot-1 are ada's."""

    app: Flask
    organiser: Browser
    ada: Browser
    database: Database

    def make(self, **fields: str) -> None:
        given = {
            "name": "cup",
            "format": "swiss",
            "ladder": "ladder-0",
            "sign_up": "y",
            "date-entries-close": f"{now() + timedelta(hours=1):%Y-%m-%dT%H:%M}",
        }
        answer = self.organiser.post("/new-tournament", given | fields, page="/new-tournament")
        assert answer.status_code == 302, read(answer.text)

    def page(self, browser: Browser | None = None) -> str:
        answer = (browser or self.app.test_client()).get("/tournaments/cup")
        assert answer.status_code == 200
        return answer.text

    def send(self, browser: Browser, what: str, **fields: str) -> tuple[int, str]:
        answer = browser.send(f"/tournaments/cup/{what}", fields, page="/tournaments/cup")
        return answer.status_code, answer.text

    def lay(self, minutes: float) -> None:
        with self.database.begin() as session:
            date = session.scalars(sa.select(CompetitionDate)).one()
            date.at = now() + timedelta(minutes=minutes)


@pytest.fixture
def desk(sqlite_database: Database, tmp_path: Path) -> Iterator[Desk]:
    TournamentSimulation(sqlite_database, 1, CALM, "clobber", 4, size="4x3")
    person(sqlite_database, "organiser", Role.ORGANISER)
    ada = person(sqlite_database, "ada")
    with sqlite_database.begin() as session:
        session.execute(sa.update(Bot).where(Bot.name < "bot-2").values(owner_id=ada.id))
    app = create_app(Settings(data=tmp_path, database=sqlite_database.url))
    app.testing = True
    yield Desk(app, signed_in(app, "organiser"), signed_in(app, "ada"), sqlite_database)
    app.extensions["arena.database"].close()


def test_a_bot_is_signed_up_and_off(desk: Desk) -> None:
    """The page says what is asked of it, what is left, and which of one's bots could come."""
    desk.make(places="2", check_in="10", each_person="2")
    page = desk.page()
    for words in ("signing up", "Places left 2 of 2", "2 bots of each person.", "Nobody yet."):
        assert words in read(page)
    assert "Sign in to sign a bot up" in read(page)
    assert desk.send(desk.ada, "sign-up", bot="bot-0")[0] == 302
    assert desk.send(desk.ada, "sign-up", bot="bot-1:1")[0] == 302
    status, text = desk.send(desk.ada, "sign-up", bot="bot-2")
    assert (status, "The bot bot-2 is not yours." in read(text)) == (403, True)
    page = read(desk.page(desk.ada))
    assert "Your bots bot-0 has place 1 Sign off" in page
    assert "bot-1 v1" in page
    assert desk.send(desk.organiser, "sign-up", bot="bot-3")[0] == 302
    assert "waiting list" in read(desk.page())
    status, text = desk.send(desk.ada, "sign-off", bot="bot-0")
    assert (status, "Its place goes to the first on the waiting list." in read(text)) == (200, True)
    assert desk.send(desk.ada, "sign-off", bot="bot-0", confirmed="y")[0] == 302
    assert "waiting list" not in read(desk.page())
    status, text = desk.send(desk.ada, "check-in", bot="bot-1")
    assert (status, "The check-in of cup opens later" in read(text)) == (422, True)


def test_pages_of_a_tournament_name_no_version_that_few_may_know(desk: Desk) -> None:
    """Neither while bots sign up nor when the field is drawn, in whatever form: the newest of bot-0
    is known on a private ladder alone, and so is bot-2."""
    desk.make(ladder="", game="clobber size=4x3", move="100", each_person="2", places="4")
    with desk.database.begin() as session:
        ladder = session.scalars(sa.select(Ladder)).one()
        session.execute(sa.update(BotVersion).values(status=VersionStatus.READY))
        course = Ladder(
            name="course", title="Course", variant=ladder.variant, time=ladder.time,
            memory_bytes=ladder.memory_bytes, draw_probability=0.1, seed=1, created=now(),
            state=CompetitionState.OPEN, visibility=Visibility.PRIVATE,
        )  # fmt: skip
        first, *_ = session.scalars(sa.select(BotVersion).order_by(BotVersion.id))
        new = BotVersion(
            bot=first.bot, number=2, digest="f" * 64, size=1, language=first.language,
            status=VersionStatus.READY, created=now(), note="only here",
        )  # fmt: skip
        session.add_all([course, new])
        session.flush()
        enter(session, course, new, now())
        hidden = sa.select(BotVersion.id).join(BotVersion.bot).where(Bot.name == "bot-2")
        for kind, column in ((Entrant, Entrant.competition_id), (Check, Check.ladder_id)):
            its = sa.update(kind).where(kind.version_id.in_(hidden))
            session.execute(its.values({column: course.id}))
    for bot in ("bot-0", "bot-1", "bot-2"):
        desk.send(desk.organiser, "sign-up", bot=bot)
    desk.send(desk.ada, "sign-up", bot="bot-0")
    client = desk.app.test_client()
    for drawn in (False, True):
        if drawn:
            desk.lay(-1)
            assert desk.database.run(happen_next) is not None
        said = {
            address: client.get(address).text
            for address in (
                "/tournaments/cup", "/tournaments/cup.json", "/tournaments/cup.csv",
                "/api/v1/tournaments/cup", "/api/v1/competitions/cup/entrants", "/bots/bot-0",
                "/bots/bot-0/feed.atom", "/competitions/cup/feed.atom", "/bots", "/tournaments",
            )
        }  # fmt: skip
        for address, text in said.items():
            for told in ("bot-0 v2", "bot-0:2", "f" * 64, "only here", "bot-2"):
                assert told not in text, (address, told, drawn)
        assert ("bot-0 v1" in said["/tournaments/cup.json"]) is drawn


def test_what_hinders_a_bot_is_said(desk: Desk) -> None:
    desk.make(rated_games="50")
    said = "bot-0 has had 0 rated games on the ladder ladder-0, and needs 50"
    assert said in read(desk.page(desk.ada))
    assert "with 50 rated games there" in read(desk.page())


def test_who_is_checked_in_plays_and_the_others_are_named(desk: Desk) -> None:
    """All of it stands in the API as well; the tournament goes on as any other."""
    desk.make(check_in="10", each_person="2", format="round-robin", places="4")
    for bot in ("bot-0", "bot-1", "bot-2"):
        desk.send(desk.organiser, "sign-up", bot=bot)
    desk.lay(5)
    assert "it is not checked in" in read(desk.page())
    for bot in ("bot-0", "bot-2"):
        desk.send(desk.organiser, "check-in", bot=bot)
    told = json.loads(desk.app.test_client().get("/api/v1/tournaments/cup").text)
    assert told["state"] == "signing up"
    assert told["sign_up"] == {
        "places": 4, "games": 0, "each_person": 2, "check_in": 10, "seeding": "rating",
    }  # fmt: skip
    assert [one["hindered"] for one in told["sign_ups"]] == [None, "it is not checked in", None]
    for address in ("/tournaments/cup.json", "/tournaments/cup.csv", "/tournaments", "/"):
        assert desk.app.test_client().get(address).status_code == 200
    desk.lay(-1)
    assert "Sign it up" not in read(desk.page(desk.ada))
    assert desk.database.run(happen_next) is not None
    page = read(desk.page())
    assert "Signed up, and not in the field bot-1 it was not checked in" in page
    with desk.database.read() as session:
        assert session.scalars(sa.select(Tournament)).one().standing == "open"


def test_an_organiser_begins_it_or_calls_it_off(desk: Desk) -> None:
    desk.make()
    assert "Draw the field and begin" in read(desk.page(desk.organiser))
    assert desk.send(desk.organiser, "state", state="open")[0] == 302
    page = read(desk.page())
    assert "It was called off, and nobody won it: it takes 2 bots, and 0 could play" in page
