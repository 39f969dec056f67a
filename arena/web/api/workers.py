"""Operations on what else there is: the workers, the notice, and whoever asks."""

from __future__ import annotations

from datetime import UTC, datetime

import sqlalchemy as sa
from pydantic import Field

from arena.bots import quota
from arena.bots.sharing import belongs_to
from arena.models import Bot, Role, Scope, User
from arena.web.api.shapes import Shape
from arena.web.api.specification import operation
from arena.web.api.worker_shapes import WorkerList
from arena.web.identity import current, settings, signed_in
from arena.web.lookup import notice, reading

TAG = "arena"


class NoticeShape(Shape):
    """A line for all visitors."""

    text: str = Field(description="As it stands on every page; empty if there is none.")


class AccountShape(Shape):
    """The account of who asks."""

    name: str
    role: Role
    scopes: list[Scope] = Field(description="What may be done with this token.")
    bots: list[str]
    stored_bytes: int = Field(
        description="What is stored of your bots' files and of those that you send, each once."
    )
    quota_bytes: int = Field(description="How much may be.")
    own_bots: int = Field(description="How many bots are yours, without those shared with you.")
    most_bots: int | None = Field(description="How many may be; null for any number.")


@operation("GET /workers", WorkerList, tag=TAG)
def list_workers() -> tuple[WorkerList, int, dict[str, str]]:
    """All workers that were ever heard of, by name."""
    who = current()
    organises = who is not None and who.may(Scope.ORGANISE)
    with reading() as session:
        found = WorkerList.now(session, settings(), datetime.now(UTC), for_organisers=organises)
    return found, 200, {"Cache-Control": "private, no-store"} if organises else {}


@operation("GET /notice", NoticeShape, tag=TAG)
def get_notice() -> NoticeShape:
    """What the arena's operator tells all visitors."""
    return NoticeShape(text=notice())


@operation("GET /account", AccountShape, tag=TAG, scope=Scope.READ)
def get_account() -> AccountShape:
    """Whose the token is, and what may be done with it."""
    who = signed_in()
    with reading() as session:
        names = sa.select(Bot.name).where(belongs_to(who.id))
        bots = list(session.scalars(names.order_by(sa.func.lower(Bot.name))))
        stored = quota.stored_bytes(session, who.id)
        most = quota.most_bytes(session, who.id, settings().quota_bytes)
        own = quota.bots_here(session, who.id)
        person = session.get_one(User, who.id)
    return AccountShape(
        name=who.name,
        role=who.role,
        scopes=sorted(who.scopes),
        bots=bots,
        stored_bytes=stored,
        quota_bytes=most,
        own_bots=own,
        most_bots=quota.most_bots(person, settings().bots_a_person),
    )
