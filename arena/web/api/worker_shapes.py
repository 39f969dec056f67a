"""What the API says of workers, and how it is made of what the database holds."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from pydantic import Field
from sqlalchemy.orm import Session

from arena.ground.config import Settings
from arena.models import Worker
from arena.schedule import needs, workers
from arena.web.api.shapes import Shape


class WorkerShape(Shape):
    """A worker that was heard of."""

    name: str
    state: str = Field(
        description="at work, stopped, gone, of another release, too weak or set aside"
    )
    slots: int
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
    def now(cls, one: Worker, state: str, *, with_failures: bool) -> WorkerShape:
        """A worker as it travels."""
        return cls.of(
            one,
            state=state,
            games=sorted(needs.games_of(one)),
            platforms=one.platforms or [],
            failed=[entry["job"] for entry in one.failed] if with_failures else None,
            problem=(one.problem if one.failed else "") if with_failures else None,
        )


class WorkerList(Shape):
    """All workers that were ever heard of, by name."""

    items: list[WorkerShape]

    @classmethod
    def now(
        cls, session: Session, settings: Settings, now: datetime, *, with_failures: bool
    ) -> WorkerList:
        """The workers as they travel."""
        weakest = settings.minimum_isolation
        found = session.scalars(sa.select(Worker).order_by(Worker.name))
        return cls(
            items=[
                WorkerShape.now(one, workers.state(one, weakest, now), with_failures=with_failures)
                for one in found
            ]
        )
