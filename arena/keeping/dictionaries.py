"""What records of a game have in common, by which each is packed: a dictionary for each game.

Theory of operation. A record alone is short, and most of it stands in every other record of its
game: keys, ways to write moves, numbers of plies. zlib finds that if it is given some text before
(RFC 1950, 2.2: a *preset dictionary*), of which what was packed says the Adler-32. So a dictionary
is a few records of the game, without anybody's names and words; it is made once, when there are
enough, and kept for ever, as nothing can be read without it that was packed by it. What was packed
without one says so, and is read as before.

The first of them is made a day after the first start of a release that knows them: until then a
server of pages of the release before may be at work, too, which could not read it.
"""

from __future__ import annotations

import json
import time
import zlib
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.ground.db import KEPT
from arena.keeping.packing import needed, unpack_text
from arena.models import Competition, Dictionary, Mark, PlayedGame

SAMPLES = 24
"""Records that one is made of."""
LARGEST = 1 << 15
"""Bytes: zlib looks back no further."""
REST, LATELY = timedelta(days=1), timedelta(days=7)
KNOWN_MARK = "dictionaries are known since"
ASK_SECONDS = 10.0
"""How often it is asked whether there are new ones."""
NOBODYS = ("players", "texts")
"""What of a record is somebody's."""


def make_next(session: Session, now: datetime) -> bool:
    """Makes the dictionary of a game that has none and can have one; whether there was such."""
    mark = session.get(Mark, KNOWN_MARK)
    if mark is None:
        session.add(Mark(key=KNOWN_MARK, value=now.isoformat()))
        return False
    if now - datetime.fromisoformat(mark.value) < REST:
        return False
    made = sa.select(Dictionary.game)
    enough = sa.select(Competition.id, Competition.game).where(
        Competition.games >= SAMPLES,
        Competition.game.not_in(made),
        Competition.last_game > now - LATELY,  # the records of others may be cold
    )
    for competition, game in session.execute(enough.order_by(Competition.games.desc())).all():
        content = _made_of(session, competition)
        if content is not None:
            number = zlib.adler32(content)
            if session.get(Dictionary, number) is None:  # of two games, whose records are the same
                session.add(Dictionary(id=number, game=game, content=content, made=now))
                return True
    return False


def _made_of(session: Session, competition: int) -> bytes | None:
    its = sa.select(PlayedGame.record).where(PlayedGame.competition_id == competition)
    found = session.scalars(its.order_by(PlayedGame.id.desc()).limit(SAMPLES)).all()
    try:
        texts = [_common(json.loads(text_in(session, stored))) for stored in found]
    except (zlib.error, ValueError, KeyError, TypeError):
        return None
    return b"".join(texts)[-LARGEST:] if len(texts) == SAMPLES else None


def _common(record: dict[str, Any]) -> bytes:
    """A record as a dictionary has it."""
    for key in NOBODYS:
        record[key] = type(record[key])()
    record["run"]["details"] = []
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode()


def dictionary_of(session: Session, game: str) -> bytes | None:
    """The one by which records of a game are packed now; None if there is none yet."""
    kept = _kept(session)
    if time.monotonic() >= kept.get("ask at", 0.0):
        known = [key for key in kept if isinstance(key, str)]
        new = sa.select(Dictionary.game, Dictionary.content).where(Dictionary.game.not_in(known))
        kept.update((row.game, row.content) for row in session.execute(new))
        kept["ask at"] = time.monotonic() + ASK_SECONDS
    found: bytes | None = kept.get(game)
    return found


def text_in(session: Session, stored: bytes) -> bytes:
    """The JSON of a record as a row has it.

    Raises:
        zlib.error: it is none.
    """
    number = needed(stored)
    if number is None:
        return unpack_text(stored)
    kept = _kept(session)
    content = kept.get(number)
    if content is None:
        content = session.scalar(sa.select(Dictionary.content).where(Dictionary.id == number))
        if content is None:
            raise zlib.error(f"there is no dictionary {number}")
        kept[number] = content
    return unpack_text(stored, content)


def _kept(session: Session) -> dict[Any, Any]:
    """What is known of dictionaries, by the names of games and by numbers."""
    kept: dict[Any, Any] = session.info.setdefault(KEPT, {})
    return kept
