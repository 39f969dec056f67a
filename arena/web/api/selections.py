"""Operations on selections: lists of games that people keep under names."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import sqlalchemy as sa
from pydantic import Field

from arena.models import Scope, Selection
from arena.web.api.paging import Pages, page
from arena.web.api.shapes import At, List, Shape
from arena.web.api.specification import operation
from arena.web.identity import signed_in
from arena.web.lookup import reading

TAG = "games"


class SelectionShape(Shape):
    """A filter of games that somebody keeps under a name."""

    number: Annotated[int, At("id")]
    name: str
    filter: Annotated[str, At("words")] = Field(
        description="As an address has it behind its question mark."
    )
    created: datetime


class SelectionList(List):
    items: list[SelectionShape]


@operation("GET /account/selections", SelectionList, tag=TAG, scope=Scope.READ)
def list_own_selections(query: Pages) -> SelectionList:
    """The lists of games that one keeps."""
    with reading() as session:
        own = sa.select(Selection).where(Selection.owner_id == signed_in().id)
        return page(SelectionList, session, own, Selection.id, query)
