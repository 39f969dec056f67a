"""Bots taken in, checked, entered; and the furniture of a fresh arena."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import chain

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.bots.furnish import Sample, furnish, ladder_name, ladder_title
from arena.bots.submissions import SubmissionError, enter, submit
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import (
    HOUSE,
    Bot,
    BotVersion,
    Check,
    CompetitionState,
    Entrant,
    EntrantState,
    JobStatus,
    Ladder,
    Match,
    User,
    VersionStatus,
)
from arena.recorder import noting, recording
from arena.schedule import allocation, leases, matchmaking
from engine import jobs, reporting
from engine.games import GAMES
from tests.arena.simulator import give_sign

NOW = datetime(2026, 3, 1, tzinfo=UTC)
SETTINGS = Settings()


def came_back(session: Session, now: datetime) -> int:
    """How many jobs are rolled back now."""
    return leases.roll_back_overdue(session, SETTINGS, now, now).total()


def sample(name: str, digest: str, *games: str) -> Sample:
    return Sample(name, digest * 64, 100, 60, "Python", "", games or tuple(GAMES))


def furnished(session: Session, samples: Sequence[Sample] = ()) -> None:
    furnish(session, samples, NOW, games=GAMES.singles.values())
    session.flush()


def ladder(session: Session, name: str = "clobber-6x7") -> Ladder:
    return session.scalars(sa.select(Ladder).where(Ladder.name == name)).one()


def person(session: Session, name: str = "ada") -> User:
    user = User(name=name, created=NOW)
    session.add(user)
    session.flush()
    return user


def take_in(session: Session, user: User, name: str, digest: str = "a", **more) -> BotVersion:
    given = {"size": 100, "language": "Python", "ladder": ladder(session), "now": NOW} | more
    return submit(session, user, name, digest=digest * 64, **given)


def worker(session: Session, slots: int = 8) -> None:
    give_sign(session, "w", NOW, slots=slots)
    session.flush()


def issued(session: Session) -> list[jobs.Job]:
    return list(chain.from_iterable(allocation.fill(session, SETTINGS, NOW)))


@pytest.mark.parametrize("name", ["", "a b", "-x", "../x", "x" * 41, "<b>", "naïve", "a\n"])
def test_names_that_are_none(database: Database, name: str) -> None:
    """A name is a word for addresses and tables; the message says of what."""
    with database.begin() as session:
        furnished(session)
        with pytest.raises(SubmissionError, match="1 to 40 letters, digits"):
            take_in(session, person(session), name)


def test_a_name_belongs_to_its_first_owner(database: Database) -> None:
    """Nobody uploads a version of somebody else's bot."""
    with database.begin() as session:
        furnished(session)
        take_in(session, person(session, "ada"), "deep")
        with pytest.raises(SubmissionError, match="another owner"):
            take_in(session, person(session, "bob"), "deep", "b")


def test_no_bot_passes_for_another(database: Database) -> None:
    """The size of letters makes no other name; a slip of one's own makes no other bot."""
    with database.begin() as session:
        furnished(session)
        ada = person(session, "ada")
        take_in(session, ada, "Deep")
        with pytest.raises(SubmissionError, match="a bot Deep already, of another owner"):
            take_in(session, person(session, "bob"), "dEEp", "b")
        with pytest.raises(SubmissionError, match="your bot is called Deep"):
            take_in(session, ada, "deep", "b")


@pytest.mark.parametrize("state", [CompetitionState.FROZEN, CompetitionState.CLOSED])
def test_a_ladder_that_takes_no_bots(database: Database, state: CompetitionState) -> None:
    """Frozen and closed ladders say so."""
    with database.begin() as session:
        furnished(session)
        ladder(session).state = state
        with pytest.raises(SubmissionError, match=f"is {state} and takes no bots"):
            take_in(session, person(session), "deep")


def test_a_bot_that_is_too_large(database: Database) -> None:
    """A ladder may take less than every arena does."""
    with database.begin() as session:
        furnished(session)
        ladder(session).bundle_bytes = 1000
        take_in(session, person(session), "small", size=1000)
        with pytest.raises(SubmissionError, match="1001 bytes, and clobber-6x7 takes at most 1000"):
            take_in(session, person(session, "bob"), "large", size=1001)


