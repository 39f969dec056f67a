"""What a student sees of another in a course: what everybody sees of its ladder, and no more.

Two arenas that differ by how others are marked give a student the same answers, byte for byte: by
page, operation, feed, picture, export and search.
"""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from statistics import median
from time import process_time

import pytest
import sqlalchemy as sa

from arena.courses import reading
from arena.courses.course_deeds import ChooseHandIn, PublishMarks
from arena.courses.marking import marks_of
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import (
    Bot,
    BotVersion,
    Entrant,
    Meeting,
    Membership,
    PlayedGame,
    TaughtCourse,
    User,
    Worker,
)
from arena.web.app import create_app
from tests.arena.courses.classroom import BOTH, COUNT, Classroom, student
from tests.arena.web.signing_in import Browser, person, signed_in
from tests.arena.web.test_unseen import SECRETS, addresses
from tests.conftest import fresh_database

READER, OTHER = 1, 2
"""The student who looks, and another."""
COURSE = "/ladders/ladder-0/course"
MARKING = "ladder-0-marking"
STILL = re.compile(
    "nothing|nonsense|/999|1{64}|/docs|/rules|/operator|/play|/analys|/language|/about|/dumps|/book"
    "|/runtimes|/new|/sign-in|/register|/password|/passkey|/mail|/forgotten|/settings|/hooks|/users"
    "|/audit|/match-sets|/openapi|/tunings|/sittings|/tests|/presets|/gauntlets|/editor|/replay"
)
"""What is not about a game, a bot or somebody, or is there for none of this arena's."""
PARTS = 2
"""In how many tests all addresses are looked at, as they take long."""
FIRST = 1, 4
"""The ids that its first game and match will have."""


@contextmanager
def reading_in(settings: Settings) -> Iterator[tuple[Database, Browser]]:
    """A student at the pages of an arena."""
    app = create_app(settings)
    with closing(app.extensions["arena.database"]) as database:
        yield database, signed_in(app, student(READER))


@dataclass(frozen=True)
class Marked:
    """A class that was marked, and its arena as it was before and after that; no marks are
    published."""

    classroom: Classroom
    before: Settings
    after: Settings


@pytest.fixture(scope="module")
def marked(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Marked]:
    """All of the class is as may be; its reader can sign in."""
    folder = tmp_path_factory.mktemp("marked")
    with fresh_database(request, folder) as database:
        classroom = Classroom(database, folder / "data")
        classroom.hand_all_in()
        person(database, student(READER))
        before = another(classroom, "before")
        classroom.mark()
        classroom.do(ChooseHandIn("ladder-0", student(BOTH), True))
        reading.read_all(database, classroom.settings.bundles)
        yield Marked(classroom, before, another(classroom, "after"))


@pytest.fixture(scope="module")
def before_and_after(marked: Marked) -> Iterator[tuple[Browser, Browser]]:
    """The reader at the pages of an arena before and after all was marked."""
    with reading_in(marked.before) as (_, browser), reading_in(marked.after) as (database, later):
        with database.begin() as session:
            session.execute(sa.delete(Worker))  # who was not there before
            games = sa.select(PlayedGame).where(PlayedGame.competition.has(name=MARKING))
            numbers = [(one.id, one.match_id) for one in session.scalars(games)]
        assert min(numbers) == FIRST
        yield browser, later


def another(classroom: Classroom, name: str) -> Settings:
    """A copy of the arena as it is by now."""
    folder = classroom.settings.data.parent / name
    shutil.copytree(classroom.settings.data, folder)
    with closing(sqlite3.connect(classroom.database.engine.url.database or "")) as connection:
        connection.execute("VACUUM INTO ?", (str(folder / "arena.db"),))
    return Settings(data=folder, database=f"sqlite:///{folder}/arena.db")


