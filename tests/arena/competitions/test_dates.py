"""Dates of competitions: which are refused, what they forbid, and what happens at them.

Moments are by the clock of the database: those that are past are laid into the table, as if the
recorder had slept.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.audit import ARENA
from arena.bots.bot_deeds import EnterBot, RetireBot, WithdrawBot
from arena.bots.first_tests import admit
from arena.bots.submissions import submit
from arena.competitions import happenings, tournaments
from arena.competitions.date_deeds import RemoveDate, SetDate
from arena.competitions.dates import (
    current_season,
    dates_of,
    next_dates,
    read_dates,
    read_moment,
    seasons_of,
)
from arena.competitions.fields import field_of
from arena.competitions.happenings import FAULTY, OVER, happen_next
from arena.competitions.tournament_deeds import CreateTournament, EnterTournament
from arena.competitions.visibility import change_visibility
from arena.deeds import By, perform
from arena.ground.db import Database, database_time
from arena.ground.refusals import Refusal
from arena.models import (
    AuditEntry,
    Bot,
    BotVersion,
    Check,
    Competition,
    CompetitionDate,
    CompetitionState,
    DateKind,
    Entrant,
    EntrantState,
    JobStatus,
    Ladder,
    Match,
    Membership,
    Scope,
    Tournament,
    User,
    VersionStatus,
    Visibility,
)
from arena.recorder.rebuild import rebuild
from arena.schedule import matchmaking
from arena.sight import Reader, look, roles_of
from tests.arena.doing import do
from tests.arena.simulator import CALM, Simulation

MINUTE = timedelta(minutes=1)
OPENS, ENTRIES, FREEZE, ROUND, FINAL, CLOSES, SEASON = DateKind


@dataclass
class Office:
    """A ladder of four bots, and the moment at which a test begins."""

    database: Database
    now: datetime

    def ladder(self, session: Session, name: str = "clobber-4x3") -> Ladder:
        return session.scalars(sa.select(Ladder).where(Ladder.name == name)).one()

    def by(self, minutes: float = 0) -> By:
        return By(ARENA, frozenset(Scope), self.now + minutes * MINUTE, at_machine=True)

    def lay(self, what: DateKind, minutes: float, **settings: Any) -> None:
        """Lays a date into the table, so many minutes from now."""
        with self.database.begin() as session:
            session.add(
                CompetitionDate(
                    competition=self.ladder(session),
                    what=what,
                    at=self.now + minutes * MINUTE,
                    settings=settings,
                )
            )

    def happen(self) -> list[tuple[DateKind, str]]:
        """Has all happen that is due, each in a transaction of its own, as the recorder does."""
        found = []
        while True:
            with self.database.begin() as session:
                date = happen_next(session)
                if date is None:
                    return found
                found.append((date.what, date.outcome))

    def hand_in(self, name: str, minutes: float, **more: Any) -> None:
        """Hands a bot in, so many minutes from now."""
        with self.database.begin() as session:
            digest = sha256(f"{name} {minutes}".encode()).hexdigest()
            submit(
                session,
                session.scalars(sa.select(User)).first(),  # type: ignore[arg-type]
                name,
                digest=digest,
                size=9,
                language="Python",
                ladder=self.ladder(session),
                now=self.now + minutes * MINUTE,
                **more,
            )


@pytest.fixture
def office(database: Database) -> Office:
    Simulation(database, 0, CALM).furnish([("clobber", {"size": "4x3"})], bots=4)
    with database.begin() as session:
        ladder = session.scalars(sa.select(Ladder)).one()
        ladder.name = ladder.title = "clobber-4x3"
        session.execute(sa.update(BotVersion).values(status=VersionStatus.READY))
        return Office(database, database_time(session))


def test_moments_are_read_in_any_zone() -> None:
    """As ISO 8601 writes them; what has no zone is UTC."""
    noon = read_moment("2026-12-24T12:00Z")
    assert noon.utcoffset() == timedelta(0)
    for text in ("2026-12-24 12:00", "2026-12-24T13:00+01:00", " 20261224T070000-0500 "):
        assert read_moment(text) == noon
    for text in ("", "noon", "2026-13-01T00:00Z", "0001-01-01T00:00+14:00", "x" * 1000):
        with pytest.raises(Refusal, match="is no moment: write it as"):
            read_moment(text)


def test_dates_given_with_what_is_made_are_read_in_their_order() -> None:
    """Whatever order they are given in; settings stand behind the moment."""
    found = read_dates({"closes": "2026-12-24T18:00Z", "final": "2026-12-24 12:00Z top=4"})
    assert [(what, its) for what, (_, its) in found.items()] == [
        (FINAL, {"top": "4"}),
        (CLOSES, {}),
    ]
    with pytest.raises(Refusal, match="there is no date 'end'; there are opens, entries-close"):
        read_dates({"end": "2026-12-24T18:00Z"})


REFUSED: list[tuple[list[tuple[str, float, dict[str, str]]], str]] = [
    ([("closes", -1, {})], "is past: it is .* now"),
    ([("opens", 5, {})], "clobber-4x3 is open already: pause it first"),
    ([("closes", 5, {}), ("freeze", 6, {})], "freeze can't be after closes, which is on"),
    ([("freeze", 5, {}), ("closes", 4, {})], "closes can't be before freeze, which is on"),
    ([("closes", 5, {"keep": "1"})], "the date closes has no setting 'keep'; it has none"),
    ([("season", 5, {"keep": "101"})], "keep=101 can't be: keep is a whole number from 0 to 100"),
    ([("final", 5, {"top": "1"})], "top is a whole number from 2 to 256"),
    ([("final", 5, {"format": "duel"})], "there is no format 'duel'; there are round-robin"),
    ([("final", 5, {"format": "balanced"})], "balanced is not for matches of 2 bots"),
    ([("final", 5, {"rounds": "3"})], "has no setting 'rounds'; it has top, format, reserve, cyc"),
    ([("final", 5, {"format": "swiss", "rounds": "99"})], "rounds is 99, and in this field"),
]


def test_what_can_be_no_date_is_refused(
    sqlite_database: Database, subtests: pytest.Subtests
) -> None:
    """It is refused in words; and nothing of it is kept."""
    Simulation(sqlite_database, 0, CALM).furnish([("clobber", {"size": "4x3"})], bots=2)
    with sqlite_database.begin() as session:
        ladder = session.scalars(sa.select(Ladder)).one()
        ladder.name = "clobber-4x3"
        now = database_time(session)
    by = By(ARENA, frozenset(Scope), now)
    for asked, words in REFUSED:
        with subtests.test(words), sqlite_database.begin() as session:
            *before, last = [
                SetDate("clobber-4x3", what, (now + minutes * MINUTE).isoformat(), settings)
                for what, minutes, settings in asked
            ]
            for one in before:
                perform(session, one, by)
            with pytest.raises(Refusal, match=words):
                perform(session, last, by)
            session.rollback()


def test_a_date_is_moved_until_it_has_happened(office: Office) -> None:
    """With its settings kept; then it stays."""
    at = (office.now + 30 * MINUTE).isoformat()
    with office.database.begin() as session:
        done = perform(session, SetDate("clobber-4x3", "final", at, {"top": "3"}), office.by())
        assert done.undo == (RemoveDate("clobber-4x3", "final"),)
        later = (office.now + 40 * MINUTE).isoformat()
        done = perform(session, SetDate("clobber-4x3", "final", later), office.by())
        assert done.answer.settings["top"] == 3
        assert "is 20" in done.said
        assert next_dates(session, [office.ladder(session)])
        perform(session, done.undo[0], office.by())
        assert dates_of(session, office.ladder(session))[0].at == office.now + 30 * MINUTE
        perform(session, RemoveDate("clobber-4x3", "final"), office.by())
        assert not dates_of(session, office.ladder(session))
    office.lay(FREEZE, -1)
    assert office.happen() == [(FREEZE, "")]
    with office.database.begin() as session:
        for deed in (SetDate("clobber-4x3", "freeze", at), RemoveDate("clobber-4x3", "freeze")):
            with pytest.raises(
                Refusal, match=r"the date freeze of clobber-4x3 was on .*, and stays"
            ):
                perform(session, deed, office.by())


ENTRIES_REFUSED = r"takes no new bots since .*; those that are on it may have new versions"
FROZEN = r"are frozen since .*: none enters, leaves or is changed"


def test_what_began_in_time_counts(office: Office) -> None:
    """The moment at which it began decides, whether or not the recorder was there at the date."""
    office.lay(ENTRIES, -10)
    office.lay(FREEZE, -5)
    office.lay(CLOSES, 5)
    for happened in (False, True):
        office.hand_in(f"early-{happened}", -11)
        office.hand_in("bot-0", -6 + happened / 2)
        with pytest.raises(Refusal, match=ENTRIES_REFUSED):
            office.hand_in(f"late-{happened}", -9)
        with pytest.raises(Refusal, match=FROZEN):
            office.hand_in("bot-0", -4)
        with pytest.raises(Refusal, match=r"is closed since .* and takes no bots"):
            office.hand_in("bot-0", 6)
        office.hand_in(f"tried-{happened}", -1, enters=False)
        # One that waits for its check is in, and may be mended.
        office.hand_in(f"early-{happened}", -7)
        assert office.happen() == ([] if happened else [(ENTRIES, ""), (FREEZE, "")])
    with office.database.read() as session:
        late = sa.select(Bot.name).where(Bot.name.startswith("late"))
        assert session.scalars(late).all() == [], "nothing is left of what was refused"


def test_a_check_of_what_was_in_time_enters_after_the_freeze(office: Office) -> None:
    """Though it ends later; but a test that was to be first does not begin any more."""
    office.hand_in("new", -6)
    office.hand_in("bot-0", -6)
    office.lay(FREEZE, -5)
    office.happen()
    with office.database.begin() as session:
        *_, new, old = session.scalars(sa.select(Check).order_by(Check.id)).all()
        checks = new, old
        for check, first in zip(checks, (None, {"elo0": 0, "elo1": 10}), strict=True):
            check.status, check.version.status = JobStatus.FIXED, VersionStatus.READY
            check.findings, check.test_first = [{"kept": True, "words": ""}], first
            admit(session, check, office.now)
        assert [one.problem for one in checks] == [
            "", "the bots were frozen by then, and it was to be tested first"
        ]  # fmt: skip


def test_who_is_frozen_stays(office: Office) -> None:
    """None leaves, no other version comes; one that was suspended comes back as it was."""
    office.lay(FREEZE, 10)
    with office.database.begin() as session:
        ladder = office.ladder(session)
        one = session.scalars(sa.select(Entrant).where(Entrant.competition_id == ladder.id)).first()
        assert one is not None
        bot = one.version.bot.name
        late = office.by(11)
        with pytest.raises(Refusal, match=r"are frozen since .*: all of them stay"):
            perform(session, RetireBot(bot, ladder.name), late)
        assert perform(session, WithdrawBot(bot), late).answer.left == 0
        one.state = EntrantState.SUSPENDED
        perform(session, EnterBot(bot, ladder.name), late)
        assert one.state is EntrantState.ACTIVE
        perform(session, RetireBot(bot, ladder.name), office.by(9))
        with pytest.raises(Refusal, match=FROZEN):
            perform(session, EnterBot(bot, ladder.name), late)


def test_all_that_is_overdue_happens_once_in_its_order(office: Office) -> None:
    """However it was set down; the final is of those who are first, and has its share reserved."""
    for what, minutes, settings in (
        (CLOSES, -1, {}),
        (FINAL, -2, {"top": 3, "format": "knockout", "reserve": 40, "settings": {}}),
        (FREEZE, -2, {}),
        (ENTRIES, -3, {}),
    ):
        office.lay(what, minutes, **settings)
    assert office.happen() == [(ENTRIES, ""), (FREEZE, ""), (FINAL, ""), (CLOSES, "")]
    assert office.happen() == []
    with office.database.read() as session:
        ladder = office.ladder(session)
        assert ladder.state is CompetitionState.CLOSED
        assert ladder.finished == office.now - MINUTE
        final = session.scalars(sa.select(Tournament)).one()
        assert dates_of(session, ladder)[2].made is final
        assert (final.name, final.format, final.reserve) == ("clobber-4x3-final", "knockout", 0.4)
        size = sa.select(sa.func.count()).select_from(Entrant)
        assert session.scalars(size.where(Entrant.competition_id == final.id)).one() == 3
        noted = sa.select(AuditEntry.detail).where(AuditEntry.action == "date")
        assert session.scalars(noted.order_by(AuditEntry.id)).all() == [
            "entries-close", "freeze", "final, made clobber-4x3-final", "closes"
        ]  # fmt: skip


def test_what_can_not_be_done_is_said_and_all_else_goes_on(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A final of one bot; an error that nobody foresaw; what was over by then."""
    with office.database.begin() as session:
        session.execute(sa.update(Entrant).where(Entrant.id > 1).values(state="retired"))
    office.lay(FINAL, -5, top=8, format="swiss", reserve=0, settings={})
    office.lay(CLOSES, -4)
    assert office.happen() == [(FINAL, "it takes two bots, and there is one"), (CLOSES, "")]
    office.lay(FREEZE, -3)
    assert office.happen() == [(FREEZE, OVER)]

    def fails(*_: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("arena.competitions.happenings.begin_again", fails)
    office.lay(SEASON, -2, keep=0)
    assert office.happen() == [(SEASON, FAULTY)]


def test_what_is_paused_opens(office: Office) -> None:
    """A ladder that waits for its date takes bots meanwhile."""
    with office.database.begin() as session:
        office.ladder(session).state = CompetitionState.PAUSED
        at = (office.now + MINUTE).isoformat()
        perform(session, SetDate("clobber-4x3", "opens", at), office.by())
        session.execute(sa.update(CompetitionDate).values(at=office.now - MINUTE))
    office.hand_in("new", -1)
    assert office.happen() == [(OPENS, "")]
    with office.database.read() as session:
        assert office.ladder(session).state is CompetitionState.OPEN


def test_a_tournament_that_is_not_over_when_it_closes_is_called_off(office: Office) -> None:
    """It has no freeze: its versions stay from the start."""
    with office.database.begin() as session:
        ladder = office.ladder(session)
        plan = tournaments.TournamentPlan("cup", ladder.variant, ladder.time, "swiss")
        cup = tournaments.create(session, plan, field_of(session, ladder), office.now, ARENA)
        at = (office.now + MINUTE).isoformat()
        with pytest.raises(Refusal, match="cup is no ladder: it can have opens, entries-close, cl"):
            perform(session, SetDate("cup", "freeze", at), office.by())
        perform(session, SetDate("cup", "closes", at), office.by())
        perform(session, SetDate("cup", "entries-close", at), office.by())
        with pytest.raises(Refusal, match="nobody enters cup since"):
            perform(session, EnterTournament("cup", ("bot-0",)), office.by(2))
        perform(session, RemoveDate("cup", "entries-close"), office.by())
        session.execute(sa.update(CompetitionDate).values(at=office.now - MINUTE))
        match = next(matchmaking.new_matches(session, office.now, only="cup"))
    assert office.happen() == [(CLOSES, "")]
    with office.database.read() as session:
        found = session.get_one(Tournament, cup.id)
        assert (found.reason, found.finished) == ("its time was over", office.now - MINUTE)
        assert session.get_one(Match, match.id).status is JobStatus.VOID


def test_what_waits_for_a_ladder_and_who_can_play_goes_on(office: Office) -> None:
    """A tournament whose field is not drawn has it from the new season; a bot that was deleted, or
    whose version is refused, stays in the past."""
    until = {"entries-close": (office.now + 60 * MINUTE).isoformat()}
    cup = CreateTournament("cup", "swiss", ladder="clobber-4x3", sign_up=True, dates=until)
    with office.database.begin() as session:
        do(session, cup, office.now)
        versions = session.scalars(sa.select(BotVersion).order_by(BotVersion.id)).all()
        versions[0].bot.deleted = office.now
        versions[1].status = VersionStatus.REFUSED
        left = [one.id for one in versions[2:]]
    office.lay(SEASON, -1, keep=0)
    assert office.happen() == [(SEASON, "")]
    with office.database.read() as session:
        new = office.ladder(session)
        assert [one.version.id for one in field_of(session, new)] == left
        assert session.scalars(sa.select(Tournament)).one().ladder_id == new.id


@pytest.mark.parametrize("is_there", [True, False])
def test_what_another_did_meanwhile_happens_no_more(
    office: Office, monkeypatch: pytest.MonkeyPatch, is_there: bool
) -> None:
    """While one waited for the lock, a date has happened, or was removed."""

    def meanwhile(session: Session, date: CompetitionDate) -> None:
        its = CompetitionDate.id == date.id
        quiet: dict[str, Any] = {"execution_options": {"synchronize_session": False}}
        if is_there:
            happened = sa.update(CompetitionDate).where(its).values(happened=office.now)
            session.execute(happened, **quiet)
        else:
            session.execute(sa.delete(CompetitionDate).where(its), **quiet)

    office.lay(DateKind.CLOSES, -1)
    monkeypatch.setattr(happenings, "_lock_jobs", meanwhile)
    with office.database.begin() as session:
        assert happen_next(session) is not None, "there may be more"
    with office.database.read() as session:
        assert office.ladder(session).state is CompetitionState.OPEN
    assert office.happen() == []


@pytest.mark.long
@pytest.mark.parametrize("keep", [0, 50, 100])
def test_a_ladder_begins_again(database: Database, keep: int) -> None:
    """Its name goes on with whoever was active; nothing of its past is lost, and both are made anew
    to the last bit. What waited for its check goes on, too."""
    simulation = Simulation(database, 1, CALM)
    simulation.furnish([("clobber", {"size": "4x3"})], bots=3)
    simulation.alive()
    simulation.tick()
    simulation.run(10)
    with database.begin() as session:
        session.scalars(sa.select(Ladder)).one().name = "clobber-4x3"
        session.execute(sa.update(BotVersion).values(status=VersionStatus.READY))
        office = Office(database, database_time(session))
    office.hand_in("waits", 0)
    with database.read() as session:
        past = office.ladder(session)
        before = {
            one.version_id: one
            for one in session.scalars(sa.select(Entrant).where(Entrant.state == "active"))
        }
    office.lay(SEASON, -1, keep=keep)
    assert office.happen() == [(SEASON, "")]
    with database.read() as session:
        new, old = office.ladder(session), office.ladder(session, "clobber-4x3-season-1")
        assert (old.id, old.state, old.season) == (past.id, CompetitionState.CLOSED, 1)
        assert (new.state, new.season, new.games) == (CompetitionState.OPEN, 2, 0)
        assert (old.title, new.title) == (f"{past.title}, season 1", past.title)
        assert current_season(session, old) is new
        assert seasons_of(session, new) == [new, old]
        there = session.scalars(sa.select(Entrant).where(Entrant.competition_id == new.id)).all()
        assert {one.version_id for one in there} == set(before)
        for one in there:
            was = before[one.version_id]
            assert one.mu == pytest.approx(25 + keep / 100 * (was.mu - 25))
            assert one.sigma == pytest.approx(25 / 3 + keep / 100 * (was.sigma - 25 / 3))
        check = session.scalars(sa.select(Check).where(Check.status == JobStatus.OPEN)).one()
        assert check.ladder is new
        for one_of in (new, old):
            found = rebuild(session, one_of, write=False)
            assert found.equal, found.differences[:3]
    simulation.tick()
    simulation.run(20)
    with database.read() as session:
        new = office.ladder(session)
        assert new.games > 0
        assert rebuild(session, new, write=False).equal
        rows = sa.select(Competition.name, Match.status, sa.func.count()).join(
            Match, Match.competition_id == Competition.id
        )
        left = rows.where(Match.status.in_(["open", "issued"]), Competition.state == "closed")
        assert session.execute(left.group_by(Competition.name, Match.status)).all() == []


def test_what_comes_of_a_private_ladder_is_seen_by_its_members(office: Office) -> None:
    """Its final and its seasons, and nobody else; its organiser sets its dates, and organises all
    of these."""
    with office.database.begin() as session:
        ladder, people = office.ladder(session), []
        for name in ("member", "stranger", "teacher"):
            people.append(User(name=name, lower_name=name, role="participant", created=office.now))
        session.add_all(people)
        session.flush()
        for user, role in ((people[0], "member"), (people[2], "organiser")):
            session.add(
                Membership(competition_id=ladder.id, user_id=user.id, role=role, joined=office.now)
            )
        change_visibility(session, ladder, Visibility.PRIVATE, ARENA, office.now)
        numbers = [user.id for user in people]
    office.lay(FINAL, -2, top=4, format="swiss", reserve=0, settings={})
    office.lay(SEASON, -1, keep=0)
    assert office.happen() == [(FINAL, ""), (SEASON, "")]
    for number, sees in zip(numbers, (True, False, True), strict=True):
        with office.database.read() as session:
            roles = roles_of(session, number)
            look(session, Reader(number, member_of=frozenset(roles)))
            there = set(session.scalars(sa.select(Competition.name)))
            assert there == (
                {"clobber-4x3", "clobber-4x3-final", "clobber-4x3-season-1"} if sees else set()
            )
            assert len(session.scalars(sa.select(CompetitionDate)).all()) == (2 if sees else 0)
    with office.database.read() as session:
        organised = {
            number for number, role in roles_of(session, numbers[2]).items() if role == "organiser"
        }
        assert organised == set(session.scalars(sa.select(Competition.id)))
    with office.database.begin() as session:
        change_visibility(session, office.ladder(session), Visibility.PUBLIC, ARENA, office.now)
        change_visibility(session, office.ladder(session), Visibility.PRIVATE, ARENA, office.now)
        assert set(session.scalars(sa.select(Competition.visibility))) == {Visibility.PRIVATE}