def test_a_note_that_is_too_long(database: Database) -> None:
    """It is refused before anything is kept, and said how long it may be."""
    with database.begin() as session:
        furnished(session)
        with pytest.raises(SubmissionError, match="the note has 501 characters; it may have 500"):
            take_in(session, person(session), "wordy", note="x" * 501)
        assert session.scalars(sa.select(Bot)).all() == []
        assert take_in(session, person(session, "bob"), "terse", note="x" * 500).note == "x" * 500


def test_versions_count_and_the_same_files_are_the_same_version(database: Database) -> None:
    """Numbers go up with new files only."""
    with database.begin() as session:
        furnished(session)
        ada = person(session)
        numbers = [take_in(session, ada, "deep", digest).number for digest in "aabba"]
        assert numbers == [1, 1, 2, 2, 3]


def test_a_new_version_keeps_mu_and_is_less_certain(database: Database) -> None:
    """The numbers are those decided: sigma is at least 5, and the old version retires."""
    with database.begin() as session:
        furnished(session)
        ada = person(session)
        first = enter(session, ladder(session), take_in(session, ada, "deep", "a"), NOW)
        first.mu, first.sigma = 31.0, 1.5
        second = enter(session, ladder(session), take_in(session, ada, "deep", "b"), NOW)
        assert (second.mu, second.sigma) == (31.0, 5.0)
        assert second.predecessor_id == first.id
        assert (first.state, second.state) == (EntrantState.RETIRED, EntrantState.ACTIVE)
        # The old one comes back no surer than that.
        first.games = first.wins = 86
        again = enter(session, ladder(session), first.version, NOW)
        assert again is first
        assert (again.mu, again.sigma) == (31.0, 5.0)
        enter(session, ladder(session), second.version, NOW)
        enter(session, ladder(session), first.version, NOW)
        assert (again.games_before, again.returned_after) == (86, [0])
        assert (first.state, second.state) == (EntrantState.ACTIVE, EntrantState.RETIRED)


def report(job: jobs.Job, *kept: bool) -> reporting.CheckReport:
    findings = tuple(reporting.Finding(one, "words") for one in kept)
    return reporting.CheckReport(job.lease, "w", findings, "the log", ("depth int 1 20 6",))


def test_a_check_that_passes_enters_the_bot(database: Database) -> None:
    """It enters its ladder, and the others of the same game that it was submitted to."""
    with database.begin() as session:
        furnished(session)
        worker(session)
        ada = person(session)
        version = take_in(session, ada, "deep")
        take_in(session, ada, "deep", ladder=ladder(session, "clobber-5x6"))
        take_in(session, ada, "deep", ladder=ladder(session, "oxoxo"))
        # One check of an owner's at a time, and one for each game: the first of Clobber speaks for
        # the second.
        (job,) = issued(session)
        assert job.spec.variant.game == "clobber"
        recording.record_check(session, report(job, True), NOW)
        (job,) = issued(session)
        assert job.spec.variant.game == "oxoxo"
        assert version.status is VersionStatus.READY
        entered = session.scalars(sa.select(Entrant).order_by(Entrant.id)).all()
        assert [e.competition.name for e in entered] == ["clobber-6x7", "clobber-5x6"]


def test_a_check_speaks_for_its_game_alone(database: Database) -> None:
    """Another game's is still to come, and if that fails the bot stays where it is."""
    with database.begin() as session:
        furnished(session)
        worker(session)
        ada = person(session)
        version = take_in(session, ada, "deep")
        (job,) = issued(session)
        take_in(session, ada, "deep", ladder=ladder(session, "oxoxo"))
        recording.record_check(session, report(job, True), NOW)
        other = session.scalars(sa.select(Check).order_by(Check.id.desc())).first()
        assert other is not None
        assert other.status is JobStatus.OPEN
        (job,) = issued(session)
        recording.record_check(session, report(job, False), NOW)
        assert (other.status, version.status) == (JobStatus.FIXED, VersionStatus.READY)
        (entered,) = session.scalars(sa.select(Entrant)).all()
        assert (entered.competition.name, entered.state) == ("clobber-6x7", EntrantState.ACTIVE)


def test_a_check_that_fails_refuses_the_bot(database: Database) -> None:
    """It enters nothing, and its findings are kept for its owner."""
    with database.begin() as session:
        furnished(session)
        worker(session)
        version = take_in(session, person(session), "deep")
        (job,) = issued(session)
        recording.record_check(session, report(job, True, False), NOW)
        assert version.status is VersionStatus.REFUSED
        assert session.scalars(sa.select(Entrant)).all() == []
        check = session.scalars(sa.select(Check)).one()
        assert [finding["kept"] for finding in check.findings] == [True, False]
        assert (check.log, version.options) == ("the log", ["depth int 1 20 6"])


