"""Who sees what is made of bots at the moment at which the ladder that knows them becomes private,
on each kind of database.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.audit import ARENA
from arena.competitions.visibility import change_visibility
from arena.ground.db import Database
from arena.models import BotVersion, Competition, Ladder, Visibility
from arena.people import accounts
from tests.arena.bots.test_entries import NOW, ladders, version
from tests.arena.competitions.test_kinds import MAKERS
from tests.arena.meanwhile import at_once

Step = Callable[[Session], object]


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
