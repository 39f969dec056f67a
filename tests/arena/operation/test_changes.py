"""What has changed since a backup: an increment has all of it, and reads little else."""

from __future__ import annotations

import shutil
import tarfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from arena.all_deeds import DEEDS
from arena.audit import ARENA, Actor
from arena.bots.account_deletion import DeleteUser
from arena.bots.deletion import DeleteBot
from arena.bots.profile_deeds import RenameBot
from arena.competitions.mask_deeds import RevealCompetition
from arena.deeds import By, Deed, perform
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.ground.refusals import Refusal
from arena.keeping.moving import Mover
from arena.keeping.stores import FolderStore
from arena.models import (
    ChangedPart,
    Competition,
    Epoch,
    GameSeat,
    GameTag,
    GameValue,
    JobStatus,
    JudgedSeat,
    Match,
    PlayedGame,
    Scope,
)
from arena.operation import changes
from arena.operation.archives import CONTENTS, BackupContents
from arena.operation.backup import write_backup
from arena.operation.maintenance import SetMaintenance
from arena.operation.restoring import restore_backup
from arena.operation.retention import forget_logs
from arena.people.profiles import RenameUser
from arena.recorder.rebuild import rebuild_beside
from arena.schedule import verdicts
from arena.schedule.verdicts import VoidMatch
from tests.arena.operation.test_backup import kept, rows
from tests.arena.simulator import Simulation, Villainy
from tests.arena.test_deeds import EXAMPLES, copied
from tests.arena.web.signing_in import now, person
from tests.conftest import on_both

NUMBERS = 8
"""How many numbers a part has here, so that there are many."""
LONG = {
    "match", "place", "match_of_set", "game", "game_seat", "listed_seat", "game_value", "game_tag",
    "game_line", "judged_seat",
}  # fmt: skip
"""The tables that grow with every game."""


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "NUMBERS", NUMBERS)


@pytest.fixture
def settings(database: Database, tmp_path: Path) -> Settings:
    return Settings(data=tmp_path / "data", database=database.url)


@pytest.fixture
def played(database: Database) -> Simulation:
    """An arena that has played for a while; nothing was without its mishaps."""
    simulation = Simulation(database, 7, Villainy())
    simulation.furnish([("clobber", {"size": "4x3"}), ("blokus", {"mode": "trio"})], bots=4)
    simulation.alive()
    simulation.tick()
    simulation.run(6)
    return simulation


class Chain:
    """Backups of a database, each compared with one that reads all."""

    def __init__(self, database: Database, settings: Settings, folder: Path) -> None:
        self.database, self.settings, self.folder = database, settings, folder
        self.files, self.said = list[Path](), list[str]()

    def write(self, since: int | None = None) -> Path:
        """Writes the next."""
        file = self.folder / f"{len(self.files)}.tar"
        before = None if since is None else self.files[since]
        write_backup(self.database, self.settings, file, self.said.append, since=before)
        self.files.append(file)
        return file

    def differ(self, since: int) -> set[str]:
        """The tables of which an increment says something else than a backup that reads all."""
        increment, whole = self.write(since), self.folder / "whole.tar"
        whole.unlink(missing_ok=True)
        write_backup(self.database, self.settings, whole, self.said.append)
        one, other = _tables(increment), _tables(whole)
        return {name for name in one.keys() | other.keys() if one[name] != other[name]}


def _tables(file: Path) -> dict[str, list[tuple[int, str, int]]]:
    """What a backup says that it has: of each table its rows, in the order of their parts."""
    with tarfile.open(file) as tar:
        content = tar.extractfile(CONTENTS)
        assert content is not None
        contents = BackupContents.read(content.read())
    return {
        name: sorted((one.part, one.digest, one.rows) for one in its)
        for name, its in contents.tables.items()
    }


@pytest.fixture
def chain(database: Database, settings: Settings, played: Simulation, tmp_path: Path) -> Chain:
    """The first of some backups."""
    found = Chain(database, settings, tmp_path)
    found.write()
    return found


def test_which_tables_are_long() -> None:
    assert {table.name for table, _ in changes.long_tables()} == LONG


