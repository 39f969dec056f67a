"""How commands read: from the arena of a data folder, or from a server by its API.

Both give the same value, JSON as the API has it, so that whatever prints it does not know whose
it is. Which arena is meant is found as for `arena submit`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, TypeVar

from pydantic import BaseModel
from sqlalchemy.orm import Session

from arena.cli.client import RemoteArena, Where
from arena.cli.data_folder import opened
from arena.ground.config import Settings
from arena.web.api.shapes import Shape

T = TypeVar("T")

PAGE = 100
"""How much of a list a server gives at once."""


def told(
    where: Where, there: Callable[[RemoteArena], T], here: Callable[[Session, Settings], T]
) -> T:
    """What an arena tells, by its API or from its data folder.

    Raises:
        InputError: it is not there, the server refuses it, or it is not clear which arena is meant.
        ServerFault: the server can't be reached, or fails.
    """
    server = where.server()
    if server is not None:
        return there(server)
    with opened(where.data) as (database, settings), database.read() as session:
        return here(session, settings)


def read(
    where: Where, path: str, here: Callable[[Session, Settings], BaseModel], **query: Any
) -> Any:
    """What an arena tells; errors as for `told`.

    Args:
        path: where a server has it.
        here: gives the same from a data folder, in the API's shape.
        query: what else a server is asked.
    """
    return told(
        where,
        lambda server: server.get(path, **query),
        lambda *its: here(*its).model_dump(mode="json"),
    )


def read_all(
    where: Where,
    path: str,
    shape: type[Shape],
    rows: Callable[[Session], Iterable[Any]],
    *,
    most: int | None = None,
    **query: Any,
) -> list[Any]:
    """A list that an arena tells, the newest first; errors as for `told`.

    Args:
        path: where a server has it.
        shape: of what it has, by the API.
        rows: gives the same from a data folder.
        most: how many of them.
        query: what else a server is asked.
    """

    def here(session: Session, _: Settings) -> list[Any]:
        found = shape.each(session, list(islice(rows(session), most)))
        return [one.model_dump(mode="json") for one in found]

    page = PAGE if most is None else min(most, PAGE)
    return told(
        where,
        lambda server: list(islice(server.all(path, limit=page, **query), most)),
        here,
    )
