"""How the API says what people's games refuse: by a conflict."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from flask import abort

from arena.web.words import sentence


@contextmanager
def refusing(*refusals: type[Exception]) -> Iterator[None]:
    """Answers errors of these kinds by 409 with their sentence."""
    try:
        yield
    except refusals as error:
        abort(409, sentence(error))
