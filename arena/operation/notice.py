"""A line of the operator's for all visitors: on every page until it is cleared."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.orm import Session

from arena import audit
from arena.audit import Actor
from arena.models import Mark

MARK = "notice"
LONGEST = 300


class NoticeError(ValueError):
    """What can't be a notice; one sentence that says why."""


def read_notice(session: Session) -> str:
    """What all visitors are told; empty if that is nothing."""
    mark = session.get(Mark, MARK)
    return mark.value if mark else ""


def give_notice(session: Session, actor: Actor, text: str, now: datetime) -> None:
    """Tells all visitors a line from now on; an empty one clears the last.

    Raises:
        NoticeError: it is too long, or has characters that can't be seen.
    """
    line = " ".join(text.split())
    if len(line) > LONGEST:
        raise NoticeError(f"a notice has at most {LONGEST} characters, and this has {len(line)}")
    if not line.isprintable():
        raise NoticeError("there are characters in it that can't be seen")
    session.merge(Mark(key=MARK, value=line))
    audit.note(session, actor, "give notice" if line else "clear notice", MARK, line, now=now)
