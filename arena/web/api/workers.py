"""Operations on what else there is: the workers, and whoever asks."""

from __future__ import annotations

from datetime import UTC, datetime

import sqlalchemy as sa

from arena import workforce
from arena.models import Bot, Scope, Worker
from arena.web.api.shapes import AccountShape, WorkerList, WorkerShape
from arena.web.api.specification import operation
from arena.web.identity import settings, signed_in
from arena.web.lookup import reading

TAG = "arena"


@operation(WorkerList, tag=TAG)
def list_workers() -> WorkerList:
    """All workers that were ever heard of, by name."""
    now, weakest = datetime.now(UTC), settings().minimum_isolation
    with reading() as session:
        found = session.scalars(sa.select(Worker).order_by(Worker.name)).all()
    return WorkerList(
        items=[WorkerShape.of(one, workforce.state(one, weakest, now)) for one in found]
    )


@operation(AccountShape, tag=TAG, scope=Scope.READ)
def get_account() -> AccountShape:
    """Whose the token is, and what may be done with it."""
    who = signed_in()
    with reading() as session:
        names = sa.select(Bot.name).where(Bot.owner_id == who.id)
        bots = list(session.scalars(names.order_by(sa.func.lower(Bot.name))))
    return AccountShape(name=who.name, role=who.role, scopes=sorted(who.scopes), bots=bots)


ROUTES = (
    ("GET", "/workers", list_workers),
    ("GET", "/account", get_account),
)
