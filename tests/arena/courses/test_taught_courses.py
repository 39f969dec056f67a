"""Courses: what is handed in, what marks it gets, and what organisers are given."""

from __future__ import annotations

import csv
import io
import tarfile
from collections import defaultdict
from pathlib import Path

import pytest
import sqlalchemy as sa

from arena.audit import ARENA, Actor
from arena.bots import account_deletion, account_export
from arena.bots.deletion import delete
from arena.bots.team_deeds import GiveBot, RemoveTeamMember
from arena.competitions.date_deeds import SetDate
from arena.courses import marking, reading
from arena.courses.course_deeds import PUBLISHED, ChooseHandIn, PublishMarks, SetCourse
from arena.courses.hand_ins import students
from arena.courses.marking import marks_of
from arena.courses.reading import NOT_STORED
from arena.courses.report import report
from arena.deeds import By, perform
from arena.ground.db import Database
from arena.ground.refusals import Refusal
from arena.models import (
    Bot,
    Check,
    Competition,
    CompetitionDate,
    CompetitionState,
    CoOwner,
    Entrant,
    GameSeat,
    Notification,
    PlayedGame,
    ReadCode,
    Scope,
    Team,
    TeamMember,
    Tournament,
    User,
)
from arena.sight import EVERYTHING, SeenBy
from arena.web.app import create_app
from tests.arena.courses.classroom import (
    AGAIN,
    BOTH,
    COPIED,
    COPY,
    COUNT,
    HOUR,
    LATE,
    NOTHING,
    REFUSED,
    TWICE,
    Classroom,
    program,
    student,
)
from tests.arena.web.signing_in import person, signed_in


@pytest.fixture
def classroom(sqlite_database: Database, tmp_path: Path) -> Classroom:
    """The class, before anything is handed in."""
    return Classroom(sqlite_database, tmp_path / "data")


