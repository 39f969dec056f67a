"""Operations on presets of strength tests."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from arena.competitions import presets
from arena.models import TestPreset
from arena.web.api.paging import Pages, page
from arena.web.api.shapes import At, List, Shape
from arena.web.api.specification import operation
from arena.web.lookup import reading

TAG = "strength tests"


class ChosenShape(Shape):
    """What a preset says; what is null is as usual."""

    elo0: float | None = None
    elo1: float | None = None
    alpha: float | None = None
    beta: float | None = None
    model: str | None = None
    max_games: int | None = None
    games: int | None = Field(None, description="Of a fixed number of games: that number.")
    plies: int | None = Field(None, description="How many moves a random opening has.")
    time: str | None = Field(
        None, description="Seconds a game and more a move; null for move, or for the ladder's."
    )
    move: int | None = Field(None, description="Milliseconds a move.")


class PresetShape(Shape):
    """What strength tests of one kind are asked to be."""

    name: str
    note: str
    chosen: Annotated[ChosenShape, At(lambda preset: ChosenShape(**preset.chosen))]
    told: Annotated[str, At(presets.words)] = Field(description="The same in words.")
    changed: datetime


class PresetList(List):
    items: list[PresetShape]


@operation("GET /presets", PresetList, tag=TAG)
def list_presets(query: Pages) -> PresetList:
    """The presets of strength tests."""
    with reading() as session:
        return page(PresetList, session, presets.listed(), TestPreset.id, query)
