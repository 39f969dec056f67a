"""What the API says of the rounds of ladders, and of divisions."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from pydantic import Field

from arena.competitions.round_tables import RoundTable
from arena.web.api.shapes import At, Shape


class LadderRoundShape(Shape):
    """A round of a ladder."""

    number: int
    begun: datetime
    settled: Annotated[datetime | None, At("ended")] = Field(
        description="When its bots rose and fell; null as long as it goes on."
    )
    tournaments: Annotated[list[str], At(lambda one: [part.made.name for part in one.parts])] = (
        Field(description="Those that it is: of each division one, the highest first.")
    )


class LadderRoundPlaceShape(Shape):
    """Where a bot came in a round."""

    round: Annotated[int, At("number")]
    division: int = Field(description="From 1, the highest; 0 where there were none.")
    tournament: Annotated[str, At("made.name")]
    version: int
    place: int | None = Field(description="Null while it goes on, and if it was called off.")
    points: float | None


class LadderRoundLineShape(Shape):
    """A bot in the rounds of a ladder."""

    bot: Annotated[str, At("bot.name")]
    owner: Annotated[str, At("bot.owner.name")]
    active: Annotated[bool, At("is_active")] = Field(description="Whether it is on the ladder.")
    division: int | None = Field(description="In which it is now; null if in none.")
    standing: int | None = Field(description="Where it stands there; null of a boss.")
    boss: Annotated[bool, At("is_boss")] = Field(
        description="Whether it has to be beaten there to rise."
    )
    points: float = Field(description="Of all rounds that are over, added up.")
    rounds: int = Field(description="How many these are.")
    results: Annotated[
        list[LadderRoundPlaceShape],
        At(lambda line: [LadderRoundPlaceShape.of(one) for one in line.results]),
    ] = Field(description="In the rounds that are told of, the newest first.")


class LadderRoundsShape(Shape):
    """The rounds of a ladder, and where its bots came in them."""

    ladder: str
    rounds: list[LadderRoundShape] = Field(description="The newest first.")
    bots: list[LadderRoundLineShape] = Field(description="By divisions, then by points.")

    @classmethod
    def shown(cls, table: RoundTable) -> LadderRoundsShape:
        """The shape of a table."""
        return cls(
            ladder=table.ladder.name,
            rounds=[LadderRoundShape.of(one) for one in table.rounds],
            bots=[LadderRoundLineShape.of(one) for one in table.lines],
        )


CSV = ("bot", *LadderRoundPlaceShape.model_fields)
"""What CSV says of rounds."""


def csv_lines(told: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What CSV says of rounds: of each bot in each round a line.

    Args:
        told: a `LadderRoundsShape` as JSON.
    """
    return [{"bot": line["bot"]} | one for line in told["bots"] for one in line["results"]]
