"""What a competition wants to be played next, and what it waits for still."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.models import Competition, JobStatus, Match, Place
from engine.openings import Opening


@dataclass(frozen=True, slots=True)
class Pairing:
    """Entrants that are to meet in a match."""

    entrants: tuple[int, ...]
    """Their ids, in the order of their seats in the first game."""
    round: int | None = None
    """The round of a tournament that it is in, from 1."""
    leg: int = 1
    """Which of the fixtures of the same entrants in the same round it is."""
    key: tuple[str | int, ...] | None = None
    """What its opening and dice are drawn by, where they must not depend on when it is made; by
    default it is the number of the match."""
    opening: Opening | None = None
    """Its opening, where its kind chooses that."""
    at_home: bool = False
    """Whether a bot at home is in it."""
    chosen: tuple[Mapping[str, str], ...] = ()
    """The options that each of them is told, where their kind or a request chooses them; by default
    those of the entrants."""


def pairs_of(ids: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Every two of some entrants, the lower first."""
    for number, one in enumerate(ids):
        for other in ids[number + 1 :]:
            yield min(one, other), max(one, other)


@dataclass(frozen=True, slots=True)
class DueMatch:
    """A match that is open, issued or set aside."""

    entrants: tuple[int, ...]
    """Their ids."""
    rated: bool
    is_set_aside: bool = False
    """Whether it waits for the operator, and is not played soon."""

    @property
    def counts_as_played(self) -> bool:
        """Whether those who are in it are not due for another instead.

        One that is set aside is not played soon, but whoever is in it must not be due for ever.
        """
        return self.rated or not self.is_set_aside


_DUE = (
    sa.select(Match.competition_id, Match.id, Match.status, Match.rated, Place.entrant_id)
    .join(Place.match)
    .where(Match.status.in_([JobStatus.OPEN, JobStatus.ISSUED, JobStatus.SET_ASIDE]))
    .order_by(Match.id, Place.number)
)


def due_matches(session: Session) -> dict[int, list[DueMatch]]:
    """Those of each competition that has any, by its id."""
    return _by_competition(session.execute(_DUE))


def due_matches_of(session: Session, competition: Competition) -> list[DueMatch]:
    """The matches of a competition that are not fixed."""
    of_it = _DUE.where(Match.competition_id == competition.id)
    return _by_competition(session.execute(of_it)).get(competition.id, [])


def _by_competition(
    rows: Iterable[sa.Row[int, int, JobStatus, bool, int]],
) -> dict[int, list[DueMatch]]:
    found: dict[int, list[DueMatch]] = {}
    for (competition, _, status, rated), places in groupby(rows, key=lambda row: row[:4]):
        entrants = tuple(entrant for *_, entrant in places)
        due = DueMatch(entrants, rated, status is JobStatus.SET_ASIDE)
        found.setdefault(competition, []).append(due)
    return found


def under_way(due: Sequence[DueMatch]) -> int:
    """How many of them are to be played soon."""
    return sum(not match.is_set_aside for match in due)
