"""What the shapes of requests and answers are made of."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

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


class Shape(BaseModel):
    """What travels: just these fields, and numbers that JSON has."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class List(Shape):
    """A page of a list, the newest first."""

    next: str | None = Field(description="The address of the next page; null on the last.")
