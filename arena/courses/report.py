"""Whose hand-ins are alike: pairs, and two of them side by side."""

from __future__ import annotations

from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.courses.reading import given_to_all, handed_in
from arena.courses.similarity import (
    Fragment,
    Likeness,
    Passage,
    Prints,
    fragments,
    likenesses,
)
from arena.ground.refusals import NotThere
from arena.models import ReadCode, TaughtCourse
from engine.translation import gettext

COMMON_LEAST, COMMON_PART = 10, 5
"""What stands in more than so many hand-ins, and in more than a fifth of them, is no sign."""


class UnreadFile(NamedTuple):
    """A file of a hand-in that is not compared."""

    student: str
    file: str
    """Its name; empty for all of them."""
    why: str


class Report(NamedTuple):
    """How alike the hand-ins of a course are."""

    compared: int
    """How many students' hand-ins are compared."""
    waiting: int
    """How many hand-ins are not read yet."""
    prints: dict[str, int]
    """How many fingerprints each has of its own, by the student's name."""
    unread: list[UnreadFile]
    likenesses: list[Likeness]
    """The most alike first."""


class SideBySide(NamedTuple):
    """Two hand-ins, and what they have in common."""

    first: str
    second: str
    """The digests of both."""
    fragments: list[Fragment]


def report(session: Session, course: TaughtCourse) -> Report:
    """All pairs of students whose hand-ins have something in common."""
    handed = handed_in(session, course)
    read = _read(session, list(handed.values()))
    own = {name: read[digest] for name, digest in handed.items() if digest in read}
    unread = [UnreadFile(name, *one) for name, its in own.items() for one in its.unread]
    given = _given(session, course)
    known = {one for prints in given for one in prints.hashes}
    prints = {name: _prints(its).without(known) for name, its in own.items()}
    common = max(COMMON_LEAST, len(prints) // COMMON_PART)
    return Report(
        len(own),
        len(handed) - len(own),
        {name: len(set(its.hashes)) for name, its in prints.items()},
        unread,
        likenesses(prints, common=common),
    )


def side_by_side(session: Session, course: TaughtCourse, first: str, second: str) -> SideBySide:
    """What two students have in common, the longest first.

    Raises:
        NotThere: one of them has no hand-in that was read.
    """
    handed = handed_in(session, course)
    digests = [handed.get(name, "") for name in (first, second)]
    read = _read(session, digests)
    for name, digest in zip((first, second), digests, strict=True):
        if digest not in read:
            raise NotThere(gettext("there is no hand-in of %(user)s to compare", user=name[:80]))
    ones, others = (_prints(read[digest]) for digest in digests)
    found = fragments(ones, others, given=_given(session, course))
    return SideBySide(digests[0], digests[1], found)


def _given(session: Session, course: TaughtCourse) -> list[Prints]:
    return [_prints(one) for one in _read(session, given_to_all(session, course)).values()]


def _read(session: Session, digests: list[str]) -> dict[str, ReadCode]:
    query = sa.select(ReadCode).where(ReadCode.digest.in_(digests))
    return {one.digest: one for one in session.scalars(query)}


def _prints(code: ReadCode) -> Prints:
    return Prints(
        tuple(int(hashed, 16) for hashed, *_ in code.prints),
        tuple(Passage(code.files[file], first, last) for _, file, first, last in code.prints),
    )
