"""Who sees what is made of bots at the moment at which the ladder that knows them becomes private,
on each kind of database.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.audit import ARENA, Actor
from arena.bots.member_deeds import ChangeVisibility
from arena.competitions.tournament_deeds import CreateTournament
from arena.competitions.visibility import change_visibility
from arena.deeds import By, perform
from arena.ground.db import Database
from arena.ground.refusals import Refusal
from arena.models import SCOPES, BotVersion, Competition, Ladder, Role, Visibility
from arena.people import accounts
from arena.sight import EVERYTHING
from tests.arena.bots.test_entries import NOW, ladders, version
from tests.arena.competitions.test_kinds import MAKERS
from tests.arena.meanwhile import at_once

Step = Callable[[Session], object]


@pytest.mark.long
@pytest.mark.parametrize("kind", ["test", "tuning", "gauntlet"])
@pytest.mark.parametrize("made_first", [True, False], ids=["made first", "hidden first"])
def test_what_is_made_meanwhile_is_hidden_too(
    database: Database, kind: str, *, made_first: bool
) -> None:
    """Whoever comes first, the other waits and then sees what was done."""
    with database.begin() as session:
        ada = accounts.add(session, ARENA, "ada", now=NOW)
        for name in "abc":
            version(session, ada, name, name)
        number = ladders(session)[0].id

    def make(session: Session) -> None:
        versions = [*session.scalars(sa.select(BotVersion).order_by(BotVersion.id))]
        MAKERS[kind](session, session.get_one(Ladder, number), versions)

    def hide(session: Session) -> None:
        ladder = session.get_one(Ladder, number)
        change_visibility(session, ladder, Visibility.PRIVATE, ARENA, NOW)

    at_once(database, *((make, hide) if made_first else (hide, make)))
    with database.read() as session:
        made = session.scalars(sa.select(Competition).where(Competition.kind == kind)).one()
        assert (made.visibility, made.within_id) == (Visibility.PRIVATE, number)


def test_a_private_tournament_of_hidden_bots_is_seen_as_they_are(
    sqlite_database: Database,
) -> None:
    """Else it would show them as soon as it becomes public; one's own are one's own matter."""
    with sqlite_database.begin() as session:
        ada, bob = (
            accounts.add(session, ARENA, name, role=Role.ORGANISER, now=NOW)
            for name in ("ada", "bob")
        )
        for name in "ab":
            version(session, ada, name, name)
        ladder = ladders(session)[0]
        change_visibility(session, ladder, Visibility.PRIVATE, ARENA, NOW)
        its = {"ladder": ladder.name, "bots": ("a", "b"), "visibility": "private", "paused": True}
        for user, name, within in ((bob, "cup", ladder.id), (ada, "own", None)):
            by = By(Actor(user.id, user.name, ""), SCOPES[Role.ORGANISER], NOW, reader=EVERYTHING)
            made = perform(session, CreateTournament(name, "round-robin", **its), by).answer
            assert (made.visibility, made.within_id) == (Visibility.PRIVATE, within)
        with pytest.raises(Refusal, match="change that one"):
            perform(session, ChangeVisibility("cup", "public"), by)
