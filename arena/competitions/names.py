"""The names of competitions, which commands and addresses know them by: no two have the same."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from arena.models import Competition


def demand_free(session: Session, name: str, refusal: type[ValueError]) -> None:
    """Refuses a name that a competition has."""
    if session.scalar(sa.select(Competition.id).where(Competition.name == name)):
        raise refusal(_taken(name))


def add_named(session: Session, competition: Competition, refusal: type[ValueError]) -> None:
    """Adds a competition, and refuses it if another took its name at the same moment."""
    session.add(competition)
    try:
        session.flush()
    except IntegrityError:
        raise refusal(_taken(competition.name)) from None


def _taken(name: str) -> str:
    return f"there is a competition {name} already: choose another name"