@pytest.mark.long
def test_an_increment_has_whatever_has_changed(
    database: Database, settings: Settings, played: Simulation, chain: Chain, tmp_path: Path
) -> None:
    """The recorder changed it, or something beside it, since the last backup or since the first."""
    later = datetime.now(UTC) + timedelta(days=400)
    cold = FolderStore(Path(settings.cold_store))

    def play() -> None:
        played.play(8, uploads=3, deeds=40)
        assert {"fixed", "request", "change"} <= set(played.outcomes)

    def void() -> None:
        fixed = sa.select(Match.id).where(Match.status == JobStatus.FIXED).order_by(Match.id)
        with database.begin() as session:
            first, *_, last = session.scalars(fixed).all()
            verdicts.void(session, ARENA, first, "power cut", replay=True, now=played.now)
            verdicts.void(session, ARENA, last, "power cut", now=played.now)

    def log() -> None:
        with database.begin() as session:
            session.execute(sa.update(GameSeat).values(log="depth 7"))

    def forget() -> None:
        with database.begin() as session:
            assert forget_logs(session, settings, later)

    def rebuild() -> None:
        with database.begin() as session:
            ladders = session.scalars(sa.select(Competition.id)).all()
            some = sa.update(GameSeat).where(GameSeat.game_id % 3 == 0)
            session.execute(some.values(mu_after=1.0))
        found = [rebuild_beside(database, one, lambda _: None) for one in ladders]
        assert not all(one.equal for one in found)

    def bring_back() -> None:
        assert Mover(database, cold).bring_back([name for name, _ in cold.names()]).games

    def say() -> None:
        with database.begin() as session:
            for number in session.scalars(sa.select(PlayedGame.id)).all()[::2]:
                words = [f"{'ab'[number % 2]}{its}" for its in range(3)]
                seat = {"game_id": number, "seat": 0}
                session.add_all(GameTag(tag=word, **seat) for word in words)
                session.add_all(GameValue(key=word, value=1.5, **seat) for word in words)
                counts = {"judged": 2, "kept": 1, "results": 1, "lost": 2, "marks": []}
                session.add(JudgedSeat(**seat, **counts))

    def by_hand(change: Callable[[sa.orm.Session, sa.Table, sa.Column[int]], None]) -> None:
        for table, column in changes.long_tables():
            with database.begin() as session:
                if column not in changes.ROOTS:
                    change(session, table, column)

    def move() -> None:
        assert Mover(database, cold).move(later, later)

    for change in (
        play, void, log, forget, move, bring_back, rebuild, say,
        partial(by_hand, _renumber), partial(by_hand, _put_again),
    ):  # fmt: skip
        change()
        assert chain.differ(since=-1) == set(), change
    assert chain.differ(since=0) == set()
    for number, file in enumerate(chain.files[-2:]):
        there = Settings(data=tmp_path / f"new{number}")
        restore_backup(file, there, lambda _: None)
        with closing(Database(there.database_url)) as restored:
            assert rows(restored) == kept(database)


def _last_rows(session: sa.orm.Session, table: sa.Table, column: sa.Column[int]) -> Any:
    """Whether a row of a long table is one of its last."""
    return column == session.scalar(sa.select(sa.func.max(column)))


def _put_again(session: sa.orm.Session, table: sa.Table, column: sa.Column[int]) -> None:
    """Takes the last rows of a table away, and puts all but one there again."""
    last = _last_rows(session, table, column)
    rows = session.execute(sa.select(table).where(last)).mappings().all()
    session.execute(sa.delete(table).where(last))
    if rows[1:]:
        session.execute(sa.insert(table), [dict(row) for row in rows[1:]])


def _renumber(session: sa.orm.Session, table: sa.Table, column: sa.Column[int]) -> None:
    """Has the last rows of a table be of the first game or match that has none, if there is one."""
    root = changes.root_of(column)
    free = session.scalar(sa.select(sa.func.min(root)).where(root.not_in(sa.select(column))))
    if free is not None:
        last = _last_rows(session, table, column)
        session.execute(sa.update(table).where(last).values({column.name: free}))


TELLING = VoidMatch, RenameBot, RenameUser, DeleteBot, DeleteUser, RevealCompetition
"""Deeds that change rows of games that were played, or names in them."""


