"""Operations on books of openings."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from arena.competitions.books import listed
from arena.models import OpeningBook
from arena.web.api.paging import Pages, page
from arena.web.api.shapes import At, List, Shape
from arena.web.api.specification import operation
from arena.web.books import book_file
from arena.web.lookup import reading

TAG = "books"


class BookShape(Shape):
    """A book of openings that competitions can be played by."""

    name: str
    variant: str = Field(description="The game with its options.")
    openings: Annotated[int, At("size")] = Field(description="How many it has.")
    digest: str = Field(description="SHA-256 of its file.")
    created: datetime


class BookList(List):
    items: list[BookShape]


@operation("GET /books", BookList, tag=TAG)
def list_books(query: Pages) -> BookList:
    """The books of openings."""
    with reading() as session:
        return page(BookList, session, listed(), OpeningBook.id, query)


read_book = operation("GET /books/<name>", None, tag=TAG, name="read_book", media="text/plain")(
    book_file
)
