"""A line of the operator's for all visitors: on every page until it is cleared."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy.orm import Session

from arena import audit
from arena.deeds import By, Deed, Done, asked
from arena.ground.refusals import Refusal
from arena.models import Mark, Scope
from engine.translation import gettext

MARK = "notice"
LONGEST = 300


def read_notice(session: Session) -> str:
    """What all visitors are told; empty if that is nothing."""
    mark = session.get(Mark, MARK)
    return mark.value if mark else ""


def line_of(text: str) -> str:
    """What somebody typed for all visitors, in one line.

    Raises:
        Refusal: it is too long, or there is something in it that can't be seen.
    """
    line = " ".join(text.split())
    if len(line) > LONGEST:
        raise Refusal(
            gettext(
                "a notice has at most %(most)s characters, and this has %(number)s",
                most=LONGEST,
                number=len(line),
            )
        )
    if not line.isprintable():
        raise Refusal(gettext("there are characters in it that can't be seen"))
    return line


@dataclass(frozen=True)
class GiveNotice(Deed):
    """Tell all visitors a line, on every page until it is cleared."""

    scope = Scope.ADMIN
    address = "POST /notice"
    subject = "arena"

    text: str = asked(
        f"The line, of {LONGEST} characters at most; none clears the last", default="", most=2000
    )

    def do(self, session: Session, by: By) -> Done:
        line = line_of(self.text)
        before = read_notice(session)
        session.merge(Mark(key=MARK, value=line))
        action = "give notice" if line else "clear notice"
        audit.note(session, by.actor, action, MARK, line, now=by.now)
        if line:
            said = gettext("all visitors are told, on every page")
        else:
            said = gettext("the notice is cleared")
        return Done(said, undo=(GiveNotice(before),) if before != line else ())
