"""A long list by pages with numbers, as people leaf through it; programs go by cursors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import sqlalchemy as sa
from sqlalchemy.orm import Session

PAGE = 50
"""How many a page shows."""
MOST_PAGES = 100_000
"""Nobody asks for a later one in earnest."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A page of what was found."""

    items: Sequence[T]
    found: int
    """How many there are on all pages."""
    page: int
    """Its number from 1; one beyond the last is empty."""

    @property
    def pages(self) -> int:
        """How many pages there are."""
        return max(1, -(-self.found // PAGE))


def page_of(
    session: Session, query: sa.Select[Any], order: Sequence[Any], page: int, *options: Any
) -> Page[Any]:
    """A page of what a query selects.

    Args:
        query: selects entities, in no order.
        order: by what they are sorted, so that no two are equal.
        page: from 1; what lies outside of all pages is taken for the nearest.
        options: of the statement, such as what to load with each.
    """
    count = session.scalar(sa.select(sa.func.count()).select_from(query.subquery()))
    page = min(max(1, page), MOST_PAGES)
    rows = query.order_by(*order).offset((page - 1) * PAGE).limit(PAGE).options(*options)
    return Page(session.scalars(rows).all(), count or 0, page)
