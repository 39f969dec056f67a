"""Versions that are only tried: checked and played by their owners before they are handed in."""

from __future__ import annotations

from datetime import timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.bots import entries
from arena.bots.bot_deeds import EnterBot, RetireBot
from arena.bots.submissions import SubmissionError, enter, tried_lately
from arena.ground.db import Database
from arena.ground.refusals import Refusal
from arena.models import (
    BotVersion,
    Check,
    CoOwner,
    Entrant,
    EntrantState,
    JobStatus,
    User,
    VersionStatus,
)
from arena.ratings.book import NEW
from arena.recorder import recording
from arena.schedule.requests import request_matches
from engine import jobs
from tests.arena.bots.test_submissions import (
    NOW,
    furnished,
    issued,
    ladder,
    person,
    report,
    take_in,
    worker,
)
from tests.arena.doing import do


def tried(session: Session, user: User, digest: str = "a", **more) -> BotVersion:
    return take_in(session, user, "deep", digest, enters=False, **more)


def checks_due(session: Session) -> list[jobs.Job]:
    return [job for job in issued(session) if len({bot.digest for bot in job.bots}) == 1]


def checked(session: Session, *kept: bool) -> None:
    """A worker makes the check that is due."""
    (job,) = checks_due(session)
    recording.record_check(session, report(job, *kept or (True,)), NOW)
    session.flush()


def there(session: Session, version: BotVersion) -> Entrant | None:
    return session.scalar(sa.select(Entrant).where(Entrant.version_id == version.id))


def furnished_with(session: Session) -> User:
    """An arena with a worker, and an opponent on the ladder."""
    furnished(session)
    worker(session)
    opponent = take_in(session, person(session, "bob"), "rival", "f")
    enter(session, ladder(session), opponent, NOW)
    session.execute(sa.delete(Check))
    return person(session)


def hand_in(session: Session) -> Check | None:
    """What the deed leaves to be checked."""
    return do(session, EnterBot("deep", "clobber-6x7"), NOW).check


def test_what_is_tried_does_not_enter(sqlite_database: Database) -> None:
    """It is checked as any other, is ready, and can be played by its owners, who ask for it."""
    with sqlite_database.begin() as session:
        ada = furnished_with(session)
        version = tried(session, ada)
        checked(session)
        check = session.scalars(sa.select(Check)).one()
        assert version.status is VersionStatus.READY
        assert (check.passed, check.problem) == (True, "it was only tried")
        assert entries.fates(session, [check])[check.id].word == "not entered"
        entrant = there(session, version)
        assert entrant is not None
        assert entrant.is_tried
        mate, other = person(session, "mate"), person(session, "eve")
        session.add(CoOwner(bot_id=version.bot_id, user_id=mate.id))
        session.flush()
        for owner in (ada, mate):
            (match,) = request_matches(session, owner, ladder(session), ["deep:1", "rival"], NOW)
            assert not match.rated
            assert match.places[0].entrant is entrant
        for who, named in ((other, "deep:1"), (ada, "deep")):
            with pytest.raises(Refusal, match="there is no"):
                request_matches(session, who, ladder(session), [named, "rival"], NOW)
        with pytest.raises(Refusal, match="is not on the ladder"):
            do(session, RetireBot("deep", "clobber-6x7"), NOW)


def test_before_its_check_has_passed_nothing_of_it_is_played(sqlite_database: Database) -> None:
    """Nor afterwards, where it did not."""
    with sqlite_database.begin() as session:
        ada = furnished_with(session)
        version = tried(session, ada)
        for _ in range(2):
            with pytest.raises(Refusal, match="there is no version 1 of a bot deep"):
                request_matches(session, ada, ladder(session), ["deep:1", "rival"], NOW)
            if version.status is VersionStatus.CHECKING:
                checked(session, False)
        assert version.status is VersionStatus.REFUSED
        with pytest.raises(Refusal, match="was refused by its check"):
            hand_in(session)


def test_what_was_tried_enters_at_once(sqlite_database: Database) -> None:
    """Handed in it needs no second check, and takes over what its bot's last version had."""
    with sqlite_database.begin() as session:
        ada = furnished_with(session)
        old = enter(session, ladder(session), take_in(session, ada, "deep", "0"), NOW)
        session.execute(sa.delete(Check))
        old.mu, old.sigma = 31.0, 2.0
        version = tried(session, ada)
        checked(session)
        entrant = there(session, version)
        assert entrant is not None
        assert (entrant.mu, old.state) == (NEW.mu, EntrantState.ACTIVE)
        later = NOW + timedelta(hours=1)
        assert do(session, EnterBot("deep", "clobber-6x7", version.number), later).active
        assert there(session, version) is entrant
        assert (entrant.state, entrant.reason) == (EntrantState.ACTIVE, "")
        assert (entrant.predecessor_id, entrant.mu, entrant.entered) == (old.id, 31.0, later)
        assert not entrant.returned_after
        assert old.state is EntrantState.RETIRED
        assert old.reason == "version 2 took its place"
        assert not checks_due(session)


def test_an_older_version_that_was_tried_has_no_heir_for_its_predecessor(
    sqlite_database: Database,
) -> None:
    """Histories are made anew in the order of entrants: who came later is nobody's predecessor."""
    with sqlite_database.begin() as session:
        ada = furnished_with(session)
        older = tried(session, ada, "a")
        checked(session)
        newer = enter(session, ladder(session), take_in(session, ada, "deep", "b"), NOW)
        entrant = enter(session, ladder(session), older, NOW)
        assert newer.state is EntrantState.RETIRED
        assert entrant.id < newer.id
        assert entrant.predecessor_id is None


def test_handed_in_while_its_check_is_under_way(sqlite_database: Database) -> None:
    """The wish to enter is kept, and answered by the check that is made."""
    with sqlite_database.begin() as session:
        ada = furnished_with(session)
        version = tried(session, ada)
        check = hand_in(session)
        assert check is not None
        assert check.enters
        checked(session)
        assert check.status is JobStatus.FIXED
        entrant = there(session, version)
        assert entrant is not None
        assert entrant.state is EntrantState.ACTIVE


def test_the_same_files_are_tried_once(sqlite_database: Database) -> None:
    """Whoever asks again is shown the check that there is, as of files that were handed in."""
    with sqlite_database.begin() as session:
        ada = furnished_with(session)
        first = tried(session, ada)
        assert tried(session, ada) is first
        checked(session, False)
        assert tried(session, ada) is first
        assert len(session.scalars(sa.select(Check)).all()) == 1


def test_so_much_may_be_tried_a_day(sqlite_database: Database) -> None:
    """What is handed in does not count, nor what is older than a day."""
    with sqlite_database.begin() as session:
        ada = furnished_with(session)
        take_in(session, ada, "deep", "0")
        for digest in "ab":
            tried(session, ada, digest, tries_a_day=2)
        assert tried_lately(session, ada.id, NOW) == 2
        enough = pytest.raises(SubmissionError, match="2 versions may be tried within 24 hours")
        with enough, session.begin_nested():
            tried(session, ada, "c", tries_a_day=2)
        tried(session, ada, "b", tries_a_day=2)  # which is tried already
        take_in(session, ada, "deep", "d")
        tomorrow = NOW + timedelta(hours=25)
        tried(session, ada, "e", tries_a_day=2, now=tomorrow)
