"""Rows that are locked to be changed, and the one order in which that is done.

The recorder may just be changing what a command or a page is about, and two requests for the same
wait for each other. So that nobody waits for whom it holds up, everybody locks

1. people,
2. jobs: matches, checks, sittings,
3. competitions,
4. entrants,
5. bots and whatever else,

and those of a kind by their ids. What is locked beyond that order is left alone where somebody else
has it: who has it sees to it.
"""

from __future__ import annotations

from typing import Any, Literal, TypeVar

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.ground.db import LOOKED_UP, is_id

T = TypeVar("T")
S = TypeVar("S", bound="sa.Select[*tuple[Any, ...]]")

Purpose = Literal["change", "remove", "keep"]
"""What rows are locked for. Who only refers to one by a foreign key does not wait for it to be
changed, as two would else wait for each other who each refer to what the other has locked; but for
it to be removed. To keep one is to refer to it: nobody removes it meanwhile."""

_HOW: dict[Purpose, dict[str, Any]] = {
    "change": {"key_share": True},
    "remove": {},
    "keep": {"read": True, "key_share": True},
}


def _how(kind: Any, to: Purpose = "change") -> dict[str, Any]:
    """What locks a row alone, and not those that its class or whoever read it has read with it."""
    return {"of": kind, **_HOW[to]}


def find(session: Session, kind: type[T], number: int, *, to_change: bool = False) -> T | None:
    """The row of a table by its id; None for a number that is nobody's, or that can be no id, or
    of what is hidden from who asks.

    Args:
        kind: a class of `arena.models`.
        to_change: locks it, and looks at it anew.
    """
    if not is_id(number):
        return None
    how = _how(kind) if to_change else None
    return session.get(kind, number, with_for_update=how, execution_options=LOOKED_UP)


def lock(session: Session, row: Any) -> None:
    """Looks at a row anew, which nobody else changes until this transaction ends.

    Args:
        row: an object of a class of `arena.models`.
    """
    session.flush()
    session.refresh(row, with_for_update=_how(type(row)))


def locking(
    query: S, kind: Any, *, to: Purpose = "change", anew: bool = False, free: bool = False
) -> S:
    """A query that locks what it finds of a kind, by their ids, unless it is ordered otherwise.

    Args:
        kind: a class of `arena.models`; rows of others are only read.
        anew: looks again at what the session knows already.
        free: passes over what somebody else has locked.
    """
    query = query.order_by(*sa.inspect(kind).primary_key)
    query = query.with_for_update(skip_locked=free, **_how(kind, to))
    return query.execution_options(populate_existing=True) if anew else query
