"""What the API says of users and of what they did."""

from __future__ import annotations

from datetime import datetime

from arena.models import AuditEntry, Role, User
from arena.web.api.shapes import List, Shape


class UserShape(Shape):
    """Somebody who has an account."""

    name: str
    role: Role
    active: bool
    can_sign_in: bool
    must_change_password: bool
    created: datetime
    last_sign_in: datetime | None

    @classmethod
    def of(cls, one: User) -> UserShape:
        """A user as it travels."""
        return cls(
            name=one.name,
            role=one.role,
            active=one.active,
            can_sign_in=one.password is not None,
            must_change_password=one.must_change,
            created=one.created,
            last_sign_in=one.last_sign_in,
        )


class UserList(List):
    items: list[UserShape]


class AuditShape(Shape):
    """One thing that was done."""

    id: int
    at: datetime
    actor: str
    origin: str
    action: str
    subject: str
    detail: str

    @classmethod
    def of(cls, one: AuditEntry) -> AuditShape:
        """An entry as it travels."""
        return cls(
            id=one.id,
            at=one.at,
            actor=one.actor,
            origin=one.origin,
            action=one.action,
            subject=one.subject,
            detail=one.detail,
        )


class AuditList(List):
    items: list[AuditShape]
