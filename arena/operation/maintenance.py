"""Maintenance: pages and the API are read and nothing is changed, and workers drain."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy.orm import Session

from arena import audit
from arena.deeds import By, Deed, Done, asked
from arena.models import Scope
from arena.operation.notice import LONGEST, line_of
from arena.present import Maintenance, maintenance, note_maintenance
from engine.translation import gettext

ENDED = "end maintenance"
"""What it is called in the audit log that maintenance is over."""


@dataclass(frozen=True)
class SetMaintenance(Deed):
    """Begin or end maintenance, during which the arena is read, and nothing is changed or begun.

    Matches that workers have already are played to their end and recorded. It survives a restart.
    """

    scope = Scope.ADMIN
    address = "POST /maintenance"
    subject = "arena"
    in_maintenance = True

    on: bool = asked("Whether it is to be under way")
    text: str = asked(
        "What all visitors are told beside, as until when",
        label="What visitors are told beside, as until when",
        default="",
        most=LONGEST,
    )

    def do(self, session: Session, by: By) -> Done:
        text, before = line_of(self.text), maintenance(session)
        if self.on:
            since = by.now if before is None else before.since
            after = Maintenance(since, by.actor.name, text)
            action = "begin maintenance" if before is None else "change maintenance"
            said = gettext("the arena is under maintenance: nothing is changed, and nothing begun")
        else:
            after, action = None, ENDED
            said = gettext("the arena is not under maintenance")
        note_maintenance(session, after)
        audit.note(session, by.actor, action, "arena", text, now=by.now)
        was = None if before is None else before.words
        undo = SetMaintenance(before is not None, was or "")
        return Done(said, undo=() if (after and after.words) == was else (undo,))
