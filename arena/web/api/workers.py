"""Operations on what else there is: the workers, the notice, and whoever asks."""

from __future__ import annotations

from datetime import UTC, datetime

import sqlalchemy as sa
from pydantic import Field

from arena.bots.sharing import belongs_to
from arena.models import Bot, Role, Scope, Worker
from arena.schedule import workers
from arena.web.api.shapes import Shape
from arena.web.api.specification import operation
from arena.web.identity import settings, signed_in
from arena.web.lookup import notice, reading

TAG = "arena"


class WorkerShape(Shape):
    """A worker that was heard of."""

    name: str
    state: str = Field(
        description="at work, stopped, gone, of another release, too weak or set aside"
    )
    slots: int
    isolation: str
    languages: list[str]
    last_seen: datetime

    @classmethod
    def of(cls, one: Worker, state: str) -> WorkerShape:
        """A worker as it travels."""
        return cls(
            name=one.name,
            state=state,
            slots=one.slots,
            isolation=one.isolation,
            languages=list(one.languages),
            last_seen=one.last_seen,
        )


class WorkerList(Shape):
    items: list[WorkerShape]


class NoticeShape(Shape):
    """A line for all visitors."""

    text: str = Field(description="As it stands on every page; empty if there is none.")


class AccountShape(Shape):
    """Who asks."""

    name: str
    role: Role
    scopes: list[Scope] = Field(description="What may be done with this token.")
    bots: list[str]


@operation(WorkerList, tag=TAG)
def list_workers() -> WorkerList:
    """All workers that were ever heard of, by name."""
    now, weakest = datetime.now(UTC), settings().minimum_isolation
    with reading() as session:
        found = session.scalars(sa.select(Worker).order_by(Worker.name)).all()
    return WorkerList(
        items=[WorkerShape.of(one, workers.state(one, weakest, now)) for one in found]
    )


@operation(NoticeShape, tag=TAG)
def get_notice() -> NoticeShape:
    """What the arena's operator tells all visitors."""
    return NoticeShape(text=notice())


@operation(AccountShape, tag=TAG, scope=Scope.READ)
def get_account() -> AccountShape:
    """Whose the token is, and what may be done with it."""
    who = signed_in()
    with reading() as session:
        names = sa.select(Bot.name).where(belongs_to(who.id))
        bots = list(session.scalars(names.order_by(sa.func.lower(Bot.name))))
    return AccountShape(name=who.name, role=who.role, scopes=sorted(who.scopes), bots=bots)


ROUTES = (
    ("GET", "/workers", list_workers),
    ("GET", "/notice", get_notice),
    ("GET", "/account", get_account),
)
