"""How operations change something: in one transaction, and what can't be done is a conflict."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from flask import abort
from sqlalchemy.orm import Session

from arena.web.identity import database


@contextmanager
def refusing(*refusals: type[Exception]) -> Iterator[None]:
    """Answers errors of these kinds by 409 with their sentence."""
    try:
        yield
    except refusals as error:
        words = str(error)
        abort(409, f"{words[:1].upper()}{words[1:].rstrip('.')}.")


@contextmanager
def changing(*refusals: type[Exception]) -> Iterator[Session]:
    """A transaction; an error of these kinds ends it, and is answered by 409."""
    with refusing(*refusals), database().begin() as session:
        yield session
