"""A small arena with everything that a page can show."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from types import CodeType
from typing import Any, ClassVar

import pytest
import sqlalchemy as sa
from flask import Flask
from flask.testing import FlaskClient
from jinja2 import BytecodeCache
from jinja2.bccache import Bucket
from werkzeug.routing import Rule

from arena.audit import ARENA
from arena.bots import runtimes
from arena.bots.submissions import enter, submit
from arena.competitions import gauntlets, strength_plans, strength_tests, tunings
from arena.competitions.fields import field_of
from arena.competitions.gauntlets import GauntletPlan
from arena.competitions.players import NamedPlayer
from arena.competitions.presets import KeepPreset
from arena.competitions.rules import Rules
from arena.competitions.strength_deeds import StopTest
from arena.competitions.strength_exclusions import ExcludeWorker
from arena.competitions.tournaments import TournamentPlan, create
from arena.competitions.tuning_deeds import StopTuning, read_parameters
from arena.competitions.tuning_standings import progress_of, standing_of
from arena.competitions.tunings import TuningPlan
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import (
    BotTuning,
    BotVersion,
    Check,
    CompetitionState,
    Entrant,
    GameSeat,
    JobStatus,
    Ladder,
    Match,
    PlayedGame,
    StrengthTest,
    TestTally,
    User,
    VersionStatus,
)
from arena.recorder.judging import Judge
from arena.recorder.match_set_deeds import ChooseMatches
from arena.schedule import leases, matchmaking
from arena.strength.outcomes import Outcome
from arena.web.app import create_app
from engine.game import Termination
from engine.player import Choice, CrashError, Turn
from tests.arena.doing import do
from tests.arena.issuing import issued
from tests.arena.simulator import CALM, LotPlayer, Simulation
from tests.conftest import fresh_database
from tests.furnished import furnished_database

HOSTILE = "<script>alert(1)</script> & \N{RIGHT-TO-LEFT OVERRIDE}evil " + "x" * 300
VARIANTS = [
    ("clobber", {"size": "4x3"}),
    ("blokus", {"mode": "trio"}),
    ("puzzle", {"task": "tetrominoes"}),
]


class Compiled(BytecodeCache):
    """Templates that any application of this process has compiled: each test has one of its own."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], CodeType | None] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._kept.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._kept[bucket.key, bucket.checksum] = bucket.code


class CompiledRule(Rule):
    """The same for addresses: a rule is read and compiled once, not by each application.

    What is made of it is not changed any more, and asks nothing of the application.
    """

    _kept: ClassVar[dict[Any, dict[str, Any]]] = {}

    def compile(self) -> None:
        assert self.map is not None
        if self.defaults or self.host or self.subdomain:  # they are part of what is made
            super().compile()
            return
        key = self.rule, self.merge_slashes, *self.map.converters.items()
        if key not in self._kept:
            super().compile()
            self._kept[key] = {
                "_parts": self._parts,
                "_trace": self._trace,
                "_converters": self._converters,
                "_build": self._build.__func__,
                "_build_unknown": self._build_unknown.__func__,
            }
        vars(self).update(self._kept[key])
        self.arguments.update(self._converters)
        # They are given their rule when they are called.
        self._build = self._build.__get__(self, None)
        self._build_unknown = self._build_unknown.__get__(self, None)


Flask.jinja_options = {**Flask.jinja_options, "bytecode_cache": Compiled()}
Flask.url_rule_class = CompiledRule


class Talker(LotPlayer):
    """It says hostile things of its moves, gives numbers, and now and then crashes."""

    def choose(self, turn: Turn) -> Choice:
        chosen = super().choose(turn)
        if self._random.random() < 0.02:
            raise CrashError(f"exit status 139, {HOSTILE}")
        return Choice(chosen.move, HOSTILE, 1500, 2500, {"value": self._random.random()})


class LivelySimulation(Simulation):
    """Bots that have something to say."""

    player = Talker


@dataclass(frozen=True, slots=True)
class Site:
    """The pages of a furnished arena, and the numbers of what is worth a look."""

    database: Database
    client: FlaskClient
    numbers: dict[str, int]

    def address(self, pattern: str) -> str:
        """An address with its numbers put in, e.g. of ``/games/{faulty}``."""
        return pattern.format(**self.numbers)

    def page(self, pattern: str) -> str:
        """The text of a page that is there."""
        answer = self.client.get(self.address(pattern))
        assert answer.status_code == 200, pattern
        return answer.text


