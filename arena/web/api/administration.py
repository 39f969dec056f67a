"""Operations of whoever runs the arena: how it is, its users, its audit log."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from pydantic import RootModel

from arena import audit
from arena.models import AuditEntry, Role, Scope, User
from arena.operation import overview, queues
from arena.people import accounts
from arena.web.api.paging import Pages, page
from arena.web.api.setting_shapes import MaintenanceShape, SettingList
from arena.web.api.shapes import Name
from arena.web.api.specification import operation
from arena.web.api.user_shapes import AuditList, UserList
from arena.web.identity import own_settings, settings
from arena.web.lookup import reading

TAG = "administration"


class Overview(RootModel[dict[str, Any]]):
    """How the arena is at this moment, for whoever runs it."""


class UserPages(Pages):
    """Which users are wanted."""

    role: Role | None = None


class AuditPages(Pages):
    """Which entries are wanted: those of just this actor, action, subject."""

    actor: Name | None = None
    action: Name | None = None
    subject: Name | None = None


@operation("GET /overview", Overview, tag=TAG, scope=Scope.ORGANISE)
def get_overview() -> Overview:
    """How the arena is: queues, matches and checks by where they stand, workers, alarms."""
    waiting = queues.look(settings().broker)
    with reading() as session:
        return Overview(overview.as_json(session, settings(), datetime.now(UTC), waiting))


@operation("GET /settings", SettingList, tag=TAG, scope=Scope.ADMIN)
def list_settings() -> SettingList:
    """All settings: what holds, and who changed it; those that are changeable can be by POST."""
    with reading() as session:
        return SettingList.now(session, own_settings())


@operation("GET /maintenance", MaintenanceShape, tag=TAG)
def get_maintenance() -> MaintenanceShape:
    """Whether the arena is under maintenance: then all can be read, and nothing changed."""
    with reading() as session:
        return MaintenanceShape.now(session)


@operation("GET /users", UserList, tag=TAG, scope=Scope.ADMIN)
def list_users(query: UserPages) -> UserList:
    """Everyone who has an account."""
    wanted = sa.select(User).where(accounts.is_person())
    if query.role is not None:
        wanted = wanted.where(User.role == query.role)
    with reading() as session:
        return page(UserList, session, wanted, User.id, query)


@operation("GET /audit", AuditList, tag=TAG, scope=Scope.ADMIN)
def list_audit_entries(query: AuditPages) -> AuditList:
    """Who did what, when, on what, from where."""
    wanted = audit.matching(actor=query.actor, action=query.action, subject=query.subject)
    with reading() as session:
        return page(AuditList, session, wanted, AuditEntry.id, query)
