"""How a strength test went: the path of its LLR match by match, its pace, what faults lost.

The path is computed from the games in the order in which they were counted, without those of
excluded workers, so that it is right whatever was left out or counted again. What was read of a
test stays in memory, a number for each match: matches are never taken out of a test, so that
only those are read that came since.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, joinedload

from arena.competitions.strength_tallies import outcomes_in
from arena.models import (
    BotVersion,
    Entrant,
    GameSeat,
    JobStatus,
    Match,
    PlayedGame,
    StrengthTest,
)
from arena.strength.sequential import SequentialTest
from engine.game import Termination

POINTS = 80
"""A path has so many steps at most."""
KEPT_TESTS = 64
"""The scores of so many tests stay in memory, those asked for last."""
RECENT_MATCHES = 100
"""How many of its last matches tell how fast a test is played."""
STILL_SECONDS = 60 * 60.0
"""A test of which no match ended for so long has no pace."""
FAULTS_SHOWN = 20


@dataclass(slots=True)
class _Scores:
    """The matches of a test as far as they were read."""

    last: int = 0
    """The `Match.seq` of the last one."""
    workers: list[str] = field(default_factory=list)
    half_points: list[int] = field(default_factory=list)
    llrs: dict[tuple[int, tuple[str, ...]], float] = field(default_factory=dict)
    """The LLR after so many matches without some workers."""
    reading: Any = field(default_factory=Lock)


_kept: OrderedDict[tuple[int, str], _Scores] = OrderedDict()
_keeping = Lock()


def path(session: Session, test: StrengthTest, standing: SequentialTest) -> list[tuple[int, float]]:
    """The LLR after some of the matches that count, the last one among them, from nothing.

    Args:
        standing: the test as it stands; by its settings the LLR is computed.
    """
    # Another arena in the same process may have a test of the same number.
    key = (test.id, f"{test.seed} {test.created.isoformat()}")
    with _keeping:
        scores = _kept.setdefault(key, _Scores())
        _kept.move_to_end(key)
        while len(_kept) > KEPT_TESTS:
            _kept.popitem(last=False)
    with scores.reading:
        _go_on(session, test, scores)
        return _points(scores, test, standing)


def _points(
    scores: _Scores, test: StrengthTest, standing: SequentialTest
) -> list[tuple[int, float]]:
    sprt, without = standing.settings.sprt, tuple(sorted(test.excluded))
    matches = [
        half_points
        for worker, half_points in zip(scores.workers, scores.half_points, strict=True)
        if worker not in test.excluded
    ]
    # A power of two, so that most points are those of before when the test has grown.
    step = 1
    while len(matches) > POINTS * step:
        step *= 2
    counts = [0] * len(standing.counts)
    found = [(0, 0.0)]
    for number, half_points in enumerate(matches, 1):
        counts[half_points] += 1
        if number % step == 0 or number == len(matches):
            if (llr := scores.llrs.get((number, without))) is None:
                llr = scores.llrs[number, without] = sprt.llr(counts)
            found.append((number, llr))
    return found


def _go_on(session: Session, test: StrengthTest, scores: _Scores) -> None:
    """Reads what came since; all anew where an older state was restored from a backup."""
    of_it = Match.competition_id == test.id, Match.status == JobStatus.FIXED
    if (session.scalar(sa.select(sa.func.max(Match.seq)).where(*of_it)) or 0) < scores.last:
        scores.last, scores.workers, scores.half_points, scores.llrs = 0, [], [], {}
    newer = outcomes_in(session, test, Match.seq > scores.last, boards=test.variants)
    for match, outcome in sorted(newer, key=lambda found: found[0].seq):
        scores.last = match.seq
        scores.workers.append(match.played_by)
        scores.half_points.append(outcome.half_points)


def pace(
    session: Session, test: StrengthTest, now: datetime, games_a_match: int
) -> tuple[int, float] | None:
    """How many games were played lately, and in how many seconds; None if that can't be told.

    A test that stands still gets slower with every moment, until nothing is told of it.
    """
    last = (
        sa.select(Match.fixed)
        .where(Match.competition_id == test.id, Match.status == JobStatus.FIXED)
        .order_by(Match.seq.desc())
        .limit(RECENT_MATCHES)
    )
    moments = [moment for moment in session.scalars(last) if moment is not None]
    still = len(moments) < 2 or (now - moments[0]).total_seconds() > STILL_SECONDS
    if still or moments[-1] >= now:
        return None
    return (len(moments) - 1) * games_a_match, (now - moments[-1]).total_seconds()


@dataclass(frozen=True, slots=True)
class LostByFault:
    """A game of a test that a fault ended."""

    game: int
    label: str
    """Whose fault it was."""
    fault: Termination


def lost_by_fault(session: Session, test: StrengthTest) -> Sequence[LostByFault]:
    """The games that faults ended, the last first."""
    failures = [kind for kind in Termination if kind.is_failure]
    seats = session.scalars(
        sa.select(GameSeat)
        .join(PlayedGame, PlayedGame.id == GameSeat.game_id)
        .join(Match, Match.id == PlayedGame.match_id)
        .where(
            PlayedGame.competition_id == test.id,
            Match.status == JobStatus.FIXED,
            GameSeat.fault.in_(failures),
        )
        .order_by(GameSeat.game_id.desc(), GameSeat.seat)
        .limit(FAULTS_SHOWN)
        .options(
            joinedload(GameSeat.entrant).joinedload(Entrant.version).joinedload(BotVersion.bot)
        )
    )
    return [
        LostByFault(seat.game_id, seat.entrant.label, seat.fault)
        for seat in seats
        if seat.fault is not None
    ]


def last_game(session: Session, test: StrengthTest) -> int | None:
    """The number of the game that ended last."""
    its = sa.select(sa.func.max(PlayedGame.id)).where(PlayedGame.competition_id == test.id)
    return session.scalar(its)
