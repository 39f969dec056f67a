"""A bot whose files were lost is noticed once, and nobody waits for it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest
import sqlalchemy as sa

from arena.audit import ARENA, entries
from arena.bots.lost_bundles import LOST, is_lost, suspend_lost
from arena.bots.submissions import enter
from arena.competitions.results import results
from arena.competitions.tournament_fields import withdraw
from arena.ground.db import Database
from arena.models import (
    BotVersion,
    CompetitionState,
    Entrant,
    EntrantState,
    JobStatus,
    Ladder,
    Match,
    Place,
    Tournament,
)
from arena.operation import alarms
from arena.recorder import recording
from arena.schedule.idle import why_idle
from engine import jobs, reporting
from tests.arena.competitions.tournament_simulation import TournamentSimulation
from tests.arena.meanwhile import give_way
from tests.arena.simulator import CALM

GONE = "bot-1 v1"


class Losing(TournamentSimulation):
    """Four bots with files in a store; who plays with lost ones fails, as workers do."""

    words = "w: [Errno 2] No such file or directory: '/elsewhere/bundles/{digest}'"
    """What a worker says that can't have the files of that digest, as Python says it."""

    def lose(self, store: Path) -> None:
        """Stores everybody's files but those of one."""
        store.mkdir(parents=True)
        self.settings = replace(self.settings, data=store.parent)
        with self.database.begin() as session:
            for version in session.scalars(sa.select(BotVersion)):
                content = version.bot.name.encode()
                version.digest = hashlib.sha256(content).hexdigest()
                if version.bot.name != "bot-1":
                    (store / version.digest).write_bytes(content)

    def finish(self, job: jobs.Job, worker: str) -> reporting.MatchReport | None:
        """A match is played if all files are there."""
        store = self.settings.bundles
        lost = [files.digest for files in job.bots if is_lost(store, files.digest)]
        if lost:
            lease, problem = job.lease, self.words.format(digest=lost[0])
            self.tell(lambda s: recording.record_void(s, lease, problem, self.settings, self.now))
            return None
        return super().finish(job, worker)


@pytest.fixture
def arena(tmp_path: Path) -> Iterator[Losing]:
    """An open ladder and a tournament of four bots, of which one has lost its files."""
    database = Database(f"sqlite:///{tmp_path}/arena.db")
    database.upgrade()
    yield losing(database, tmp_path)
    database.close()


def losing(database: Database, folder: Path) -> Losing:
    """The arena that loses a bundle, in an empty database."""
    made = Losing(database, 1, CALM, "clobber", 4, size="4x3")
    made.create("cup", "round-robin")
    made.lose(folder / "data" / "bundles")
    return made


def states(session: sa.orm.Session) -> dict[str, set[tuple[str, str]]]:
    """How each bot stands wherever it is, and why."""
    found: dict[str, set[tuple[str, str]]] = {}
    for entrant in session.scalars(sa.select(Entrant)):
        key = (str(entrant.state), entrant.reason)
        found.setdefault(entrant.version.label, set()).add(key)
    return found


