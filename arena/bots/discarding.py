"""Files of bots that nobody has any more: named as such by whoever deletes the last bot that had
them, and taken off the disk where the store is.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.bots import sending
from arena.ground.db import Database
from arena.models import BotVersion, DiscardedFile, LargeFile, ReadCode


def discard(session: Session, bundles: Collection[str], after: datetime) -> None:
    """Has the files of bundles go, but for those that another bot has.

    Args:
        bundles: digests that no row of the bot that had them names any more.
        after: from when on.
    """
    session.flush()
    kept = sa.select(BotVersion.digest).where(BotVersion.digest.in_(bundles))
    gone = set(bundles) - set(session.scalars(kept)) - {""}
    beside = set(session.scalars(sa.select(LargeFile.digest).where(LargeFile.bundle.in_(gone))))
    session.execute(sa.delete(LargeFile).where(LargeFile.bundle.in_(gone)))
    session.execute(sa.delete(ReadCode).where(ReadCode.digest.in_(gone)))
    for digest in gone | beside:
        session.merge(DiscardedFile(digest=digest, after=after))


def sweep(database: Database, store: Path, now: datetime) -> None:
    """Takes files off the disk that are to go by now, if nobody has handed them in again."""
    with database.read() as session:
        due = sa.select(DiscardedFile.digest).where(DiscardedFile.after <= now)
        digests = session.scalars(due).all()
    if not digests or not store.is_dir():
        return
    done = [digest for digest in digests if sending.remove_unwanted(database, store, digest, now)]
    with database.begin() as session:
        session.execute(sa.delete(DiscardedFile).where(DiscardedFile.digest.in_(done)))
