"""How records become cold, how it is proven that they are there, and how they come back.

Theory of operation. Games are numbered as they end. So what is old enough is all up to some number,
and each file takes the first that are in none, of one day, and of many games several files. One is
first written beside, proven game by game by the digest in the row, put into the store, and read
back from there. Only then a transaction tells the database of it, and some more empty the rows, few
at a time, since everybody else writes meanwhile. Whatever breaks off, each record is in its row or
in a file that the database knows, and the next run goes on: a name follows from what is in a file,
so that the same file is put there again under the same name. Two runs at the same time do the same
work, and the database takes one's.

A record that is not as its digest says stays where it is.
"""

from __future__ import annotations

import hashlib
import json
import logging
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import IO, NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import Session, undefer

from arena.ground.db import Database, database_time
from arena.ground.locks import locking
from arena.keeping.day_files import (
    SUFFIX,
    DayFileError,
    DayFrame,
    FrameWriter,
    lines_of,
    pack_frames,
    texts_in,
    unpack_frames,
)
from arena.keeping.dictionaries import text_in
from arena.keeping.packing import pack_text
from arena.keeping.stores import ColdStore
from arena.models import DayFile, PlayedGame
from engine.record import digest_of

FILE_NUMBERS = 100_000
"""How many games a file has at most."""
FILE_BYTES = 1 << 28
"""With so many a file is full: no more games are added."""
AT_A_TIME = 200
"""Games that are read, or changed, in one transaction."""
CHUNK = 1 << 18

log = logging.getLogger("arena.keeping")

Advance = Callable[[int], object]
"""Is told of so many games more."""


class MoveError(Exception):
    """Records that can't be moved; one sentence."""


