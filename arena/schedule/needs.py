"""What a competition needs of the workers that play it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.models import Competition, Match, Worker
from arena.schedule.jobs import Leased
from engine import jobs
from engine import measure as measures
from engine.games import GAMES
from engine.measure import Measure
from engine.referee import ISOLATION_LEVELS
from engine.shelf import OWN


class Needs(NamedTuple):
    """What it takes to play in a competition."""

    game: str
    several: bool = False
    """Whether bots are granted several processes, which only the strongest boxes have."""
    clocked: bool = False
    """Whether times are those of the reference machine, which not every worker may grant."""

    @property
    def words(self) -> str:
        """The needs in words, alike for all games by the same rules: workers are counted by it."""
        return _words(GAMES.rules(self.game), several=self.several, clocked=self.clocked)

    @property
    def but_the_clock(self) -> Needs:
        """What it takes to do there what is no match: a check, a move, an answer."""
        return self._replace(clocked=False)


def _words(rules: str, *, several: bool, clocked: bool) -> str:
    return f"{rules}{jobs.SEVERAL if several else ''}{jobs.CLOCKED if clocked else ''}"


def needs_of(competition: Competition) -> Needs:
    """What the matches of a competition need."""
    return Needs(competition.game, competition.processes > 1, competition.reference)


def needs_of_job(job: Leased) -> Needs:
    """What it takes to do a job."""
    if isinstance(job, Match):
        return needs_of(job.competition)
    return needs_of(job.ladder).but_the_clock


def needs_told(job: jobs.AnyJob) -> Needs:
    """What it takes to do a job, as a worker is told of it."""
    game = jobs.variant_of(job).game
    return Needs(game, job.grant.processes > 1, jobs.is_clocked(job))


COLUMNS = Competition.game, Competition.processes > 1, Competition.reference
"""What makes up the needs of a competition."""


def in_use(session: Session) -> set[Needs]:
    """What all competitions need."""
    found = {Needs(*row) for row in session.execute(sa.select(*COLUMNS).distinct())}
    return found | {one.but_the_clock for one in found}


def is_any(
    kind: type[Competition], needs: Collection[Needs], *, matches: bool = False
) -> sa.ColumnElement[bool]:
    """Whether a competition of a kind has some of these needs.

    Args:
        matches: those of its matches; else of what else is done there.
    """
    games: dict[tuple[bool, bool], list[str]] = {}
    for one in needs:
        games.setdefault((one.several, one.clocked), []).append(one.game)
    return sa.or_(
        sa.false(),
        *(
            sa.and_(
                kind.processes > 1 if several else kind.processes == 1,
                kind.reference.is_(clocked) if matches else sa.true(),
                kind.game.in_(its),
            )
            for (several, clocked), its in games.items()
            if matches or not clocked
        ),
    )


def unfit(worker: Worker) -> str:
    """Why a worker plays no match by the reference machine's clock; empty if it does."""
    measure = None if worker.measure is None else Measure.from_json(worker.measure)
    return measures.unfit(measure, worker.slots, worker.cores)


def games_of(worker: Worker) -> Collection[str]:
    """The editions of games that a worker has; if it does not say, those that come with us."""
    if worker.games is not None:
        return set(worker.games)
    return {str(one) for one in GAMES.editions() if one.package == OWN}


def met_by(worker: Worker) -> Iterator[str]:
    """The needs that a worker meets, in words."""
    has_several = worker.isolation == ISOLATION_LEVELS[-1]
    is_fit = not unfit(worker)
    for rules in games_of(worker):
        for several in (False, True) if has_several else (False,):
            for clocked in (False, True) if is_fit else (False,):
                yield _words(rules, several=several, clocked=clocked)