@pytest.mark.long
def test_an_increment_has_what_each_deed_changes(
    request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """All that people can have done; what is restored is the same row by row."""
    with copied(request, tmp_path / "arena") as (database, numbers, folder):
        chain = Chain(database, Settings(data=folder, database=database.url), tmp_path)
        chain.write()
        user = person(database, "administrator")
        by = By(Actor(user.id, user.name, ""), frozenset(Scope), now())
        done = set[type[Deed]]()
        for deed in sorted(DEEDS, key=lambda one: one is SetMaintenance):
            # Some can't be done any more after the others, and none under maintenance.
            with suppress(Refusal), database.begin() as session:
                values = EXAMPLES[deed][0](numbers)
                if deed is DeleteUser:  # of whom another one changes the name
                    values = dict.fromkeys(values, "comrade")
                perform(session, deed(**values), by)
                done.add(deed)
        assert set(TELLING) <= done
        assert len(done) > 0.85 * len(DEEDS)
        assert chain.differ(since=0) == set()
        there = Settings(data=tmp_path / "new")
        restore_backup(chain.files[-1], there, lambda _: None)
        with closing(Database(there.database_url)) as restored:
            assert rows(restored) == kept(database)


@contextmanager
def unnoted(database: Database) -> Iterator[sa.orm.Session]:
    """Has what is done meanwhile noted nowhere, as if no trigger were there."""
    with database.begin() as session:
        if session.get_bind().dialect.name == "postgresql":
            off = "SELECT 'ALTER TABLE game DISABLE TRIGGER ' || tgname FROM pg_trigger"
            its = f"{off} WHERE tgrelid = 'game'::regclass AND NOT tgisinternal"
            there = session.scalars(sa.text(its)).all()
            back = [one.replace("DISABLE", "ENABLE ALWAYS") for one in there]
        else:
            said = sa.text(
                "SELECT name, sql FROM sqlite_master WHERE tbl_name = 'game' AND type = 'trigger'"
            )
            found = session.execute(said).all()
            there, back = [f"DROP TRIGGER {one.name}" for one in found], [one.sql for one in found]
        assert len(there) == len(changes.EVENTS)
        for statement in there:
            session.connection().exec_driver_sql(statement)
        yield session
        session.flush()
        for statement in back:
            session.connection().exec_driver_sql(statement)


FIRST = sa.update(PlayedGame).where(PlayedGame.id == 1)


def _of_part(number: int) -> sa.Update:
    """Changes the games of another part."""
    return sa.update(PlayedGame).where(PlayedGame.id // NUMBERS == number)


@pytest.mark.long
def test_what_was_not_noted_is_not_read(database: Database, chain: Chain) -> None:
    """Shown by a change that was kept from being noted; one of the same part has it read."""
    with unnoted(database) as session:
        session.execute(FIRST.values(plies=1000))
    assert chain.differ(since=-1) == {"game"}
    with database.begin() as session:
        session.execute(FIRST.values(plies=1001))
    assert chain.differ(since=-1) == set()


def _lose_triggers(database: Database, _: Chain) -> None:
    """As a table does that is made anew."""
    with database.begin() as session:
        if session.get_bind().dialect.name == "postgresql":
            names = "SELECT proname FROM pg_proc WHERE proname LIKE 'arena_notes_place_insert%'"
            (name,) = session.scalars(sa.text(names))
            session.execute(sa.text(f"DROP FUNCTION {name} CASCADE"))
        else:
            names = "SELECT name FROM sqlite_master WHERE name LIKE 'arena_notes_place_insert%'"
            (name,) = session.scalars(sa.text(names))
            session.execute(sa.text(f"DROP TRIGGER {name}"))


def _disable_trigger(database: Database, _: Chain) -> None:
    with database.begin() as session:
        session.execute(sa.text("ALTER TABLE place DISABLE TRIGGER ALL"))


def _put_back(database: Database, chain: Chain) -> None:
    """Makes the database one of before the last backup, as whoever copies its files."""
    put_back = _copied(database)
    chain.write(since=-1)
    put_back()


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_copy_of_before_the_backup_read_does_not_know_its_epoch(
    database: Database, chain: Chain
) -> None:
    """What was changed between is in the backup, and never was in the copy."""
    begun = changes.begin_epoch(database)
    put_back = _copied(database)
    with database.begin() as session:
        session.execute(FIRST.values(plies=1000))
    token = changes.name_epoch(database, begun)
    with database.read() as session:
        assert changes.changed_since(session, token) == {"game": {0}}
    put_back()
    with database.read() as session:
        assert changes.changed_since(session, token) is None


@pytest.mark.long
@on_both("database")
def test_an_epoch_is_over_where_another_backup_makes_triggers_anew(
    database: Database, chain: Chain
) -> None:
    """Though the next one has its number; so its backup is none to go on from."""
    begun = changes.begin_epoch(database)
    _lose_triggers(database, chain)
    other = changes.begin_epoch(database)
    with pytest.raises(changes.CannotNote, match="another backup has made the triggers anew"):
        changes.name_epoch(database, begun)
    assert changes.name_epoch(database, other)


def _copied(database: Database) -> Callable[[], object]:
    """Copies the file of a database; gives what puts that in its place."""
    database.close()
    file = Path(str(database.engine.url.database))
    copy = file.with_suffix(".before")
    shutil.copy(file, copy)

    def put_back() -> None:
        database.close()
        copy.rename(file)

    return put_back


def _change_the_schema(_: Database, chain: Chain) -> None:
    """A column was added meanwhile, say, to rows that nobody changed."""
    file = chain.files[-1]
    file.write_bytes(file.read_bytes().replace(b'"schema": "0', b'"schema": "x', 1))


@pytest.mark.long
@pytest.mark.parametrize(
    ("database", "happen"),
    [
        ("sqlite", _lose_triggers),
        ("postgresql", _lose_triggers),
        ("postgresql", _disable_trigger),
        ("sqlite", _put_back),
        ("sqlite", _change_the_schema),
    ],
    indirect=["database"],
)
def test_all_is_read_where_not_all_was_noted(
    database: Database, chain: Chain, happen: Callable[[Database, Chain], None]
) -> None:
    """A change was kept from being noted before."""
    with unnoted(database) as session:
        session.execute(FIRST.values(plies=1000))
    happen(database, chain)
    assert chain.differ(since=-1) == set()
    assert [line for line in chain.said if line.startswith("all is read: what has changed since")]
    with unnoted(database) as session:
        session.execute(FIRST.values(plies=1001))
    assert chain.differ(since=-1) == {"game"}, "and notes are taken again"


@pytest.mark.long
@pytest.mark.parametrize("database", ["postgresql"], indirect=True)  # the others write in turn
def test_who_writes_as_a_backup_begins_is_waited_for(database: Database, chain: Chain) -> None:
    """What they noted before it began, they noted in the epoch before; it is in this backup."""
    with ThreadPoolExecutor() as threads, ExitStack() as ending:
        writer = ending.enter_context(database.begin())
        writer.execute(FIRST.values(plies=1000))
        written = threads.submit(chain.write, since=-1)
        while not (epochs := _epochs(database)) or epochs < 2:
            assert not written.done()
        # Who comes later is not waited for, and notes it for the next.
        with database.begin() as another:
            another.execute(_of_part(1).values(plies=1000))
        late = ending.enter_context(database.begin())
        late.execute(_of_part(2).values(plies=1000))
        assert not written.done()
        writer.commit()
        written.result(60)
        late.commit()
    assert not [line for line in chain.said if "will read all" in line]
    assert chain.differ(since=-1) == set()
    assert chain.differ(since=0) == set()


def _epochs(database: Database) -> int:
    with database.read() as session:
        return session.scalar(sa.select(sa.func.count()).select_from(Epoch)) or 0


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_who_goes_on_for_long_is_not_waited_for(
    database: Database, chain: Chain, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The backup is whole, says that the next can't go by notes, and that one reads all."""
    monkeypatch.setattr(changes, "PATIENCE_SECONDS", 0.1)
    with database.begin() as writer:
        writer.execute(FIRST.values(plies=1000))
        chain.write(since=-1)
    assert [line for line in chain.said if "will read all: a transaction" in line]
    assert chain.differ(since=-1) == set()


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_nobody_waits_for_long_until_triggers_are_there(
    database: Database, settings: Settings, played: Simulation, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Where somebody writes all the time the first backup leaves it to the next."""
    monkeypatch.setattr(changes, "ATTEMPTS", 2)
    chain = Chain(database, settings, tmp_path)
    with database.begin() as writer:
        writer.execute(FIRST.values(plies=1000))
        chain.write()
        assert _epochs(database) == 0
        # Who comes now waits for nobody.
        with database.begin() as another:
            another.execute(sa.text("SET LOCAL lock_timeout = '2s'"))
            another.execute(_of_part(1).values(plies=1000))
    assert [line for line in chain.said if "will read all" in line]
    assert chain.differ(since=-1) == set()
    assert _epochs(database) > 0


@pytest.mark.long
@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_nobody_waits_to_note_what_another_notes(database: Database, chain: Chain) -> None:
    """Two who change rows of one part at once; that it is noted twice does no harm."""
    with ExitStack() as ending:
        for number in (1, 2):
            session = ending.enter_context(database.begin())
            session.execute(sa.text("SET LOCAL lock_timeout = '2s'"))
            session.execute(sa.update(PlayedGame).where(PlayedGame.id == number).values(plies=1000))
    with database.read() as session:
        noted = session.execute(sa.select(ChangedPart.of_table, ChangedPart.part)).all()
    assert noted.count(("game", 0)) == 2
    assert chain.differ(since=-1) == set()


@pytest.mark.long
@on_both("database")
def test_notes_do_not_pile_up(database: Database, chain: Chain) -> None:
    """A part is noted once in each epoch, and once an epoch is over by its last note alone."""
    for plies in range(1000, 1006):
        for more in range(2):
            with database.begin() as session:
                session.execute(FIRST.values(plies=plies + more))
        chain.write(since=-1)
    with database.read() as session:
        assert len(session.scalars(sa.select(ChangedPart)).all()) == 1
    assert chain.differ(since=0) == set()
