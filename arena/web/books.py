"""The page of books of openings: which there are, their files, and the forms that change them."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from flask import Blueprint, Response, render_template, request, url_for
from flask_wtf.file import FileField
from sqlalchemy.orm import Session
from werkzeug.datastructures import FileStorage
from wtforms import TextAreaField

from arena.competitions.book_deeds import AddBook, RemoveBook
from arena.competitions.books import find, listed
from arena.deeds import Done
from arena.models import Competition, OpeningBook, Scope, User
from arena.web.deeds import DeedForm, add_deed, form_of
from arena.web.forms import later
from arena.web.identity import current
from arena.web.lookup import reading
from engine.books import decoded
from engine.translation import N_

books = Blueprint("books", __name__)

SHOWN = 200
"""How many books the page lists."""


class _WithFile(DeedForm):
    """A book may be chosen as a file instead of typed."""

    def said(self) -> dict[str, Any]:
        """What is filled in, as of every form, with the file as the text."""
        found = super().said()
        sent = found.pop("file", None)
        if isinstance(sent, FileStorage) and sent.filename:
            found["text"] = decoded(sent.read()) or "\0"
        return found


_FIELDS = form_of(
    AddBook,
    text=TextAreaField(later(N_("or what is in it")), render_kw={"rows": 6, "spellcheck": "false"}),
    file=FileField(later(N_("The file"))),
)
BookForm: type[DeedForm] = type("BookForm", (_WithFile, _FIELDS), {})


@books.get("/books")
def listing() -> str:
    """The books of openings, the last added first."""
    account = current()
    # A form's secret takes a cookie, which nobody needs who only reads.
    form = BookForm(formdata=None) if account and account.may(Scope.SUBMIT) else None
    if form is not None:
        form["game"].data = request.args.get("game", "")
    return _page(form, "")


def _page(form: DeedForm | None, problem: str) -> str:
    with reading() as session:
        query = (
            listed()
            .add_columns(User.name)
            .outerjoin(User, User.id == OpeningBook.creator_id)
            .order_by(OpeningBook.id.desc())
            .limit(SHOWN)
        )
        found = session.execute(query).all()
        return render_template(
            "books.html",
            found=found,
            used=_used(session, [book.name for book, _ in found]),
            removable=_removable([book for book, _ in found]),
            form=form,
            problem=problem,
        )


def _removable(shown: list[OpeningBook]) -> set[str]:
    """The names of those that whoever looks may remove, if nothing is played by them."""
    account = current()
    if account is None or not account.may(Scope.SUBMIT):
        return set()
    is_organiser = account.may(Scope.ORGANISE)
    return {book.name for book in shown if is_organiser or book.creator_id == account.id}


def _used(session: Session, names: list[str]) -> dict[str, int]:
    """How many competitions are played by each of some books."""
    rows = session.execute(
        sa.select(Competition.book_name, sa.func.count())
        .where(Competition.book_name.in_(names))
        .group_by(Competition.book_name)
    )
    return {name or "": count for name, count in rows}


def book_file(name: str) -> Response:
    """The file of a book."""
    with reading() as session:
        found = find(session, name)
        answer = Response(found.text, mimetype="text/plain")
    answer.headers["Content-Disposition"] = f'attachment; filename="{found.name}.txt"'
    return answer


books.add_url_rule("/books/<name>", "book", book_file)


def _listed(_: Done, **_there: str) -> str:
    return url_for("books.listing")


add_deed(books, "/books/add", AddBook, then=_listed, again=_page, form=BookForm)
add_deed(books, "/books/<name>/remove", RemoveBook, then=_listed)
