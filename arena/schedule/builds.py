"""What workers build of each owner's bots, for which there is a budget.

A bot is built once on each worker: for its check, for a match, or for a person's game if the
worker never checked it or has not kept what it built. Each of these counts, also when nothing came
of it. Whatever workers say, nobody is charged more for one than a build may take, nor more than
once for an attempt at a job.
"""

from __future__ import annotations

from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.models import (
    HOUSE,
    Bot,
    BotVersion,
    Build,
    Match,
    Sitting,
    SpentKind,
    SpentQuota,
    User,
)
from arena.schedule.jobs import Leased
from engine.jobs import JobError
from engine.reporting import Built

BUDGETED = timedelta(hours=1)
"""The builds of so long are what an owner's budget counts."""
SINCE, UNTIL = (sa.bindparam(name, type_=Build.ended.type) for name in ("since", "until"))
"""The bounds that `arena.ground.db.is_lately` has, in a query that is written once (see
`lately`)."""
_EACH = sa.union_all(
    sa.select(Bot.person_id.label("person_id"), Build.seconds.label("seconds"))
    .join(BotVersion, BotVersion.bot_id == Bot.id)
    .join(Build, Build.version_id == BotVersion.id)
    .where(Build.ended.between(SINCE, UNTIL)),
    sa.select(SpentQuota.user_id, SpentQuota.seconds).where(
        SpentQuota.kind == SpentKind.BUILD, SpentQuota.at.between(SINCE, UNTIL)
    ),
).subquery()
"""The time that builds took, and whose it was: of bots that are there, and of those deleted
since."""
BUILT = (
    sa.select(_EACH.c.person_id, sa.func.sum(_EACH.c.seconds).label("seconds"))
    .group_by(_EACH.c.person_id)
    .subquery()
)
"""How long the bots of each person were built lately."""


def lately(now: datetime) -> dict[str, datetime]:
    """The moments between which builds count."""
    return {"since": now - BUDGETED, "until": now + BUDGETED}


def charge(session: Session, job: Leased, built: Built, now: datetime) -> None:
    """Charges a build to the owner of the bot, of a mask to that of the bot behind it; one that is
    told twice is charged once.

    Args:
        job: that the build was for, whose present attempt the worker has.

    Raises:
        JobError: no such bot is of the job.
    """
    version = next((one for one in _versions(job) if one.digest == built.digest), None)
    if version is None:
        raise JobError("it built a bot that is none of the job's")
    assert job.ticket is not None
    version = version.real
    if session.get(Build, (job.ticket, version.id)) is None:
        # More time than there was is not believed.
        there_was = max(0.0, (now - job.created).total_seconds())
        seconds = min(built.seconds, there_was)
        session.add(Build(ticket=job.ticket, version=version, seconds=seconds, ended=now))


def _versions(job: Leased) -> list[BotVersion]:
    """The versions that a job is of."""
    if isinstance(job, Match):
        return [place.entrant.version for place in job.places]
    if isinstance(job, Sitting):
        return [seat.version for seat in job.seats if seat.version]
    return [job.version]


def waits_for_builds(session: Session, owner: User, build_seconds: float, now: datetime) -> bool:
    """Whether an owner's checks wait since so much was built for them (see `open_checks`).

    Args:
        build_seconds: the budget of an hour; 0 for none.
    """
    if not build_seconds or owner.name == HOUSE:
        return False
    built = sa.select(BUILT.c.seconds).where(BUILT.c.person_id == owner.person_id)
    return (session.scalar(built, lately(now)) or 0.0) >= build_seconds
