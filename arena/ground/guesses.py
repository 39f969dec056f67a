"""Which names of a database are likely to have been meant by one that is not there."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import InstrumentedAttribute, Session

from arena.ground.db import SUGGESTED
from engine.guesses import alike, did_you_mean

MOST_LOOKED_AT = 1000
"""Names that are compared with one that is not there, as at every address that is wrong."""


def meant(session: Session, column: InstrumentedAttribute[str], name: str, *which: Any) -> str:
    """The question whether one of these names was meant, to stand behind a clause.

    It is empty if none is like it, among those that begin as it does, or if it is there itself.

    Args:
        which: what else is asked of the names' rows.
    """
    begins = sa.func.lower(column).startswith(name[:1].lower(), autoescape=True)
    query = sa.select(column).where(begins, *which).order_by(column).limit(MOST_LOOKED_AT)
    names = session.scalars(query, execution_options=SUGGESTED).all()
    if name.lower() in map(str.lower, names):
        return ""
    near = alike(name[:80], names)
    return f"; {did_you_mean(near)}" if near else ""
