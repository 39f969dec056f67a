"""Bots that are handed in as a team's, and where a team is found."""

from __future__ import annotations

import sqlalchemy as sa
from flask import Flask

from arena.bots import teams
from arena.ground.db import Database
from arena.models import Bot, Ladder
from arena.people import accounts
from tests.arena.web.signing_in import Browser, now, signed_in
from tests.arena.web.submissions.conftest import BOT, LADDER, submit


def owner(database: Database, bot: str) -> str:
    with database.read() as session:
        return session.scalars(sa.select(Bot).where(Bot.name == bot)).one().owner.name


def test_a_member_hands_in_for_a_team(ada: Browser, app: Flask, database: Database) -> None:
    """A new bot is the team's, in whose quotas it counts: those of ada, the captain. What is one's
    own stays so, and who is no member can't."""
    eve = signed_in(app, "eve")
    assert "Whose bot it is" not in eve.get("/submit").text
    # As a form that is sent without a team that there is to choose.
    assert submit(eve, (BOT, "hers.py"), team="").status_code == 302
    assert submit(eve, (BOT, "hers.py"), team="knights").status_code == 422
    with database.begin() as session:
        captain, member = accounts.get(session, "ada"), accounts.get(session, "eve")
        team = teams.make(session, "knights", captain, now())
        teams.join(session, team, member, now())
    assert submit(ada, (BOT, "other.py"), team="rooks").status_code == 422
    assert '<option selected value="knights">' in eve.get("/submit?team=knights").text
    assert submit(eve, (BOT, "ours.py"), team="knights").status_code == 302
    assert owner(database, "ours") == "knights"
    said = submit(eve, (BOT + b"#", "hers.py"), team="knights")
    assert "The bot hers is not the team knights&#39;s: give it to the team" in said.text
    # The next version of a team's bot is the team's, whether that is said or not.
    assert submit(eve, (BOT + b"#2", "ours.py")).status_code == 302
    assert owner(database, "ours") == "knights"
    with database.begin() as session:
        session.execute(sa.update(Ladder).where(Ladder.name == LADDER).values(most_bots=1))
    assert "Each person may enter 1 bot" in submit(ada, (BOT, "mine.py")).text
    assert "Each person may enter 1 bot" in submit(eve, (BOT, "more.py"), team="knights").text


def test_a_teams_name_leads_to_its_page(ada: Browser, app: Flask, database: Database) -> None:
    """Whoever looks for it among the people, by a name that it had, too, if they may see it."""
    with database.begin() as session:
        teams.make(session, "knights", accounts.get(session, "ada"), now())
    ada.post("/teams/knights/rename", {"to": "rooks"}, page="/teams/knights/profile")
    for name in ("rooks", "ROOKS", "knights"):
        assert ada.get(f"/people/{name}").location == "/teams/rooks"
        assert ada.get(f"/teams/{name}?page=2").status_code == (200 if name == "rooks" else 302)
        hidden = app.test_client().get(f"/people/{name}")
        assert (hidden.status_code, f"There is nobody {name} with a bot" in hidden.text) == (
            404,
            True,
        )
    said = ada.get("/api/v1/people/rooks")
    assert (said.status_code, "rooks is a team" in said.text) == (404, True)
