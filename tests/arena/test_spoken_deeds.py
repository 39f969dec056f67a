"""What deeds say is in the language of whoever does them; what they store is in English."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

from arena.all_deeds import DEEDS
from arena.audit import Actor
from arena.bots.bot_deeds import EnterBot, RetireBot
from arena.competitions.ladder_deeds import ChangeLadder
from arena.deeds import By, perform
from arena.ground.refusals import Refusal
from arena.models import Base, CompetitionState, Ladder, Scope
from arena.operation.notice import GiveNotice
from engine.translation import speaking
from tests.arena.test_deeds import EXAMPLES, copied
from tests.arena.web.signing_in import now, person
from tests.marked import MARK, MARKED


def stored(session: sa.orm.Session) -> list[str]:
    """All rows of all tables."""
    session.flush()
    tables = Base.metadata.sorted_tables
    return [str(row) for table in tables for row in session.execute(sa.select(table))]


@pytest.mark.long
def test_deeds_speak_and_store_english(
    request: pytest.FixtureRequest, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    with copied(request, tmp_path / "arena") as (database, numbers, _):
        user = person(database, "administrator")
        by = By(Actor(user.id, user.name, ""), frozenset(Scope), now())
        with database.begin() as session:
            session.execute(sa.update(Ladder).values(state=CompetitionState.OPEN))
            perform(session, GiveNotice("soon"), by)
        for deed in DEEDS:
            values, wrong, _ = EXAMPLES[deed]
            with subtests.test(deed.__name__), database.begin() as session:
                if deed is EnterBot:  # its example is there already: it is to come back
                    perform(session, RetireBot("bot-0", "ladder-0"), by)
                with speaking(MARKED):
                    asked = deed(**values(numbers))
                    asks = asked.asks(session, by)
                    done = perform(session, asked, by)
                assert not [row for row in stored(session) if MARK in row]
                assert deed is ChangeLadder or MARK in done.said  # which says keys and values
                assert not asks or MARK in asks
                session.rollback()
            with subtests.test(f"{deed.__name__} refused"), database.begin() as session:
                with speaking(MARKED), pytest.raises(Refusal, match=MARK):
                    perform(session, deed(**values(numbers) | wrong), by)
                session.rollback()