def looked_at(game: int, match: int) -> list[str]:
    """What a student may think of: all addresses that there are, those of the marking with a game
    and a match of it, of somebody else's bot, and of one's own."""
    numbers = {"solo": game, "trio": game}
    numbers |= dict.fromkeys(("played", "running", "waiting", "aside"), match)
    found = {one: None for one in addresses(numbers) if not STILL.search(one)}
    for address in tuple(found):
        found[address.replace("/cup", f"/{MARKING}")] = None
        found[address.replace("ladder-0", MARKING)] = None
        for whose in (READER, OTHER):
            its = address.replace("bot-0", f"bot-of-{student(whose)}")
            found[its.replace("/somebody", f"/{student(whose)}")] = None
    for words in ("marking", student(OTHER), f"bot-of-{student(OTHER)}"):
        found |= dict.fromkeys((f"/search?q={words}", f"/api/v1/search?q={words}"))
    found |= dict.fromkeys((COURSE, f"/api/v1{COURSE}", f"{COURSE}.csv", f"{COURSE}.tar"))
    return list(found)


def text(browser: Browser, address: str) -> tuple[int, str]:
    """A status and what came with it."""
    with browser.get(address) as answer:
        return answer.status_code, SECRETS.sub("", answer.get_data().decode("latin-1"))


@pytest.mark.long
@pytest.mark.timeout(300)  # on a busy machine
@pytest.mark.parametrize("part", range(PARTS))
def test_marking_is_as_if_it_were_not(
    before_and_after: tuple[Browser, Browser], part: int, subtests: pytest.Subtests
) -> None:
    """As long as marks are not published: all answers are as before anything was marked."""
    before, after = before_and_after
    statuses = set()
    for address in looked_at(*FIRST)[part::PARTS]:
        with subtests.test(address):
            wanted = text(before, address)
            assert text(after, address) == wanted
            statuses.add(wanted[0])
    assert {200, 403, 404} <= statuses


@pytest.mark.long
def test_each_sees_their_own_mark_alone(marked: Marked) -> None:
    """Marks are published; whatever others have, the answers and their time are the same."""
    marked.classroom.do(PublishMarks("ladder-0"))
    one, other, alone = (another(marked.classroom, name) for name in ("one", "other", "alone"))
    with reading_in(other) as (database, _), database.begin() as session:
        own = sa.select(Entrant.id).join(Entrant.version).join(BotVersion.bot)
        own = own.where(Bot.name == f"bot-of-{student(READER)}")
        others = Meeting.first_id.not_in(own) & Meeting.second_id.not_in(own)
        turned = {"wins": Meeting.games - Meeting.wins - Meeting.draws}
        assert session.execute(sa.update(Meeting).where(others).values(turned)).rowcount == 24
        course = session.scalars(sa.select(TaughtCourse)).one()
        course.late_counts = list(session.scalars(sa.select(User.id)))
    with reading_in(alone) as (database, _), database.begin() as session:
        reader = sa.select(User.id).where(User.name.in_((student(READER), "olga")))
        session.execute(sa.delete(Membership).where(Membership.user_id.not_in(reader)))
    marks = []
    times: tuple[list[float], list[float]] = [], []
    with (
        reading_in(one) as (first, a),
        reading_in(other) as (second, b),
        reading_in(alone) as (_, c),
    ):
        for database in (first, second):
            with database.read() as session:
                found = marks_of(session, session.scalars(sa.select(TaughtCourse)).one())
                marks.append([it.mark and it.mark.points for it in found.students])
        assert len(marks[0]) == COUNT
        assert marks[0] != marks[1]
        assert marks[0][READER] == marks[1][READER]
        for address in (COURSE, f"/api/v1{COURSE}", "/notifications", "/api/v1/notifications"):
            assert text(a, address) == text(b, address) == text(c, address)
        (mine,) = a.get(f"/api/v1{COURSE}").json["students"]
        assert (mine["user"], mine["mark"]["points"]) == (student(READER), marks[0][READER])
        for number in range(50):
            for browser, its in ((a, times[0]), (c, times[1])):
                start = process_time()
                text(browser, f"/api/v1{COURSE}")
                if number >= 10:
                    its.append(process_time() - start)
    slow, fast = sorted(map(median, times), reverse=True)
    assert slow < 1.25 * fast