@pytest.fixture
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """An empty arena's database: on SQLite, as these tests' site is, unless both are asked for.

    That PostgreSQL does what pages ask of it is seen where all of them are asked, and all forms and
    operations of the API are sent: in test_access, test_hostile and api/test_document. Statements
    that those don't come to are tried `on_both`: lists and their order, and deeds by their doors.
    """
    with fresh_database(request, tmp_path) as found:
        yield found


@pytest.fixture(scope="session")
def site(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    """An arena with games, faults, a retired version and one refused, and a running match."""
    folder = tmp_path_factory.mktemp("site")
    with furnished_database(request, folder, furnish) as (database, numbers):
        app = create_app(Settings(data=folder, database=database.url))
        app.testing = True
        yield Site(database, app.test_client(), numbers)
        app.extensions["arena.database"].close()


CARD = {
    "kind": "python",
    "interpreter": "Python 3.11",
    "platform": "x86_64 python3.11",
    "packages": [{"name": "numpy", "version": "2.0", "licence": HOSTILE}],
    "lock": "numpy==2.0",
    "start_seconds": 10.0,
}
"""What a runtime says of itself."""


def furnish(database: Database) -> dict[str, int]:
    """Lets an arena live for some seconds, and adds what those did not bring about.

    Returns:
        The ids of what is worth a look, by what they are.
    """
    simulation = LivelySimulation(database, 1, CALM)
    simulation.furnish(VARIANTS, bots=4)
    simulation.alive()
    simulation.tick()
    simulation.run(8)
    with database.begin() as session:
        session.execute(sa.update(Ladder).where(Ladder.game != "clobber").values(state="paused"))
    simulation.run(20)
    now = simulation.now
    with database.begin() as session:
        clobber = session.scalars(sa.select(Ladder).where(Ladder.game == "clobber")).one()
        owner = session.scalars(sa.select(User)).one()
        successor = submit(
            session, owner, "bot-0", digest="1" * 64, size=9, language="C", ladder=clobber,
            note=HOSTILE, now=now,
        )  # fmt: skip
        successor.status = VersionStatus.READY
        enter(session, clobber, successor, now)
        refused = submit(
            session, owner, "bot-1", digest="2" * 64, size=9, language="C", ladder=clobber, now=now
        )
        refused.status = VersionStatus.REFUSED
        check = session.scalars(sa.select(Check).where(Check.version_id == refused.id)).one()
        check.status = JobStatus.FIXED
        check.findings = [{"kept": False, "words": HOSTILE}]
        runtimes.add(session, "scientific", "0" * 64, 3, CARD, "Python", now, ARENA)
        numbers = {
            "running": _issue(session, simulation),
            "waiting": _issue(session, simulation, taken_up=False),
            "aside": _issue(session, simulation),
            "played": session.scalars(
                sa.select(Match.id).where(Match.status == JobStatus.FIXED).limit(1)
            ).one(),
            "rival": session.scalars(
                sa.select(Entrant.id)
                .where(Entrant.competition_id == clobber.id, Entrant.state == "active")
                .order_by(Entrant.id)
                .limit(1)
            ).one(),
        }
        aside = session.get_one(Match, numbers["aside"])
        leases.roll_back(aside, HOSTILE, failed=True)
        aside.status = JobStatus.SET_ASIDE
        for name, query in {
            "faulty": sa.select(GameSeat.game_id)
            .join(GameSeat.game)
            .where(GameSeat.fault == Termination.CRASH, PlayedGame.plies > 0),
            "trio": sa.select(PlayedGame.id)
            .join(PlayedGame.competition)
            .where(Ladder.game == "blokus"),
            "solo": sa.select(PlayedGame.id)
            .join(PlayedGame.competition)
            .where(Ladder.game == "puzzle"),
        }.items():
            numbers[name] = session.scalars(query.limit(1)).one()
        numbers["plies"] = session.get_one(PlayedGame, numbers["trio"]).plies
        blokus = session.scalars(sa.select(Ladder).where(Ladder.game == "blokus")).one()
        blokus.state = CompetitionState.FROZEN
        numbers |= add_competitions(session, now)
        chosen = ChooseMatches("void", f"competition={clobber.name}", note=HOSTILE)
        numbers["set"] = do(session, chosen, now).id
    judge = Judge(Path("no tables"), steps=3000)
    while judge.go_on(database):
        pass
    return numbers


def add_competitions(session: sa.orm.Session, now: datetime) -> dict[str, int]:
    """A tournament "cup" of the bots on the ladder of Clobber, two strength tests and a preset."""
    clobber = session.scalars(sa.select(Ladder).where(Ladder.game == "clobber")).one()
    plan = TournamentPlan("cup", clobber.variant, clobber.time, "round-robin")
    cup = create(session, plan, field_of(session, clobber)[:3], now, ARENA)
    cup.state = CompetitionState.PAUSED
    test, ended = (_strength_test(session, clobber, now) for _ in range(2))
    do(session, StopTest(ended.id), now)
    do(session, ExcludeWorker(ended.id, "one", HOSTILE), now)
    field = session.scalars(
        sa.select(BotVersion)
        .where(BotVersion.status == VersionStatus.READY)
        .order_by(BotVersion.id)
    ).all()
    rules = Rules(clobber, clobber.variant, clobber.time, clobber.limits)
    players = [*map(NamedPlayer, field[:3])]
    gauntlets.create(session, GauntletPlan(rules, 40, 1, note=HOSTILE), players, now, ARENA)
    do(session, KeepPreset("kept", note=HOSTILE, elo1=50.0, time="1+0.01"), now)
    tuning, untuned = (_tuning(session, clobber, now) for _ in range(2))
    do(session, StopTuning(untuned.id), now)
    numbers = {"test": test.id, "ended": ended.id}
    return numbers | {"tuning": tuning.id, "untuned": untuned.id}


def _tuning(session: sa.orm.Session, ladder: Ladder, now: datetime) -> BotTuning:
    """A tuning of two numbers of a version, of which two batches are counted."""
    ready = sa.select(BotVersion).where(BotVersion.status == VersionStatus.READY)
    version = session.scalars(ready.order_by(BotVersion.id)).first()
    assert version is not None
    version.options = ["depth int 1 20 6", "width float 0 2 0.8", "style choice fast|solid solid"]
    plan = TuningPlan(
        ladder.variant,
        ladder.time,
        NamedPlayer(version, "style=fast"),
        tuple(read_parameters(version, ("depth", "width"))),
        games=320,
        note=HOSTILE,
    )
    made = tunings.create(session, plan, now, ARENA)
    stands = standing_of(made)
    for number in range(32):
        stands = stands.add(Outcome(number % 5, 0, 2, 0, ({}, {}), ""))
    made.progress = progress_of(stands)
    return made


def _strength_test(session: sa.orm.Session, ladder: Ladder, now: datetime) -> StrengthTest:
    """A test of two versions with results of two workers."""
    candidate, baseline = session.scalars(
        sa.select(BotVersion)
        .where(BotVersion.status == VersionStatus.READY)
        .order_by(BotVersion.id)
    ).all()[:2]
    test = strength_tests.create(
        session,
        strength_plans.StrengthPlan.on(ladder, note=HOSTILE),
        NamedPlayer(candidate),
        NamedPlayer(baseline),
        now,
        ARENA,
    )
    for worker in ("one", HOSTILE[:40]):
        session.add(
            TestTally(
                test_id=test.id,
                worker=worker,
                counts=[2, 3, 9, 6, 4],
                wins=29,
                draws=0,
                losses=19,
                candidate_faults={"crash": 1},
                baseline_faults={"timeout": 2},
            )
        )
    return test


def _issue(session: sa.orm.Session, simulation: Simulation, *, taken_up: bool = True) -> int:
    """A match that is issued; one that a worker took up has played its opening."""
    match = next(matchmaking.new_matches(session, simulation.now), None)
    assert match is not None
    issued(session, match, simulation.settings, simulation.now)
    if taken_up:
        match.worker = "one"
        match.lease_ends = simulation.now + timedelta(days=1)
        moves = [f"{1 + number % 2}:{move}" for number, move in enumerate(match.opening)]
        match.progress = {"game": 1, "moves": moves}
    return match.id
