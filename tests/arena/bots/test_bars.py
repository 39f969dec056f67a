"""Bots of others that the organiser of a ladder takes off it, on each kind of database."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.audit import ARENA, Actor
from arena.bots.bar_deeds import BarBot, UnbarBot
from arena.bots.bars import all_barred
from arena.bots.bot_deeds import EnterBot
from arena.bots.deletion import DeleteBot
from arena.bots.first_tests import admit
from arena.bots.home_deeds import ConnectBot
from arena.bots.submissions import enter, submit
from arena.deeds import By, Deed, perform
from arena.ground.db import Database
from arena.ground.refusals import NotAllowed, Refusal
from arena.models import (
    BARRED,
    SCOPES,
    AuditEntry,
    BotVersion,
    Check,
    CompetitionState,
    Entrant,
    EntrantState,
    HomeRule,
    JobStatus,
    MemberRole,
    Membership,
    Notification,
    Role,
    Scope,
    User,
    VersionStatus,
)
from arena.people import accounts
from tests.arena.bots.test_entries import NOW, ladders, version
from tests.arena.doing import do

WHY = f"{BARRED}: it is a copy"


def _by(user: User, *organised: int) -> By:
    scopes = SCOPES[user.role] | {Scope.CONNECT}
    return By(Actor(user.id, user.name, ""), scopes, NOW, organised=frozenset(organised))


def test_who_organises_one_ladder_takes_bots_off_it(database: Database) -> None:
    """They do so there alone; owners are told why, and only an organiser brings one back."""
    with database.begin() as session:
        ada, bob = (accounts.add(session, ARENA, name, now=NOW) for name in ("ada", "bob"))
        first, older = version(session, ada, "mine"), version(session, ada, "other", "c")
        ladder, other = ladders(session)[:2]
        ladder.home = HomeRule.BESIDE
        session.add(
            Membership(
                competition_id=ladder.id, user_id=bob.id, role=MemberRole.ORGANISER, joined=NOW
            )
        )
        do(session, EnterBot("mine", other.name, 1), NOW)
        organiser = _by(bob, ladder.id)
        with pytest.raises(NotAllowed):
            perform(session, BarBot(other.name, "mine", "why"), organiser)
        with pytest.raises(NotAllowed):
            perform(session, BarBot(ladder.name, "mine", "why"), _by(ada))
        submit(session, ada, "mine", digest="b" * 64, size=1, language="C", ladder=ladder, now=NOW)
        perform(session, BarBot(ladder.name, "mine", "it is a copy"), organiser)
        entrants = sa.select(Entrant).where(Entrant.competition_id == ladder.id)
        found = {one.version.label: (one.state, one.reason) for one in session.scalars(entrants)}
        assert found == {
            first.label: (EntrantState.RETIRED, WHY),
            older.label: (EntrantState.ACTIVE, ""),
        }
        barred = session.scalars(entrants.where(Entrant.version_id == first.id)).one()
        assert barred.public_reason == BARRED, "its owners alone are told more"
        coming = sa.select(Check).where(Check.status.in_([JobStatus.OPEN, JobStatus.ISSUED]))
        assert {check.ladder for check in session.scalars(coming)} == {other}
        (told,) = session.scalars(sa.select(Notification))
        assert (told.user_id, told.places["note"]) == (ada.id, "it is a copy")
        noted = sa.select(AuditEntry.actor, AuditEntry.detail).where(AuditEntry.action == "bar bot")
        assert session.execute(noted).all() == [("bob", "mine: it is a copy")]

        for comes_back in _ways_back(session, ada, ladder.name):
            refused = pytest.raises(Refusal, match="until an organiser of it lets it: an organiser")
            with refused, session.begin_nested():
                comes_back()
        # One that passes its check all the same, as a worker had it already.
        late = session.scalars(sa.select(BotVersion).where(BotVersion.digest == "b" * 64)).one()
        check = Check(
            version=late, ladder=ladder, status=JobStatus.FIXED, created=NOW,
            findings=[{"kept": True, "words": "it plays"}],
        )  # fmt: skip
        session.add(check)
        late.status = VersionStatus.READY
        session.flush()
        admit(session, check, NOW)
        assert check.problem == BARRED, "everybody reads it"
        assert all_barred(session, ladder) == {"mine": "it is a copy"}
        perform(session, UnbarBot(ladder.name, "MINE"), organiser)
        assert all_barred(session, ladder) == {}
        assert {one.state for one in session.scalars(entrants)} == {EntrantState.ACTIVE}
        with pytest.raises(Refusal, match="no organiser took mine off"):
            perform(session, UnbarBot(ladder.name, "mine"), organiser)
        do(session, EnterBot("mine", ladder.name, 1), NOW)


def _ways_back(session: Session, ada: User, ladder: str) -> list[Callable[[], object]]:
    def hands_in() -> None:
        its = ladders(session)[0]
        submit(session, ada, "mine", digest="d" * 64, size=1, language="C", ladder=its, now=NOW)

    deeds: tuple[Deed, ...] = EnterBot("mine", ladder, 1), ConnectBot("mine", ladder, "another")
    return [hands_in, *(lambda deed=deed: perform(session, deed, _by(ada)) for deed in deeds)]  # type: ignore[misc]


def test_what_can_not_be_barred_is_refused(sqlite_database: Database) -> None:
    with sqlite_database.begin() as session:
        ada = accounts.add(session, ARENA, "ada", role=Role.ORGANISER, now=NOW)
        version(session, ada, "mine")
        ladder, other = ladders(session)[:2]
        for deed, words in (
            (BarBot(other.name, "mine", "why"), "the bot mine is not on the ladder"),
            (BarBot(ladder.name, "nobody", "why"), "there is no bot 'nobody'"),
        ):
            with pytest.raises(Refusal, match=words):
                perform(session, deed, _by(ada))
        ladder.state = CompetitionState.CLOSED
        session.flush()
        with pytest.raises(Refusal, match="is closed, and its table final"):
            perform(session, BarBot(ladder.name, "mine", "why"), _by(ada))


def test_one_that_does_not_play_there_is_barred_too(sqlite_database: Database) -> None:
    """Nobody escapes by retiring, or comes in by what was being checked; and who was suspended or
    had never entered does not play when it is let again."""
    with sqlite_database.begin() as session:
        ada = accounts.add(session, ARENA, "ada", role=Role.ORGANISER, now=NOW)
        version(session, ada, "retired")
        version(session, ada, "suspended", "b")
        ladder = ladders(session)[0]
        entrants = sa.select(Entrant).where(Entrant.competition_id == ladder.id)
        for one in session.scalars(entrants).all():
            one.state = EntrantState(one.version.bot.name)
        submit(
            session, ada, "coming", digest="c" * 64, size=1, language="C", ladder=ladder, now=NOW
        )
        for name in ("retired", "suspended", "coming"):
            perform(session, BarBot(ladder.name, name, "it is a copy"), _by(ada))
            with pytest.raises(Refusal, match="is not on the ladder"), session.begin_nested():
                perform(session, BarBot(ladder.name, name, "once more"), _by(ada))
            with pytest.raises(Refusal, match="until an organiser of it lets it"):
                submit(
                    session, ada, name, digest=name[0] * 64, size=1, language="C", ladder=ladder,
                    now=NOW,
                )  # fmt: skip
            said = perform(session, UnbarBot(ladder.name, name), _by(ada)).said
            assert said == f"the bot {name} may come back to {ladder.name}"
        assert {one.state for one in session.scalars(entrants)} == {EntrantState.RETIRED}
        assert not any(one.is_barred for one in session.scalars(entrants))
        submit(
            session, ada, "coming", digest="c" * 64, size=1, language="C", ladder=ladder, now=NOW
        )


def test_who_is_barred_meanwhile_does_not_enter(sqlite_database: Database) -> None:
    """As between what is asked before and the moment at which the ladder is locked."""
    with sqlite_database.begin() as session:
        ada = accounts.add(session, ARENA, "ada", role=Role.ORGANISER, now=NOW)
        first, ladder = version(session, ada, "mine"), ladders(session)[0]
        perform(session, BarBot(ladder.name, "mine", "it is a copy"), _by(ada))
        with pytest.raises(Refusal, match="until an organiser of it lets it"):
            enter(session, ladder, first, NOW)


def test_files_that_were_taken_off_come_back_in_no_other_bot(sqlite_database: Database) -> None:
    """Under another name, anew when their bot is deleted, or another person's; but a copy takes
    with it nobody who was there before."""
    with sqlite_database.begin() as session:
        ada, bob = (
            accounts.add(session, ARENA, name, role=Role.ORGANISER, now=NOW)
            for name in ("ada", "bob")
        )
        version(session, bob, "own", "c")
        version(session, ada, "copy", "c")
        version(session, ada, "mine")
        ladder = ladders(session)[0]

        def hands_in(user: User, name: str, content: str = "a") -> None:
            submit(
                session, user, name, digest=content * 64, size=1, language="C", ladder=ladder,
                now=NOW,
            )  # fmt: skip

        perform(session, BarBot(ladder.name, "copy", "it is a copy"), _by(bob))
        perform(session, BarBot(ladder.name, "mine", "it cheats"), _by(bob))
        same = r"a bot with the same files off clobber-6x7"
        for again in (False, True):
            for user, name in ((ada, "other"), (bob, "others")):
                with pytest.raises(Refusal, match=same), session.begin_nested():
                    hands_in(user, name)
            if not again:
                do(session, DeleteBot("mine"), NOW)
        hands_in(bob, "own", "c")
        with pytest.raises(Refusal, match=same), session.begin_nested():
            hands_in(bob, "others", "c")
        perform(session, UnbarBot(ladder.name, "copy"), _by(bob))
        hands_in(bob, "others", "c")
