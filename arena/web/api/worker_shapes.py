"""What the API says of workers, and how it is made of what the database holds."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from pydantic import Field
from sqlalchemy.orm import Session

from arena.ground.config import Settings
from arena.models import Worker
from arena.schedule import needs, speeds, workers
from arena.web.api.shapes import Shape


class MeasureShape(Shape):
    """What a worker found when it measured itself, in a bot's box on one core."""

    interpreted: float = Field(
        description="The speed of programs in Python, the reference machine being 1."
    )
    compiled: float = Field(description="The speed of all others.")
    spread: float = Field(description="How far its repetitions lay apart, by their median.")
    share: float = Field(description="How much of the core it got.")
    ply_us: int = Field(
        description="How long a bot that does nothing took to answer, by the wall clock: median."
    )
    slow_ply_us: int = Field(description="The same for the latest in twenty.")


class WorkerShape(Shape):
    """A worker that was heard of."""

    name: str = Field(description="For organisers; a number for all others.")
    state: str = Field(
        description="at work, stopped, gone, of another release, too weak or set aside"
    )
    slots: int
    cores: int | None = Field(description="That it may use; null if it does not say.")
    measure: MeasureShape | None = Field(description="Null if it does not say how fast it is.")
    unfit: str = Field(
        description="Why it plays no match by the reference machine's clock; empty if it does."
    )
    ratio: float | None = Field(
        description="How fast it is by what the same bots did on it and on others, beside what it "
        "says; null if nothing can be compared."
    )
    doubt: str = Field(description="What that says against it; empty if nothing.")
    isolation: str
    languages: list[str]
    games: list[str] = Field(description="The editions of the games that it has.")
    platforms: list[str] = Field(description="For which platforms runtimes can be that it keeps.")
    last_seen: datetime
    failed: list[str] | None = Field(
        description="The jobs that it failed at since it last did one; null unless you organise."
    )
    problem: str | None = Field(
        description="What it said of the last of them; null unless you organise."
    )

    @classmethod
    def now(
        cls, one: Worker, state: str, ratio: float | None, *, name: str, for_organisers: bool
    ) -> WorkerShape:
        """A worker as it travels, under a name."""
        return cls.of(
            one,
            name=name,
            state=state,
            unfit="" if one.at_home else needs.unfit(one),
            ratio=ratio,
            doubt=speeds.doubt(ratio),
            games=sorted(needs.games_of(one)),
            platforms=one.platforms or [],
            failed=[entry["job"] for entry in one.failed] if for_organisers else None,
            problem=(one.problem if one.failed else "") if for_organisers else None,
        )


class WorkerList(Shape):
    """All workers that were ever heard of, by name."""

    items: list[WorkerShape]

    @classmethod
    def now(
        cls, session: Session, settings: Settings, now: datetime, *, for_organisers: bool
    ) -> WorkerList:
        """The workers as they travel.

        Args:
            for_organisers: with their names, and what they failed at.
        """
        weakest = settings.minimum_isolation
        found = session.scalars(sa.select(Worker).order_by(Worker.name)).all()
        ratios = speeds.ratios(session)
        return cls(
            items=[
                WorkerShape.now(
                    one,
                    workers.state(one, weakest, now),
                    ratios.get(one.name),
                    name=one.name if for_organisers else f"worker {number}",
                    for_organisers=for_organisers,
                )
                for number, one in enumerate(found, 1)
            ]
        )
