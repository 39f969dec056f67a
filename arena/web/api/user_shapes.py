"""What the API says of users and of what they did."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from arena.models import Role
from arena.web.api.shapes import At, List, Shape


class UserShape(Shape):
    """Somebody who has an account."""

    name: str
    role: Role
    active: bool
    can_sign_in: bool
    must_change_password: Annotated[bool, At("must_change")]
    created: datetime
    last_sign_in: datetime | None
    quota_mib: int | None = Field(
        description="How many MiB may be stored of theirs; null for as many as of everybody."
    )


class UserList(List):
    items: list[UserShape]


class PersonShape(Shape):
    """Somebody who has a bot here, as everybody sees them."""

    name: str
    created: datetime
    description: str = Field(description="What they say of themselves, in Markdown.")
    links: list[str]
    is_team: bool = Field(description="Whether it is several people, of whom `GET /teams` tells.")


class PersonList(List):
    items: list[PersonShape]


class PersonDetail(PersonShape):
    """Somebody with their bots."""

    bots: list[str] = Field(description="Their own and shared ones that have entered something.")


class TeamShape(Shape):
    """Several people whose bots are each one's."""

    name: str
    created: datetime
    description: str = Field(description="What they say of it, in Markdown.")
    links: list[str]
    captain: Annotated[str, At("captain.name")] = Field(description="Who decides about it.")


class TeamList(List):
    items: list[TeamShape]


class TeamDetail(TeamShape):
    """A team with its members and its bots."""

    members: list[str] = Field(description="In the order in which they came.")
    bots: list[str] = Field(description="Its bots that have entered something.")


class AuditShape(Shape):
    """One thing that was done."""

    id: int
    at: datetime
    actor: str
    origin: str
    action: str
    subject: str
    detail: str


class AuditList(List):
    items: list[AuditShape]
