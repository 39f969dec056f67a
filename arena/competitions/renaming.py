"""Giving a ladder or a tournament another name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy.orm import Session

from arena import audit, naming
from arena.competitions.founding import demand_name, find_named
from arena.competitions.organised import OrganisedDeed
from arena.deeds import LONGEST_NAME, By, Done, asked
from arena.ground import locks
from arena.ground.refusals import Refusal
from arena.models import Competition
from engine.translation import gettext


class Renamed(NamedTuple):
    """What something is called now, and was."""

    name: str
    before: str


@dataclass(frozen=True)
class RenameCompetition(OrganisedDeed):
    """Give a ladder or a tournament another name; by the one before it is found, too."""

    address = "POST /competitions/<name>/rename"
    subject = "competitions"
    answers = Renamed
    lasting = (
        "The name of before leads to it as long as it is there, and nothing else can have it. "
        "What was written down until now, such as in files that somebody keeps, has it still."
    )

    name: str = asked("The ladder's or the tournament's name")
    to: str = asked("What it is to be called", label="New name", most=LONGEST_NAME)

    def do(self, session: Session, by: By) -> Done:
        found, name = find_named(session, Competition, self.name), self.to.strip()
        if not found.organised:
            raise Refusal(gettext("%(name)s keeps its name: it goes by its number", name=self.name))
        if found.name == name:
            raise Refusal(gettext("it is called so already"))
        locks.lock(session, found)
        demand_name(session, name, found.kind, but=found)
        before = naming.rename(session, found, name)
        subject = f"{found.kind} {before}"
        audit.note(session, by.actor, "rename", subject, f"to {name}", now=by.now)
        return Done(naming.hint(before, name), Renamed(name, before))
