"""What the API says of sets of matches that organisers decide about."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import Field
from sqlalchemy.orm import Session

from arena.models import MatchSet, MemberState, SetState, SetVerdict
from arena.recorder.match_set_deeds import find_set
from arena.schedule.match_sets import tally
from arena.web.api.shapes import At, List, Shape


class MatchSetShape(Shape):
    """Matches that were chosen by a filter at one moment."""

    number: Annotated[int, At("id")]
    verdict: SetVerdict = Field(description="What is decided about each: replay is void, too.")
    filter: Annotated[str, At("words")] = Field(
        description="As an address has it behind its question mark."
    )
    note: str = Field(description="Why, for everybody.")
    state: SetState = Field(
        description="Looking until it is found what it would change, decided until all is done."
    )
    matches: int
    games: int
    looked: int = Field(description="Games that were gone through to find what it would change.")
    to_look: int = Field(description="Of how many; 0 where that was done at once.")
    made: datetime
    by: Annotated[str, At("maker")] = Field(description="Who chose them.")
    decided: datetime | None
    decided_by: Annotated[str, At("decider")] = Field(description="Empty if nobody has.")
    done: datetime | None


class MatchSetList(List):
    items: list[MatchSetShape]


class StandShape(Shape):
    """Where somebody stands in a competition."""

    rank: int | None = Field(description="On the board of a ladder; null without a place there.")
    mu: float | None
    sigma: float | None
    games: int | None
    words: str = Field(description="How they stand in what is not rated.")


class StandChangeShape(Shape):
    """What becomes of one of those in a competition."""

    label: str
    before: StandShape
    after: StandShape


class OutlookShape(Shape):
    """What a set changes in one competition."""

    competition: str
    title: str
    kind: str
    matches: int = Field(description="That something is done to.")
    games: int
    left: int = Field(description="Matches of the set that stay as they are.")
    why: str = Field(description="Why the first of those does.")
    last: int | None = Field(
        description="The place in the order of completion of the last match that was counted."
    )
    changed: int = Field(description="For how many bots something changes.")
    changes: list[StandChangeShape] = Field(description="For these, 1000 at most.")


class MatchSetDetail(MatchSetShape):
    """A set of matches, and what it changes."""

    waiting: int = Field(description="Matches to which nothing was done yet.")
    finished: int = Field(description="Those to which it was done.")
    left: int = Field(description="Those that stay as they are.")
    outlook: list[OutlookShape] = Field(description="What it changes, by competition.")

    @classmethod
    def each(cls, session: Session, rows: Sequence[Any]) -> list[Self]:
        return [cls._with_changes(session, row) for row in rows]

    @classmethod
    def _with_changes(cls, session: Session, row: MatchSet) -> Self:
        counts = tally(session, row.id)
        return cls.of(
            row,
            waiting=counts[MemberState.WAITS],
            finished=counts[MemberState.DONE],
            left=counts[MemberState.LEFT],
            outlook=[OutlookShape(**one) for one in row.changes],
        )

    @classmethod
    def of_number(cls, session: Session, number: int) -> Self:
        """What travels of the set of a number.

        Raises:
            NotThere: there is none.
        """
        return cls.looked_up(session, find_set(session, number))


class MatchOfSetShape(Shape):
    """A match of a set."""

    match: Annotated[int, At("match_id")]
    state: MemberState
    why: str = Field(description="Why it stays as it is, if it does.")
    replayed_as: int | None = Field(description="The number of the match that replays it.")


class MatchOfSetList(List):
    items: list[MatchOfSetShape]
