"""Bots are asked what they would play: by the queue, within a quota, and all of it is proved."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import chain

import pytest
import sqlalchemy as sa

from arena.analyses.asking import AskBots, Questions, answers_to, asked_lately, record_answers
from arena.audit import Actor
from arena.deeds import By
from arena.ground.db import Database
from arena.ground.refusals import Refusal
from arena.models import Bot, BotAnswer, BotVersion, Entrant, JobStatus, Ladder, Question, Scope
from arena.schedule import allocation
from arena.schedule.leases import Fate
from engine import jobs, reporting
from engine.analysis import Tree
from engine.asking import opinions
from engine.games import find_variant
from engine.player import BotError, Choice, CrashError, Turn
from engine.record import Ply
from tests.arena.test_sittings import SETTINGS, SMALL, Table
from tests.engine.players import FirstMove, Scripted

GAME = "clobber size=4x3"


class Inquiry(Table):
    """An arena with a person who asks."""

    def ask(self, *bots: str, quota: float | None = None, **more: object) -> Questions:
        assert self.person.user_id is not None
        actor = Actor(self.person.user_id, self.person.name, "")
        by = By(actor, frozenset(Scope), self.now, asked_seconds_a_day=quota)
        with self.database.begin() as session:
            found = AskBots(GAME, bots, **more).do(session, by).answer  # type: ignore[arg-type]
            assert isinstance(found, Questions)
            return found

    def asked(self) -> list[jobs.AskJob]:
        """What workers are asked now, as the queue delivers it."""
        with self.database.begin() as session:
            issued = chain.from_iterable(allocation.fill(session, SETTINGS, self.now))
        return [
            jobs.AskJob.from_json(one.to_json()) for one in issued if isinstance(one, jobs.AskJob)
        ]

    def report(self, job: jobs.AskJob, player: object = None) -> reporting.AnswersReport:
        found = opinions(job.game, job.plies, player or FirstMove(cpu_us=9, wall_us=9))  # type: ignore[arg-type]
        report = reporting.AnswersReport(job.lease, "one", tuple(found))
        return reporting.AnswersReport.from_json(report.to_json())

    def keep(self, report: reporting.AnswersReport) -> Fate:
        with self.database.begin() as session:
            return record_answers(session, report, self.now)

    def answers(self, moves: str = "") -> list[BotAnswer]:
        """What is known of all positions of a line."""
        tree = Tree.begin(find_variant(*GAME.split()[:1], GAME.split()[1:])).reading(moves)
        with self.database.read() as session:
            return answers_to(session, tree.keys)


@pytest.fixture
def inquiry(database: Database) -> Inquiry:
    """One small ladder."""
    return Inquiry(database, [SMALL])


def first_moves(count: int) -> str:
    """A line of first legal moves."""
    tree = Tree.begin(find_variant("clobber", ["size=4x3"]))
    for number in range(count):
        tree = tree.played(number, tree.states[number].legal_moves()[0])
    return tree.text()


def test_a_bot_says_its_move(inquiry: Inquiry) -> None:
    """Its move, share, depth and line are there for everybody who comes by the same moves."""
    moves = first_moves(2)
    assert inquiry.ask("bot-0", moves=moves) == Questions(1, 0)
    (job,) = inquiry.asked()
    assert (job.plies, job.game.time.move_ms) == ((2,), 1000)
    (legal, *_) = Tree.begin(job.game.variant).reading(moves).states[2].legal_moves()
    says = Choice(legal, "so", 5, 6, {"eval": 0.25, "depth": 4.0, "nodes": 7.0}, pv=(legal, "a1a2"))
    assert inquiry.keep(inquiry.report(job, Scripted(says))) is Fate.FIXED
    (answer,) = inquiry.answers(moves)
    assert (answer.ply, answer.seat, answer.move, answer.text) == (2, 0, legal, "so")
    assert (answer.share, answer.depth, answer.pv, answer.cpu_us) == (0.25, 4.0, [legal, "a1a2"], 5)
    assert answer.numbers == {"eval": 0.25, "depth": 4.0, "nodes": 7.0}
    assert inquiry.answers(first_moves(1)) == []
    # Who asks the same again is told what is known, and nothing is used up.
    assert inquiry.ask("bot-0", moves=moves) == Questions(0, 1)
    assert inquiry.ask("bot-0", moves=moves, move_ms=2000) == Questions(1, 0)


def test_a_whole_game(inquiry: Inquiry) -> None:
    """All is asked in one process, at every position where a seat is to move; each bot is a job."""
    moves = first_moves(5)
    assert inquiry.ask("bot-0", "bot-1", moves=moves, whole=True) == Questions(2, 0)
    jobs_ = inquiry.asked()
    # A quarter of the slots, and at least one.
    assert [job.plies for job in jobs_] == [(0, 1, 2, 3, 4, 5)]
    assert inquiry.keep(inquiry.report(jobs_[0])) is Fate.FIXED
    assert sorted(one.ply for one in inquiry.answers(moves)) == [*range(6)]
    (other,) = inquiry.asked()
    assert inquiry.keep(inquiry.report(other)) is Fate.FIXED
    assert len(inquiry.answers(moves)) == 12
    # What was answered is asked no more.
    longer = first_moves(6)
    assert inquiry.ask("bot-0", moves=longer, whole=True) == Questions(1, 0)
    assert [job.plies for job in inquiry.asked()] == [(6,)]


def test_answers_come_one_after_the_other(inquiry: Inquiry) -> None:
    """While the bot is asked on, and each is kept once, whoever tells it again."""
    moves = first_moves(3)
    inquiry.ask("bot-0", moves=moves, whole=True)
    (job,) = inquiry.asked()
    whole = inquiry.report(job)

    def part(first: int, last: int) -> Fate:
        some = replace(whole, answers=whole.answers[first:last], is_part=True)
        return inquiry.keep(reporting.AnswersReport.from_json(some.to_json()))

    assert part(0, 1) is Fate.NOTED
    assert [one.ply for one in inquiry.answers(moves)] == [0]
    assert part(1, 3) is Fate.NOTED
    assert part(1, 2) is Fate.NOTED
    assert sorted(one.ply for one in inquiry.answers(moves)) == [0, 1, 2]
    # What is told in part is proved as all of it is; the next attempt tells the rest.
    backwards = replace(whole, answers=whole.answers[::-1], is_part=True)
    assert inquiry.keep(backwards) is Fate.REFUSED
    assert part(3, 4) is Fate.STALE
    (job,) = inquiry.asked()
    assert inquiry.keep(inquiry.report(job)) is Fate.FIXED
    assert sorted(one.ply for one in inquiry.answers(moves)) == [0, 1, 2, 3]


class Ended(Scripted):
    """Its process ends by its first fault, as that of a bot does."""

    def choose(self, turn: Turn) -> Choice:
        try:
            return super().choose(turn)
        except BotError:
            self.closed = True
            raise


def test_a_bot_that_fails(inquiry: Inquiry) -> None:
    """Its fault is its answer, and only one that ends its process ends the answers."""
    moves = first_moves(3)
    inquiry.ask("bot-0", moves=moves, whole=True)
    (job,) = inquiry.asked()
    first = job.game.variant.initial().legal_moves()[0]
    report = inquiry.report(job, Ended("resign", "z9", CrashError("exit status 1")))
    assert [ply for ply, _ in report.answers] == [0, 1, 2]
    # That of one who went on answering is missing.
    assert inquiry.keep(replace(report, answers=((0, Ply(0, first, 1, 1)),))) is Fate.REFUSED
    (job,) = inquiry.asked()
    report = inquiry.report(job, Ended("resign", "z9", CrashError("exit status 1")))
    assert inquiry.keep(report) is Fate.FIXED
    found = sorted(inquiry.answers(moves), key=lambda one: one.ply)
    assert [(one.move, one.fault) for one in found] == [
        ("", "resign"),
        ("", "illegal"),
        ("", "crash"),
    ]
    assert found[2].detail == "exit status 1"


def test_what_workers_say_is_proved(inquiry: Inquiry) -> None:
    """Late, forged, illegal or too much: nothing of it is kept."""
    inquiry.ask("bot-0", moves=first_moves(1))
    (job,) = inquiry.asked()
    report = inquiry.report(job)
    ((ply, answer),) = report.answers
    forged = replace(report, lease=replace(job.lease, ticket="x"))
    assert inquiry.keep(forged) is Fate.STALE
    spoilt = [
        ((ply, answer._replace(move="a1c3")),),
        ((ply, answer._replace(seat=0)),),
        ((ply, answer._replace(text="\x1b[2J")),),
        ((ply, answer._replace(pv=("x y",))),),
        ((0, answer),),
        (),
        ((ply, answer), (ply, answer)),
    ]
    for number, answers in enumerate(spoilt):
        assert inquiry.keep(replace(report, answers=answers)) is Fate.REFUSED
        with inquiry.database.begin() as session:
            found = session.scalars(sa.select(Question)).one()
            assert found.status is (JobStatus.OPEN if number % 3 < 2 else JobStatus.SET_ASIDE)
            found.status, found.failures = JobStatus.OPEN, number % 3 + 1 if number % 3 < 2 else 0
            session.execute(sa.text("UPDATE worker SET set_aside = NULL, failed = '[]'"))
        (job,) = inquiry.asked()
        report = inquiry.report(job)
    assert inquiry.keep(report) is Fate.FIXED
    assert inquiry.keep(report) is Fate.STALE
    assert len(inquiry.answers(first_moves(1))) == 1


def test_there_is_a_quota(inquiry: Inquiry) -> None:
    """So many seconds a day bots may think for somebody; what can't be done takes nothing of it."""
    inquiry.ask("bot-0", moves=first_moves(3), whole=True, quota=6.0)
    with pytest.raises(Refusal, match="within 24 hours, of which 2 s are left, and this takes 3 s"):
        inquiry.ask("bot-1", moves=first_moves(2), whole=True, quota=6.0)
    inquiry.ask("bot-1", moves=first_moves(2), quota=6.0)
    with inquiry.database.read() as session:
        assert asked_lately(session, inquiry.person.user_id or 0, inquiry.now) == 5.0
    inquiry.now += timedelta(hours=25)
    inquiry.ask("bot-1", moves=first_moves(2), whole=True, quota=6.0)


