"""A class whose hand-ins are marked, as tests need it.

What is handed in are real files in the store. The games are played by the real engine, scheduled
and recorded as always; who plays draws moves by lot.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.audit import ARENA
from arena.bots.intake import Sender
from arena.bots.member_deeds import ImportMembers
from arena.bots.submissions import enter, submit
from arena.cli.bundle_intake import BundleIntake
from arena.competitions import members
from arena.competitions.visibility import change_visibility
from arena.courses import marking
from arena.courses.course_deeds import SetCourse
from arena.deeds import By, perform
from arena.ground.config import Settings
from arena.ground.db import Database, database_time
from arena.models import (
    BotVersion,
    Check,
    CompetitionDate,
    CompetitionState,
    DateKind,
    Ladder,
    MemberRole,
    Scope,
    TaughtCourse,
    Tournament,
    User,
    Visibility,
)
from arena.recorder.recording import record_check
from arena.sight import EVERYTHING
from engine import reporting
from tests.arena.issuing import issued
from tests.arena.simulator import CALM, Simulation

MARKS = "bot-0 50% 10\nbot-1 share 20\nlate 1h -10%"
HOUR = timedelta(hours=1)
COUNT = 14
"""Students, s00 to s13. Most of them hand in one program in time, but for these."""
TWICE, COPIED, COPY, NOTHING, LATE, BOTH, REFUSED, AGAIN = 3, 7, 8, 9, 10, 11, 12, 13
"""Who hands in twice in time; whose work is copied, and by whom; who hands in nothing, late alone,
late besides, what is refused; and who fields an older version again, before the deadline and once
more after it."""


def student(number: int) -> str:
    """What a student is called."""
    return f"s{number:02}"


def program(number: int, name: str = "best", blank: str = "") -> str:
    """A program of its own for each number: what it is built of is as in no other."""
    lines = [f"def choose(moves, {name}):"]
    for at in range(40):
        its = (number * 7919 + at * at * 104729 + number * at * 31) % 2**20
        sign = "+-*/%&|^"[its % 8]
        more = "+-*/%&|^"[its // 8 % 8]
        inner = (f"len({name})", f"{name}[{at}]", f"{name}.pop()", f"not {name}")[its // 64 % 4]
        lines.append(f"    {name} = {inner} {sign} ({name} {more} {at}){blank}")
        if its // 256 % 3 == 0:
            lines.append(f"    while {name} < {at}: {name} {more}= moves")
        if its // 1024 % 5 == 0:
            lines.append(f"    assert {name} is not None, [{name} for {name} in moves]")
    return "\n".join([*lines, f"    return {name}", ""])


class Classroom(Simulation):
    """A private ladder with reference bots of the house, and a class that is to beat them. The
    deadline was an hour ago, and late hand-ins are taken for another."""

    def __init__(self, database: Database, folder: Path, count: int = COUNT) -> None:
        super().__init__(database, 1, CALM)
        self.settings = Settings(data=folder, database=database.url)
        self.settings.bundles.mkdir(parents=True)
        self.furnish([("clobber", {"size": "4x3"})], bots=2)
        with database.begin() as session:
            self.now = database_time(session)
            for check in session.scalars(sa.select(Check)).all():
                self.end_check(session, check, self.now)
            self.deadline = self.now - HOUR
            ladder = self.ladder(session)
            ladder.state = CompetitionState.PAUSED  # of which marking is no part
            change_visibility(session, ladder, Visibility.PRIVATE, ARENA, self.now)
            olga = User(name="olga", created=self.now)
            session.add(olga)
            session.flush()
            members.add(session, ARENA, ladder, olga, MemberRole.ORGANISER, self.now)
        names = "\n".join(["name", *map(student, range(count))])
        assert self.do(ImportMembers("ladder-0", names)).made == count
        until = f"{self.now + HOUR:%Y-%m-%dT%H:%M:%SZ}"
        self.do(SetCourse("ladder-0", ("bot-0:1", "bot-1:1"), MARKS, 1, until))
        with database.begin() as session:
            date = {"what": DateKind.FREEZE, "at": self.deadline, "happened": self.now}
            session.add(CompetitionDate(competition=self.ladder(session), settings={}, **date))

    def ladder(self, session: Session) -> Ladder:
        return session.scalars(sa.select(Ladder)).one()

    def course(self, session: Session) -> TaughtCourse:
        return session.scalars(sa.select(TaughtCourse)).one()

    def do(self, deed: Any) -> Any:
        with self.database.begin() as session:
            by = By(
                ARENA, frozenset(Scope), database_time(session), at_machine=True, reader=EVERYTHING
            )
            return perform(session, deed, by).answer

    def hand_in(
        self,
        number: int,
        at: datetime,
        text: str,
        *,
        passes: bool = True,
        ended: datetime | None = None,
    ) -> str:
        """A student hands a program in; it is checked as a worker does it, by default at once.
        Gives its digest."""
        name = student(number)
        path = self.settings.data / f"{name}.py"
        path.write_text(text)
        taken = BundleIntake(self.settings.bundles)(path, Sender(0, lambda _: None, lambda _: None))
        with self.database.begin() as session:
            owner = session.scalars(sa.select(User).where(User.name == name)).one()
            version = submit(
                session, owner, f"bot-of-{name}", digest=taken.digest, size=taken.size,
                language=taken.language, ladder=self.ladder(session), now=at,
            )  # fmt: skip
            check = session.scalars(sa.select(Check).where(Check.version_id == version.id)).one()
            self.end_check(session, check, ended or at, passes=passes)
        return taken.digest

    def end_check(
        self, session: Session, check: Check, at: datetime, *, passes: bool = True
    ) -> None:
        """A worker has done it."""
        job = issued(session, check, self.settings, at)
        finding = reporting.Finding(passes, "a whole game")
        record_check(session, reporting.CheckReport(job.lease, "one", (finding,), ""), at)

    def field_again(self, digest: str, at: datetime) -> None:
        """An older version is fielded again."""
        with self.database.begin() as session:
            its = sa.select(BotVersion).where(BotVersion.digest == digest)
            version = session.scalars(its.order_by(BotVersion.id)).first()
            assert version is not None
            enter(session, self.ladder(session), version, at)

    def hand_all_in(self) -> dict[str, dict[int, str]]:
        """The class hands in as it may be; gives the digests of what counts by student, of those
        in time and late ones."""
        early, late = self.deadline - HOUR, self.deadline + HOUR / 2
        digests: dict[str, dict[int, str]] = {"in time": {}, "late": {}}
        for number in set(range(COUNT)) - {NOTHING, LATE}:
            text = program(COPIED, "guess", "  # mine") if number == COPY else program(number)
            if number == TWICE:
                self.hand_in(number, early - HOUR, program(100))
            digest = self.hand_in(number, early, text, passes=number != REFUSED)
            if number != REFUSED:
                digests["in time"][number] = digest
        newer = self.hand_in(AGAIN, early + HOUR / 4, program(101))
        older = digests["in time"][AGAIN]
        for digest, at in ((older, early + HOUR / 2), (newer, late), (older, late + HOUR / 8)):
            self.field_again(digest, at)
        for number in (LATE, BOTH):
            digests["late"][number] = self.hand_in(number, late, program(200 + number))
        return digests

    def mark(self) -> None:
        """The recorder begins what is due, and workers play until nothing is left."""
        with self.database.begin() as session:
            while marking.begin_due(session):
                pass
        if not self.events:
            self.alive()
            self.tick()
        for _ in range(400):
            self.run(10)
            with self.database.read() as session:
                played = session.scalars(sa.select(Tournament)).all()
                if played and all(one.finished for one in played):
                    return
        raise AssertionError("the marking never ends")
