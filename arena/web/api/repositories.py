"""Operations on the git repositories that bots follow; deeds change them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Self

import sqlalchemy as sa
from flask import abort
from pydantic import Field
from sqlalchemy.orm import Session

from arena.bots import repositories
from arena.models import Ladder, Repository, Scope
from arena.web import submissions
from arena.web.api.shapes import At, Shape
from arena.web.api.specification import operation
from arena.web.lookup import reading
from arena.web.repositories import push_of
from engine.translation import gettext

TAG = "bots"


class RepositoryShape(Shape):
    """The git repository that a bot follows, for its owners."""

    bot: Annotated[str, At("bot.name")]
    repository: Annotated[str, At("address")]
    revision: str = Field(description="A branch or a tag; empty for the repository's own branch.")
    folder: str
    ladders: Annotated[list[str], At(lambda _: [])]
    test_first: bool
    has_token: Annotated[bool, At(lambda one: bool(one.sealed))] = Field(
        description="Whether a token was given, which nobody is shown."
    )
    commit: Annotated[str | None, At(lambda one: one.commit_hash or None)] = Field(
        description="The last one that was looked at, whatever became of it."
    )
    problem: str = Field(description="What is wrong with it, in a line; empty if nothing is.")
    fetched: datetime | None = Field(description="When it was last asked; null if it never was.")
    pushed: datetime | None = Field(description="When a push was last told of.")
    due: datetime = Field(description="When it is asked next.")

    @classmethod
    def each(cls, session: Session, rows: Sequence[Repository]) -> list[Self]:
        """Repositories with the names of their ladders."""
        wanted = {number for row in rows for number in row.ladders}
        found = session.scalars(sa.select(Ladder).where(Ladder.id.in_(wanted)))
        names = {one.id: one.name for one in found}
        return [
            cls.of(row, ladders=[names[one] for one in row.ladders if one in names]) for row in rows
        ]


class PushShape(Shape):
    """What a forge is told, so that it tells of pushes."""

    address: str = Field(description="To which it sends them, as JSON.")
    secret: str = Field(description="By which it signs them.")


@operation("GET /bots/<name>/repository", RepositoryShape, tag=TAG, scope=Scope.SUBMIT)
def get_repository(name: str) -> RepositoryShape:
    """The git repository that a bot of one's own follows."""
    with reading() as session:
        return RepositoryShape.looked_up(session, _found(session, name))


@operation("GET /bots/<name>/repository/push", PushShape, tag=TAG, scope=Scope.SUBMIT)
def get_push(name: str) -> PushShape:
    """Where a forge tells of pushes to the repository that a bot of one's own follows."""
    with reading() as session:
        address, secret = push_of(session, _found(session, name))
        return PushShape(address=address, secret=secret)


def _found(session: Session, name: str) -> Repository:
    bot = submissions.own_bot(session, name)
    return repositories.find(session, bot) or abort(
        404, gettext("The bot %(bot)s follows no git repository.", bot=bot.name)
    )
