"""What the API says of gauntlets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from pydantic import Field
from sqlalchemy.orm import Session

from arena.competitions.comparisons import approval_of
from arena.competitions.gauntlets import Gauntlet, names_in, standing, told, verdict
from arena.models import Approval
from arena.web.api.competition_shapes import CompetitionShape
from arena.web.api.shapes import List, Shape


class GauntletLineShape(Shape):
    """What one of the two did against the field."""

    score: float = Field(description="The mean share of the points, from 0 to 1.")
    wins: int
    draws: int
    losses: int
    faults: dict[str, int]


class MetShape(Shape):
    """One that both meet."""

    name: str
    games: int
    faults: dict[str, int]


class GauntletStanding(Shape):
    """What was played of a gauntlet, and what it says by that."""

    game: str
    decision: str
    passed: bool
    rounds: int
    games: int
    counts: list[int] = Field(
        description="Rounds by their difference, from the worst for the candidate to the best."
    )
    difference: float = Field(description="The candidate's score less the baseline's.")
    difference_95: tuple[float, float]
    elo: float
    elo_95: tuple[float, float]
    los: float
    candidate: GauntletLineShape
    baseline: GauntletLineShape
    field: list[MetShape]


class GauntletShape(CompetitionShape):
    """Whether a candidate does better than a baseline against the same field, as far as known."""

    candidate: str
    baseline: str
    most_rounds: int = Field(description="How many it is to have.")
    outcome: str = Field(description="How it stands or ended, in words.")
    told: list[tuple[str, str]] = Field(
        description="How it stands in words, as its page has it: names and texts."
    )
    approval: Approval = Field(
        description="Whether a second person has to approve: as long as it is needed, it waits."
    )
    approver: str | None = Field(description="Who gave it.")
    standing: GauntletStanding

    @classmethod
    def each(cls, session: Session, rows: Sequence[Gauntlet]) -> list[Self]:
        """What travels of some gauntlets."""
        return [cls.of(row, **_told(session, row)) for row in rows]


def _told(session: Session, gauntlet: Gauntlet) -> dict[str, Any]:
    candidate, baseline, *field = names_in(session, gauntlet)
    found = standing(gauntlet)
    return {
        "candidate": candidate,
        "baseline": baseline,
        "most_rounds": found.rounds,
        "outcome": verdict(session, gauntlet),
        "told": told(session, gauntlet),
        "approval": gauntlet.approval or Approval.NO,
        "approver": approval_of(session, gauntlet, None).by,
        "standing": GauntletStanding.model_validate(found.to_json(field)),
    }


class GauntletList(List):
    items: list[GauntletShape]