class WrongFile(MoveError):
    """A file that is not in the store as it was put there."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} is not in the cold store as it was put there")


def begins_cold(days: float, now: datetime) -> datetime:
    """When the day begins from which on records stay in the database."""
    return (now - timedelta(days=days)).replace(hour=0, minute=0, second=0, microsecond=0)


def waiting(session: Session, before: datetime) -> int:
    """How many numbers of games are to become cold, the games that never are among them."""
    end = _first_since(session, before)
    files = session.execute(sa.select(DayFile.first, DayFile.last, DayFile.emptied)).all()
    begun = sum(last - first + 1 for first, last, emptied in files if emptied is None)
    moved = sum(min(last, end - 1) - first + 1 for first, last, _ in files if first < end)
    return begun + end - 1 - moved


def is_any_waiting(session: Session, before: datetime) -> bool:
    """Whether there are any, by some looks."""
    if session.scalar(sa.select(DayFile.id).where(DayFile.emptied.is_(None)).limit(1)):
        return True
    first, end = _next(session, before)
    return first < end


def _next(session: Session, before: datetime) -> tuple[int, int]:
    """The first numbers that are in no file: from one on up to another, without that.

    After them there may be files, where records of days between were brought back.
    """
    ends = sa.union_all(sa.select(sa.literal(0).label("last")), sa.select(DayFile.last)).subquery()
    goes_on = sa.exists().where(DayFile.first == ends.c.last + 1)
    last = session.scalars(sa.select(sa.func.min(ends.c.last)).where(~goes_on)).one()
    after = session.scalar(sa.select(sa.func.min(DayFile.first)).where(DayFile.first > last))
    end = _first_since(session, before)
    return last + 1, end if after is None else min(end, after)


def _first_since(session: Session, moment: datetime) -> int:
    """The number of the first game that ended at a moment or later, or one that none has yet.

    It is looked for by halves, as no index has the moments; games that are said to end in times to
    come, by a clock that was wrong, tell nothing.
    """
    game, now = PlayedGame, database_time(session)
    low, high = 0, (session.scalar(sa.select(sa.func.max(game.id))) or 0) + 1
    while low + 1 < high:
        middle = (low + high) // 2
        next_ = sa.select(game.id, game.finished).where(game.id >= middle, game.finished <= now)
        found = session.execute(next_.order_by(game.id).limit(1)).first()
        if found is None or found.finished >= moment:
            high = middle
        else:
            low = found.id
    return high


class _OldGame(NamedTuple):
    id: int
    finished: datetime
    digest: str
    text: bytes | None
    """Its record as JSON; None if it is damaged."""


class Mover:
    """Moves records between the rows and a store.

    Args:
        done: is told of games that are written, and again as their rows are emptied.
        pause: after a transaction that took so many seconds, so that others get on.
    """

    def __init__(
        self,
        database: Database,
        store: ColdStore,
        done: Advance = lambda _: None,
        pause: Callable[[float], object] = time.sleep,
    ) -> None:
        self._database, self._store = database, store
        self._done, self._pause = done, pause

    def move(self, before: datetime, now: datetime) -> list[DayFile]:
        """Makes all records cold of games that ended before a moment; gives the files made.

        Raises:
            MoveError: a file is not in the store as it was put there.
            StoreError: the store can't be used.
        """
        self._empty_all(now)
        made = []
        while file := self._add(before, now):
            made.append(file)
            self._empty_all(now)
        return made

    def _add(self, before: datetime, now: datetime) -> DayFile | None:
        """Puts the next file into the store, and tells the database of it."""
        with self._database.read() as session:
            first, end = _next(session, before)
        with tempfile.TemporaryFile() as file:
            writer, row, digests = FrameWriter(file), None, dict[int, str]()
            for game in self._games(first, end):
                if row is None:
                    row = DayFile(day=f"{game.finished:%Y-%m-%d}", first=first, made=now)
                elif (
                    f"{game.finished:%Y-%m-%d}" > row.day
                    or game.id >= first + FILE_NUMBERS
                    or writer.size >= FILE_BYTES
                ):
                    break
                row.last = game.id
                if game.text is None:
                    log.warning("the record of game %s is damaged, and stays in its row", game.id)
                else:
                    writer.add(game.id, game.text)
                    digests[game.id] = game.digest
                self._done(1)
            if row is None:
                return None
            writer.end_frame()
            row.games, row.size, row.frames = len(digests), writer.size, pack_frames(writer.frames)
            file.seek(0)
            row.digest = hashlib.file_digest(file, "sha256").hexdigest()
            row.name = f"{row.day}-{first}-{row.digest[:16]}{SUFFIX}"
            file.seek(0)
            self._store.put(row.name, file, row.size, row.digest)
        for number, text in proven(self._store, row, writer.frames):
            if digests.pop(number, None) != digest_of(json.loads(text)):
                raise WrongFile(row.name)
        if digests:
            raise WrongFile(row.name)
        try:
            with self._database.begin() as session:
                session.add(row)
        except sa.exc.IntegrityError:
            raise MoveError("another process moves records, too: leave it to that one") from None
        log.info("%s has %s games", row.name, row.games)
        return row

    def _games(self, first: int, end: int) -> Iterator[_OldGame]:
        """The games from a number on up to another, without that."""
        game = PlayedGame
        wanted = sa.select(game.id, game.finished, game.digest, game.record)
        while True:
            some = wanted.where(game.id >= first, game.id < end).order_by(game.id).limit(AT_A_TIME)
            with self._database.read() as session:
                rows = [
                    _OldGame(row.id, row.finished, row.digest, _whole(session, *row[2:]))
                    for row in session.execute(some).all()
                ]
            if not rows:
                return
            yield from rows
            first = rows[-1].id + 1

    def _empty_all(self, now: datetime) -> None:
        """Empties the rows of whatever is in files."""
        unfinished = sa.select(DayFile).where(DayFile.emptied.is_(None)).order_by(DayFile.first)
        with self._database.read() as session:
            files = session.scalars(unfinished.options(undefer(DayFile.frames))).all()
        for file in files:
            runs = [run for frame in unpack_frames(file.frames) for run in frame.runs]
            if all(self._empty(file.id, first, last) for first, last in runs):
                with self._database.begin() as session:
                    its = sa.update(DayFile).where(DayFile.id == file.id)
                    session.execute(its.values(emptied=now))

    def _empty(self, file: int, first: int, last: int) -> bool:
        """Empties the rows of a file from a number up to another; False if the database knows the
        file no more, since its records were brought back meanwhile."""
        for start in range(first, last + 1, AT_A_TIME):
            end, began = min(last, start + AT_A_TIME - 1), time.monotonic()
            its = sa.update(PlayedGame).where(PlayedGame.id.between(start, end))
            with self._database.begin() as session:
                if _locked(session, DayFile.id == file) is None:
                    return False
                session.execute(
                    its.values(record=b""), execution_options={"synchronize_session": False}
                )
            self._done(end - start + 1)
            self._pause(time.monotonic() - began)
        return True

    def bring_back(self, files: list[str]) -> Brought:
        """Puts the records of some files into the rows of their games that have none.

        The database need not know the files: a row takes a record by its number and its digest. Of
        a file that it knows it knows no more afterwards, unless games are missing in it; the file
        stays in the store.

        Raises:
            MoveError: a file is damaged.
            StoreError: one can't be read.
        """
        brought = others = 0
        for name in files:
            try:
                with self._store.open(name) as file:
                    for some in _some(lines_of(file)):
                        began = time.monotonic()
                        with self._database.begin() as session:
                            more, unknown = _fill(session, some)
                        brought, others = brought + more, others + unknown
                        self._done(len(some))
                        self._pause(time.monotonic() - began)
            except DayFileError as error:
                raise MoveError(f"{name} is damaged: {error}") from None
            with self._database.begin() as session:
                known = _locked(session, DayFile.name == name)
                if known is not None and not _is_any_empty(session, known.first, known.last):
                    session.delete(known)
        return Brought(brought, others)


class Brought(NamedTuple):
    """What bringing records back from files came to."""

    games: int
    """How many have their records in their rows again."""
    others: int
    """How many records no row asked for: it has its record, or there is no such game."""


def _locked(session: Session, which: sa.ColumnElement[bool]) -> DayFile | None:
    """A file as the database knows it, so that nobody empties rows for it while another has the
    database forget it; None if it does not know it."""
    return session.scalars(locking(sa.select(DayFile).where(which), DayFile)).one_or_none()


def _fill(session: Session, some: list[tuple[int, bytes]]) -> tuple[int, int]:
    texts = dict(some)
    game = PlayedGame
    rows = session.execute(
        sa.select(game.id, game.digest, game.record).where(game.id.in_(texts))
    ).all()
    filled = []
    for row in rows:
        if _whole(session, row.digest, row.record) is None and _is_of(texts[row.id], row.digest):
            filled.append({"id": row.id, "record": pack_text(texts[row.id])})
    if filled:
        session.execute(sa.update(game), filled)
    return len(filled), len(texts) - len(filled)


def _is_any_empty(session: Session, first: int, last: int) -> bool:
    empty = sa.select(PlayedGame.id).where(
        PlayedGame.id.between(first, last), PlayedGame.record == b""
    )
    return session.scalar(empty.limit(1)) is not None


def _whole(session: Session, digest: str, record: bytes) -> bytes | None:
    """The record that a row has, as JSON; None if it has none, or not the one of this digest."""
    try:
        text = text_in(session, record)
    except zlib.error:
        return None
    return text if _is_of(text, digest) else None


def _is_of(text: bytes, digest: str) -> bool:
    """Whether a text is the record that has this digest, and can stand in a line."""
    try:
        return text[:1] == b"{" and b"\n" not in text and digest_of(json.loads(text)) == digest
    except (ValueError, AttributeError):
        return False


def _some(pairs: Iterator[tuple[int, bytes]]) -> Iterator[list[tuple[int, bytes]]]:
    while some := list(islice(pairs, AT_A_TIME)):
        yield some


def proven(
    store: ColdStore, file: DayFile, frames: Sequence[DayFrame]
) -> Iterator[tuple[int, bytes]]:
    """Numbers and records of a file, read from its store, and proven to be those put there.

    Raises:
        WrongFile: they are not.
        StoreError: it can't be read.
    """
    with store.open(file.name) as content:
        for frame in frames:
            try:
                yield from texts_in(_exactly(content, frame.size), frame.digest).items()
            except DayFileError:
                raise WrongFile(file.name) from None
        if content.read(1):
            raise WrongFile(file.name)


def _exactly(content: IO[bytes], size: int) -> bytes:
    """Reads so many bytes, or as many as there are."""
    found = b""
    while len(found) < size and (more := content.read(size - len(found))):
        found += more
    return found


def out_of_place(session: Session, store: ColdStore) -> list[str]:
    """What is wrong with files by what the store says of them, a sentence each.

    Raises:
        StoreError: it says nothing.
    """
    sizes = dict(store.names())
    known = sa.select(DayFile.name, DayFile.size).order_by(DayFile.first)
    return [
        f"{name} is not in the cold store {store.where}"
        if name not in sizes
        else f"{name} has {sizes[name]} bytes in the cold store, and not {size}"
        for name, size in session.execute(known)
        if sizes.get(name) != size
    ]
