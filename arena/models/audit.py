"""The audit log: what was done that somebody may ask about later."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from arena.models.base import Base, Words


class AuditEntry(Base):
    """One thing that was done. Entries are only ever added."""

    __tablename__ = "audit_entry"

    id: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime]
    actor_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"), index=True)
    """Who did it; None for the arena itself, or somebody at its machine."""
    actor: Mapped[str] = mapped_column(Words(40))
    """The name that the actor had."""
    origin: Mapped[str] = mapped_column(Words(60))
    """The place it came from: an address, or the command line."""
    action: Mapped[str] = mapped_column(Words(60), index=True)
    subject: Mapped[str] = mapped_column(Words(120), index=True)
    """What it was done to: its kind and its name, e.g. ``bot greedy``."""
    detail: Mapped[str] = mapped_column(Words, default="")
