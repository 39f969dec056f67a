"""What is kept is in English, whatever whoever has it kept speaks: others read it later."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

from arena.all_deeds import DEEDS
from arena.audit import Actor
from arena.deeds import By, perform
from arena.models import Base, Role, Scope
from engine.translation import speaking
from tests.arena.test_deeds import EXAMPLES, copied
from tests.arena.web.signing_in import now, person
from tests.marked import MARK, MARKED


def marked_rows(session: sa.orm.Session) -> list[str]:
    """The rows of all tables, as text, in which something is kept that was translated."""
    session.flush()
    rows = (row for table in Base.metadata.sorted_tables for row in session.execute(table.select()))
    return [text for row in rows if MARK in (text := str(row))]


def test_deeds_are_kept_in_english(
    request: pytest.FixtureRequest, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    """All that they change, and their notes."""
    with copied(request, tmp_path / "arena") as (database, numbers, _):
        user = person(database, "administrator", Role.ADMINISTRATOR)
        by = By(Actor(user.id, user.name, ""), frozenset(Scope), now())
        for deed in DEEDS:
            with subtests.test(deed.__name__), speaking(MARKED), database.begin() as session:
                asked = deed(**EXAMPLES[deed][0](numbers))
                asked.asks(session, by)
                perform(session, asked, by)
                assert marked_rows(session) == []
                session.rollback()
