"""Leaderboards and standings that programs ask for again: told to be the same only if they are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from arena import audit
from arena.audit import ARENA
from arena.competitions import members
from arena.fake.fill import fill
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import (
    Bot,
    BotVersion,
    Competition,
    Entrant,
    EntrantState,
    JobStatus,
    Ladder,
    Match,
    MemberRole,
    Place,
    Tournament,
    Visibility,
)
from arena.web.app import create_app
from tests.arena.recorder.test_rebuild import NOW
from tests.arena.web.conftest import Site
from tests.arena.web.signing_in import person, signed_in
from tests.arena.web.test_live_parts import begin_a_match, play_another_game, statements

Change = Callable[[sa.orm.Session], object]
BOARDS = ("/ladders/{}.json", "/ladders/{}.csv", "/api/v1/ladders/{}/leaderboard")


def addresses(database: Database) -> list[str]:
    with database.read() as session:
        name = session.scalars(sa.select(Ladder.name)).one()
    return [pattern.format(name) for pattern in BOARDS]


@pytest.fixture
def app(sqlite_database: Database, tmp_path: Path) -> Flask:
    """The pages of a ladder on which games were played."""
    fill(sqlite_database, bots=4, ladders=1, games=8, seed=1, now=NOW)
    return create_app(Settings(data=tmp_path, database=sqlite_database.url))


def deed(change: sa.Update) -> Change:
    """What a deed does, with the note that each leaves in the audit log."""

    def do(session: sa.orm.Session) -> None:
        session.execute(change)
        audit.note(session, ARENA, "change", "something", now=NOW)

    return do


def hand_in(session: sa.orm.Session) -> None:
    """The next version of a bot takes the place of one that was rated long ago: with its rating,
    as a check that was passed has it, which nobody notes."""
    old = session.scalars(sa.select(Entrant).order_by(Entrant.id)).first()
    assert old is not None
    old.state = EntrantState.RETIRED
    columns = [one.key for one in sa.inspect(BotVersion).column_attrs if one.key != "id"]
    version = BotVersion(**{name: getattr(old.version, name) for name in columns})
    version.number += 1
    columns = [one.key for one in sa.inspect(Entrant).column_attrs if one.key != "id"]
    kept = {name: getattr(old, name) for name in columns if name != "version_id"}
    settable = {name: value for name, value in kept.items() if name != "conservative"}
    session.add(Entrant(**settable | {"state": EntrantState.ACTIVE, "version": version}))


FIRST = sa.select(sa.func.min(Entrant.id)).scalar_subquery()
CHANGES: dict[str, Change] = {
    "a bot has another name": deed(sa.update(Bot).values(name=Bot.name + "x")),
    "a bot is retired": deed(
        sa.update(Entrant).where(Entrant.id == FIRST).values(state=EntrantState.RETIRED)
    ),
    "the ladder has another name": deed(sa.update(Competition).values(title="Another")),
    "ratings were made anew": lambda s: s.execute(
        sa.update(Entrant).where(Entrant.id == FIRST).values(mu=Entrant.mu + 0.001)
    ),
    "another version, of the same rating": hand_in,
    "a game was played": play_another_game,
    "a match is played now": begin_a_match,
}


@pytest.mark.long
@pytest.mark.parametrize("change", CHANGES.values(), ids=list(CHANGES))
def test_what_has_changed_is_made_anew(
    app: Flask, sqlite_database: Database, change: Change
) -> None:
    """And as long as nothing has, it is not made again for who has it."""
    client = app.test_client()
    known = {}
    for address in addresses(sqlite_database):
        first = client.get(address)
        known[address] = {"If-None-Match": first.headers["ETag"]}
        with statements(app.extensions["arena.database"]) as told:
            again = client.get(address, headers=known[address])
        assert (again.status_code, again.data) == (304, b"")
        assert again.headers["ETag"] == first.headers["ETag"]
        assert again.cache_control.no_cache
        assert not any("game_seat" in one for one in told)
    with sqlite_database.begin() as session:
        change(session)
    for address, its in known.items():
        assert client.get(address, headers=its).status_code == 200


def test_another_reader_is_told_what_they_see(app: Flask, sqlite_database: Database) -> None:
    """In another language an answer has another ETag, for it may have sentences. Who is a member
    of a private ladder is told that it is the same, and nobody else; no cache for all keeps it."""
    mara, stranger = person(sqlite_database, "mara"), app.test_client()
    for address in addresses(sqlite_database):
        known = {"If-None-Match": stranger.get(address).headers["ETag"]}
        italian = known | {"Accept-Language": "it"}
        assert stranger.get(address, headers=italian).status_code == 200
    with sqlite_database.begin() as session:
        ladder = session.scalars(sa.select(Ladder)).one()
        ladder.visibility = Visibility.PRIVATE
        members.add(session, ARENA, ladder, session.merge(mara), MemberRole.MEMBER, NOW)
    browser = signed_in(app, "mara").client
    for address in addresses(sqlite_database):
        hers = browser.get(address)
        known = {"If-None-Match": hers.headers["ETag"]}
        again = browser.get(address, headers=known)
        assert (hers.status_code, again.status_code) == (200, 304)
        assert hers.cache_control.private
        assert again.cache_control.private
        assert stranger.get(address, headers=known).status_code == 404


def test_standings_of_a_tournament(site: Site) -> None:
    """As those of ladders; that a match is given out, or waits again, changes them, too."""

    def stand(**values: Any) -> None:
        with site.database.begin() as session:
            cup = sa.select(Tournament.id).where(Tournament.name == "cup").scalar_subquery()
            first = sa.select(sa.func.min(Match.id)).where(Match.competition_id == cup)
            session.execute(
                sa.update(Match).where(Match.id == first.scalar_subquery()).values(values)
            )

    with site.database.begin() as session:
        cup = session.scalars(sa.select(Tournament).where(Tournament.name == "cup")).one()
        entrants = sa.select(Entrant.id).where(Entrant.competition_id == cup.id)
        first_two = session.scalars(entrants.order_by(Entrant.id).limit(2))
        places = [
            Place(number=number, entrant_id=entrant) for number, entrant in enumerate(first_two)
        ]
        match = Match(
            competition_id=cup.id,
            round=1,
            rated=True,
            options={},
            opening=[],
            seed=1,
            created=NOW,
            status=JobStatus.OPEN,
            places=places,
        )
        session.add(match)
        session.flush()
        number = match.id
    try:
        for address in ("/tournaments/cup.json", "/tournaments/cup.csv", "/api/v1/tournaments/cup"):
            first = site.client.get(address)
            known = {"If-None-Match": first.headers["ETag"]}
            assert site.client.get(address, headers=known).status_code == 304
            stand(status=JobStatus.ISSUED, ticket="t", lease_ends=NOW)
            assert site.client.get(address, headers=known).status_code == 200
            stand(status=JobStatus.OPEN, ticket=None, lease_ends=None)
            assert site.client.get(address, headers=known).status_code == 304
    finally:
        with site.database.begin() as session:
            session.execute(sa.delete(Place).where(Place.match_id == number))
            session.execute(sa.delete(Match).where(Match.id == number))
