"""Names that forms offer: there is a list in the page for each field that asks for one."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
import sqlalchemy as sa

from arena.audit import ARENA
from arena.competitions import books
from arena.models import Bot, Role, Team
from engine.games import GAMES
from tests.arena.web.conftest import furnish
from tests.arena.web.signing_in import Browser, now, pages, person, signed_in
from tests.furnished import furnished_database


@pytest.fixture(scope="module")
def admin(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Browser]:
    """An administrator whose is bot-1; eve has no bot, and bot-3 is a team's."""
    request.param = "sqlite"
    folder = tmp_path_factory.mktemp("picking")
    with furnished_database(request, folder, furnish) as (database, _):
        user = person(database, "root", Role.ADMINISTRATOR)
        person(database, "eve")
        variant = GAMES["clobber"].variant()
        with database.begin() as session:
            team = Team(name="knights", created=now(), captain_id=user.id)
            session.add(team)
            session.flush()
            for name, owner in (("bot-1", user), ("bot-3", team)):
                session.execute(sa.update(Bot).where(Bot.name == name).values(owner_id=owner.id))
            books.add(session, "small", variant, "a2a1", now(), ARENA, most=None)
        app = pages(database)
        yield signed_in(app, "root")
        app.extensions["arena.database"].close()


OFFERED = {
    "/bots/bot-1": {"people": "root"},
    "/gauntlets/new": {"bots": "bot-1", "books": "small"},
    "/tests/new": {"books": "small"},
    "/tunings/new": {"books": "small"},
    "/tests": {"bots": "bot-1"},
    "/tunings": {"bots": "bot-1"},
    "/books": {"games": "clobber size=6x7"},
    "/new-ladder/clobber": {"books": "small"},
    "/games": {"bot": "bot-1"},
}
"""The lists of pages, each with what stands in it, by their kinds."""


@pytest.mark.parametrize("page", OFFERED)
def test_names_are_offered(admin: Browser, page: str) -> None:
    """Each list once, for a field that is there; nobody who has no bot is told of."""
    text = admin.get(page).text
    for kind, name in OFFERED[page].items():
        (known,) = re.findall(rf'<datalist id="known-{kind}">(.*?)</datalist>', text)
        assert f'<option value="{name}">' in known
        assert f' list="known-{kind}"' in text
        assert "eve" not in known
        assert "knights" not in known, "a team is no person"
    asked = set(re.findall(r' list="([^"]*)"', text))
    assert asked == set(re.findall(r'<datalist id="([^"]*)"', text))


def test_ones_own_bots_come_first(admin: Browser) -> None:
    """Before all others that play."""
    found = re.findall(r'value="(bot-\d)"', admin.get("/gauntlets/new").text)
    assert found[0] == "bot-1"
    assert set(found) == {"bot-0", "bot-1", "bot-2", "bot-3"}


def test_opponents_are_picked_one_by_one(admin: Browser) -> None:
    """Each in a field of its own, and all come back."""
    fields = {"candidate": "bot-0", "baseline": "bot-1", "against": ["bot-2", "bot-3", ""]}
    text = admin.post("/gauntlets/new", fields, page="/gauntlets/new").text
    found = re.findall(r'name="against"[^>]* value="([^"]*)"', text)
    assert found == ["bot-2", "bot-3", "", "", ""]
