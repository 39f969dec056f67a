"""The git repositories that bots follow."""

from __future__ import annotations

import secrets
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column, relationship

from arena.models.base import Base, Words
from arena.models.bots import Bot
from arena.models.people import User


def _code() -> str:
    return secrets.token_urlsafe(24)


class Repository(Base):
    """Where a bot's new versions come from: each new commit is handed in."""

    __tablename__ = "repository"

    bot_id: Mapped[int] = mapped_column(ForeignKey("bot.id", ondelete="CASCADE"), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("user.id"), index=True)
    """The user in whose name they are handed in: whoever said that they be."""
    address: Mapped[str] = mapped_column(sa.String(500))
    """An https address, without any secret."""
    revision: Mapped[str] = mapped_column(sa.String(200), default="")
    """A branch or a tag; empty for the branch that the repository itself begins with."""
    folder: Mapped[str] = mapped_column(sa.String(200), default="")
    """The bot's folder in it; empty for all of it."""
    ladders: Mapped[list[Any]]
    """The ids of the ladders that commits are handed in to."""
    test_first: Mapped[bool] = mapped_column(default=False)
    """Whether they are to pass a strength test before they enter."""
    sealed: Mapped[str] = mapped_column(sa.Text, default="")
    """The token that opens it, as `arena.signing.seal` has it; empty where none is needed."""
    code: Mapped[str] = mapped_column(sa.String(40), unique=True, default=_code)
    """The code in the address that is told of a push; the secret of that follows from it."""
    commit_hash: Mapped[str] = mapped_column(sa.String(64), default="")
    """The last commit that was looked at, whatever became of it."""
    problem: Mapped[str] = mapped_column(Words, default="")
    """Why the last fetch brought nothing that could be handed in; empty if it did."""
    failures: Mapped[int] = mapped_column(default=0)
    """How many fetches in a row failed."""
    fetched: Mapped[datetime | None]
    """When it was last asked."""
    pushed: Mapped[datetime | None]
    """When a push was last told of."""
    due: Mapped[datetime] = mapped_column(index=True)
    """When it is asked next; while somebody asks it, when that is given up."""

    bot: Mapped[Bot] = relationship()
    user: Mapped[User] = relationship()
