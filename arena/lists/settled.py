"""Which games are all there: those up to a number below which none comes any more.

Games are numbered as they are stored. Where several recorders store at the same time, one with a
lower number may be seen later than others; so whoever goes through games once, in the order of
their numbers, goes no further than to the last of which the recorders know that it is settled
(`arena.recorder.settling`). Where there is one recorder all games are.
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.ground.db import LARGEST_ID
from arena.models import Mark

SETTLED_MARK = "games settled"


def settled(session: Session) -> int:
    """The number of the last game up to which none comes any more; beyond all where that holds of
    every game."""
    value = session.scalar(sa.select(Mark.value).where(Mark.key == SETTLED_MARK))
    return LARGEST_ID if value is None else int(value)
