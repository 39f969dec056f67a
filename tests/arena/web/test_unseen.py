"""Private competitions: a stranger gets every answer as from an arena that has none of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from arena.all_deeds import DEEDS
from arena.audit import ARENA, Actor
from arena.competitions.visibility import change_visibility
from arena.deeds import By, asked_before, perform
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.ground.refusals import Refusal
from arena.models import (
    SCOPES,
    Competition,
    GameDayCount,
    Ladder,
    MemberRole,
    Membership,
    PlayedGame,
    Role,
    Runtime,
    TestPreset,
    User,
    Visibility,
    Worker,
)
from arena.sight import Reader
from arena.web.app import create_app
from tests.arena.test_deeds import EXAMPLES
from tests.arena.web.conftest import furnish
from tests.arena.web.signing_in import Browser, now, person, signed_in
from tests.arena.web.test_access import ROUTES
from tests.conftest import fresh_database
from tests.furnished import furnished_database

OTHERWISE = ("metrics.scrape", "safety.", "static", "favicon")
"""What differs by itself: how long pages took, sessions and secrets of one's own. Or it asks no
database."""
SECRETS = re.compile(
    r'name="(?:csrf_token|form)" value="[^"]*"|data-asked="[^"]*"|\?v=[0-9a-f]+|'
    r"<time [^>]*>[^<]*</time>"
)
"""What is another for each page or moment."""


@contextmanager
def hidden_site(
    request: pytest.FixtureRequest, folder: Path, visibility: Visibility
) -> Iterator[tuple[Database, dict[str, int], Flask]]:
    """The arena of `furnish`, none of whose competitions everybody sees; two people are there."""
    folder.mkdir()
    with furnished_database(request, folder, furnish) as (database, numbers):
        for name, role in (("olga", Role.ORGANISER), ("member", Role.PARTICIPANT)):
            person(database, name, role)
        person(database, "stranger")
        with database.begin() as session:
            ladders = session.scalars(sa.select(Ladder.id)).all()
            within = sa.update(Competition).where(Competition.kind != "ladder")
            session.execute(within.values(within_id=ladders[0]))
            session.execute(sa.update(Competition).values(visibility=visibility))
            for one in (Worker, Runtime, TestPreset, GameDayCount):
                session.execute(sa.delete(one))
            member = session.scalars(sa.select(User).where(User.name == "member")).one()
            for number in ladders:
                its = {"competition_id": number, "user_id": member.id, "joined": now()}
                session.add(Membership(role=MemberRole.MEMBER, **its))
        app = create_app(Settings(data=folder, database=database.url))
        yield database, numbers, app
        app.extensions["arena.database"].close()


@pytest.fixture
def hidden(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[tuple[Database, dict[str, int], Flask]]:
    with hidden_site(request, tmp_path / "hidden", Visibility.PRIVATE) as found:
        yield found


@pytest.fixture
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Flask]:
    """An arena with the same people, and nothing else."""
    (tmp_path / "empty").mkdir()
    with fresh_database(request, tmp_path / "empty") as database:
        person(database, "olga", Role.ORGANISER)
        for name in ("member", "stranger"):
            person(database, name)
        app = create_app(Settings(data=tmp_path / "empty", database=database.url))
        yield app
        app.extensions["arena.database"].close()


class Numbers(dict[str, Any]):
    """What addresses are filled with; what the site does not number is 1."""

    def __missing__(self, _: str) -> int:
        return 1


def addresses(numbers: dict[str, int]) -> Iterator[str]:
    """Every address that somebody reads."""
    its = Numbers(numbers, digest="1" * 64)
    for (method, endpoint), (pattern, _) in ROUTES.items():
        if method == "GET" and not endpoint.startswith(OTHERWISE):
            yield pattern.format_map(its)
    yield from (f"/matches/{numbers[one]}" for one in ("running", "waiting", "aside"))
    yield from (f"/games?{words}" for words in ("bot=bot-0", "competition=ladder-0", "worker=one"))
    yield from (f"/bots/bot-0:{number}" for number in (1, 2))
    yield from (f"{place}?q=bot" for place in ("/search", "/bots", "/people", "/api/v1/search"))
    yield from ("/people/somebody", "/api/v1/people/somebody", "/games?tag=x&value=value>0")
    yield "/ladders/ladder-0/feed.atom"


def whole_answer(browser: Browser, address: str) -> tuple[int, str]:
    """Read to its end, so that what is sent for long has ended when the next is asked for."""
    with browser.get(address) as answer:
        return answer.status_code, SECRETS.sub("", answer.get_data().decode("latin-1"))


@pytest.mark.long
def test_a_stranger_gets_what_an_empty_arena_answers(
    hidden: tuple[Database, dict[str, int], Flask], empty: Flask, subtests: pytest.Subtests
) -> None:
    """Whatever they read: the same status and text, byte for byte."""
    _, numbers, app = hidden
    anonymous = [Browser(one) for one in (app, empty)]
    known = [signed_in(one, "stranger") for one in (app, empty)]
    for number, address in enumerate(addresses(numbers)):
        # Of pages who is signed in sees the more; of the others each second is enough.
        readers = known if number % 2 or not address.startswith("/api/") else anonymous
        with subtests.test(address):
            found, wanted = (whole_answer(browser, address) for browser in readers)
            assert found == wanted


@pytest.mark.long
def test_members_and_organisers_see_it_all(hidden: tuple[Database, dict[str, int], Flask]) -> None:
    """And no cache for all keeps what they get."""
    database, numbers, app = hidden
    stranger, *others = (Browser(app), signed_in(app, "member"), signed_in(app, "olga"))
    for pattern in (
        "/ladders/ladder-0", "/tournaments/cup", "/games/{trio}", "/games/{trio}.json",
        "/games/{trio}/0.svg", "/games/{trio}/0.png", "/matches/{played}", "/tests/{test}",
        "/tunings/{tuning}", "/bots/bot-0", "/bots/bot-0/feed.atom", "/explorer/ladder-0",
        "/games?competition=ladder-0", "/api/v1/ladders/ladder-0", "/api/v1/games/{trio}",
        "/api/v1/competitions/cup/entrants", "/latest.png?competition=ladder-1",
    ):  # fmt: skip
        address = pattern.format_map(numbers)
        assert stranger.get(address).status_code in (404, 422), address
        for browser in others:
            answer = browser.get(address)
            assert answer.status_code == 200, address
            assert answer.cache_control.private, address
            assert not answer.cache_control.public, address
            assert "Cookie" in answer.vary, address
    assert "ladder-0" in others[0].get("/ladders").text
    assert "ladder-0" not in stranger.get("/ladders").text
    with database.begin() as session:  # the member organises it
        ladder = sa.select(Ladder.id).where(Ladder.name == "ladder-0").scalar_subquery()
        its = sa.update(Membership).where(Membership.competition_id == ladder)
        session.execute(its.values(role=MemberRole.ORGANISER))
    pages = [browser.get("/ladders/ladder-0/settings").text for browser in others]
    assert ['name="weight"' in page for page in pages] == [False, True]
    assert ["What organisers of the site decide" in page for page in pages] == [True, False]


def test_no_deed_tells_a_stranger(
    hidden: tuple[Database, dict[str, int], Flask], empty: Flask, subtests: pytest.Subtests
) -> None:
    """What each refuses, and the words before it, are those of an arena without all that; the
    notes, quotas and names of the arena are not changed by it."""
    database, numbers, _ = hidden
    numbers = Numbers(numbers, waits=numbers["test"])
    databases = (database, empty.extensions["arena.database"])
    for deed in DEEDS:
        if deed.scope not in SCOPES[Role.PARTICIPANT]:
            continue
        with subtests.test(deed.__name__):
            said = []
            for one in databases:
                with one.begin() as session:
                    user = session.scalars(sa.select(User).where(User.name == "stranger")).one()
                    actor = Actor(user.id, user.name, "")
                    by = By(actor, SCOPES[user.role], now(), reader=Reader(user.id))
                    asked = deed(**EXAMPLES[deed][0](numbers))
                    for way in (asked_before, perform):
                        try:
                            done = way(session, asked, by)
                            said.append(getattr(done, "said", done))
                        except Refusal as refusal:
                            said.append(f"{type(refusal).__name__}: {refusal}")
                        session.expire_all()
                    session.rollback()
            assert said[:2] == said[2:]


def test_who_organises_one_decides_there_alone(
    hidden: tuple[Database, dict[str, int], Flask],
) -> None:
    """So it is with pages, forms and operations alike; elsewhere all is as for anybody."""
    database, numbers, app = hidden
    with database.begin() as session:
        game = session.get_one(PlayedGame, numbers["trio"])
        its, match = game.competition.name, game.match_id
        user = session.scalars(sa.select(User).where(User.name == "member")).one()
        place = session.get_one(Membership, (game.competition_id, user.id))
        place.role = MemberRole.ORGANISER
    browser, stranger = signed_in(app, "member"), signed_in(app, "stranger")
    for who, address, status in (
        (browser, f"/competitions/{its}/members", 200),
        (browser, "/competitions/ladder-0/members", 403),
        (browser, "/competitions/nothing/members", 404),
        (stranger, f"/competitions/{its}/members", 403),
        (browser, f"/ladders/{its}/settings", 200),
        (browser, "/ladders/ladder-0/settings", 403),
        (browser, f"/api/v1/competitions/{its}/members", 200),
        (browser, "/operator", 403),
        (browser, "/new-ladder", 403),
    ):
        assert who.get(address).status_code == status, address
    assert "decide" in browser.get(f"/matches/{match}").text
    assert "decide" not in browser.get(f"/matches/{numbers['played']}").text
    for address, fields, status in (
        (f"/competitions/{its}/join-code", {}, 200),
        ("/competitions/ladder-0/join-code", {}, 403),
        (f"/competitions/{its}/members/import", {"names": "anna\nbernd"}, 200),
        (f"/matches/{match}/void", {"note": "rain"}, 200),
        (f"/matches/{numbers['played']}/void", {"note": "rain"}, 403),
        ("/operator/workers/forget", {"name": "one"}, 403),
    ):
        answer = browser.post(address, {**fields, "confirmed": "y"}, follow_redirects=True)
        assert answer.status_code == status, address
    page = browser.get(f"/competitions/{its}/members").text
    assert "anna" in page
    assert re.search(r"/join/[a-z2-9]{4}-[a-z2-9]{4}-[a-z2-9]{4}<", page)


def test_unlisted_is_seen_by_its_address_alone(
    request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    with hidden_site(request, tmp_path / "unlisted", Visibility.UNLISTED) as (_, numbers, app):
        stranger = Browser(app)
        for pattern in (
            "/ladders/ladder-0", "/games/{trio}", "/games/{trio}/0.svg", "/bots/bot-0",
            "/matches/{played}", "/games?competition=ladder-0", "/api/v1/games/{trio}",
            "/explorer/ladder-0", "/ladders/ladder-0.json", "/tests/{test}",
        ):  # fmt: skip
            assert stranger.get(pattern.format_map(numbers)).status_code == 200, pattern
        for address in (
            "/",
            "/ladders",
            "/competitions",
            "/games",
            "/api/v1/games",
            "/tournaments",
        ):
            text = stranger.get(address).text
            assert "ladder-0" not in text, address
            assert "bot-0" not in text, address


def test_the_day_s_games_are_those_that_everybody_finds(
    hidden: tuple[Database, dict[str, int], Flask],
) -> None:
    """Those of a ladder come in, and go, with who sees it."""
    database, numbers, _ = hidden
    with database.begin() as session:
        game = session.get_one(PlayedGame, numbers["solo"])
        ladder, now_ = game.competition, game.finished
        games = session.scalars(
            sa.select(PlayedGame).where(PlayedGame.competition_id == ladder.id)
        ).all()
        counts = sa.select(GameDayCount.games).where(GameDayCount.game == ladder.game)
        for visibility, number in (("public", len(games)), ("unlisted", 0), ("public", len(games))):
            change_visibility(session, ladder, Visibility(visibility), ARENA, now_)
            session.flush()
            assert session.scalars(counts).all() == [number]


def test_a_hidden_one_takes_as_long_as_none(
    hidden: tuple[Database, dict[str, int], Flask],
) -> None:
    """The processor's time is measured, in turns."""
    _, _, app = hidden
    stranger, times = Browser(app), {"ladder-0": [], "ladder-x": []}
    for number in range(80):
        for name, its in times.items():
            start = process_time()
            assert stranger.get(f"/ladders/{name}").status_code == 404
            if number >= 10:
                its.append(process_time() - start)
    slow, fast = sorted(map(median, times.values()), reverse=True)
    assert slow < 1.25 * fast
