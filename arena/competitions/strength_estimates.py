"""What a strength test on the site is likely to take, by what the ladders' games were like."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.competitions.strength_plans import StrengthPlan
from arena.models import Ladder, PlayedGame
from arena.strength.forecast import USUAL_DRAWS, Forecast, curve
from arena.strength.outcomes import seatings
from arena.strength.sequential import StrengthError, Version
from engine.clock import TimeControl
from engine.match import entrants_needed

PRIOR = 20
"""How many results the usual share of draws weighs as much as, beside those of a ladder."""
LAST_GAMES = 200
"""How many of a ladder's newest games tell how long games are."""


@dataclass(frozen=True, slots=True)
class TestEstimate:
    """What is to be expected of a test."""

    __test__ = False  # nothing for pytest

    plan: StrengthPlan
    draws: float
    """The share of draws between equals that it rests on."""
    game_seconds: float | None
    """How long a worker is likely to play a game; None where no ladder has such games."""
    points: list[Forecast]
    """A forecast for each true difference, in equal steps."""

    @property
    def told(self) -> list[Forecast]:
        """Every fourth of them: few enough for a table."""
        return self.points[::4]

    def hours(self, games: float) -> float | None:
        """The workers' time that so many games take."""
        return None if self.game_seconds is None else games * self.game_seconds / 3600


def estimate(
    session: Session, plan: StrengthPlan, ladder: str, *, draws: float | None = None
) -> TestEstimate:
    """What is to be expected of a test.

    Args:
        ladder: the name of that by whose rules it is played; nothing for none.
        draws: the share of draws between equals; by default as on the ladder.

    Raises:
        Refusal: it can't be tested so.
    """
    plan.between(Version("the candidate", ""), Version("the baseline", ""))
    like = _ladder_like(session, plan, ladder)
    share = _draws(like) if draws is None else draws
    size = len(seatings(plan.variant))
    try:
        points = curve(plan.terms, size, draws=share)
    except ValueError as error:
        raise StrengthError(str(error)) from None
    return TestEstimate(plan, share, _game_seconds(session, plan, like), points)


def _ladder_like(session: Session, plan: StrengthPlan, name: str) -> Ladder | None:
    """The ladder of a name, or one of the same variant with the most games."""
    its = sa.select(Ladder).where(Ladder.game == plan.variant.game)
    its = its.where(Ladder.named(name)) if name else its.order_by(Ladder.games.desc(), Ladder.id)
    return next((one for one in session.scalars(its) if one.variant == plan.variant), None)


def _draws(ladder: Ladder | None) -> float:
    if ladder is None:
        return USUAL_DRAWS
    return (ladder.ties + PRIOR * USUAL_DRAWS) / (ladder.neighbours + PRIOR)


def _game_seconds(session: Session, plan: StrengthPlan, ladder: Ladder | None) -> float | None:
    """How long a game takes a worker, as on the ladder, by what a bot has for a usual one."""
    if ladder is None or not ladder.worker_seconds:
        return None
    last = (
        sa.select(PlayedGame.plies)
        .where(PlayedGame.competition_id == ladder.id)
        .order_by(PlayedGame.id.desc())
        .limit(LAST_GAMES)
        .subquery()
    )
    plies = session.scalar(sa.select(sa.func.avg(last.c.plies)))
    if plies is None:
        return None
    moves = max(1.0, float(plies) / plan.variant.seats)
    seconds = ladder.match_seconds(0) / entrants_needed(ladder.variant)
    return seconds * _granted(plan.time, moves) / _granted(ladder.time, moves)


def _granted(time: TimeControl, moves: float) -> float:
    """The milliseconds that a bot has for so many moves."""
    if time.move_ms is not None:
        return time.move_ms * moves
    assert time.time_ms is not None
    return time.time_ms + time.inc_ms * moves
