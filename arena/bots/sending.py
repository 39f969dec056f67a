"""Large files that people send in parts, before they hand in the bots that have them.

Theory of operation. A file goes by its digest, which its sender says first, together with its
size. Until it is whole it is that person's alone, in a file of the store with that person's number
in its name; whole and proven it gets its name in the store, and storage is shared from there on.
So the digest of somebody else's file is of no use: whoever wants to have it in a bot sends all of
it, or may read a bot that has it; and whether it was in the store before is told by no answer, and
by no time, since what comes is written, proven and put in its place all the same.

How much has come is the length of the file, so a cut costs at most the part that was on its way,
whoever of the two was cut off. What was sent counts in the quota of its sender from the start, by
the size that was said. Nobody keeps what no bot has: a day after it was last asked for it goes.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from io import FileIO
from pathlib import Path
from typing import IO

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.bots import quota
from arena.bots.intake import Sender
from arena.bots.sharing import belongs_to
from arena.ground.db import Database
from arena.ground.file_locks import lock_file, wait_for_lock
from arena.ground.refusals import NotThere, Refusal
from arena.models import Bot, BotVersion, LargeFile, SentFile
from engine.translation import gettext

DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)
PART_BYTES = 8 * 1024 * 1024
"""The most that one request brings."""
MOST_BYTES = 1 << 30
"""The most that one file may have: no ladder may grant more to all files of a bot."""
KEPT = timedelta(days=1)
JUST_SENT, LONGEST_SENDING = timedelta(minutes=15), timedelta(hours=2)
"""How long a file that came belongs to what is handed in next; and how long ago a sending counts
from at most, or who begins one in time could go on with it for ever."""
LEAST_GRACE, LEAST_RATE = timedelta(minutes=5), 125_000
"""So long any sending may take, and how many bytes a second it brings besides: 1 Mbit/s."""
STORING_SECONDS = 60
"""A file that was written so lately may be of a bot that is just being handed in."""
CHUNK = 1 << 18
UNFINISHED = ".new-"


def sender_of(
    database: Database, store: Path, user_id: int, most_bytes: int, quota_bytes: int
) -> Sender:
    """Somebody as whoever hands files in.

    Args:
        store: the folder of bundles.
        most_bytes: that a bot may have where it is handed in.
        quota_bytes: that everybody may have stored who has no quota of their own.
    """

    def given(digest: str) -> Path | None:
        with database.read() as session:
            known = digest in readable_sizes(session, user_id, [digest])
        return store / digest if known else None

    def claim_for_them(files: Mapping[str, int]) -> None:
        now = datetime.now(UTC)
        database.run(lambda session: claim(session, user_id, files, quota_bytes, now))

    return Sender(most_bytes, given, claim_for_them)


@dataclass(frozen=True, slots=True)
class Received:
    """How much of a file has come."""

    digest: str
    size: int
    received: int
    """Bytes from its beginning; all of them only if it is proven, too."""


def begin(
    database: Database,
    store: Path,
    user_id: int,
    digest: str,
    size: int,
    *,
    most_stored: int,
    now: datetime,
) -> Received:
    """Begins to take a file in, or tells how much of it has come.

    Args:
        most_stored: bytes that everybody may have stored who has no quota of their own.

    Raises:
        Refusal: it is no digest, too large, said to be of another size, or more than there is room
            for.
    """
    if not DIGEST.fullmatch(digest):
        raise Refusal(
            gettext("a digest is the SHA-256 of a file, in 64 hexadecimal digits: 0-9 and a-f")
        )
    if not 1 <= size <= MOST_BYTES:
        raise Refusal(
            gettext(
                "a file may have from 1 to %(most)s bytes, not %(size)s",
                most=MOST_BYTES,
                size=size,
            )
        )

    def enter(session: Session) -> None:
        quota.lock_people(session, [user_id])
        found = session.get(SentFile, (user_id, digest))
        if found is None:
            if readable_sizes(session, user_id, [digest]).get(digest) == size:
                return
            quota.demand_room(session, user_id, size, most_stored)
            found = SentFile(user_id=user_id, digest=digest, size=size, used=now, begun=now)
            session.add(found)
        elif found.size != size:
            raise Refusal(
                gettext(
                    "you began to send that file with %(before)s bytes, not %(size)s",
                    before=found.size,
                    size=size,
                )
            )
        found.used = now

    database.run(enter)
    return look(database, store, user_id, digest)


def look(database: Database, store: Path, user_id: int, digest: str) -> Received:
    """How much of a file has come that somebody sends, or may name already.

    Raises:
        NotThere: nobody has begun to send it whose business it is.
    """
    with database.read() as session:
        sent = session.get(SentFile, (user_id, digest))
        size = sent.size if sent else readable_sizes(session, user_id, [digest]).get(digest)
    if size is None:
        raise NotThere(
            gettext("you have sent no file %(digest)s: begin with its size", digest=digest[:12])
        )
    # What was lost since it came whole is sent again.
    if (sent is None or sent.whole) and _size(store / digest) == size:
        return Received(digest, size, size)
    return Received(digest, size, min(_size(_part(store, user_id, digest)), size - 1))


def receive(
    database: Database,
    store: Path,
    user_id: int,
    digest: str,
    offset: int,
    length: int,
    source: IO[bytes],
    now: datetime,
) -> Received:
    """Takes in a part of a file, of so many bytes, which follows what has come.

    Raises:
        NotThere: it was not begun.
        Refusal: the part begins elsewhere or goes beyond the end, another comes at this moment, or
            the whole is not of its digest, and is to be sent again.
        OSError: there is no room on the disk; nothing of the part was kept.
    """
    before = look(database, store, user_id, digest)
    if before.received == before.size:
        return before
    if not 0 < length <= before.size - offset:
        raise Refusal(
            gettext(
                "a part from byte %(first)s to %(end)s is none of a file of %(size)s bytes",
                first=offset,
                end=offset + length,
                size=before.size,
            )
        )
    store.mkdir(parents=True, exist_ok=True, mode=0o700)
    with _alone(_part(store, user_id, digest)) as file:
        # The end is proven again if whoever proved it was killed meanwhile.
        came = min(os.fstat(file.fileno()).st_size, before.size - 1)
        if came != offset:
            raise Refusal(
                gettext(
                    "%(number)s bytes of the file have come, so the next part begins there",
                    number=came,
                )
            )
        file.truncate(came)
        try:
            _append(file, source, length)
        except BaseException:
            file.truncate(came)
            raise
        if came + length < before.size:
            return Received(digest, before.size, came + length)
        os.fsync(file.fileno())
        file.seek(0)
        if hashlib.file_digest(file, "sha256").hexdigest() != digest:
            file.truncate(0)
            raise Refusal(
                gettext("what came is not the file %(digest)s: send it again", digest=digest[:12])
            )
        with _store_alone(store):
            _part(store, user_id, digest).replace(store / digest)
    database.run(lambda session: _note_whole(session, user_id, digest, before.size, now))
    return Received(digest, before.size, before.size)


def _append(file: FileIO, source: IO[bytes], length: int) -> None:
    left = length
    file.seek(0, os.SEEK_END)
    while left:
        chunk = memoryview(source.read(min(CHUNK, left)))
        if not chunk:
            raise Refusal(
                gettext("%(number)s bytes of the part did not come: send it again", number=left)
            )
        left -= len(chunk)
        while chunk:
            chunk = chunk[file.write(chunk) :]


def _note_whole(session: Session, user_id: int, digest: str, size: int, now: datetime) -> None:
    sent = SentFile(user_id=user_id, digest=digest, size=size, whole=True, used=now, ended=now)
    session.merge(sent)


def grace(size: int) -> timedelta:
    """How long before it is there a bot can have begun to be handed in, by what was sent of it:
    nobody holds a place before a date who sends next to nothing, and finishes later."""
    return min(LONGEST_SENDING, LEAST_GRACE + timedelta(seconds=size / LEAST_RATE))


def began(session: Session, user_id: int, files: Collection[str], now: datetime) -> datetime:
    """When a bot began to be handed in: when the last of its large files was begun, if they were
    sent for it just before. One that was begun earlier makes nothing else come earlier.

    Args:
        files: the digests of its large files.
        now: when the request began that brings the rest.
    """
    # What came in an archive came when that was there.
    begun = sa.func.coalesce(SentFile.begun, SentFile.ended)
    query = sa.select(SentFile.size, begun, SentFile.ended).where(
        SentFile.user_id == user_id, SentFile.digest.in_(files), begun >= now - LONGEST_SENDING
    )
    sent = session.execute(query).all()
    ends = [one.ended for one in sent]
    if not ends or None in ends or max(ends) < now - JUST_SENT:
        return now
    last = max(one[1] for one in sent)
    return min(now, max(last, now - grace(sum(one.size for one in sent))))


def claim(
    session: Session, user_id: int, files: Mapping[str, int], most_stored: int, now: datetime
) -> None:
    """Notes large files that somebody has sent in an archive, and so has proven to have.

    Args:
        files: their sizes by their digests.

    Raises:
        Refusal: there is no room for them.
    """
    quota.lock_people(session, [user_id])
    there = readable_sizes(session, user_id, files)
    new = {digest: size for digest, size in files.items() if digest not in there}
    begun = {digest for digest in new if session.get(SentFile, (user_id, digest))}
    quota.demand_room(session, user_id, sum(new[one] for one in new.keys() - begun), most_stored)
    for digest, size in new.items():
        _note_whole(session, user_id, digest, size, now)
        # It came with what it is in, whatever was begun before.
        session.get_one(SentFile, (user_id, digest)).begun = None


def readable_sizes(session: Session, user_id: int, digests: Collection[str]) -> dict[str, int]:
    """The sizes of those of some files that somebody has sent in whole, or may read in a bot."""
    sent = sa.select(SentFile.digest, SentFile.size).where(
        SentFile.user_id == user_id, SentFile.whole, SentFile.digest.in_(digests)
    )
    in_bots = (
        sa.select(LargeFile.digest, LargeFile.size)
        .join(BotVersion, BotVersion.digest == LargeFile.bundle)
        .join(Bot, Bot.id == BotVersion.bot_id)
        .where(LargeFile.digest.in_(digests), sa.or_(belongs_to(user_id), Bot.open_source))
    )
    return {row[0]: row[1] for query in (sent, in_bots) for row in session.execute(query)}


def use(session: Session, user_id: int, digests: Collection[str], now: datetime) -> None:
    """Keeps files that a bot is to have, and that its sender may name, from being forgotten.

    Raises:
        Refusal: one is not, or is forgotten by now.
    """
    named = sa.and_(SentFile.user_id == user_id, SentFile.digest.in_(digests))
    session.execute(sa.update(SentFile).where(named).values(used=now))
    for digest in set(digests) - readable_sizes(session, user_id, digests).keys():
        raise Refusal(
            gettext(
                "the large file %(digest)s was not sent, or is forgotten: send it again",
                digest=digest[:12],
            )
        )


def sweep(database: Database, store: Path, now: datetime) -> None:
    """Forgets what was sent a day ago and that no bot has."""
    old = SentFile.used < now - KEPT

    def forget(session: Session) -> list[tuple[int, str]]:
        gone = session.execute(
            sa.delete(SentFile).where(old).returning(SentFile.user_id, SentFile.digest)
        )
        return [(row[0], row[1]) for row in gone]

    for user_id, digest in database.run(forget):
        _part(store, user_id, digest).unlink(missing_ok=True)
        # Who sends the same file has begun before, which is seen here, and puts it into its place
        # afterwards.
        with _store_alone(store), database.read() as session:
            if not _is_wanted(session, digest):
                (store / digest).unlink(missing_ok=True)


def remove_unwanted(database: Database, store: Path, digest: str, now: datetime) -> bool:
    """Takes a file out of the store if nobody has it, nor may just be handing it in.

    Returns:
        False if that is to be seen later.
    """
    path = store / digest
    with _store_alone(store), database.read() as session:
        if _is_wanted(session, digest):
            return True
        with suppress(FileNotFoundError):
            if now.timestamp() - path.stat().st_mtime < STORING_SECONDS:
                return False
        path.unlink(missing_ok=True)
    return True


def _is_wanted(session: Session, digest: str) -> bool:
    tables = (LargeFile.digest, SentFile.digest, BotVersion.digest)
    return any(session.scalar(sa.select(sa.exists().where(column == digest))) for column in tables)


def _part(store: Path, user_id: int, digest: str) -> Path:
    return store / f"{UNFINISHED}{user_id}-{digest}"


def _size(path: Path) -> int:
    with suppress(FileNotFoundError):
        return path.stat().st_size
    return 0


@contextmanager
def _alone(path: Path) -> Iterator[FileIO]:
    """A file that no other request writes to meanwhile."""
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    with FileIO(os.open(path, flags, 0o600), "r+") as file:
        # Another may have given it its last name since it was opened here.
        its = os.fstat(file.fileno())
        if not lock_file(file.fileno()) or not path.exists() or path.stat().st_ino != its.st_ino:
            raise Refusal(
                gettext("another part of this file comes at this moment: send one after another")
            )
        yield file


@contextmanager
def _store_alone(store: Path) -> Iterator[None]:
    handle = os.open(store, os.O_RDONLY)
    try:
        wait_for_lock(handle)
        yield
    finally:
        os.close(handle)
