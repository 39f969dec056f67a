"""What is decided about anonymous competitions: who is looked up, and when all are named."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

from sqlalchemy.orm import Session

from arena import audit
from arena.competitions.founding import find_named
from arena.competitions.masks import unmask, who_is_who
from arena.competitions.organised import OrganisedDeed
from arena.deeds import By, Done, asked
from arena.ground.locks import lock
from arena.ground.refusals import Refusal
from arena.models import Competition
from engine.translation import gettext, ngettext


class NamesTold(NamedTuple):
    """Who is behind the made-up names of an anonymous competition."""

    masks: Annotated[int, "How many made-up names there are"]
    names: Annotated[str, "CSV with the columns mask, bot and owner"]


@dataclass(frozen=True)
class MaskDeed(OrganisedDeed):
    """Decides about an anonymous competition."""

    subject = "competitions"

    name: str = asked("The competition's name")

    def _find(self, session: Session) -> Competition:
        found = find_named(session, Competition, self.name)
        if not found.anonymous:
            raise Refusal(gettext("%(name)s is not anonymous", name=found.name))
        return found


@dataclass(frozen=True)
class LookBehindMasks(MaskDeed):
    """Look up who is behind the made-up names of an anonymous competition; it is noted that one
    did.
    """

    address = "POST /competitions/<name>/who"
    command = "competition who NAME"
    example = "course"
    answers = NamesTold
    adds = True

    def do(self, session: Session, by: By) -> Done:
        found = self._find(session)
        lines = who_is_who(session, found)
        # No name of a bot or a person has a comma in it.
        text = "".join(f"{','.join(one)}\n" for one in [("mask", "bot", "owner"), *lines])
        subject = f"{found.kind} {found.name}"
        audit.note(session, by.actor, "look behind masks", subject, now=by.now)
        said = ngettext(
            "%(name)s has %(count)s made-up name; that you looked it up is noted",
            "%(name)s has %(count)s made-up names; that you looked them up is noted",
            len(lines),
            count=len(lines),
            name=found.name,
        )
        return Done(said, NamesTold(len(lines), text))


@dataclass(frozen=True)
class RevealCompetition(MaskDeed):
    """Have an anonymous competition tell who is who: bots have their own names there from now on.

    Whoever is looked for by a made-up name is found. Records that were written until now keep it.
    """

    address = "POST /competitions/<name>/reveal"
    command = "competition reveal NAME"
    example = "course"
    answers = Competition
    lasting = "Everybody who sees it learns whose bots these are. That can't be undone."

    def do(self, session: Session, by: By) -> Done:
        found = self._find(session)
        lock(session, found)
        session.refresh(found)
        if found.anonymous:
            unmask(session, found, by.actor, by.now)
        said = gettext(
            "%(name)s is anonymous no more: the names follow in a moment", name=found.name
        )
        return Done(said, found)
