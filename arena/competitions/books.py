"""Books of openings that competitions are played by: how one is taken in, found and chosen."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from arena import audit
from arena.audit import Actor
from arena.competitions.founding import MOST_LISTED, NAME
from arena.ground.db import count_rows
from arena.ground.refusals import NotThere, Refusal
from arena.models import OpeningBook, OpeningPolicy
from engine.books import BookError, read_book
from engine.game import Variant
from engine.plurals import counted

MOST_CHARACTERS, MOST_OPENINGS = 200_000, 5000
"""Of a book on a site, where the rules judge each of its moves while its sender waits."""
MOST_OF_ANYBODY = 20
"""Books of somebody who is no organiser."""
RESERVED = frozenset(map(str, OpeningPolicy))
"""What a book can't be called: words that are chosen where it could be."""


def add(
    session: Session,
    name: str,
    variant: Variant,
    text: str,
    now: datetime,
    actor: Actor,
    *,
    most: int | None,
) -> OpeningBook:
    """Takes a book in.

    Args:
        text: its file.
        most: how many its creator may have; None for no limit.

    Raises:
        Refusal: the name is none or is taken, the text is no book of this variant or is there
            already, or its creator has too many.
    """
    if not NAME.fullmatch(name) or name in RESERVED:
        raise Refusal(
            f"{name[:60]!r} is no name for a book: 1 to 80 small letters, digits and '-', "
            f"and not {' or '.join(sorted(RESERVED))}"
        )
    if most is not None and count_rows(session, OpeningBook, _by(actor)) >= most:
        raise Refusal(f"you have {counted(most, 'book')}, as many as one may: use one of them")
    try:
        book = read_book(text.encode(), variant, name, most_openings=MOST_OPENINGS)
    except BookError as error:
        raise Refusal(str(error)) from None
    same = sa.select(OpeningBook.name).where(
        OpeningBook.digest == book.digest, OpeningBook.variant == str(variant)
    )
    if there := session.scalar(same):
        raise Refusal(f"this book is there already: it is called {there}")
    found = OpeningBook(
        name=name,
        digest=book.digest,
        variant=str(variant),
        size=len(book.openings),
        text=text,
        openings=[[dict(one.variant.options), list(one.moves)] for one in book.openings],
        creator_id=actor.id,
        created=now,
    )
    session.add(found)
    try:
        session.flush()
    except IntegrityError:
        raise Refusal(f"there is a book {name} already: choose another name") from None
    detail = f"{variant}, {book}"
    audit.note(session, actor, "add book", f"book {name}", detail, now=now)
    return found


def _by(actor: Actor) -> sa.ColumnElement[bool]:
    return OpeningBook.creator_id == actor.id


def find(session: Session, name: str) -> OpeningBook:
    """The book of a name.

    Raises:
        NotThere: there is none; it lists those there are.
    """
    found = session.scalar(sa.select(OpeningBook).where(OpeningBook.name == name))
    if found is None:
        query = sa.select(OpeningBook.name).order_by(OpeningBook.id.desc())
        known = session.scalars(query.limit(MOST_LISTED)).all()
        raise NotThere(f"there is no book {name[:80]!r}; there are: {', '.join(known) or 'none'}")
    return found


def policy_of(openings: str) -> dict[str, OpeningPolicy | str | None]:
    """The columns of a competition for its openings: random, empty, or the name of a book."""
    if openings in (OpeningPolicy.RANDOM, OpeningPolicy.EMPTY):
        return {"openings": OpeningPolicy(openings), "book_name": None}
    return {"openings": OpeningPolicy.BOOK, "book_name": openings}


def demand_fitting(session: Session, name: str | None, variant: Variant) -> None:
    """Refuses a book by which a variant can't be played.

    Args:
        name: None for no book.

    Raises:
        Refusal: there is no such book, or it is one of another variant.
    """
    if name is None:
        return
    book = find(session, name)
    if book.variant != str(variant):
        raise Refusal(f"the book {name} is of {book.variant}, and not of {variant}")
