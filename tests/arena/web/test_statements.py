"""How many statements a page takes: as many in a large arena as in a small one."""

from __future__ import annotations

import hashlib
from datetime import datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import BotVersion, Entrant, Ladder, Meeting, VersionStatus
from arena.sittings import Person, Wish, begin
from arena.web.app import create_app
from tests.arena.simulator import CALM, Simulation
from tests.arena.web.conftest import add_competitions
from tests.arena.web.signing_in import at_rest

GUEST = "what the browser of a guest keeps"
STATEMENT_PAGES = [
    "/",
    "/ladders/ladder-0",
    "/bots/bot-1",
    "/bots/bot-1/feed.atom",
    "/matches/1",
    "/games",
    "/games?competition=ladder-0&bot=bot-1&sort=longest",
    "/games/charts?competition=ladder-0",
    "/explorer/ladder-0",
    "/ladders/ladder-0/crosstable",
    "/games/1",
    "/games/1/0.svg",
    "/games/1/embed",
    "/bots/{one}/against/{other}",
    "/tournaments",
    "/tournaments/cup",
    "/tests",
    "/tests/{test}",
    "/play",
    "/play/{sitting}",
    "/play/{sitting}/0",
    "/docs/",
    "/docs/protocol",
]


def count_statements(folder: Path, *, bots: int, seconds: float) -> dict[str, int]:
    """How many statements each page takes in an arena of so many bots."""
    folder.mkdir()
    database = Database(f"sqlite:///{folder}/arena.db")
    database.upgrade()
    simulation = Simulation(database, 1, CALM)
    simulation.furnish([("clobber", {"size": "4x3"})], bots=bots)
    simulation.alive()
    simulation.tick()
    simulation.run(seconds)
    with database.begin() as session:
        # All of them ranked, so that each part of a page has something to show.
        session.execute(sa.text("UPDATE entrant SET wins = wins + 20, games = games + 20"))
        session.execute(sa.update(BotVersion).values(status=VersionStatus.READY))
        names: dict[str, Any] = {**add_competitions(session, simulation.now)}
        names["sitting"] = sit_down(session, simulation.now, times=bots)
        met = session.scalars(sa.select(Meeting).order_by(Meeting.games.desc())).first()
        assert met is not None
        for key, entrant in (("one", met.first_id), ("other", met.second_id)):
            names[key] = session.get_one(Entrant, entrant).version.bot.name
    app = create_app(Settings(database=database.url, play="everybody"))
    client = app.test_client()
    with client.session_transaction() as kept:
        kept["guest"] = GUEST
    statements: list[str] = []
    engine = at_rest(app)
    sa.event.listen(engine, "before_cursor_execute", lambda *args: statements.append(args[2]))
    counts = {}
    for address in STATEMENT_PAGES:
        statements.clear()
        assert client.get(address.format(**names)).status_code == 200
        counts[address] = len(statements)
    app.extensions["arena.database"].close()
    database.close()
    return counts


def sit_down(session: Session, now: datetime, *, times: int) -> int:
    """Begins some games of the guest against a bot, and gives the last one's number."""
    guest = Person("guest", guest=hashlib.sha256(GUEST.encode()).hexdigest())
    ladder = session.scalars(sa.select(Ladder)).one()
    rival = session.scalars(sa.select(BotVersion.id).limit(1)).one()
    for form in range(times):
        wish = Wish(ladder, 0, (rival,), False, str(form), 1)
        begun = begin(session, guest, wish, now, most_open=times)
    return begun.id


def test_the_number_of_statements_is_fixed(tmp_path: Path) -> None:
    """A page takes as many statements for thirty bots and their games as for three."""
    few = count_statements(tmp_path / "few", bots=3, seconds=10)
    many = count_statements(tmp_path / "many", bots=30, seconds=20)
    assert few == many
    assert max(few.values()) <= 20
