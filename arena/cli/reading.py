"""How commands read: from the arena of a data folder, or from a server by its API.

Both give the same value, JSON as the API has it, so that whatever prints it does not know whose
it is. Which arena is meant is found as for `arena submit`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel
from sqlalchemy.orm import Session

from arena.cli import InputError
from arena.cli.client import find_server
from arena.cli.data_folder import opened
from arena.ground.config import Settings
from arena.ground.refusals import NotThere

T = TypeVar("T")

PAGE = 100
"""As many of a list as a server gives at once."""


def read(
    server: str | None,
    data: Path | None,
    path: str,
    here: Callable[[Session, Settings], BaseModel],
) -> Any:
    """What an arena tells.

    Args:
        path: where a server has it.
        here: gives the same from a data folder, in the API's shape.

    Raises:
        InputError: it is not there, the server refuses it, or it is not clear which arena is meant.
        ServerFault: the server can't be reached, or fails.
    """
    there = find_server(server, data)
    if there is not None:
        return there.get(path)
    return _read_here(data, lambda *its: here(*its).model_dump(mode="json"))


def read_all(
    server: str | None,
    data: Path | None,
    path: str,
    here: Callable[[Session, Settings], Iterable[BaseModel]],
    *,
    most: int | None = None,
    **query: Any,
) -> list[Any]:
    """A list that an arena tells, the newest first; arguments and errors as for `read`.

    Args:
        most: how many of them.
        query: what else a server is asked.
    """
    there = find_server(server, data)
    if there is not None:
        page = PAGE if most is None else min(most, PAGE)
        return list(islice(there.all(path, limit=page, **query), most))
    return _read_here(
        data, lambda *its: [one.model_dump(mode="json") for one in islice(here(*its), most)]
    )


def _read_here(data: Path | None, tell: Callable[[Session, Settings], T]) -> T:
    try:
        with opened(data) as (database, settings), database.read() as session:
            return tell(session, settings)
    except NotThere as error:
        raise InputError(str(error)) from None
