"""What strength tests say by the speed of the machines: whether they differ by more than chance.

A test may be passed by fast machines and failed by slow ones, as bots play differently with more
and with less time. Where times are the reference machine's, that should not be; where it is so all
the same, a machine's measure is wrong, or its bots' speed depends on other things.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.models import JobStatus, Match, PlayedGame, SpeedTally, StrengthTest
from arena.ratings.outliers import Series, outliers
from arena.strength import outcomes
from arena.strength.outcomes import Outcome
from engine.measure import speed_class


def note_speed(session: Session, test: StrengthTest, speed: float | None, outcome: Outcome) -> None:
    """Adds a match to the counts of its class of speed."""
    speeds = speed_class(speed)
    tally = session.get(SpeedTally, (test.id, speeds))
    if tally is None:
        tally = _empty(test, speeds)
        session.add(tally)
    _add(tally, outcome)


def _empty(test: StrengthTest, speeds: str) -> SpeedTally:
    counts = [0] * outcomes.cells(test.variant)
    return SpeedTally(
        test_id=test.id, speeds=speeds, counts=counts, wins=0, draws=0, losses=0, faults=0
    )


def _add(tally: SpeedTally, outcome: Outcome) -> None:
    counts = list(tally.counts)
    counts[outcome.half_points] += 1
    tally.counts = counts
    tally.wins += outcome.wins
    tally.draws += outcome.draws
    tally.losses += outcome.losses
    tally.faults += sum(sum(side.values()) for side in outcome.faults)


def speeds_of(session: Session, tests: Iterable[StrengthTest]) -> dict[int, list[SpeedTally]]:
    """The counts of some tests by class, the slowest first, in one statement."""
    found: dict[int, list[SpeedTally]] = {test.id: [] for test in tests}
    query = sa.select(SpeedTally).where(SpeedTally.test_id.in_(found))
    for tally in sorted(session.scalars(query), key=_lower_end):
        found[tally.test_id].append(tally)
    return found


def _lower_end(tally: SpeedTally) -> float:
    return float(tally.speeds.partition("-")[0] or 0)


def odd_speeds(tallies: Sequence[SpeedTally], games_a_match: int) -> dict[str, float]:
    """The classes whose results differ from the others', with how likely chance does that."""
    series = {
        one.speeds: Series(
            one.counts,
            games_a_match * sum(one.counts),
            # An upper bound, as with workers.
            min(one.faults, games_a_match * sum(one.counts)),
        )
        for one in tallies
    }
    return outliers(series)


def speed_differences(
    session: Session,
    test: StrengthTest,
    matches: Iterable[tuple[int, Outcome]],
    *,
    write: bool,
) -> list[str]:
    """How the counts by class differ from those made anew, a line for each class.

    Args:
        matches: all that count, by their numbers.
        write: keeps those made anew.
    """
    query = (
        sa.select(Match.id, PlayedGame.speed)
        .join(PlayedGame, PlayedGame.match_id == Match.id)
        .where(Match.competition_id == test.id, Match.status == JobStatus.FIXED)
        .where(PlayedGame.number == 0)
    )
    speed_of = {row.id: row.speed for row in session.execute(query)}
    made: dict[str, SpeedTally] = {}
    for number, outcome in matches:
        speeds = speed_class(speed_of[number])
        _add(made.setdefault(speeds, _empty(test, speeds)), outcome)
    kept = {one.speeds: one for one in speeds_of(session, [test])[test.id]}
    lines = []
    for speeds in sorted(made.keys() | kept.keys()):
        was, now = _values(kept.get(speeds)), _values(made.get(speeds))
        if was == now:
            continue
        label = f"speeds of {speeds}" if speeds else "unknown speeds"
        lines.append(f"{test.name}, {label}: {was} is stored, {now} came out")
        if write:
            if speeds in kept:
                session.delete(kept[speeds])
                session.flush()
            if speeds in made:
                session.add(made[speeds])
    return lines


def _values(tally: SpeedTally | None) -> Mapping[str, Any] | None:
    if tally is None:
        return None
    games = f"{tally.wins}-{tally.draws}-{tally.losses}"
    return {"counts": list(tally.counts), "W-D-L": games, "faults": tally.faults}
