"""What happens at the dates of competitions, each in a transaction of its own, by the recorder.

Several that are overdue happen in their order, however long nobody was there to do it. What can't
be done is told beside the date, and nothing waits for it: it has happened. A date that comes again
happens once however often it is overdue, and then waits for its next moment after now. During
maintenance nothing does; after it all that is overdue happens.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import audit
from arena.audit import ARENA
from arena.competitions import drawn_fields, rounds
from arena.competitions.dates import RANKS, next_moment
from arena.competitions.founding import come_back
from arena.competitions.kinds import kind_of
from arena.competitions.ladder_tournaments import demand_enough, make, ready_on
from arena.competitions.seasons import begin_again, lock_what_moves
from arena.ground.db import FAILED, At, database_time
from arena.ground.locks import lock, locking
from arena.ground.refusals import Refusal
from arena.ground.texts import cut
from arena.models import (
    Competition,
    CompetitionDate,
    CompetitionState,
    DateKind,
    JobStatus,
    Ladder,
    Match,
)
from arena.present import maintenance
from engine.game import GameError
from engine.seeds import derive
from engine.translation import ENGLISH, speaking

OVER = "it was over by then"
FAULTY = "something went wrong, which is in the recorder's log"

log = logging.getLogger("arena.recorder.dates")


def due(now: At) -> sa.Select[CompetitionDate]:
    """The dates that are to happen at a moment."""
    return sa.select(CompetitionDate).where(
        CompetitionDate.happened.is_(None), CompetitionDate.at <= now
    )


def happen_next(session: Session) -> CompetitionDate | None:
    """Has the first date happen that is due; None if none is, or nothing happens for now."""
    if maintenance(session) is not None:
        return None
    now = database_time(session)
    rank = sa.case(RANKS, value=CompetitionDate.what)
    found = session.scalar(due(now).order_by(CompetitionDate.at, rank, CompetitionDate.id).limit(1))
    if found is None:
        return None
    competition = found.competition
    _lock_jobs(session, found)
    lock(session, competition)
    its = CompetitionDate.id == found.id, CompetitionDate.competition_id == competition.id
    anew = due(now).where(*its)
    if session.scalar(anew.execution_options(populate_existing=True)) is None:
        return found  # it was just moved or removed, or another has had it happen
    made, found.outcome = None, ""
    try:
        with session.begin_nested(), speaking(ENGLISH):  # what is told of it is kept
            found.made = made = _do(session, found, now)
    except (Refusal, GameError) as error:
        found.outcome = str(error)
    except FAILED:
        raise
    except Exception:
        log.exception("the date %s of %s", found.what, competition.name)
        found.outcome = FAULTY
    if found.what is DateKind.ROUND and found.outcome != OVER:
        found.at = next_moment(found, now)
    else:
        found.happened = now
    subject = f"{competition.kind} {competition.name}"
    what = f"made {made.name}" if made is not None else ""
    words = ", ".join(filter(None, [str(found.what), found.outcome, what]))
    audit.note(session, ARENA, "date", subject, words, now=now)
    log.info("%s: %s", subject, words)
    session.flush()
    return found


def _do(session: Session, date: CompetitionDate, now: datetime) -> Competition | None:
    competition = date.competition
    if competition.state is CompetitionState.CLOSED and date.what is not DateKind.SEASON:
        raise Refusal(OVER)
    return DOING[date.what](session, date, competition, now)


def _lock_jobs(session: Session, date: CompetitionDate) -> None:
    """Locks the jobs that a date changes: they come before competitions."""
    if date.what is DateKind.SEASON:
        lock_what_moves(session, date.competition_id)
    elif date.what is DateKind.CLOSES:
        unplayed = sa.select(Match).where(
            Match.competition_id == date.competition_id,
            Match.status.in_([JobStatus.OPEN, JobStatus.ISSUED, JobStatus.SET_ASIDE]),
        )
        session.scalars(locking(unplayed, Match)).all()


def _open(session: Session, _: CompetitionDate, competition: Any, __: datetime) -> None:
    if competition.state is CompetitionState.OPEN or competition.awaits_field:
        return
    competition.state = CompetitionState.OPEN
    come_back(session, competition)


def _nothing(*_: Any) -> None:
    """What is forbidden from now on is asked for by the date itself."""


def _close_entries(
    session: Session, date: CompetitionDate, competition: Any, now: datetime
) -> None:
    """Has what awaits its field begin; else what is forbidden is asked for by the date itself."""
    if competition.awaits_field:
        drawn_fields.draw(session, competition, date.at, now)


def _make_final(
    session: Session, date: CompetitionDate, ladder: Ladder, now: datetime
) -> Competition:
    its = date.settings
    field = ready_on(session, ladder)[: its["top"]]
    demand_enough(ladder, field)
    made = make(
        session,
        ladder,
        field,
        now,
        name=f"{ladder.name[:70]}-final",
        title=f"{cut(ladder.title, 110)}: final",
        format=its["format"],
        settings=its["settings"],
        seed=derive(ladder.seed, "final", date.id) % 2**48,
    )
    made.reserve = its["reserve"] / 100 or None
    return made


def _close(session: Session, date: CompetitionDate, competition: Any, now: datetime) -> None:
    kind_of(competition).close(session, competition, now)
    # However late somebody came to do it.
    competition.finished = date.at


def _begin_again(
    session: Session, date: CompetitionDate, ladder: Ladder, now: datetime
) -> Competition:
    return begin_again(session, ladder, date.settings["keep"] / 100, date.at, now)


DOING: Mapping[DateKind, Callable[..., Competition | None]] = {
    DateKind.OPENS: _open,
    DateKind.ENTRIES_CLOSE: _close_entries,
    DateKind.FREEZE: _nothing,
    DateKind.ROUND: rounds.begin,
    DateKind.FINAL: _make_final,
    DateKind.CLOSES: _close,
    DateKind.SEASON: _begin_again,
}
