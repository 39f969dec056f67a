"""Deeds about one competition, which its organisers may do, too, without rights elsewhere."""

from __future__ import annotations

from typing import ClassVar

from sqlalchemy.orm import Session

from arena.competitions.founding import find_named
from arena.deeds import Deed
from arena.models import Competition, Scope


class OrganisedDeed(Deed):
    """What is for the organisers of the site, and for those of the competition that it names."""

    scope = Scope.ORGANISE
    kind: ClassVar[type[Competition]] = Competition
    """The class of those that it can be done to."""
    name: str

    def concerns(self, session: Session) -> Competition | None:
        return find_named(session, self.kind, self.name)