def test_who_has_lost_its_files_plays_no_more_until_they_are_back(arena: Losing) -> None:
    """No match is set aside; owner and operator are told once; the others play on, and in the
    end so does it."""
    with arena.database.begin() as session:
        session.scalars(sa.select(Ladder)).one().state = CompetitionState.OPEN
    arena.alive()
    arena.tick()
    arena.run(30)
    with arena.database.begin() as session:
        session.scalars(sa.select(Ladder)).one().state = CompetitionState.PAUSED
        assert states(session) == {
            GONE: {("suspended", LOST)},
            **{f"bot-{n} v1": {("active", "")} for n in (0, 2, 3)},
        }
        statuses = set(session.scalars(sa.select(Match.status)))
        assert JobStatus.SET_ASIDE not in statuses
        assert len(entries(session, action="suspend")) == 1
        (alarm,) = [
            one
            for one in alarms.find(session, arena.settings, arena.now)
            if one.kind == "lost bundle"
        ]
        assert "the files of bot-1 v1 are lost or damaged" in alarm.words
        cup = session.scalars(sa.select(Tournament)).one()
        found = results(session, cup)
        assert (found.count(JobStatus.FIXED), found.is_held_up) == (3, True)
        assert why_idle(session, found.tournament, arena.settings, arena.now) == (
            f"Nothing else can be played before {GONE} can play again, or is withdrawn."
        )
        # Handed in again, its files are stored anew, and when its check has passed it enters.
        version = session.scalars(
            sa.select(BotVersion).where(
                BotVersion.digest.in_([hashlib.sha256(b"bot-1").hexdigest()])
            )
        ).one()
        (arena.settings.bundles / version.digest).write_bytes(b"bot-1")
        enter(session, session.scalars(sa.select(Ladder)).one(), version, arena.now)
        assert states(session)[GONE] == {("active", "")}
    arena.run(30)
    with arena.database.read() as session:
        assert session.scalars(sa.select(Tournament)).one().state is CompetitionState.CLOSED


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "suspended"),
    [
        (Losing.words, True),
        ("w: http://a/bundles/{digest} is not the bundle {digest:.12}: store it again", True),
        ("w: the arena does not give http://a/bundles/{digest}: 404 NOT FOUND", True),
        ("w: no box can be built: [Errno 28] No space left on device", False),
        ("w: Worker exited prematurely: signal 9 (SIGKILL) Job: 3.", False),
    ],
)
def test_a_recorder_that_looks_at_an_old_store(words: str, suspended: bool, arena: Losing) -> None:
    """What fails for another reason speaks against no bot, though the recorder has no such file."""
    arena.words = words
    arena.alive()
    arena.tick()
    arena.run(30)
    with arena.database.read() as session:
        assert (("suspended", LOST) in states(session)[GONE]) is suspended


STORES = [
    ("there", {"good": b"good"}, False),
    ("another", {"other": b"other"}, True),
    ("damaged", {"good": b"bad"}, True),
    ("empty, as a disk that is not mounted", {}, False),
    ("none", None, False),
]


@pytest.mark.parametrize(("name", "files", "lost"), STORES, ids=[one[0] for one in STORES])
def test_what_is_lost(
    tmp_path: Path, name: str, files: dict[str, bytes] | None, lost: bool
) -> None:
    """What is not as it was in a store that is there; no bot is blamed for a store that is not."""
    store = tmp_path / "bundles"
    if files is not None:
        store.mkdir()
        for text, content in files.items():
            (store / hashlib.sha256(text.encode()).hexdigest()).write_bytes(content)
    assert is_lost(store, hashlib.sha256(b"good").hexdigest()) is lost


@pytest.mark.long
def test_who_is_withdrawn_as_a_match_with_it_fails(database: Database, tmp_path: Path) -> None:
    """Neither holds what the other waits for: it is withdrawn, and its matches are void, those
    under way when they fail in their turn; then the tournament is over."""
    arena, begun, gone = losing(database, tmp_path), Event(), Event()
    arena.alive()
    arena.run(1)
    with database.read() as session:
        in_it = sa.select(Entrant).join(Tournament, Tournament.id == Entrant.competition_id)
        (entrant,) = [one for one in session.scalars(in_it) if one.version.label == GONE]
        query = sa.select(Match.id).where(Match.places.any(Place.entrant_id == entrant.id))
        matches = session.scalars(query.order_by(Match.id)).all()
        problem = arena.words.format(digest=entrant.version.digest)
    assert len(matches) > 1

    def fail() -> None:
        with database.begin() as session:
            match = session.get_one(Match, matches[-1], with_for_update=True)
            begun.set()
            give_way(database, gone.is_set)
            assert suspend_lost(session, match, problem, arena.settings.bundles, arena.now)

    with ThreadPoolExecutor(1) as pool:
        failing = pool.submit(fail)
        assert begun.wait(60)
        with database.begin() as session:
            cup = session.scalars(sa.select(Tournament)).one()
            its = session.get_one(Entrant, entrant.id)
            withdraw(session, cup, its, "it is gone", arena.now, ARENA)
        gone.set()
        failing.result(60)
    with database.read() as session:
        assert session.get_one(Entrant, entrant.id).state is EntrantState.RETIRED
        assert session.get_one(Match, matches[-1]).status is JobStatus.VOID
    arena.run(60)
    with database.read() as session:
        assert set(session.scalars(query.with_only_columns(Match.status))) == {JobStatus.VOID}
        assert session.scalars(sa.select(Tournament)).one().state is CompetitionState.CLOSED
