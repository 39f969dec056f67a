"""People."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from arena.models.base import Base

HOUSE = "arena"
"""The owner of the sample bots, which wait behind people's bots."""


class User(Base):
    """A person, or the arena itself as the owner of the sample bots."""

    __tablename__ = "user"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(sa.String(40), unique=True)
    created: Mapped[datetime]
