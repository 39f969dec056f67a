"""What the shapes of requests and answers are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from operator import attrgetter
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy.orm import Session

from arena.ground.db import LARGEST_ID

Number = Annotated[int, Field(ge=0, le=LARGEST_ID)]
"""What a database can be asked for."""
Id = Annotated[Number, Field(ge=1)]
Name = Annotated[str, Field(max_length=80)]
BotVersionName = Annotated[
    str,
    Field(
        max_length=60,
        description="As greedy, or greedy:2 for one of its versions.",
    ),
]
Key = Annotated[str, Field(min_length=1, max_length=64)]
"""What a request is called by who sends it, so that one sent twice is done once."""
Line = Annotated[str, Field(max_length=500)]
Options = dict[str, Any]


class At:
    """Says of a field where a row has it, if that is not the attribute of its name.

    Args:
        where: the names of attributes with dots between them, or what makes it of the row.
    """

    def __init__(self, where: str | Callable[[Any], Any]) -> None:
        self.get = attrgetter(where) if isinstance(where, str) else where


class Shape(BaseModel):
    """What travels: just these fields, and numbers that JSON has."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @classmethod
    def of(cls, row: Any, **besides: Any) -> Self:
        """What travels of a row, field by field.

        Args:
            besides: fields that the row does not tell.
        """
        told = {name: get(row) for name, get in cls._sources() if name not in besides}
        return cls(**told, **besides)

    @classmethod
    def each(cls, session: Session, rows: Sequence[Any]) -> list[Self]:  # noqa: ARG003
        """What travels of some rows; a shape that tells more than they do looks it up here."""
        return [cls.of(row) for row in rows]

    @classmethod
    def looked_up(cls, session: Session, row: Any) -> Self:
        """What travels of a row, and of what else there is to say of it now."""
        return cls.each(session, [row])[0]

    @classmethod
    @cache
    def _sources(cls) -> tuple[tuple[str, Callable[[Any], Any]], ...]:
        return tuple(
            (name, next((one.get for one in its.metadata if isinstance(one, At)), attrgetter(name)))
            for name, its in cls.model_fields.items()
        )


class List(Shape):
    """A page of a list, the newest first."""

    next: str | None = Field(description="The address of the next page; null on the last.")
