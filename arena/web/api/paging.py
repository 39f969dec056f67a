"""Long lists, a page at a time: the newest first, each page from where the one before ended.

A cursor is the key of the last one shown, not how many there were before it: what comes in
meanwhile moves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar, get_args

import sqlalchemy as sa
from flask import request, url_for
from pydantic import Field
from sqlalchemy.orm import InstrumentedAttribute, Session

from arena.ground.db import LARGEST_ID
from arena.web.api.shapes import List, Shape

L = TypeVar("L", bound=List)

PAGE, LARGEST_PAGE = 50, 100


class Pages(Shape):
    """Which page of a list is asked for."""

    limit: Annotated[int, Field(ge=1, le=LARGEST_PAGE, description="How many of them.")] = PAGE
    cursor: Annotated[
        str | None,
        Field(pattern="^[0-9a-f]{1,8}$", description="Where to go on: see next of the page before"),
    ] = None


def page(
    into: type[L],
    session: Session,
    query: sa.Select[Any],
    key: InstrumentedAttribute[int],
    asked: Pages,
    *,
    told: Callable[[Session, Sequence[Any]], Sequence[Shape]] | None = None,
) -> L:
    """A page of what a query selects, by falling keys, with the address of the one after it.

    Args:
        into: the list, whose items are of a shape of these rows.
        key: a column of what is selected, of which no two are equal.
        told: makes the items of the rows, if that is not just what their shape tells of each.
    """
    (shape,) = get_args(into.model_fields["items"].annotation)
    if asked.cursor is not None:
        query = query.where(key < min(int(asked.cursor, 16), LARGEST_ID))
    found = list(session.scalars(query.order_by(key.desc()).limit(asked.limit + 1)))
    following = None
    if len(found) > asked.limit:
        found.pop()
        following = address(cursor=format(getattr(found[-1], key.key), "x"))
    return into.model_validate({"items": (told or shape.each)(session, found), "next": following})


def address(**changes: Any) -> str:
    """The address that was asked for, with some of its parameters changed."""
    assert request.endpoint
    return url_for(request.endpoint, **{**(request.view_args or {}), **request.args, **changes})
