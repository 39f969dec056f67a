"""Runtimes that bots may name: packages, and interpreters of their own."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Index
from sqlalchemy.orm import Mapped, mapped_column

from arena.models.base import Base

OFFERED = sa.text("withdrawn IS NULL")
"""The condition that a bot that is handed in now can have a runtime; spelt out for the index."""


class Runtime(Base):
    """A runtime as it was made; it never changes, and one of the same name may follow it."""

    __tablename__ = "runtime"
    __table_args__ = (
        Index(
            "ix_runtime_offered",
            "name",
            unique=True,
            sqlite_where=OFFERED,
            postgresql_where=OFFERED,
        ),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(sa.String(40))
    digest: Mapped[str] = mapped_column(sa.String(64), index=True)
    """SHA-256 of its file, in hexadecimal."""
    size: Mapped[int] = mapped_column(sa.BigInteger)
    """Bytes of its file."""
    kind: Mapped[str] = mapped_column(sa.String(20))
    """The interpreter that it is for: ``python`` or ``node``."""
    interpreter: Mapped[str] = mapped_column(sa.String(80))
    language: Mapped[str] = mapped_column(sa.String(40))
    """The language of the bots that can have it."""
    platform: Mapped[str] = mapped_column(sa.String(80))
    """What workers must be that keep it."""
    packages: Mapped[list[Any]]
    """The name, version and licence of each."""
    lock: Mapped[str] = mapped_column(sa.Text, deferred=True)
    start_seconds: Mapped[float]
    """How long its bots may take until they are ready."""
    creator: Mapped[str] = mapped_column(sa.String(80))
    created: Mapped[datetime]
    withdrawn: Mapped[datetime | None]
    """When it was withdrawn: no bot that is handed in gets it since, and those that have it keep
    it."""
