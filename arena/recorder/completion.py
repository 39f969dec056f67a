"""The order of completion: the numbers by which it is known which match was fixed before another.

There is one order for all competitions, since a bot that enters one says by it after which match
that was. Within a competition the numbers grow as its matches are fixed: whoever takes some has it
locked until what they stand for is written. One recorder leaves none out. Several take theirs from
a sequence, so that none waits for another: then they say nothing of matches of two competitions,
and a transaction that fails leaves a gap.
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.models import COMPLETED, Match

_LAST = sa.select(sa.func.max(Match.seq))
_CATCH_UP = sa.text(
    "SELECT setval('match_seq', last) "
    "FROM (SELECT max(seq) AS last FROM match) AS it, match_seq "
    "WHERE last > last_value OR (last = last_value AND NOT is_called)"
)
"""Goes on after the last number that is there. The sequence knows nothing of matches that came out
of a backup, or of a recorder of a release before; beside others that take from it this is nothing.
"""
_TAKE = sa.select(COMPLETED.next_value()).select_from(
    sa.func.generate_series(1, sa.bindparam("count", type_=sa.Integer))
)


def take_places(session: Session, count: int, *, alone: bool) -> Sequence[int]:
    """The next numbers, each greater than all that were taken before.

    Args:
        session: one that has the competitions locked of which the matches are.
        alone: whether nobody else takes any until this transaction ends.
    """
    if alone or session.get_bind().dialect.name == "sqlite":
        last = session.scalar(_LAST) or 0
        return range(last + 1, last + 1 + count)
    connection = session.connection()
    connection.execute(_CATCH_UP)
    return sorted(connection.scalars(_TAKE, {"count": count}))
