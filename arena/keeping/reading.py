"""The record of a game, wherever it is: in its row, or in a file of the cold store.

Whoever wants one selects `PlayedGame.id` and `PlayedGame.record`, and gives both to `text_of` or
`record_of`: a row that has its record costs nothing more.
"""

from __future__ import annotations

import json
import logging
from functools import lru_cache
from threading import Lock

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.ground.db import COLD
from arena.ground.refusals import Refusal
from arena.keeping.day_files import DayFileError, DayFrame, texts_in, unpack_frames
from arena.keeping.dictionaries import text_in
from arena.keeping.stores import StoreError, store_at
from arena.models import DayFile
from engine.record import GameRecord
from engine.translation import gettext

KEPT_FRAMES = 16
"""How many frames that were read last a process keeps, since neighbours are asked for together."""
KEPT_FILES = 64
"""The most files of which a process remembers which games are where."""

log = logging.getLogger("arena.keeping")


class RecordAway(Refusal):
    """A record that is cold, and can't be had now."""


def record_of(session: Session, number: int, stored: bytes) -> GameRecord:
    """The record of a game.

    Args:
        stored: what its row has.

    Raises:
        RecordAway: the cold store does not give it.
    """
    return GameRecord.from_json(json.loads(text_of(session, number, stored)))


def text_of(session: Session, number: int, stored: bytes) -> bytes:
    """The record of a game as JSON."""
    return text_in(session, stored) if stored else _cold_text(session, number)


def _cold_text(session: Session, number: int) -> bytes:
    nearest = sa.select(DayFile.id, DayFile.name).where(DayFile.first <= number)
    file = session.execute(nearest.order_by(DayFile.first.desc()).limit(1)).first()
    try:
        if file is None:
            raise DayFileError("no file is to have it")
        frames = _frames(session, file.id, file.name)
        frame = next((one for one in frames if one.has(number)), None)
        if frame is None:
            raise DayFileError(f"{file.name} does not have it")
        if not session.info.get(COLD):
            raise StoreError("this process was not told where the cold store is")
        return _texts(session.info[COLD], file.name, frame)[number]
    except (StoreError, DayFileError) as error:
        log.error("the record of game %s can't be had: %s", number, error)
        raise RecordAway(
            gettext(
                "The record of game %(number)s is in the cold store, and can't be had from there "
                "now.",
                number=number,
            )
        ) from None


def _frames(session: Session, number: int, name: str) -> list[DayFrame]:
    """The frames of a file, which never change."""
    found = _kept_frames.get(name)
    if found is None:
        stored = session.scalars(sa.select(DayFile.frames).where(DayFile.id == number)).one()
        found = unpack_frames(stored)
        with _keeping_frames:
            while len(_kept_frames) >= KEPT_FILES:
                del _kept_frames[next(iter(_kept_frames))]
            _kept_frames[name] = found
    return found


_kept_frames: dict[str, list[DayFrame]] = {}
_keeping_frames = Lock()


@lru_cache(KEPT_FRAMES)
def _texts(store: str, name: str, frame: DayFrame) -> dict[int, bytes]:
    return texts_in(store_at(store).read(name, frame.start, frame.size), frame.digest)