def test_findings_are_kept_as_they_come(database: Database) -> None:
    """The page that waits shows them; what passed so far has not passed the check."""
    with database.begin() as session:
        furnished(session)
        worker(session)
        version = take_in(session, person(session), "deep")
        (job,) = issued(session)
        found = reporting.Finding(True, "words", "hello", lines=("> hello 1",))
        told = reporting.Progress(job.lease, findings=(found,))
        later = NOW + timedelta(seconds=5)
        assert noting.note(session, [told], Settings(), later) == [leases.Fate.NOTED]
        check = session.scalars(sa.select(Check).execution_options(populate_existing=True)).one()
        assert check.findings == [found.to_json()]
        assert (check.status, version.status) == (JobStatus.ISSUED, VersionStatus.CHECKING)
        assert check.lease_ends == later + timedelta(seconds=Settings().lease_seconds)


def test_an_empty_report_passes_nobody(database: Database) -> None:
    """A worker that looked at nothing says nothing."""
    with database.begin() as session:
        furnished(session)
        worker(session)
        version = take_in(session, person(session), "deep")
        (job,) = issued(session)
        recording.record_check(session, report(job), NOW)
        assert version.status is VersionStatus.REFUSED


def test_peoples_bots_are_checked_first(database: Database) -> None:
    """Not after all that a fresh arena has to check of its own."""
    with database.begin() as session:
        furnished(session, [sample("one", "1"), sample("two", "2")])
        worker(session, slots=1)
        take_in(session, person(session), "deep")
        (job, *_) = issued(session)
        assert job.spec.entrants[0] == "deep v1"


def test_a_job_that_fails_three_times_is_set_aside(database: Database) -> None:
    """The operator sees it, and it keeps no worker busy."""
    with database.begin() as session:
        furnished(session)
        worker(session)
        take_in(session, person(session), "deep")
        for _ in range(3):
            (job,) = issued(session)
            recording.record_void(session, job.lease, "the disk is full", SETTINGS, NOW)
        check = session.scalars(sa.select(Check)).one()
        assert (check.status, check.problem) == (JobStatus.SET_ASIDE, "the disk is full")
        assert issued(session) == []


def test_what_nobody_takes_up_is_no_failure(database: Database) -> None:
    """Jobs wait for ever while there is no worker; one whose worker died has failed once."""
    with database.begin() as session:
        furnished(session)
        worker(session)
        take_in(session, person(session), "deep")
        (job,) = issued(session)
        late = NOW + timedelta(seconds=SETTINGS.take_up_seconds + 1)
        assert came_back(session, late - timedelta(seconds=1)) == 0
        assert came_back(session, late) == 1
        check = session.scalars(sa.select(Check)).one()
        assert (check.status, check.failures) == (JobStatus.OPEN, 0)
        (job,) = issued(session)
        started = reporting.Started(job.lease, "w")
        assert noting.note(session, [started], SETTINGS, NOW) == [leases.Fate.NOTED]
        session.expire_all()
        assert came_back(session, late) == 1
        assert (check.status, check.failures) == (JobStatus.OPEN, 1)


def test_every_offered_variant_has_a_ladder(database: Database) -> None:
    """With names that are different and tell the variants apart."""
    offered = [(game, variant) for game in GAMES.singles.values() for variant in game.offered]
    with database.begin() as session:
        furnished(session)
        names = session.scalars(sa.select(Ladder.name).order_by(Ladder.id)).all()
        assert names == [ladder_name(game, variant) for game, variant in offered]
    assert len(set(names)) == len(names)
    titles = [ladder_title(game, variant) for game, variant in offered]
    assert len(set(titles)) == len(titles)


def test_furnishing_again_changes_nothing(database: Database) -> None:
    """A second start finds what the first made, and what was deleted stays deleted."""
    samples = [sample("one", "1"), sample("two", "2", "clobber")]
    with database.begin() as session:
        furnished(session, samples)
        checks = session.scalar(sa.select(sa.func.count()).select_from(Check))
        offered = [variant for game in GAMES.singles.values() for variant in game.offered]
        assert checks == len(offered) + len(GAMES["clobber"].offered)
        session.execute(sa.delete(Check))
        session.delete(ladder(session, "oxoxo"))
        session.flush()
        furnished(session, samples)
        assert session.scalars(sa.select(Ladder).where(Ladder.name == "oxoxo")).all() == []
        assert session.scalars(sa.select(Check)).all() == []


