"""Who hears of bots and competitions: owners, who takes part, who follows; and who has muted it."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy.orm import Session

from arena.audit import ARENA
from arena.ground.db import Database
from arena.models import Bot, CoOwner, Follow
from arena.people import accounts, audience

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def follow(session: Session, person: int, bot: Bot, *, muted: bool = False) -> None:
    """What somebody chooses of a bot."""
    session.add(Follow(user_id=person, bot_id=bot.id, muted=muted, since=NOW))
    session.flush()


def test_owners_hear_of_their_bots_and_others_of_what_they_follow(database: Database) -> None:
    """Nobody twice; who has muted one of two of theirs still hears of the other."""
    with database.begin() as session:
        ada, bob, eve = (accounts.add(session, ARENA, name, now=NOW).id for name in "ABC")
        mine, ours = (Bot(name=name, owner_id=ada, created=NOW) for name in ("mine", "ours"))
        session.add_all([mine, ours])
        session.flush()
        session.add(CoOwner(bot_id=ours.id, user_id=bob))
        both = [mine.id, ours.id]
        assert audience.owners(session, both) == {ada, bob}
        follow(session, ada, mine, muted=True)
        assert audience.owners(session, both) == {ada, bob}
        assert audience.owners(session, [mine.id]) == set()
        follow(session, ada, ours, muted=True)
        assert audience.owners(session, both) == {bob}
        follow(session, eve, ours)
        follow(session, bob, ours)
        assert audience.followers(session, ours.id) == {eve}
