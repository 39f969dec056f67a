"""What a competition needs of the workers that play it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.models import Competition, Match, Worker
from arena.schedule.jobs import Leased
from engine import jobs
from engine.games import GAMES
from engine.referee import ISOLATION_LEVELS
from engine.shelf import OWN


class Needs(NamedTuple):
    """What it takes to play in a competition."""

    game: str
    several: bool
    """Whether bots are granted several processes, which only the strongest boxes have."""

    @property
    def words(self) -> str:
        """The same for all that is played by the same rules, as workers are counted by it."""
        return _words(GAMES.rules(self.game), several=self.several)


def _words(rules: str, *, several: bool) -> str:
    return f"{rules}{jobs.SEVERAL}" if several else rules


def needs_of(competition: Competition) -> Needs:
    """What a competition needs."""
    return Needs(competition.game, competition.processes > 1)


def needs_of_job(job: Leased) -> Needs:
    """What it takes to do a job."""
    if isinstance(job, Match):
        return needs_of(job.competition)
    return needs_of(job.ladder)


def in_use(session: Session) -> set[Needs]:
    """What all competitions need."""
    several = Competition.processes > 1
    return {Needs(*row) for row in session.execute(sa.select(Competition.game, several).distinct())}


def is_any(kind: type[Competition], needs: Collection[Needs]) -> sa.ColumnElement[bool]:
    """Whether a competition of a kind has some of these needs."""
    games: dict[bool, list[str]] = {False: [], True: []}
    for one in needs:
        games[one.several].append(one.game)
    return sa.or_(
        sa.and_(kind.processes == 1, kind.game.in_(games[False])),
        sa.and_(kind.processes > 1, kind.game.in_(games[True])),
    )


def games_of(worker: Worker) -> Collection[str]:
    """The editions of games that a worker has; if it does not say, those that come with us."""
    if worker.games is not None:
        return set(worker.games)
    return {str(one) for one in GAMES.editions() if one.package == OWN}


def met_by(worker: Worker) -> Iterator[str]:
    """The needs that a worker meets, in words."""
    for rules in games_of(worker):
        yield rules
        if worker.isolation == ISOLATION_LEVELS[-1]:
            yield _words(rules, several=True)
