"""What an operator has changed while the arena runs, in the place of its environment's settings."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from arena.models.base import Base, Words


class ChangedSetting(Base):
    """A setting that holds in the place of the environment's (see `arena.present`)."""

    __tablename__ = "setting"

    name: Mapped[str] = mapped_column(sa.String(80), primary_key=True)
    """The name as `arena.ground.config.Settings` has it."""
    value: Mapped[str] = mapped_column(sa.Text)
    """The value as it would stand in the environment."""
    changed_by: Mapped[str] = mapped_column(Words(40))
    """The name of who changed it."""
    at: Mapped[datetime]
