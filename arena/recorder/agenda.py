"""Whether there is anything of what may wait for some ticks: one statement for all of it.

Each kind of it has a query of its own, by which whoever sees to it finds it. Here it is only asked
whether any of these finds something, which is seldom so: to ask them one by one, each in its own
transaction, takes four times as long as all else in a tick.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import cache

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.bots import repositories
from arena.competitions import drawn_fields, final_tables, happenings, masks, notifications, rounds
from arena.competitions.kinds import KINDS
from arena.competitions.sign_ups import LONGEST_CHECK_IN
from arena.courses import marking
from arena.ground.db import database_time
from arena.models import CompetitionDate
from arena.recorder import outlooks, rebuild
from arena.schedule import leases

_AFTER = {
    "now": timedelta(0),
    "lately": -marking.LATELY,
    "soon": timedelta(minutes=LONGEST_CHECK_IN),
}
"""The moments that the queries are about, by how long they are after this one."""
_NOW, _LATELY, _SOON = (sa.bindparam(name, type_=CompetitionDate.at.type) for name in _AFTER)


def conditions() -> Iterator[sa.Exists]:
    """The conditions that there is some of each kind of what may wait."""
    yield rounds.OVER.exists()
    yield happenings.due(_NOW).exists()
    yield drawn_fields.to_check_in(_SOON).exists()
    yield masks.OVER.exists()
    yield masks.SHOWN.exists()
    yield marking.due(_NOW, _LATELY).exists()
    yield notifications.UNTOLD.exists()
    yield leases.played_no_more().exists()
    yield leases.left_aside().exists()
    yield leases.of_deleted().exists()
    yield final_tables.due().exists()
    yield outlooks.AT_WORK.exists()
    yield rebuild.DUE.exists()
    yield repositories.due(_NOW).exists()


@cache
def _whether_any(_kinds: tuple[str, ...]) -> sa.Select[bool]:
    """Written once, for the kinds of competitions that there are: to put it together takes longer
    than to ask it."""
    return sa.select(sa.or_(*conditions()))


def moments(now: datetime) -> dict[str, datetime]:
    """What the conditions are asked with, at a moment."""
    return {name: now + after for name, after in _AFTER.items()}


def is_any(session: Session) -> bool:
    """Whether there is anything at this moment."""
    return session.scalars(_whether_any(tuple(KINDS)), moments(database_time(session))).one()
