"""What all tables share: the base class, and how moments and enums are stored."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, ClassVar

import sqlalchemy as sa
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from arena.ground.texts import LONGEST, cut


class UtcTime(sa.TypeDecorator[datetime]):
    """A moment: aware in code, in UTC in the database, which keeps no zone on SQLite."""

    impl = sa.DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:
        return value and value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:
        return value and value.replace(tzinfo=UTC)


class Words(sa.TypeDecorator[str]):
    """What the program writes down by itself, for people: cut where there is too much of it.

    Args:
        longest: in characters; by default as many as `arena.ground.texts` says, in a column that
            could take more.
    """

    impl = sa.Text
    cache_ok = True

    def __init__(self, longest: int | None = None) -> None:
        super().__init__()
        self.longest = longest

    def load_dialect_impl(self, dialect: sa.Dialect) -> sa.types.TypeEngine[str]:
        return sa.Text() if self.longest is None else sa.String(self.longest)

    def process_bind_param(self, value: str | None, dialect: sa.Dialect) -> str | None:
        return value and cut(value, self.longest or LONGEST)


class Base(DeclarativeBase):
    """The schema. Every constraint has a name, so that migrations can change it anywhere."""

    metadata = sa.MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map: ClassVar = {
        datetime: UtcTime(),
        float: sa.Double(),
        dict[str, Any]: sa.JSON(),
        list[Any]: sa.JSON(),
        # Every enum is a text of its value that is checked against the enum's values.
        StrEnum: sa.Enum(
            StrEnum,
            native_enum=False,
            length=20,
            create_constraint=True,
            values_callable=lambda members: [member.value for member in members],
        ),
    }


NUMBERED_ONCE = {"sqlite_autoincrement": True}
"""What a table has of which rows go: SQLite, too, then gives no number twice. What stands in an
address, in the audit log or in somebody's file never comes to mean something else."""


class Mark(Base):
    """A fact about the arena itself, such as that it was furnished once."""

    __tablename__ = "mark"

    key: Mapped[str] = mapped_column(sa.String(80), primary_key=True)
    value: Mapped[str] = mapped_column(sa.Text)
