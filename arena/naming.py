"""What bots, people and competitions are called, and were: who gets another name is found by the
one before, too, and nobody else can have that meanwhile.
"""

from __future__ import annotations

from contextvars import ContextVar

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from arena.ground.db import count_rows
from arena.ground.refusals import Refusal
from arena.models import Bot, Competition, FormerName, User
from engine.translation import gettext

MOST_FORMER = 10
"""How many names something may have had; each is one that nobody else can have."""
CHOSEN = FormerName.versions.is_(None)
"""The condition that somebody chose a former name, and it was not made up for an anonymous bot."""
Nameable = Bot | User | Competition
_KINDS = ((Bot, "bot"), (User, "user"))

_noted: ContextVar[dict[str, str] | None] = ContextVar("noted", default=None)


def kind_of(one: Nameable) -> str:
    """The kind of names that it has."""
    return next((kind for its, kind in _KINDS if isinstance(one, its)), "competition")


def demand_never(session: Session, one: Nameable) -> None:
    """Refuses a name that another had: for what is new, or has just been renamed.

    To be called once the name is written: who gave it up at the same moment is seen then.

    Raises:
        Refusal: another had it.
    """
    kind = kind_of(one)
    session.flush()
    had = session.scalar(sa.select(FormerName.of(kind, one.name)))
    if had is not None and had != one.id:
        raise taken(one.name)


def taken(name: str) -> Refusal:
    """The refusal of a name that somebody else has, or had and is found by."""
    return Refusal(gettext("the name %(name)s is taken: choose another", name=name))


def rename(session: Session, one: Nameable, name: str) -> str:
    """Gives something another name, and gives the one before, which leads to it from now on.

    Args:
        name: one that it may have.

    Raises:
        Refusal: another has or had it, or it had too many already.
    """
    kind, before = kind_of(one), one.name
    own = getattr(FormerName, f"{kind}_id") == one.id
    session.execute(sa.delete(FormerName).where(own, FormerName.lower_name == name.lower()))
    if before.lower() != name.lower():
        if count_rows(session, FormerName, own, CHOSEN) >= MOST_FORMER:
            raise Refusal(
                gettext(
                    "%(name)s had %(number)s names before, by all of which it is found: no more "
                    "can be",
                    name=before,
                    number=MOST_FORMER,
                )
            )
        session.add(FormerName(kind=kind, lower_name=before.lower(), **{f"{kind}_id": one.id}))
    one.name = name
    if not isinstance(one, Competition):
        one.lower_name = name.lower()
    try:
        session.flush()
    except IntegrityError:
        raise taken(name) from None
    demand_never(session, one)
    return before


def forget(session: Session, one: Nameable) -> None:
    """Sets free the names that something had, which is going."""
    kind = kind_of(one)
    session.execute(sa.delete(FormerName).where(getattr(FormerName, f"{kind}_id") == one.id))


# What was asked for by a name of before is told beside the answer.


def start_noting() -> dict[str, str]:
    """Notes from now on what is looked up by a name of before: the present names by those."""
    noted: dict[str, str] = {}
    _noted.set(noted)
    return noted


def note(asked: str, one: Nameable) -> None:
    """Notes by what name something was asked for, if it is called otherwise now."""
    noted = _noted.get()
    if noted is not None and asked.lower() != one.name.lower():
        noted[asked] = one.name


def hint(asked: str, name: str) -> str:
    """What is told of that, in a sentence without its capital and its full stop."""
    return gettext("%(asked)s is called %(name)s now", asked=asked, name=name)
