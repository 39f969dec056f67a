"""Operations on what people are told: notifications, what they follow, and their hooks."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

import sqlalchemy as sa
from pydantic import Field
from sqlalchemy.orm import joinedload

from arena.models import Delivery, Follow, Hook, Notification, Scope
from arena.people.hooks import find_hook
from arena.people.notifications import text_of
from arena.web.api.paging import Pages, page
from arena.web.api.shapes import At, List, Shape
from arena.web.api.specification import operation
from arena.web.identity import signed_in
from arena.web.lookup import reading
from arena.web.permissions import demand_session

TAG = "notifications"


class NotificationShape(Shape):
    """Something that one was told."""

    number: Annotated[int, At("id")]
    at: datetime
    topic: str
    text: Annotated[str, At(text_of)] = Field(description="In words.")
    address: str = Field(description="Where more can be seen on this server.")
    read: datetime | None = Field(description="When it was marked as read.")


class NotificationList(List):
    items: list[NotificationShape]


class FollowShape(Shape):
    """What one has chosen to hear of a bot or a competition."""

    kind: str = Field(description="bot, ladder, tournament, test, tuning or gauntlet.")
    name: str
    muted: bool = Field(description="Whether one hears nothing of it, though it is one's own.")
    since: datetime


class FollowList(List):
    items: list[FollowShape]


class HookShape(Shape):
    """An address elsewhere at which a program hears what one is told."""

    number: Annotated[int, At("id")]
    url: str
    format: str
    secret: str = Field(description="By which what it is sent is signed.")
    created: datetime
    disabled: str = Field(description="Why nothing is sent there; empty if something is.")
    failing_since: datetime | None = Field(
        description="Since when each try has failed; null if the last one arrived."
    )


class HookList(List):
    items: list[HookShape]


class DeliveryShape(Shape):
    """A message to a hook, with what came of the last try."""

    number: Annotated[int, At("id")]
    notification: Annotated[int | None, At("notification_id")] = Field(
        description="What it tells; null of a test."
    )
    created: datetime
    state: str = Field(description="waits, arrived or given up.")
    tries: int
    tried: datetime | None
    status: int | None = Field(description="What was answered; null if nothing.")
    milliseconds: int | None
    answer: str = Field(description="The beginning of the answer, or why there was none.")


class DeliveryList(List):
    items: list[DeliveryShape]


@operation("GET /notifications", NotificationList, tag=TAG, scope=Scope.READ)
def list_notifications(query: Pages) -> NotificationList:
    """What one was told, the newest first."""
    with reading() as session:
        own = sa.select(Notification).where(Notification.user_id == signed_in().id)
        return page(NotificationList, session, own, Notification.id, query)


@operation("GET /following", FollowList, tag=TAG, scope=Scope.READ)
def list_following(query: Pages) -> FollowList:
    """What one follows, and what one has muted, the newest choice first."""

    def told(_: Any, rows: Any) -> list[FollowShape]:
        return [
            FollowShape(
                kind="bot" if row.bot else row.competition.kind,
                name=(row.bot or row.competition).name,
                muted=row.muted,
                since=row.since,
            )
            for row in rows
            if row.bot or row.competition
        ]

    with reading() as session:
        own = sa.select(Follow).where(Follow.user_id == signed_in().id)
        own = own.options(joinedload(Follow.bot), joinedload(Follow.competition))
        return page(FollowList, session, own, Follow.id, query, told=told)


@operation("GET /hooks", HookList, tag=TAG, scope=Scope.SUBMIT)
def list_hooks(query: Pages) -> HookList:
    """One's hooks; to a token only if it has the scope admin, since their secrets are told."""
    if not signed_in().may(Scope.ADMIN):
        demand_session()
    with reading() as session:
        own = sa.select(Hook).where(Hook.user_id == signed_in().id)
        return page(HookList, session, own, Hook.id, query)


@operation(
    "GET /hooks/<int:number>/deliveries", DeliveryList, tag=TAG, scope=Scope.SUBMIT, errors=[404]
)
def list_deliveries(number: int, query: Pages) -> DeliveryList:
    """What was sent to a hook of one's own, the newest first."""
    with reading() as session:
        hook = find_hook(session, number, signed_in().by())
        its = sa.select(Delivery).where(Delivery.hook_id == hook.id)
        return page(DeliveryList, session, its, Delivery.id, query)