@pytest.mark.parametrize(
    ("bots", "more", "words"),
    [
        (("nobody",), {}, "no bot 'nobody' that may be asked plays clobber here"),
        (("bot-0:7",), {}, "no bot 'bot-0:7' that may be asked"),
        (("bot-0",), {"moves": "z9"}, "'z9' is not legal here"),
        (("bot-0",), {"moves": "b1c1 0:a2a1"}, "give the moves of one line, without variations"),
        (("bot-0",), {"moves": "resign"}, "nobody is to move there"),
        (("bot-0",), {"move_ms": 20_000}, "give a number from 10 to 10,000"),
        ((), {}, "this is needed"),
    ],
)
def test_what_can_not_be_asked(
    inquiry: Inquiry, bots: tuple[str, ...], more: dict[str, object], words: str
) -> None:
    with pytest.raises(Refusal, match=words):
        inquiry.ask(*bots, **more)  # type: ignore[arg-type]


def test_which_versions_may_be_asked(inquiry: Inquiry) -> None:
    """Those that play, by anybody; others by their owner."""
    with inquiry.database.begin() as session:
        version = session.scalars(sa.select(BotVersion).join(Bot).where(Bot.name == "bot-0")).one()
        session.execute(
            sa.update(Entrant).where(Entrant.version_id == version.id).values(state="retired")
        )
    with pytest.raises(Refusal, match="that may be asked"):
        inquiry.ask("bot-0:1")
    with inquiry.database.begin() as session:
        session.execute(
            sa.update(Bot).where(Bot.name == "bot-0").values(owner_id=inquiry.person.user_id)
        )
    assert inquiry.ask("bot-0:1").asked == 1
    with inquiry.database.begin() as session:
        session.execute(sa.update(Ladder).values(state="closed"))
    with pytest.raises(Refusal, match="that may be asked"):
        inquiry.ask("bot-1")
