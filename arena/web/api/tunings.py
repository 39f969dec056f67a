"""Operations on tunings."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Self

from pydantic import Field
from sqlalchemy.orm import Session

from arena.competitions.tuning_reports import WantedTunings, reports
from arena.models import Approval, BotTuning
from arena.strength.tuning import Method
from arena.web.api.paging import Pages, page
from arena.web.api.shapes import List, Name, Shape
from arena.web.api.specification import operation
from arena.web.lookup import find_tuning, reading

TAG = "tunings"


class ParameterShape(Shape):
    """A number that is tuned, and the path that it took."""

    name: str
    option: str = Field(description="As the bot declares it.")
    start: float
    least: float
    most: float
    c_end: float = Field(description="The step of the last match.")
    r_end: float = Field(description="The part of that step by which a result of 1 then moves it.")
    value: float
    step: float = Field(description="How far it is moved now, up and down.")
    path: list[tuple[int, float, float]] = Field(
        description="After how many games it was which, and the step from there."
    )


class TuningShape(Shape):
    """What became of a bot's numbers by games against itself."""

    id: int
    name: str
    title: str
    bot: str
    game: str
    time: str
    seed: int
    batch: int = Field(description="Matches from the same values.")
    method: Method = Field(description="spsa, or bayes, in which nothing has a step.")
    book: str | None = Field(description="Whose openings are played; null for random ones.")
    state: str = Field(description="running, paused, waits for approval, stopped or over.")
    reason: str
    outcome: str = Field(description="How it stands in words, with the reason.")
    told: list[tuple[str, str]] = Field(
        description="How it stands in words, as its page has it: names and texts."
    )
    creator: str | None
    approval: Approval = Field(
        description="Whether a second person has to approve: as long as it is needed, it waits."
    )
    approver: str | None = Field(description="Who gave it.")
    note: str
    weight: float
    created: datetime
    finished: datetime | None
    games: int
    max_games: int
    seconds_left: float | None = Field(description="Of workers' time; null before the first game.")
    matches: int = Field(description="Those of whole batches, by which the values are.")
    wins: int = Field(description="Of the side moved by the flips, in games, as what follows.")
    draws: int
    losses: int
    faults: dict[str, int]
    gain: float = Field(description="In Elo, as its own games let one guess; no proof.")
    gain_95: tuple[float, float]
    chosen: dict[str, str] = Field(description="What the values come to, as the bot is told it.")
    chosen_at_start: dict[str, str]
    manifest: str = Field(description="The same as bot.toml has it.")
    digest: str = Field(description="SHA-256 over the matches in their order.")
    proof: int | None = Field(description="The number of the strength test of what came out.")
    parameters: list[ParameterShape]

    @classmethod
    def each(cls, session: Session, rows: Sequence[BotTuning]) -> list[Self]:
        """What travels of some tunings, looked up together."""
        return [cls.model_validate(one.to_json()) for one in reports(session, rows)]


class TuningList(List):
    items: list[TuningShape]


class TuningPages(Pages):
    """Which tunings are wanted."""

    bot: Annotated[Name, Field(description="Of which a version is tuned.")] = ""
    creator: Annotated[Name, Field(description="The name of who made it.")] = ""


@operation("GET /tunings", TuningList, tag=TAG)
def list_tunings(query: TuningPages) -> TuningList:
    """How each stands, or ended; of a bot or who made it, if asked."""
    with reading() as session:
        wanted = WantedTunings(query.bot, query.creator).query
        return page(TuningList, session, wanted, BotTuning.id, query)


@operation("GET /tunings/<int:number>", TuningShape, tag=TAG)
def get_tuning(number: int) -> TuningShape:
    """A tuning, with the path that each number took."""
    with reading() as session:
        return TuningShape.looked_up(session, find_tuning(session, number))
