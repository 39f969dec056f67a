"""What may wait is noticed: each kind of it by itself, and nothing where there is none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.ground.db import Database
from arena.models import (
    Bot,
    CompetitionDate,
    CompetitionState,
    DateKind,
    Entrant,
    EntrantState,
    JobStatus,
    Ladder,
    LadderRound,
    Match,
    MatchSet,
    Place,
    Repository,
    SetState,
    SetVerdict,
    TaughtCourse,
    Tournament,
)
from arena.recorder import agenda
from arena.recorder.process import Recorder
from tests.arena.simulator import CALM, Simulation

NOW = datetime.now(UTC)
HOUR = timedelta(hours=1)


def _match(session: Session, competition: int, status: JobStatus) -> None:
    """A match between the first two entrants."""
    entrants = session.scalars(sa.select(Entrant.id).order_by(Entrant.id).limit(2)).all()
    session.add(
        Match(
            competition_id=competition,
            status=status,
            rated=True,
            options={},
            opening=[],
            seed=0,
            created=NOW,
            places=[Place(number=n, entrant_id=one) for n, one in enumerate(entrants)],
        )
    )


def _tournament(session: Session) -> Tournament:
    ladder = session.get_one(Ladder, 1)
    made = Tournament(name="cup", title="Cup", format="round-robin", settings={}, created=NOW)
    for name in ("game", "options", "inc_ms", "move_ms", "charge", "memory_bytes", "seed"):
        setattr(made, name, getattr(ladder, name))
    made.state = CompetitionState.PAUSED
    session.add(made)
    session.flush()
    return made


def _close(session: Session, *, is_placed: bool, is_told: bool) -> None:
    session.execute(
        sa.update(Ladder)
        .where(Ladder.id == 1)
        .values(
            state=CompetitionState.CLOSED,
            finished=NOW,
            told=NOW if is_told else None,
            placed_games=0 if is_placed else None,
        )
    )


def _round(session: Session) -> None:
    made = _tournament(session)
    made.state, made.finished, made.told, made.placed_games = CompetitionState.CLOSED, NOW, NOW, 0
    session.add(LadderRound(competition_id=1, number=1, begun=NOW, made_id=made.id))


def _date(session: Session) -> None:
    session.add(CompetitionDate(competition_id=1, what=DateKind.CLOSES, at=NOW - HOUR))


def _check_in(session: Session) -> None:
    made = _tournament(session)
    made.signing_up = True
    what = DateKind.ENTRIES_CLOSE
    session.add(CompetitionDate(competition_id=made.id, what=what, at=NOW + HOUR))


def _anonymity(session: Session) -> None:
    session.execute(sa.update(Ladder).where(Ladder.id == 1).values(anonymous=True))
    _close(session, is_placed=True, is_told=True)


def _mask(session: Session) -> None:
    session.execute(sa.update(Bot).where(Bot.id == 1).values(masks_id=2, masked_in=1))


def _marking(session: Session) -> None:
    rules = {"references": [], "marks": "", "cycles": 1}
    session.add(TaughtCourse(ladder_id=1, **rules))
    what = DateKind.FREEZE
    session.add(CompetitionDate(competition_id=1, what=what, at=NOW - HOUR, happened=NOW))


def _end(session: Session) -> None:
    _close(session, is_placed=True, is_told=False)


def _match_of_a_frozen_ladder(session: Session) -> None:
    session.execute(sa.update(Ladder).where(Ladder.id == 1).values(state=CompetitionState.FROZEN))
    _match(session, 1, JobStatus.OPEN)


def _match_with_one_who_left(session: Session) -> None:
    session.execute(sa.update(Entrant).where(Entrant.id == 1).values(state=EntrantState.RETIRED))
    _match(session, _tournament(session).id, JobStatus.SET_ASIDE)


def _match_with_a_deleted_bot(session: Session) -> None:
    session.execute(sa.update(Bot).where(Bot.id == 1).values(deleted=NOW))
    _match(session, 1, JobStatus.OPEN)


def _final_table(session: Session) -> None:
    _close(session, is_placed=False, is_told=True)


def _set(session: Session) -> None:
    made = {"words": "", "note": "", "made": NOW, "maker": "somebody", "matches": 0, "games": 0}
    session.add(MatchSet(verdict=SetVerdict.VOID, state=SetState.LOOKING, **made))


def _rebuild(session: Session) -> None:
    session.execute(sa.update(Ladder).where(Ladder.id == 1).values(rebuild_due=True))


def _repository(session: Session) -> None:
    session.add(Repository(bot_id=1, user_id=1, address="https://x", ladders=[], due=NOW - HOUR))


EACH: tuple[Callable[[Session], None], ...] = (
    _round, _date, _check_in, _anonymity, _mask, _marking, _end, _match_of_a_frozen_ladder,
    _match_with_one_who_left, _match_with_a_deleted_bot, _final_table, _set, _rebuild, _repository,
)  # fmt: skip
"""What makes that there is some of each kind, in the order of the conditions."""


def test_each_kind_is_noticed_by_its_own_condition(
    database: Database, subtests: pytest.Subtests
) -> None:
    Simulation(database, 0, CALM).furnish([("clobber", {"size": "4x4"})], bots=2)
    conditions = list(agenda.conditions())
    assert len(conditions) == len(EACH)

    def found(session: Session) -> tuple[list[int], bool]:
        session.flush()
        query = sa.select(*conditions)
        row = session.execute(query, agenda.moments(datetime.now(UTC))).one()
        return [number for number, is_there in enumerate(row) if is_there], agenda.is_any(session)

    with database.begin() as session:
        assert found(session) == ([], False)
    for number, make in enumerate(EACH):
        # What it makes is rolled back, so that the next one is the only one again.
        with subtests.test(make.__name__), Session(database.engine) as session:
            make(session)
            assert found(session) == ([number], True)


@contextmanager
def _counted(database: Database) -> Iterator[list[str]]:
    """The statements of a block."""
    said: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        said.append(statement)

    sa.event.listen(database.engine, "before_cursor_execute", note)
    try:
        yield said
    finally:
        sa.event.remove(database.engine, "before_cursor_execute", note)


def test_a_tick_asks_by_one_statement_whether_there_is_anything(
    database: Database, recorder: Recorder
) -> None:
    """One that sees to what may wait asks two more than another where there is nothing of it: that,
    and what time it is, or on SQLite to begin. What there is then it does."""
    Simulation(database, 0, CALM).furnish([("clobber", {"size": "4x4"})], bots=2)
    with database.begin() as session:
        session.execute(sa.update(Ladder).values(checked=NOW))
    recorder.take_over()
    recorder.tick()  # it looks around first
    statements: dict[bool, list[int]] = {False: [], True: []}
    for whole in (False, True) * 5:
        with _counted(recorder.writer.database) as said:
            recorder.tick(whole=whole)
        statements[whole].append(len(said))
    # The fewest of each: now and then a tick reads the settings, too.
    assert min(statements[True]) == min(statements[False]) + 2
    with database.begin() as session:
        _date(session)
    recorder.tick()
    with database.read() as session:
        assert session.get_one(Ladder, 1).state is CompetitionState.CLOSED
