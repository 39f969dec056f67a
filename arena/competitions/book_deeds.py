"""What can be changed about books of openings: one is added, or removed."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy.orm import Session

from arena.competitions import books
from arena.competitions.rules import read_variant
from arena.deeds import LONGEST_NAME, By, Deed, Done, asked
from arena.ground.refusals import NotAllowed, Refusal
from arena.models import OpeningBook, Scope
from engine.game import GameError
from engine.plurals import counted
from engine.translation import gettext


@dataclass(frozen=True)
class AddBook(Deed):
    """Add a book of openings, for ladders, tournaments and strength tests of a game.

    It is EPD (positions), PGN (the first moves of its games) or moves, the openings one a line.
    What is in it never changes, and everybody can read it.
    """

    scope = Scope.SUBMIT
    address = "POST /books"
    subject = "books"
    answers = OpeningBook
    makes = True

    name: str = asked("What forms and commands call it", label="Name", most=LONGEST_NAME)
    game: str = asked(
        "The game and its options, as in GAME size=5x6", label="Game and options", most=200
    )
    text: str = asked("The file", label="The book", most=books.MOST_CHARACTERS)

    def do(self, session: Session, by: By) -> Done:
        try:
            variant = read_variant(self.game)
        except GameError as error:
            raise Refusal(str(error)) from None
        most = None if by.may(Scope.ORGANISE) else books.MOST_OF_ANYBODY
        made = books.add(session, self.name, variant, self.text, by.now, by.actor, most=most)
        return Done(
            gettext(
                "the book %(name)s of %(openings)s is there for %(variant)s",
                name=made.name,
                openings=counted(made.size, "opening"),
                variant=variant,
            ),
            made,
        )


@dataclass(frozen=True)
class RemoveBook(Deed):
    """Remove a book of openings, by which nothing is played that is not over.

    It is one's own, or anybody's for organisers. What was played by it stays as it is.
    """

    scope = Scope.SUBMIT
    address = "POST /books/<name>/remove"
    command = "book remove NAME"
    example = "eight-moves"
    subject = "books"
    lasting = (
        "The book is gone for good; what was played by it stays as it is. This can't be undone, "
        "but whoever has its file can add it again."
    )

    name: str = asked("The book")

    def do(self, session: Session, by: By) -> Done:
        book = books.find(session, self.name)
        is_own = by.actor.id is not None and book.creator_id == by.actor.id
        if not (is_own or by.may(Scope.ORGANISE)):
            raise NotAllowed(gettext("the book %(name)s is not yours", name=book.name))
        books.remove(session, book, by.now, by.actor)
        return Done(gettext("the book %(name)s is removed", name=book.name))
