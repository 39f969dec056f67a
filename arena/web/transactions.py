"""How pages and the API change something: in a transaction; what can't be done is a conflict."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from flask import abort
from sqlalchemy.orm import Session

from arena.web.identity import database
from arena.web.words import sentence


@contextmanager
def refusing(*refusals: type[Exception]) -> Iterator[None]:
    """Answers errors of these kinds by 409 with their sentence."""
    try:
        yield
    except refusals as error:
        abort(409, sentence(error))


@contextmanager
def changing(*refusals: type[Exception]) -> Iterator[Session]:
    """A transaction; an error of these kinds ends it, and is answered by 409."""
    with refusing(*refusals), database().begin() as session:
        yield session
