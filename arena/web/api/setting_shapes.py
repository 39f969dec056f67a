"""What the API says of settings and of maintenance."""

from __future__ import annotations

from datetime import datetime
from typing import Self

from pydantic import Field
from sqlalchemy.orm import Session

from arena.ground.config import Settings
from arena.operation.settings import SettingSource, states
from arena.present import maintenance
from arena.web.api.shapes import Shape


class SettingShape(Shape):
    """A setting of the arena."""

    name: str
    variable: str = Field(description="Of the environment, from which it is read.")
    value: str = Field(description="That holds; a secret is hidden.")
    usual: str = Field(description="The environment's, or the default.")
    source: SettingSource = Field(description="Whence it has its value.")
    words: str = Field(description="What it is.")
    changeable: bool = Field(description="Whether it can be changed while the arena runs.")
    changed_by: str = Field(description="Who changed it; empty if nobody did.")
    at: datetime | None = Field(description="When that was.")
    problem: str = Field(description="Why a value that is stored does not hold; empty if it does.")


class SettingList(Shape):
    """All settings, in the order of the documentation."""

    items: list[SettingShape]

    @classmethod
    def now(cls, session: Session, own: Settings) -> Self:
        """The shape of all settings as they are now.

        Args:
            own: those of the environment.
        """
        return cls(
            items=[
                SettingShape(
                    name=one.name,
                    variable=one.variable,
                    value=one.value,
                    usual=one.usual,
                    source=one.source,
                    words=one.words,
                    changeable=one.is_changeable,
                    changed_by=one.changed_by,
                    at=one.at,
                    problem=one.problem,
                )
                for one in states(session, own)
            ]
        )


class MaintenanceShape(Shape):
    """Whether nothing can be changed for now."""

    since: datetime | None = Field(description="Since when; null if it is not under way.")
    words: str = Field(description="What visitors are told beside; may be empty.")

    @classmethod
    def now(cls, session: Session) -> Self:
        """The shape of maintenance as it is now."""
        found = maintenance(session)
        return cls(since=found.since if found else None, words=found.words if found else "")
