"""Names that bots, people and competitions had before, under which they are still found."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy import CheckConstraint, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from arena.models.base import Base


class FormerName(Base):
    """A name that something had: it leads there, and nothing else can be called so meanwhile.

    With what it named it goes, and is free again.
    """

    __tablename__ = "former_name"
    __table_args__ = tuple(
        CheckConstraint(f"(kind = '{kind}') = ({kind}_id IS NOT NULL)", name=kind)
        for kind in ("bot", "user", "competition")
    )

    kind: Mapped[str] = mapped_column(sa.String(20), primary_key=True)
    """``bot``, ``user`` or ``competition``: each kind has its own names."""
    lower_name: Mapped[str] = mapped_column(sa.String(80), primary_key=True)
    bot_id: Mapped[int | None] = mapped_column(ForeignKey("bot.id"), index=True)
    user_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"), index=True)
    competition_id: Mapped[int | None] = mapped_column(ForeignKey("competition.id"), index=True)
    versions: Mapped[dict[str, int] | None] = mapped_column(sa.JSON(none_as_null=True))
    """Which number each version of a bot has by now in an anonymous competition, by the one that it
    had; None where the name was not made up for one."""

    @classmethod
    def of(cls, kind: str, name: str) -> sa.ScalarSelect[int | None]:
        """The id of what had a name, as a subquery; NULL if nothing had."""
        column: sa.SQLColumnExpression[int | None] = getattr(cls, f"{kind}_id")
        had = cls.kind == kind, cls.lower_name == name.lower()
        return sa.select(column).where(*had).scalar_subquery()
