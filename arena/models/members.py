"""Who belongs to a competition: its members, who see it if it is private, and its organisers."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column, relationship

from arena.models.base import Base
from arena.models.competitions import Competition
from arena.models.people import User
from engine.translation import N_


class MemberRole(StrEnum):
    """What somebody is in one competition; an organiser may do there what those of the site may."""

    MEMBER = N_("member")
    ORGANISER = N_("organiser")


class Membership(Base):
    """Somebody who belongs to a competition, and as what."""

    __tablename__ = "membership"

    competition_id: Mapped[int] = mapped_column(ForeignKey("competition.id"), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("user.id"), primary_key=True, index=True)
    role: Mapped[MemberRole] = mapped_column(default=MemberRole.MEMBER)
    joined: Mapped[datetime]

    competition: Mapped[Competition] = relationship()
    user: Mapped[User] = relationship()
