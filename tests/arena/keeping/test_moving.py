"""Records that become cold: whatever happens, each is in one place, and is read from there."""

from __future__ import annotations

import io
import json
import lzma
import resource
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO

import pytest
import sqlalchemy as sa

from arena.ground.db import Database
from arena.keeping import day_files, moving, reading
from arena.keeping.moving import (
    MoveError,
    Mover,
    begins_cold,
    is_any_waiting,
    out_of_place,
    waiting,
)
from arena.keeping.reading import RecordAway
from arena.keeping.stores import ColdStore, FolderStore, StoreError, store_at
from arena.lists.exported import lines
from arena.lists.filters import GameFilter
from arena.models import DayFile, PlayedGame
from engine.record import parse_record
from tests.arena.keeping.bucket import bucket_server
from tests.arena.lists.conftest import NOW, furnish
from tests.conftest import DATABASES
from tests.furnished import furnished_database

DAYS = 30
BEFORE = begins_cold(DAYS, NOW)


@pytest.fixture
def found(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """Some hundred games of nine days, and a folder for a cold store."""
    with furnished_database(request, tmp_path, furnish) as (database, _):
        with database.begin() as session:
            for number in session.scalars(sa.select(PlayedGame.id)).all():
                ended = NOW - timedelta(days=DAYS + 5 - number // 28, minutes=-number)
                its = sa.update(PlayedGame).where(PlayedGame.id == number)
                session.execute(its.values(finished=ended))
        database.close()
        with_store = Database(database.url, cold=str(tmp_path / "cold"))
        yield with_store
        with_store.close()


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes parts so small that there are several, and forgets what other tests read."""
    monkeypatch.setattr(moving, "AT_A_TIME", 9)
    monkeypatch.setattr(moving, "FILE_NUMBERS", 20)
    monkeypatch.setattr(day_files, "FRAME_BYTES", 3000)
    reading._texts.cache_clear()
    reading._kept_frames.clear()


def exported(database: Database) -> list[bytes]:
    return [line for some in lines(database, GameFilter(), 0) for line in some]


def mover(database: Database, store: ColdStore, done: moving.Done = lambda _: None) -> Mover:
    return Mover(database, store, done, pause=lambda _: None)


def folder_of(database: Database, tmp_path: Path) -> FolderStore:
    return FolderStore(tmp_path / "cold")


def stored(database: Database) -> dict[int, bytes]:
    with database.read() as session:
        return dict(session.execute(sa.select(PlayedGame.id, PlayedGame.record)).all())


def old(database: Database) -> set[int]:
    """The numbers of games that are to be cold, found by a plain look."""
    with database.read() as session:
        return set(session.scalars(sa.select(PlayedGame.id).where(PlayedGame.finished < BEFORE)))


@pytest.mark.long
@pytest.mark.parametrize("found", DATABASES, indirect=True)
@pytest.mark.parametrize("where", ["folder", "bucket"])
def test_records_move_are_read_all_the_same_and_come_back(
    found: Database, where: str, tmp_path: Path
) -> None:
    """They are the same to the byte, only old ones go; each file can be read by hand."""
    before, rows, cold = exported(found), stored(found), old(found)
    assert 100 < len(cold) < len(rows)
    with bucket_server() as server:
        address = str(tmp_path / "cold") if where == "folder" else server.address(folder="/x")
        database, store = Database(found.url, cold=address), store_at(address)
        with database.read() as session:
            assert waiting(session, BEFORE) == len(cold)
        files = mover(database, store).move(BEFORE, NOW)
        assert {number for number, record in stored(database).items() if not record} == cold
        assert exported(database) == before
        with database.read() as session:
            assert (waiting(session, BEFORE), is_any_waiting(session, BEFORE)) == (0, False)
            assert out_of_place(session, store) == []
        assert sum(file.games for file in files) == len(cold)
        assert [file.first for file in files[1:]] == [file.last + 1 for file in files[:-1]]
        assert dict(store.names()) == {file.name: file.size for file in files}
        with store.open(files[1].name) as content:
            texts = lzma.decompress(content.read()).decode().splitlines()
        for line in texts:
            number = json.loads(line)["number"]
            assert files[1].first <= number <= files[1].last
            assert line.encode() in {_bare(one) for one in before}
            assert parse_record(line)
        assert mover(database, store).move(BEFORE, NOW) == []
        brought = mover(database, store).bring_back([file.name for file in files])
        assert brought == (len(cold), 0)
        assert stored(database) == rows
        with database.read() as session:
            assert session.scalars(sa.select(DayFile)).all() == []
        assert mover(database, store).bring_back([files[0].name]) == (0, files[0].games)
        database.close()


def _bare(line: bytes) -> bytes:
    """A line of an export without what the arena knows of the game, but its number."""
    data = json.loads(line)
    about = ("match", "finished", "competition", "counts", "void", "seats")
    kept = {key: value for key, value in data.items() if key not in about}
    return json.dumps(kept, separators=(",", ":"), ensure_ascii=False).encode()


class _BrokenOffError(Exception):
    pass


def test_whatever_breaks_off_nothing_is_lost_and_the_next_run_goes_on(
    found: Database, tmp_path: Path
) -> None:
    """It breaks off at every step; at the end there is what one run alone makes."""
    before, cold, store = exported(found), old(found), FolderStore(tmp_path / "cold")
    ended = steps = 0
    while not ended:
        steps += 37
        left = [steps]

        def done(_: int, left: list[int] = left) -> None:
            left[0] -= 1
            if not left[0]:
                raise _BrokenOffError

        try:
            mover(found, store, done).move(BEFORE, NOW)
            ended = 1
        except _BrokenOffError:
            assert exported(found) == before
            with found.read() as session:
                assert is_any_waiting(session, BEFORE)
    assert {number for number, record in stored(found).items() if not record} == cold
    assert exported(found) == before
    with found.read() as session:
        files = session.scalars(sa.select(DayFile)).all()
    assert sum(file.games for file in files) == len(cold)
    assert dict(store.names()) == {file.name: file.size for file in files}, "none is left over"


class _Liar:
    """A store that keeps something else than it was given."""

    where = "a liar"

    def __init__(self, spoil: Callable[[bytes], bytes]) -> None:
        self.spoil, self.files = spoil, dict[str, bytes]()

    def names(self) -> Iterator[tuple[str, int]]:
        return ((name, len(content)) for name, content in self.files.items())

    def read(self, name: str, start: int, size: int) -> bytes:
        return self.files[name][start : start + size]

    def open(self, name: str) -> AbstractContextManager[IO[bytes]]:
        return io.BytesIO(self.files[name])

    def put(self, name: str, content: IO[bytes], size: int, digest: str) -> None:
        self.files[name] = self.spoil(content.read())


@pytest.mark.parametrize(
    "spoil",
    [
        lambda content: content[:-1],
        lambda content: content + b"\0",
        lambda content: content[:90] + bytes([content[90] ^ 1]) + content[91:],
        lambda content: b"",
    ],
    ids=["cut short", "longer", "a bit turned", "empty"],
)
def test_no_row_is_emptied_for_a_file_that_is_not_there_as_it_was_put(
    found: Database, spoil: Callable[[bytes], bytes]
) -> None:
    """It is told, and the database knows of no file."""
    rows = stored(found)
    with pytest.raises(MoveError, match="is not in the cold store as it was put there"):
        mover(found, _Liar(spoil)).move(BEFORE, NOW)
    assert stored(found) == rows
    with found.read() as session:
        assert session.scalars(sa.select(DayFile)).all() == []


def test_a_folder_that_is_full_keeps_no_part_of_a_file(tmp_path: Path) -> None:
    """Here, as files may be of a few bytes only."""
    store, limits = FolderStore(tmp_path), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(StoreError, match="File too large"):
            store.put("x", io.BytesIO(bytes(2000)), 2000, "")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_record_stays_where_it_is(found: Database, tmp_path: Path) -> None:
    """And is no file's; it can be mended by one that has it."""
    numbers = sorted(old(found))
    first, second, *_ = numbers
    whole = stored(found)
    with found.begin() as session:
        for number, record in ((first, b"no record"), (second, whole[numbers[5]])):
            its = sa.update(PlayedGame).where(PlayedGame.id == number)
            session.execute(its.values(record=record))
    store = FolderStore(tmp_path / "cold")
    files = mover(found, store).move(BEFORE, NOW)
    assert sum(file.games for file in files) == len(numbers) - 2
    rows = stored(found)
    assert {number for number, record in rows.items() if record} >= {first, second}
    with found.begin() as session:
        game = sa.update(PlayedGame).where(PlayedGame.id == numbers[5])
        session.execute(game.values(record=b"\x78broken"))
    mover(found, store).bring_back([name for name, _ in store.names()])
    assert {key: its for key, its in stored(found).items() if key not in (first, second)} == {
        key: its for key, its in whole.items() if key not in (first, second)
    }


def test_a_database_that_knows_no_file_is_mended_by_them(found: Database, tmp_path: Path) -> None:
    """As one restored from a backup of a moment between; others' games stay others'."""
    whole, store = stored(found), FolderStore(tmp_path / "cold")
    files = mover(found, store).move(BEFORE, NOW)
    with found.begin() as session:
        session.execute(sa.delete(DayFile))
        another = session.get_one(PlayedGame, files[0].first)
        another.digest = "0" * 64
    with pytest.raises(RecordAway):
        exported(found)
    brought = mover(found, store).bring_back([file.name for file in files])
    assert brought == (len(old(found)) - 1, 1)
    assert {**stored(found), another.id: whole[another.id]} == whole


def test_two_at_once(found: Database, tmp_path: Path) -> None:
    """Make the same file, and one of them gives way."""
    store = FolderStore(tmp_path / "cold")
    other = mover(found, store)

    def meanwhile(_: int) -> None:
        if not list(store.names()):
            other.move(BEFORE, NOW)

    with pytest.raises(MoveError, match="another process moves records"):
        mover(found, store, meanwhile).move(BEFORE, NOW)
    assert mover(found, store).move(BEFORE, NOW) == []
    assert {number for number, record in stored(found).items() if not record} == old(found)


@pytest.mark.long
@pytest.mark.parametrize("found", DATABASES, indirect=True)
@pytest.mark.parametrize("steps", [1, 12])
def test_what_is_brought_back_while_it_is_emptied(
    found: Database, tmp_path: Path, steps: int
) -> None:
    """Before its first row is, or when some are: no row is emptied for a file that is known no
    more."""
    before, store, left = exported(found), FolderStore(tmp_path / "cold"), [steps]

    class Beside(Mover):
        def _empty(self, *which: int) -> bool:
            left[0] -= 1
            if not left[0]:
                mover(found, store).bring_back([name for name, _ in store.names()])
            return super()._empty(*which)

    Beside(found, store, pause=lambda _: None).move(BEFORE, NOW)
    assert left[0] < 0
    assert exported(found) == before
    mover(found, store).move(BEFORE, NOW)
    assert {number for number, record in stored(found).items() if not record} == old(found)
    assert exported(found) == before


@pytest.mark.long
@pytest.mark.parametrize("which", [slice(2), slice(2, 4), slice(3, 6, 2), slice(-1, None)])
def test_days_that_were_brought_back_move_again(
    found: Database, tmp_path: Path, which: slice
) -> None:
    """The first, some between, the last: under the names that their files had."""
    before, store = exported(found), FolderStore(tmp_path / "cold")
    files = [file.name for file in mover(found, store).move(BEFORE, NOW)]
    brought = mover(found, store).bring_back(files[which])
    with found.read() as session:
        assert is_any_waiting(session, BEFORE)
        assert waiting(session, BEFORE) == brought.games
    assert exported(found) == before
    assert [file.name for file in mover(found, store).move(BEFORE, NOW)] == files[which]
    assert {number for number, record in stored(found).items() if not record} == old(found)
    assert exported(found) == before


@pytest.mark.parametrize("days", [0, 26, 29.5, 30, 35, 400])
def test_what_is_old_enough(found: Database, days: float) -> None:
    """Is found by halves as by a plain look."""
    moment = begins_cold(days, NOW)
    with found.read() as session:
        plain = sa.select(sa.func.min(PlayedGame.id)).where(PlayedGame.finished >= moment)
        last = session.scalars(sa.select(sa.func.max(PlayedGame.id))).one()
        assert moving._first_since(session, moment) == (session.scalar(plain) or last + 1)


def spoil_gone(file: Path) -> None:
    file.unlink()


def spoil_short(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-1])


@pytest.mark.parametrize(
    ("spoil", "words"),
    [(spoil_gone, "is not in the cold store"), (spoil_short, "bytes in the cold store, and not")],
    ids=["gone", "cut short"],
)
def test_a_file_that_is_lost_is_told(
    found: Database, tmp_path: Path, spoil: Callable[[Path], None], words: str
) -> None:
    """What the store says is told; and whoever reads a game of it hears that it is away."""
    store = FolderStore(tmp_path / "cold")
    *_, last = mover(found, store).move(BEFORE, NOW)
    spoil(tmp_path / "cold" / last.name)
    with found.read() as session:
        (told,) = out_of_place(session, store)
        assert told.startswith(last.name)
        assert words in told
        with pytest.raises(RecordAway, match=f"game {last.last} is in the cold store"):
            reading.text_of(session, last.last, b"")
        assert reading.text_of(session, last.first - 1, b"")
    with pytest.raises((StoreError, MoveError)):
        list(moving.proven(store, last, day_files.unpack_frames(last.frames)))


def test_games_that_end_by_a_wrong_clock_are_nobodys_obstacle(
    found: Database, tmp_path: Path
) -> None:
    """One that is said to have ended in years to come goes with its neighbours, though it is the
    next one that is to."""
    numbers, store = sorted(old(found)), FolderStore(tmp_path / "cold")
    *_, last = mover(found, store).move(BEFORE - timedelta(days=2), NOW)
    with found.begin() as session:
        ended = sa.update(PlayedGame).where(PlayedGame.id.in_([last.last + 1, numbers[-9]]))
        session.execute(ended.values(finished=datetime.now(UTC) + timedelta(days=900)))
    before = exported(found)
    with found.read() as session:
        assert is_any_waiting(session, BEFORE)
        assert waiting(session, BEFORE) == numbers[-1] - last.last
    mover(found, store).move(BEFORE, NOW)
    assert len([record for record in stored(found).values() if not record]) == len(numbers)
    assert exported(found) == before
