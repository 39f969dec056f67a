"""Checkpoints: how far the history of a competition was checked, and what came out of it till then.

A check goes on from there, so that it folds only what is new. What lies before it may have been
changed where it is stored, by a disk or by hand, of which a fold that does not read it knows
nothing. So its rows are known by digests, one for each chapter of a thousand matches, and with each
check some chapters are read again, in turn: all of them within `TURNS` checks. That is against
accidents: whoever writes to the database can change digests, too.

A checkpoint is stored in one transaction with the digests up to it. Where history was changed
before it, as when a match is made void, it no longer holds (`Fold.holds`).
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Generator
from dataclasses import asdict, astuple, fields
from datetime import datetime
from hashlib import blake2b
from operator import attrgetter
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.ground.db import Database, count_rows, database_time
from arena.ground.locks import lock
from arena.models import CheckedChapter, Checkpoint, Competition
from arena.ratings.book import RatingBook
from arena.ratings.trends import Trends
from arena.ratings.trueskill import Rating, TrueSkill
from arena.recorder.fold import Chapter, Entry, Fold, as_stored
from arena.recorder.storage import EntrantTally, MeetingTally, Tally

FORMAT = 1
"""The format of what is stored. What is of another one is not read: the next check begins anew."""
TURNS = 30
"""Within so many checks every chapter is read again."""
MODULUS = 1 << 128
"""The modulus by which the numbers of all meetings are added up (`number_of`)."""
NONE = MeetingTally()
_COUNTS = attrgetter(*(one.name for one in fields(MeetingTally)))
"""Gives a tally's counts as `astuple` does, in a tenth of its time: a check asks for those of every
meeting."""


def number_of(pair: tuple[int, int], both: MeetingTally) -> int:
    """A number by whose sum meetings are known again, whatever their order; 0 of none."""
    if both == NONE:
        return 0
    text = repr((pair, _COUNTS(both))).encode()
    return int.from_bytes(blake2b(text, digest_size=16).digest())


def resumed(session: Session, competition: Competition) -> Fold | None:
    """The fold up to the checkpoint of a competition; None if there is none that holds."""
    found = session.get(Checkpoint, competition.id)
    if found is None:
        return None
    fold = _read(found.state)
    if fold is None or not fold.holds(session, competition):
        return None
    newest = session.scalars(
        sa.select(CheckedChapter)
        .where(CheckedChapter.competition_id == competition.id)
        .order_by(CheckedChapter.after.desc())
        .limit(1)
    ).first()
    if newest is not None:
        fold.chapters.append(Chapter(newest.after, newest.last, newest.matches, newest.digest))
    return fold


def keep(session: Session, competition: Competition, fold: Fold) -> None:
    """Stores a fold as the checkpoint of a competition.

    It is left alone if there is another one by now than that from which the fold went on: then
    somebody has made the competition anew.

    Args:
        fold: one in which nothing was found that is stored otherwise.
    """
    lock(session, competition)
    number, now = competition.id, database_time(session)
    looked = now
    if fold.kept is None:
        forget(session, number)
    else:
        was = session.scalar(sa.select(Checkpoint.last).where(Checkpoint.competition_id == number))
        if was != fold.kept:
            return
        session.execute(sa.delete(Checkpoint).where(Checkpoint.competition_id == number))
        for chapter in fold.chapters[:1]:  # which may have become longer
            this = CheckedChapter.competition_id == number, CheckedChapter.after == chapter.after
            looked = session.scalar(sa.select(CheckedChapter.looked).where(*this)) or now
            session.execute(sa.delete(CheckedChapter).where(*this))
    values = {"last": fold.last, "made": now, "state": _written(fold)}
    session.execute(sa.insert(Checkpoint).values(competition_id=number, **values))
    rows = [
        {"competition_id": number, "looked": now, **asdict(chapter)} for chapter in fold.chapters
    ]
    if rows:
        rows[0]["looked"] = looked
        session.connection().execute(sa.insert(CheckedChapter), rows)
    fold.kept, fold.chapters = fold.last, fold.chapters[-1:]


def forget(session: Session, number: int) -> None:
    """Has the next check of a competition begin with its first match."""
    for kind in (Checkpoint, CheckedChapter):
        session.execute(sa.delete(kind).where(kind.competition_id == number))


def read_again(database: Database, number: int) -> Generator[None, None, str]:
    """Reads those chapters of a competition again that were not read for the longest time.

    It yields between them.

    Returns:
        What is not as it was; empty if all is.
    """
    query = sa.select(CheckedChapter).where(CheckedChapter.competition_id == number)
    with database.read() as session:
        chapters = count_rows(session, CheckedChapter, CheckedChapter.competition_id == number)
    for turn in range(math.ceil(chapters / TURNS)):
        if turn:
            yield
        with database.read() as session:
            competition = session.get_one(Competition, number)
            chapter = session.scalars(
                query.order_by(CheckedChapter.looked, CheckedChapter.after).limit(1)
            ).first()
            if chapter is None or competition.rebuild_due:  # which has other chapters afterwards
                return ""
            as_kept = Chapter(chapter.after, chapter.last, chapter.matches, chapter.digest)
            if as_stored(session, competition, as_kept) != as_kept:
                return (
                    f"what is stored of matches {chapter.after + 1} to {chapter.last} is not as it "
                    f"was when they were last looked at, {chapter.looked:%Y-%m-%d}"
                )
        with database.begin() as session:
            session.execute(
                sa.update(CheckedChapter)
                .where(
                    CheckedChapter.competition_id == number,
                    CheckedChapter.after == chapter.after,
                    CheckedChapter.digest == chapter.digest,
                )
                .values(looked=database_time(session))
            )
    return ""


def _written(fold: Fold) -> bytes:
    total = fold.total
    state = {
        "format": FORMAT,
        "draws": fold.draws,
        "last": fold.last,
        "voids": fold.voids,
        "met": str(fold.met),
        "total": [total.games, total.neighbours, total.ties],
        "entered": [list(entry) for entry in fold.entered],
        "ratings": [[one, its.mu, its.sigma] for one, its in fold.book.ratings.items()],
        "trends": [[one, trend] for one in fold.book.ratings if (trend := fold.trends[one])],
        "entrants": [[one, *astuple(its)] for one, its in total.entrants.items()],
        "meetings": [[*pair, *astuple(its)] for pair, its in total.meetings.items()],
        "games_before": list(fold.games_before.items()),
        "last_games": [[one, when.isoformat()] for one, when in fold.last_games.items()],
        "last_game": fold.last_game and fold.last_game.isoformat(),
    }
    return zlib.compress(json.dumps(state, separators=(",", ":")).encode())


def _read(stored: bytes) -> Fold | None:
    """The fold that `_written` stored; None of one that can't be read."""
    try:
        state = json.loads(zlib.decompress(stored))
        if state["format"] != FORMAT:
            return None
        ratings = {one: Rating(mu, sigma) for one, mu, sigma in state["ratings"]}
        games, neighbours, ties = state["total"]
        last_game = state["last_game"]
        return Fold(
            state["draws"],
            RatingBook(TrueSkill(draw_probability=state["draws"]), ratings),
            trends=Trends(dict(state["trends"])),
            total=Tally(
                games,
                neighbours,
                ties,
                {one: EntrantTally(*its) for one, *its in state["entrants"]},
                {(one, two): MeetingTally(*its) for one, two, *its in state["meetings"]},
            ),
            last_games={one: datetime.fromisoformat(at) for one, at in state["last_games"]},
            last_game=last_game and datetime.fromisoformat(last_game),
            last=state["last"],
            voids=state["voids"],
            entered=[_entry(*its) for its in state["entered"]],
            games_before=dict(state["games_before"]),
            met=int(state["met"]),
            kept=state["last"],
        )
    except (zlib.error, ValueError, KeyError, TypeError):
        return None


def _entry(after: int, number: int, again: bool, predecessor: int | None, start: Any) -> Entry:
    return Entry(after, number, again, predecessor, start and tuple(start))
