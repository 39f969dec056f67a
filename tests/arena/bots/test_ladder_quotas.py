"""What each person may have on a ladder, and what is left of it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.audit import ARENA, Actor
from arena.bots.deletion import DeleteBot
from arena.bots.entries import cancel, retire
from arena.bots.first_tests import admit
from arena.bots.furnish import HOUSE
from arena.bots.home_deeds import ConnectBot
from arena.bots.ladder_quotas import quotas_of, whose_next, why_no_room
from arena.bots.profile_deeds import RenameBot
from arena.bots.submissions import enter, tried_lately
from arena.competitions.pairings import Pairing
from arena.deeds import By
from arena.ground.db import Database
from arena.ground.refusals import Refusal
from arena.models import (
    Bot,
    Build,
    Check,
    CoOwner,
    Entrant,
    EntrantState,
    HomeRule,
    JobStatus,
    Role,
    Scope,
    User,
)
from arena.schedule.builds import waits_for_builds
from arena.schedule.matchmaking import make
from engine import reporting
from tests.arena.bots.test_submissions import NOW, furnished, ladder, person, take_in
from tests.arena.doing import do

DAY = timedelta(hours=24)


def passes(session: Session) -> None:
    """Every open check is passed."""
    for check in session.scalars(sa.select(Check).where(Check.status == JobStatus.OPEN)).all():
        check.status = JobStatus.FIXED
        check.findings = [reporting.Finding(True, "played").to_json()]
        admit(session, check, NOW)
    session.flush()


def set_quotas(session: Session, **quotas: int | None) -> None:
    for name, most in quotas.items():
        setattr(ladder(session), f"most_{name}", most)
    session.flush()


def had(session: Session, who: User, now: Any = NOW) -> tuple[int, ...]:
    return tuple(part.had for part in quotas_of(session, ladder(session), who.id, now))


def test_what_counts(sqlite_database: Database) -> None:
    """Bots that entered or are checked, those that are active or may be, and versions of a day."""
    with sqlite_database.begin() as session:
        furnished(session)
        ada = person(session)
        take_in(session, ada, "one")
        assert had(session, ada) == (1, 1, 1)
        passes(session)
        take_in(session, ada, "one", "b")
        # The same files again are the same version.
        take_in(session, ada, "one", "b")
        take_in(session, ada, "two")
        take_in(session, ada, "tried", enters=False)
        assert had(session, ada) == (2, 2, 3)
        passes(session)
        first = session.scalars(sa.select(Entrant).order_by(Entrant.id)).first()
        newest = session.scalars(
            sa.select(Entrant).where(Entrant.state == EntrantState.ACTIVE).order_by(Entrant.id)
        ).first()
        assert first is not newest
        retire(session, ARENA, newest, NOW)
        session.flush()
        assert had(session, ada) == (2, 1, 3)
        assert had(session, ada, NOW + DAY + timedelta(seconds=1)) == (2, 1, 0)
        assert had(session, person(session, "bob")) == (0, 0, 0)


@pytest.mark.parametrize("whole", [True, False], ids=["wholly", "tombstone"])
def test_who_deletes_a_bot_has_no_more_than_before(database: Database, *, whole: bool) -> None:
    """Neither of uploads, for a day, nor of bots that ever entered."""
    with database.begin() as session:
        furnished(session)
        ada = person(session)
        take_in(session, ada, "one")
        passes(session)
        take_in(session, ada, "one", "b")
        passes(session)
        take_in(session, ada, "two", "c")
        passes(session)
        if not whole:
            its = session.scalars(sa.select(Entrant.id).order_by(Entrant.id)).all()
            make(session, ladder(session), Pairing((its[0], its[-1])), NOW)
        assert had(session, ada) == (2, 2, 3)
        gone = do(session, DeleteBot("one"), NOW)
        assert (gone.tombstone is None) is whole
        assert had(session, ada) == (2, 1, 3)
        later = NOW + DAY + timedelta(seconds=1)
        assert had(session, ada, later) == (2, 1, 0)
        set_quotas(session, bots=2)
        with pytest.raises(Refusal, match="each person may enter 2 bots"):
            take_in(session, ada, "three", "d")
        set_quotas(session, bots=None, uploads=3)
        with pytest.raises(Refusal, match="each person may hand in 3 versions"):
            take_in(session, ada, "three", "d")
        # What only waited for its check was handed in, and never entered.
        set_quotas(session, uploads=None)
        take_in(session, ada, "four", "e")
        do(session, DeleteBot("four"), NOW)
        assert had(session, ada) == (2, 1, 4)
        assert had(session, ada, later) == (2, 1, 0)
        # So it is with tries, and with what workers built.
        tried = take_in(session, ada, "five", "f", enters=False)
        session.add(Build(ticket="t", version=tried, seconds=60.0, ended=NOW))
        for is_there in (True, False):
            if not is_there:
                do(session, DeleteBot("five"), NOW)
            assert tried_lately(session, ada.id, NOW) == 1
            assert waits_for_builds(session, ada, 60.0, NOW)
        assert tried_lately(session, ada.id, later) == 0
        assert not waits_for_builds(session, ada, 60.0, NOW + timedelta(hours=2))


QUOTAS: list[tuple[dict[str, int], str, str, str]] = [
    # The quota, a bot that a person with one active bot "one" hands in, its files, what is said.
    ({"bots": 1}, "one", "b", ""),
    ({"bots": 1}, "two", "b", "each person may enter 1 bot"),
    ({"bots": 2}, "two", "b", ""),
    ({"active": 1}, "one", "b", ""),
    ({"active": 1}, "two", "b", "each person may have 1 bot active"),
    ({"uploads": 1}, "one", "a", ""),
    ({"uploads": 1}, "one", "b", "the next is free at 2026-03-02 00:00 UTC"),
    ({"uploads": 2}, "two", "b", ""),
    ({"uploads": 0}, "two", "b", "nothing may be handed in"),
    ({"bots": 2, "active": 2, "uploads": 1}, "two", "b", "within 24 hours"),
]


@pytest.mark.long
@pytest.mark.parametrize(("quotas", "bot", "digest", "said"), QUOTAS)
def test_what_is_too_much_is_refused(
    database: Database, quotas: dict[str, int], bot: str, digest: str, said: str
) -> None:
    """With what to do, and it is known before; nobody else is hindered by it."""
    with database.begin() as session:
        furnished(session)
        ada = person(session)
        take_in(session, ada, "one")
        passes(session)
        set_quotas(session, **quotas)
        before = why_no_room(session, ladder(session), *whose_next(session, bot, ada.id), NOW)
        if said:
            with pytest.raises(Refusal, match=said):
                take_in(session, ada, bot, digest)
            assert said in before
        else:
            take_in(session, ada, bot, digest)
            # That the same files come again can't be known before they come.
            assert not before or digest == "a"
        if quotas != {"uploads": 0}:
            take_in(session, person(session, "bob"), "bobs")


def test_a_former_name_is_that_of_its_bot(sqlite_database: Database) -> None:
    with sqlite_database.begin() as session:
        furnished(session)
        take_in(session, person(session), "one")
        do(session, RenameBot("one", "two"), NOW)
        its = whose_next(session, "two", 0)
        assert its[1] is not None
        assert whose_next(session, "one", 0) == its


def test_a_shared_bot_counts_for_its_owner_and_the_house_for_nobody(
    sqlite_database: Database,
) -> None:
    with sqlite_database.begin() as session:
        furnished(session)
        ada, bob = person(session), person(session, "bob")
        take_in(session, ada, "one")
        bot = session.scalars(sa.select(Bot).where(Bot.name == "one")).one()
        session.add(CoOwner(bot_id=bot.id, user_id=bob.id))
        set_quotas(session, uploads=1)
        with pytest.raises(Refusal, match="within 24 hours"):
            take_in(session, bob, "one", "b")
        take_in(session, bob, "two")
        house = session.scalars(sa.select(User).where(User.name == HOUSE)).one()
        take_in(session, house, "sample")
        take_in(session, house, "another")


def test_each_person_has_so_many_bots_here(database: Database) -> None:
    """Tried ones count on any ladder; new versions and deleted bots don't, nor those of
    organisers."""
    with database.begin() as session:
        furnished(session)
        ada, bob, eve = person(session), person(session, "bob"), person(session, "eve")
        eve.role = Role.ORGANISER
        take_in(session, ada, "one", bots_a_person=2)
        take_in(session, ada, "tried", enters=False, bots_a_person=2)
        words = "each person may have 2 bots here, and so many are there: hand it in as a new"
        for more in ({}, {"enters": False}):
            with pytest.raises(Refusal, match=words):
                take_in(session, ada, "three", bots_a_person=2, **more)
        by = By(Actor(ada.id, "ada", ""), frozenset(Scope), NOW, bots_a_person=2)
        ladder(session).home = HomeRule.BESIDE
        with pytest.raises(Refusal, match=words):
            ConnectBot("three", ladder(session).name).do(session, by)
        take_in(session, ada, "one", "b", bots_a_person=2)
        session.add(CoOwner(bot_id=bot_of(session, "one").id, user_id=bob.id))
        take_in(session, bob, "one", "c", bots_a_person=1)
        take_in(session, bob, "his", bots_a_person=1)
        for name in ("x", "y"):
            take_in(session, eve, name, bots_a_person=1)
        do(session, DeleteBot("tried"), NOW)
        take_in(session, ada, "three", bots_a_person=2)
        take_in(session, ada, "four", bots_a_person=0)


def bot_of(session: Session, name: str) -> Bot:
    return session.scalars(sa.select(Bot).where(Bot.name == name)).one()


def test_who_waits_for_a_check_may_find_the_ladder_full(sqlite_database: Database) -> None:
    """The quota was made smaller meanwhile: the version is told, and enters when there is room."""
    with sqlite_database.begin() as session:
        furnished(session)
        ada = person(session)
        take_in(session, ada, "one")
        passes(session)
        take_in(session, ada, "two")
        set_quotas(session, active=1)
        passes(session)
        check = session.scalars(sa.select(Check).order_by(Check.id.desc())).first()
        assert check.problem == "each person may have 1 bot active there: retire one, and enter it"
        active = session.scalars(sa.select(Entrant).where(Entrant.state == EntrantState.ACTIVE))
        assert [one.version.bot.name for one in active] == ["one"]


def test_a_check_that_ends_makes_room_again(sqlite_database: Database) -> None:
    with sqlite_database.begin() as session:
        furnished(session)
        ada = person(session)
        set_quotas(session, bots=1, active=1)
        take_in(session, ada, "one")
        with pytest.raises(Refusal, match="1 bot"):
            take_in(session, ada, "two")
        cancel(session.scalars(sa.select(Check)).one(), "for this")
        session.flush()
        version = take_in(session, ada, "three")
        enter(session, ladder(session), version, NOW)
        assert had(session, ada)[:2] == (1, 1)
