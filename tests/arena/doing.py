"""Deeds, done by somebody who may do all."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from arena.audit import ARENA, Actor
from arena.deeds import By, Deed
from arena.models import Scope


def do(session: Session, deed: Deed, now: datetime, actor: Actor = ARENA) -> Any:
    """Does it, and gives what it answers."""
    return deed.do(session, By(actor, frozenset(Scope), now, at_machine=True)).answer
