"""What can be changed about selections of games: one is kept, or removed."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import audit
from arena.deeds import LONGEST_NAME, By, Deed, Done, asked
from arena.ground import locks, texts
from arena.ground.db import count_rows
from arena.ground.refusals import NotAllowed, NotThere, Refusal, WrongField
from arena.lists.filters import GameFilter
from arena.models import Scope, Selection, User
from engine.translation import gettext

MOST = 100
"""Selections that one person may keep."""
LONGEST = 2000
"""Characters of an address's words."""


@dataclass(frozen=True)
class KeepSelection(Deed):
    """Keep a filter of games under a name; everybody can be shown what it finds by its address."""

    scope = Scope.SUBMIT
    address = "POST /selections"
    subject = "games"
    answers = Selection
    makes = True

    name: str = asked("What you call it", label="Keep this list as", most=LONGEST_NAME)
    filter: str = asked(
        "The filter, as an address has it behind its question mark: bot=greedy&ending=timeout",
        default="",
        most=LONGEST,
    )

    def do(self, session: Session, by: By) -> Done:
        name = texts.typed(self.name, LONGEST_NAME)
        wanted = read_words(self.filter)
        if wanted.worker is not None and not by.may(Scope.ORGANISE):
            raise NotAllowed(gettext("games by their worker are for organisers to look for"))
        if by.actor.id is not None:
            # Two at once would each find room for one more.
            locks.find(session, User, by.actor.id, to_change=True)
        own = Selection.owner_id == by.actor.id
        if session.scalar(sa.select(Selection.id).where(own, Selection.name == name)):
            raise WrongField(
                "name", gettext("you keep a list of this name: remove it, or choose another")
            )
        if count_rows(session, Selection, own) >= MOST:
            raise Refusal(
                gettext("you keep %(most)s lists, as many as one may: remove one first", most=MOST)
            )
        made = Selection(
            owner_id=by.actor.id, name=name, words=urlencode(wanted.words), created=by.now
        )
        session.add(made)
        session.flush()
        audit.note(session, by.actor, "keep selection", f"selection {made.id}", name, now=by.now)
        return Done(gettext("the list is kept as %(name)s", name=name), made)


@dataclass(frozen=True)
class RemoveSelection(Deed):
    """Remove a selection of one's own."""

    scope = Scope.SUBMIT
    address = "POST /selections/<int:number>/remove"
    subject = "games"

    number: int = asked("The selection's number")

    def do(self, session: Session, by: By) -> Done:
        found = locks.find(session, Selection, self.number, to_change=True)
        if found is None:
            raise NotThere(gettext("there is no selection %(number)s", number=self.number))
        if not by.at_machine and found.owner_id != by.actor.id:
            raise NotAllowed(gettext("selection %(number)s is somebody else's", number=self.number))
        audit.note(
            session, by.actor, "remove selection", f"selection {found.id}", found.name, now=by.now
        )
        session.delete(found)
        undo = () if found.owner_id is None else (KeepSelection(found.name, found.words),)
        return Done(gettext("the list %(name)s is removed", name=found.name), undo=undo)


def read_words(words: str) -> GameFilter:
    """The filter that an address says behind its question mark.

    Raises:
        WrongField: a word of it can't be meant.
    """
    try:
        said = dict(parse_qsl(words.removeprefix("?"), max_num_fields=50))
    except ValueError:
        raise WrongField("filter", gettext("there are too many words")) from None
    return GameFilter.read(said)
