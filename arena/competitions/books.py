"""Books of openings that competitions are played by: taken in, found, chosen and removed."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from arena import audit
from arena.audit import Actor
from arena.competitions.founding import NAME
from arena.ground.db import SUGGESTED, count_rows
from arena.ground.guesses import MOST_LOOKED_AT
from arena.ground.locks import lock, locking
from arena.ground.refusals import NotThere, Refusal
from arena.models import Competition, CompetitionState, OpeningBook, OpeningPolicy
from engine.books import BookError, read_book
from engine.game import Variant
from engine.guesses import MOST_LISTED, instead
from engine.plurals import counted
from engine.translation import ENGLISH, gettext, speaking

MOST_CHARACTERS, MOST_OPENINGS = 200_000, 5000
"""The most that a book on a site may have, where the rules judge each of its moves while its sender
waits."""
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
        *most_reserved, last = sorted(RESERVED)
        raise Refusal(
            gettext(
                "%(name)r is no name for a book: 1 to 80 small letters, digits and '-', and "
                "not %(reserved)s or %(last)s",
                name=name[:60],
                reserved=", ".join(most_reserved),
                last=last,
            )
        )
    if most is not None and count_rows(session, OpeningBook, _by(actor)) >= most:
        raise Refusal(
            gettext(
                "you have %(books)s, as many as one may: use one of them",
                books=counted(most, "book"),
            )
        )
    try:
        book = read_book(text.encode(), variant, name, most_openings=MOST_OPENINGS)
    except BookError as error:
        raise Refusal(str(error)) from None
    same = sa.select(OpeningBook).where(
        OpeningBook.digest == book.digest, OpeningBook.variant == str(variant)
    )
    with speaking(ENGLISH):  # it is kept
        detail = f"{variant}, {book}"
    if there := session.scalar(same):
        return _restored(session, there, name, detail, now, actor)
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
        raise Refusal(
            gettext("there is a book %(name)s already, or was: choose another name", name=name)
        ) from None
    audit.note(session, actor, "add book", f"book {name}", detail, now=now)
    return found


def _by(actor: Actor) -> sa.ColumnElement[bool]:
    return sa.and_(OpeningBook.creator_id == actor.id, OpeningBook.removed.is_(None))


def _restored(
    session: Session, book: OpeningBook, name: str, detail: str, now: datetime, actor: Actor
) -> OpeningBook:
    """A book that was removed, and is now added again by who sent it."""
    lock(session, book)
    if book.removed is None:
        raise Refusal(gettext("this book is there already: it is called %(name)s", name=book.name))
    if book.name != name:
        raise Refusal(
            gettext("this book was removed: add it again by its name, %(name)s", name=book.name)
        )
    book.removed, book.creator_id, book.created = None, actor.id, now
    audit.note(session, actor, "add book", f"book {name}", f"again: {detail}", now=now)
    return book


def remove(session: Session, book: OpeningBook, now: datetime, actor: Actor) -> None:
    """Has nothing new played by a book. It goes, unless competitions were played by it.

    Those keep it: their games have their openings, and they can go on by it if they are opened
    again.

    Raises:
        Refusal: a competition that is not over is played by it, or it was removed.
    """
    lock(session, book)
    name = book.name
    if book.removed is not None:
        raise Refusal(gettext("the book %(name)s is removed already", name=name))
    by_it = sa.select(Competition.name).where(Competition.book_name == name)
    going_on = by_it.where(Competition.state != CompetitionState.CLOSED)
    if session.scalar(going_on.limit(1)) is not None:
        seen = going_on.order_by(Competition.id).limit(MOST_LISTED)
        names = session.scalars(seen, execution_options=SUGGESTED).all()
        if not names:
            raise Refusal(
                gettext("the book %(name)s is in use where you see nothing of it", name=name)
            )
        raise Refusal(
            gettext(
                "the book %(name)s is in use: close first what is played by it, %(names)s",
                name=name,
                names=", ".join(names),
            )
        )
    if session.scalar(by_it.limit(1)) is None:
        session.delete(book)
    else:
        book.removed = now
    detail = f"{book.variant}, digest {book.digest[:12]}"
    try:
        session.flush()
    except IntegrityError:
        raise Refusal(
            gettext("the book %(name)s is in use: a competition was just made of it", name=name)
        ) from None
    audit.note(session, actor, "remove book", f"book {name}", detail, now=now)


def listed() -> sa.Select[OpeningBook]:
    """A query for the books that can be chosen."""
    return sa.select(OpeningBook).where(OpeningBook.removed.is_(None))


def find(session: Session, name: str, *, to_play: bool = False) -> OpeningBook:
    """The book of a name.

    Args:
        to_play: only one that can be chosen; it is not removed before this transaction ends.

    Raises:
        NotThere: there is none; it says which there are.
    """
    query = (listed() if to_play else sa.select(OpeningBook)).where(OpeningBook.name == name)
    if to_play:
        query = locking(query, OpeningBook, to="keep")
    found = session.scalar(query)
    if found is None:
        names = listed().with_only_columns(OpeningBook.name).order_by(OpeningBook.id.desc())
        known = instead(name[:80], session.scalars(names.limit(MOST_LOOKED_AT)))
        raise NotThere(gettext("there is no book %(name)r; %(known)s", name=name[:80], known=known))
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
    book = find(session, name, to_play=True)
    if book.variant != str(variant):
        raise Refusal(
            gettext(
                "the book %(name)s is of %(its)s, and not of %(variant)s",
                name=name,
                its=book.variant,
                variant=variant,
            )
        )