def counted(session: sa.orm.Session, marking_id: int | None) -> dict[int, dict[str, list[float]]]:
    """What each version did in each game against each reference bot, by the games themselves: 1,
    0.5 or 0."""
    query = sa.select(PlayedGame).where(PlayedGame.competition_id == marking_id)
    found: dict[int, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for game in session.scalars(query):
        seats = session.scalars(sa.select(GameSeat).where(GameSeat.game_id == game.id)).all()
        (one, ones), (other, others) = ((seat.entrant.version, seat.rank) for seat in seats)
        points = 0.5 if ones == others else float(ones < others)
        found[one.id][other.bot.name].append(points)
        found[other.id][one.bot.name].append(1 - points)
    return found


def look_at_marks(classroom: Classroom) -> None:
    """They are as counted game by game."""
    with classroom.database.read() as session:
        course = classroom.course(session)
        marks = marks_of(session, course)
        assert marks.final
        games = counted(session, course.marking_id)
        for one in marks.students:
            counts = one.student.counts
            if counts is None:
                assert one.mark is None
                continue
            first, second = (games[counts.version.id][name] for name in ("bot-0", "bot-1"))
            assert len(first) == len(second) == 2
            points = 10 * (sum(first) / 2 >= 0.5) + 20 * sum(second) / 2
            kept = 1 - 0.1 * -(-counts.late // HOUR)
            assert one.mark is not None
            assert one.mark.points == pytest.approx(points * kept)


@pytest.mark.long
def test_a_course_from_names_to_grades(classroom: Classroom) -> None:
    digests = classroom.hand_all_in()
    database = classroom.database
    classroom.mark()

    # What was handed in.
    with database.read() as session:
        course = classroom.course(session)
        assert course.problem == ""
        found = {int(one.user.name[1:]): one for one in students(session, course)}
        assert len(found) == COUNT
        for which, of in (("in time", "in_time"), ("late", "late")):
            its = {n: getattr(one, of) for n, one in found.items() if getattr(one, of)}
            assert {n: one.version.digest for n, one in its.items()} == digests[which]
        assert found[BOTH].counts is found[BOTH].in_time
        assert found[LATE].counts is found[LATE].late
        assert found[NOTHING].counts is found[REFUSED].counts is None
        assert found[LATE].late is not None
        assert found[LATE].late.late == HOUR / 2
        assert found[AGAIN].in_time is not None
        assert found[AGAIN].in_time.version.number == 1
    look_at_marks(classroom)
    look_at_files(classroom, digests)

    # By choice it is the late one that counts.
    classroom.do(ChooseHandIn("ladder-0", student(BOTH), True))
    look_at_marks(classroom)
    with database.read() as session:
        (chosen,) = marks_of(session, classroom.course(session), found[BOTH].user.id).students
        assert chosen.student.counts is chosen.student.late
        assert chosen.mark is not None
        assert chosen.mark.taken_off == pytest.approx(0.1)

    # Something comes late after all was marked, and all is marked once more when that time is over.
    with database.begin() as session:
        assert marking.begin_due(session) is None
    classroom.hand_in(NOTHING, classroom.deadline + 0.75 * HOUR, program(NOTHING))
    with pytest.raises(Refusal, match="are frozen since"):
        classroom.hand_in(NOTHING, classroom.deadline + 3 * HOUR, program(300))
    with database.begin() as session:
        course = classroom.course(session)
        first, course.late_until = course.marking_id, classroom.deadline + 0.8 * HOUR
    classroom.mark()
    with database.read() as session:
        course = classroom.course(session)
        assert course.marking_id != first
        assert len(session.scalars(sa.select(Tournament)).all()) == 2
        named = {one.student.user.name: one for one in marks_of(session, course).students}
        assert named[student(NOTHING)].mark is not None
    look_at_marks(classroom)
    with database.begin() as session:
        assert marking.begin_due(session) is None


def look_at_teams(classroom: Classroom, digests: list[str]) -> None:
    """What is a team's is handed in by all who belonged to it by then, and compared once."""
    with classroom.database.begin() as session:
        first, second, third = session.scalars(
            sa.select(User).where(User.name.in_(map(student, range(3)))).order_by(User.name)
        )
        team = Team(name="knights", created=classroom.now, captain_id=first.id)
        session.add(team)
        session.flush()
        for one, joined in ((first, -2), (second, 0.75), (third, -0.5)):
            at = classroom.deadline + joined * HOUR
            session.add(TeamMember(team_id=team.id, user_id=one.id, joined=at))
        bot = session.scalars(sa.select(Bot).where(Bot.name == f"bot-of-{student(0)}")).one()
        bot.owner = team
        session.flush()
        found = students(session, classroom.course(session))
        its = [one.in_time and one.in_time.version.digest for one in found]
        assert its == [digests[0], None, digests[0]]
        handed = reading.handed_in(session, classroom.course(session))
        assert handed == {student(0): digests[0], student(1): digests[1]}
        bot.owner = first


def look_at_files(classroom: Classroom, digests: dict[str, dict[int, str]]) -> None:
    """Whose work is alike, and what organisers download."""
    database = classroom.database
    reading.read_all(database, classroom.settings.bundles)
    with database.read() as session:
        assert reading.unread(session, classroom.settings.bundles) == []
        its_report = report(session, classroom.course(session))
        assert its_report.compared == COUNT - 2
        assert its_report.unread == []
        first, *others = its_report.likenesses
        assert (first.first, first.second) == (student(COPIED), student(COPY))
        assert first.share > 0.9
        assert all(one.share < 0.3 for one in others)
    person(database, "olga")
    app = create_app(classroom.settings)
    try:
        olga = signed_in(app, "olga")
        told = list(csv.DictReader(io.StringIO(olga.get("/ladders/ladder-0/course.csv").text)))
        assert [one["name"] for one in told] == list(map(student, range(COUNT)))
        assert told[NOTHING]["mark"] == told[REFUSED]["mark"] == ""
        assert told[LATE]["late_by_seconds"] == "1800"
        archive = olga.get("/ladders/ladder-0/course.tar").data
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            texts = {
                one.name: file.read().decode() for one in tar if (file := tar.extractfile(one))
            }
        wanted = {number: program(number) for number in digests["in time"]}
        wanted[COPY] = program(COPIED, "guess", "  # mine")
        assert {name: text for name, text in texts.items() if not name.endswith("toml")} == {
            f"{student(number)}/{student(number)}.py": text for number, text in wanted.items()
        }
        alike = "/ladders/ladder-0/course/alike"
        assert student(COPY) in olga.get(alike).text
        pair = olga.get(f"{alike}?first={student(COPIED)}&second={student(COPY)}").text
        assert "def choose(moves, guess)" in pair
        page = olga.get("/ladders/ladder-0/course").text
        assert student(TWICE) in page
        assert "ladder-0-marking" in page
    finally:
        app.extensions["arena.database"].close()


def have_handed_in(session: sa.orm.Session, classroom: Classroom) -> list[bool]:
    """Whether each student has something in time."""
    return [one.in_time is not None for one in students(session, classroom.course(session))]


def test_what_is_in_time_counts_and_stays_whose_it_is(
    sqlite_database: Database, tmp_path: Path
) -> None:
    classroom = Classroom(sqlite_database, tmp_path / "data", count=3)
    first, last = classroom.deadline - HOUR, classroom.deadline - HOUR / 3600
    with sqlite_database.begin() as session:
        ada, bob = session.scalars(sa.select(User).where(User.name.in_(["s00", "s01"])))
        team = Team(name="knights", created=classroom.now, captain_id=ada.id)
        session.add(team)
        session.flush()
        for one in (ada, bob):
            session.add(TeamMember(team_id=team.id, user_id=one.id, joined=first))
        actor, scopes = Actor(ada.id, "s00", ""), frozenset(Scope)
        by = By(actor, scopes, classroom.now, reader=EVERYTHING)
    classroom.hand_in(0, first, program(0))
    with sqlite_database.begin() as session:
        assert marking.begin_due(session) == "ladder-0"
        assert marking.begin_due(session) is None
        before = classroom.course(session).marking_id
    # What began to be sent in time, and came when all was being marked.
    digest = classroom.hand_in(2, last, program(2), ended=classroom.now)
    with sqlite_database.begin() as session:
        assert marking.begin_due(session) == "ladder-0"
        assert marking.begin_due(session) is None
        course = classroom.course(session)
        assert course.marking_id != before
        its = sa.select(Entrant).where(Entrant.competition_id == course.marking_id)
        assert digest in {one.version.digest for one in session.scalars(its)}
        # Nobody is given afterwards what another has handed in.
        with pytest.raises(Refusal, match="whose deadline is past"), session.begin_nested():
            perform(session, GiveBot("bot-of-s00", "knights"), by)
        # Of who was only made a member no address is told.
        for user in session.scalars(sa.select(User).where(User.name.in_(["s00", "s01"]))):
            user.mail = f"{user.name}@example.org"
        mails = [one.mail for one in students(session, course)]
        assert mails == ["s00@example.org", None, None]
        # Nor has a person's archive what they are marked by.
        seen = account_export._reader(session, by.actor.id or 0)
    with SeenBy(sqlite_database, seen).read() as session:
        assert [one.name for one in session.scalars(sa.select(Competition))] == ["ladder-0"]
    # Nor does who leaves a team lose a mark by it, nor who gets a bot by its owner's end get one.
    with sqlite_database.begin() as session:
        ada, bob, _ = session.scalars(sa.select(User).where(User.name.like("s0_"))).all()
        bot = session.scalars(sa.select(Bot).where(Bot.name == "bot-of-s00")).one()
        bot.owner_id = session.scalars(sa.select(Team.id)).one()
        session.flush()
        assert have_handed_in(session, classroom) == [True, True, True]
        perform(session, RemoveTeamMember("knights", "s01"), by)
        assert have_handed_in(session, classroom) == [True, True, True]
        bot.owner = ada
        session.add(CoOwner(bot_id=bot.id, user_id=bob.id))
        session.flush()
        account_deletion.delete(session, ada, by)
        assert bot.owner is bob
        assert have_handed_in(session, classroom) == [False, True]
        date = session.scalars(sa.select(CompetitionDate)).one()
        date.at = classroom.now
        assert have_handed_in(session, classroom) == [True, True]
    # A ladder to which others have handed in becomes no course: its organisers would get the files.
    with sqlite_database.begin() as session:
        session.delete(classroom.course(session))
        session.flush()
        with pytest.raises(Refusal, match="make it of a new ladder"):
            perform(session, SetCourse("ladder-0", ("bot-0:1",), "bot-0 50% 10"), by)


def test_hand_ins_and_marking_are_asked_alike(database: Database, tmp_path: Path) -> None:
    """What is handed in, due, or to be read is so on either database; on anonymous ladders, too."""
    classroom = Classroom(database, tmp_path / "data", count=3)
    with database.begin() as session:
        classroom.ladder(session).anonymous = True
    early, late = classroom.deadline - HOUR, classroom.deadline + HOUR / 2
    # The first was tried there, and then entered without another check.
    digests = [classroom.hand_in(0, early, program(0)), classroom.hand_in(1, late, program(1))]
    classroom.hand_in(0, early + HOUR / 4, program(5))
    classroom.field_again(digests[0], early + HOUR / 2)
    with database.begin() as session:
        tried = sa.update(Check).where(Check.version.has(digest=digests[0]))
        session.execute(tried.values(enters=False))
    with database.begin() as session:
        course = classroom.course(session)
        assert len(reading.unread(session, classroom.settings.bundles)) == 3  # and the samples
        assert marking.begin_due(session) == "ladder-0"
        assert marking.begin_due(session) is None
        assert not course.problem
        its = sa.select(Entrant.id).where(Entrant.competition_id == course.marking_id)
        assert len(session.scalars(its).all()) == 4
        before = course.marking_id
        marks = marks_of(session, course)
        counted = [one.student.counts for one in marks.students]
        assert [one.version.digest for one in counted if one] == digests
        assert [one.mark for one in marks.students] == [None] * 3
        # What was marked long ago is not looked at again and again.
        marked, course.marked = course.marked, classroom.deadline - 2 * reading.RECENT
        course.late_until = None
        assert reading.unread(session, classroom.settings.bundles) == []
        course.marked = marked
        course.late_until = classroom.deadline + 0.8 * HOUR
        assert marking.begin_due(session) == "ladder-0"  # but all of it is being marked already
        assert course.marking_id == before
        masks = sa.select(sa.func.count(Bot.id)).where(Bot.masks_id.is_not(None))
        assert session.scalar(masks) == 2
        names = [one.version.bot.name for one in counted if one]
        assert names == [f"bot-of-{student(number)}" for number in (0, 1)]
    # With other reference bots all begins anew, and nothing is told of the marking before.
    classroom.do(SetCourse("ladder-0", ("bot-1:1",), "bot-1 share 20", 1))
    with database.begin() as session:
        course = classroom.course(session)
        assert session.get_one(Tournament, before).state is CompetitionState.CLOSED
        assert marks_of(session, course).marking is None
        assert marking.begin_due(session) == "ladder-0"
        assert course.marking_id not in (None, before)
        its = sa.select(Entrant.id).where(Entrant.competition_id == course.marking_id)
        assert len(session.scalars(its).all()) == 3
    look_at_teams(classroom, digests)
    # Of a marking students are told once, however often it is published.
    for off in (False, True, False):
        classroom.do(PublishMarks("ladder-0", off))
        with database.read() as session:
            told = sa.select(Notification.id).where(Notification.message == PUBLISHED)
            assert len(session.scalars(told).all()) == 3
    # A bundle that is not stored is told, and read as soon as it is.
    store = classroom.settings.bundles
    lost = (store / digests[0]).rename(tmp_path / "lost")
    reading.read_all(database, store)
    with database.read() as session:
        assert reading.unread(session, store) == []
        assert report(session, classroom.course(session)).unread == [(student(0), "", NOT_STORED)]
        lost.rename(store / digests[0])
        assert reading.unread(session, store) == [digests[0]]
    reading.read_all(database, store)
    with database.read() as session:
        assert report(session, classroom.course(session)).unread == []
    # Who deletes a bot has handed in nothing, and nothing of its code is kept.
    with database.begin() as session:
        assert {*digests} < set(session.scalars(sa.select(ReadCode.digest)))
        bot = session.scalars(sa.select(Bot).where(Bot.name == f"bot-of-{student(0)}")).one()
        delete(session, [bot], classroom.now)
        first, *_ = students(session, classroom.course(session))
        assert first.counts is None
        assert digests[0] not in set(session.scalars(sa.select(ReadCode.digest)))
    # Who takes a deleted bot's name is neither the reference nor what everybody was given.
    classroom.do(SetCourse("ladder-0", ("bot-1:1",), "bot-1 share 20", 1, given=("bot-0",)))
    with database.begin() as session:
        course = classroom.course(session)
        assert len(reading.given_to_all(session, course)) == 2
        for name, taken in (("bot-0", "gone-0"), ("bot-1", "gone-1"), ("bot-of-s01", "bot-1")):
            bot = session.scalars(sa.select(Bot).where(Bot.name == name)).one()
            bot.name = bot.lower_name = taken
            session.flush()
        with pytest.raises(Refusal, match="bot-1:1 is another bot than when it was chosen"):
            marking.begin(session, course, classroom.now, ARENA)
        bot.name = bot.lower_name = "bot-0"
        session.flush()
        assert reading.given_to_all(session, course) == [reading.samples_digest()]
    with pytest.raises(Refusal, match="does not begin again"):
        classroom.do(SetDate("ladder-0", "season", "2100-01-01T00:00Z"))