def test_a_sample_that_changed_is_a_new_version(database: Database) -> None:
    """Where it still plays; nowhere else."""
    with database.begin() as session:
        furnished(session, [sample("one", "1", "clobber")])
        version = session.scalars(sa.select(BotVersion)).one()
        assert version.bot.owner.name == HOUSE
        enter(session, ladder(session), version, NOW)
        session.execute(sa.delete(Check))
        furnished(session, [sample("one", "9", "clobber")])
        check = session.scalars(sa.select(Check)).one()
        assert (check.version.number, check.ladder.name) == (2, "clobber-6x7")


def test_a_match_needs_two_bots(database: Database) -> None:
    """None is made before, and then between those there are."""
    with database.begin() as session:
        furnished(session)
        worker(session, slots=1)
        ada = person(session)
        enter(session, ladder(session), take_in(session, ada, "one", "1"), NOW)
        session.execute(sa.delete(Check))
        assert issued(session) == []
        enter(session, ladder(session), take_in(session, ada, "two", "2"), NOW)
        session.execute(sa.delete(Check))
        sent = issued(session)
        assert len(sent) == allocation.AHEAD
        assert {frozenset(job.spec.entrants) for job in sent} == {frozenset({"one v1", "two v1"})}
        matches = session.scalars(sa.select(Match)).all()
        assert len({match.seed for match in matches}) == len(matches)


def test_a_heap_of_uploads_does_not_stop_the_ladders(database: Database) -> None:
    """Checks get half of the room while there are matches to play, and all of it otherwise."""
    with database.begin() as session:
        furnished(session)
        worker(session, slots=2)
        versions = [
            take_in(session, person(session, f"ada{digit}"), f"bot{digit}", digit)
            for digit in "123456"
        ]
        for version in versions[:2]:
            enter(session, ladder(session), version, NOW)
        kinds = [job.lease.kind for job in issued(session)]
        assert kinds == ["check"] * allocation.AHEAD + ["match"] * allocation.AHEAD
        leases.roll_back_all(session)
        session.execute(sa.update(Ladder).values(state=CompetitionState.PAUSED))
        session.execute(sa.update(Match).values(status=JobStatus.VOID))
        assert [job.lease.kind for job in issued(session)] == ["check"] * 2 * allocation.AHEAD


def test_ladders_get_the_same_time_of_workers(database: Database) -> None:
    """Not the same number of matches: a ladder of quick games plays more of them."""
    with database.begin() as session:
        furnished(session)
        worker(session, slots=1)
        ada = person(session)
        for name in ("one", "two"):
            version = take_in(session, ada, name, name[0].replace("o", "1").replace("t", "2"))
            for place in ("clobber-6x7", "blokus-duel"):
                enter(session, ladder(session, place), version, NOW)
        session.execute(sa.delete(Check))
        ladder(session, "clobber-6x7").worker_seconds = 100.0
        ladder(session, "blokus-duel").worker_seconds = 40.0
        made = next(matchmaking.new_matches(session, NOW), None)
        assert made is not None
        assert made.competition.name == "blokus-duel"


def test_newcomers_go_first(database: Database) -> None:
    """A person's bot in placement, then the house's, then ladders where all is known."""
    with database.begin() as session:
        furnished(session)
        of_house = sa.select(User).where(User.name == HOUSE)
        people = {"ada": person(session), HOUSE: session.scalars(of_house).one()}
        for place, owner, games in (
            ("clobber-5x6", HOUSE, 100),
            ("clobber-8x8", HOUSE, 3),
            ("clobber-6x7", "ada", 3),
        ):
            for number in "12":
                version = take_in(session, people[owner], f"{place}-{number}", number)
                entrant = enter(session, ladder(session, place), version, NOW)
                entrant.games = entrant.wins = games
            ladder(session, place).worker_seconds = games
        ladder(session, "clobber-6x7").worker_seconds = 1000.0
        # Who left in placement waits for nothing.
        left = take_in(session, people["ada"], "left", "3")
        enter(session, ladder(session, "clobber-5x6"), left, NOW).state = EntrantState.RETIRED
        first = next(matchmaking.new_matches(session, NOW), None)
        assert first is not None
        assert first.competition.name == "clobber-6x7"
        ladder(session, "clobber-6x7").state = CompetitionState.PAUSED
        second = next(matchmaking.new_matches(session, NOW), None)
        assert second is not None
        assert second.competition.name == "clobber-8x8"
