"""Deeds, as who runs an arena does them at its machine."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from arena.audit import ARENA
from arena.deeds import By, Deed
from arena.models import Scope


def do(session: Session, deed: Deed, now: datetime) -> Any:
    """Does it, and gives what it answers."""
    return deed.do(session, By(ARENA, frozenset(Scope), now, at_machine=True)).answer
