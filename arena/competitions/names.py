"""The names of competitions, which commands and addresses know them by: no two have the same."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from itertools import count

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from arena.models import Competition, StrengthTest

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,79}", re.ASCII)
_OF_A_TEST = re.compile(r"test-[0-9]+", re.ASCII)


def demand_name(session: Session, name: str, kind: str, refusal: type[ValueError]) -> None:
    """Refuses what is no name, and one that another competition has or may get by itself.

    Args:
        kind: what is to be called so, in a word.
    """
    if not _NAME.fullmatch(name):
        raise refusal(
            f"{name[:60]!r} is no name for a {kind}: 1 to 80 small letters, digits and '-'"
        )
    if _OF_A_TEST.fullmatch(name):
        raise refusal(f"{name} is what a strength test is called: choose another name")
    if _is_taken(session, name):
        raise refusal(_taken(name))


def add_named(session: Session, competition: Competition, refusal: type[ValueError]) -> None:
    """Adds a competition, and refuses it if another took its name at the same moment."""
    session.add(competition)
    try:
        session.flush()
    except IntegrityError:
        raise refusal(_taken(competition.name)) from None


def free_name(session: Session, name: str) -> str:
    """A name that no competition has: this one, or with the first number behind it."""
    named = (name if number == 1 else f"{name}-{number}" for number in count(1))
    return next(one for one in named if not _is_taken(session, one))


def add_by_number(session: Session, make: Callable[[], StrengthTest]) -> StrengthTest:
    """Adds a strength test, which is called by its number: the next one whose name is free.

    An arena may have a ladder of such a name, from when none was refused.

    Args:
        make: makes the test, but for its name.
    """
    without_name: list[StrengthTest] = []
    while not without_name or _is_taken(session, f"test-{without_name[-1].id}"):
        # The last keeps its number meanwhile, or it would be the next one's, too.
        test = make()
        test.name = uuid.uuid4().hex
        session.add(test)
        session.flush()
        without_name.append(test)
    made = without_name.pop()
    made.name = f"test-{made.id}"
    for test in without_name:
        session.delete(test)
    session.flush()
    return made


def _is_taken(session: Session, name: str) -> bool:
    return session.scalar(sa.select(Competition.id).where(Competition.name == name)) is not None


def _taken(name: str) -> str:
    return f"there is a competition {name} already: choose another name"
