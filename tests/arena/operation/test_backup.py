"""Backups: all of an arena at one moment, restored anywhere, refused where something is."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from arena.audit import ARENA
from arena.bots import runtimes
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.keeping.moving import Mover
from arena.keeping.packing import unpack_text
from arena.keeping.reading import text_of
from arena.keeping.stores import FolderStore
from arena.models import Base, BotVersion, Competition, LargeFile, PlayedGame, SentFile, User
from arena.operation import backup as writing
from arena.operation.archives import CONTENTS, BackupError
from arena.operation.backup import write_backup
from arena.operation.restoring import restore_backup
from arena.operation.supervisor import is_running
from arena.recorder.rebuild import rebuild
from tests import postgres
from tests.arena.conftest import Cli
from tests.arena.simulator import CALM, Simulation
from tests.arena.web.conftest import CARD

CONTENT = b"a bot"
DIGEST = hashlib.sha256(CONTENT).hexdigest()
NET = b"weights" * 200_000
LARGE = hashlib.sha256(NET).hexdigest()


def quiet(_: str) -> None:
    pass


@pytest.fixture
def lived(database: Database, tmp_path: Path) -> Settings:
    """An arena that played for some seconds, with a bundle."""
    simulation = Simulation(database, 1, CALM)
    simulation.furnish([("clobber", {"size": "4x3"}), ("blokus", {"mode": "trio"})], bots=4)
    simulation.alive()
    simulation.tick()
    simulation.run(4)
    settings = Settings(data=tmp_path / "first", database=database.url)
    settings.bundles.mkdir(parents=True)
    (settings.bundles / DIGEST).write_bytes(CONTENT)
    settings.runtimes.mkdir()
    (settings.runtimes / DIGEST).write_bytes(CONTENT)
    with database.begin() as session:
        runtimes.add(session, "some", DIGEST, len(CONTENT), CARD, "Python", simulation.now, ARENA)
        session.execute(sa.update(BotVersion).values(digest=DIGEST))
        session.add(LargeFile(bundle=DIGEST, digest=LARGE, size=len(NET)))
        somebody = session.scalars(sa.select(User.id).limit(1)).one()
        now = datetime.now(UTC)
        session.add(SentFile(user_id=somebody, digest="0" * 64, size=5, used=now))
    (settings.bundles / LARGE).write_bytes(NET)
    (settings.bundles / f".new-{somebody}-{'0' * 64}").write_bytes(b"half")
    return settings


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Where nothing is yet."""
    if request.param == "sqlite":
        yield ""
        return
    with postgres.database(request.getfixturevalue("postgres_url")) as url:
        yield url


def rows(database: Database) -> dict[str, list[tuple[object, ...]]]:
    """All that is in a database."""
    with database.read() as session:
        return {
            table.name: [
                tuple(row) for row in session.execute(sa.select(table).order_by(*table.primary_key))
            ]
            for table in Base.metadata.sorted_tables
        }


def kept(database: Database) -> dict[str, list[tuple[object, ...]]]:
    """All that a backup keeps of it: what people are sending at this moment they send again, and
    what the database notes of changes is of that one alone."""
    return {**rows(database), "sent_file": [], "epoch": [], "changed_part": []}


def nulls(database: Database) -> int:
    """Matches without progress, as the database itself sees it."""
    with database.read() as session:
        query = "SELECT count(*) FROM match WHERE progress IS NULL OR progress LIKE 'null'"
        if database.url.startswith("postgres"):
            query = query.replace("progress LIKE", "progress::text LIKE")
        return int(session.execute(sa.text(query)).scalar_one())


@pytest.mark.long
def test_a_restored_arena_is_the_same(
    database: Database, lived: Settings, empty_url: str, tmp_path: Path
) -> None:
    """Row by row, from either database to either; its ratings prove themselves, and it goes on."""
    file = tmp_path / "backup.tar"
    write_backup(database, lived, file, quiet)
    assert file.stat().st_mode & 0o777 == 0o600
    settings = Settings(data=tmp_path / "second", database=empty_url)
    restore_backup(file, settings, quiet)
    restored = Database(settings.database_url)
    try:
        assert rows(restored) == kept(database)
        assert nulls(restored) == nulls(database) > 0
        stored = {path.name: path.read_bytes() for path in settings.bundles.iterdir()}
        assert stored == {DIGEST: CONTENT, LARGE: NET}
        assert (settings.runtimes / DIGEST).read_bytes() == CONTENT
        with restored.begin() as session:
            for competition in session.scalars(sa.select(Competition)).all():
                assert competition.games > 0
                assert rebuild(session, competition, write=False).equal
            session.add(User(name="newcomer", created=competition.created))
        with pytest.raises(BackupError, match="is not empty"):
            restore_backup(file, settings, quiet)
        with pytest.raises(BackupError, match=r"database .* is not empty"):
            restore_backup(file, Settings(data=tmp_path / "third", database=restored.url), quiet)
    finally:
        restored.close()


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_restored_database_is_its_owners_alone(lived: Settings, tmp_path: Path) -> None:
    """A folder may be read by all, too; one that a restore makes is closed anyway."""
    file, folder = tmp_path / "arena.tar", tmp_path / "open"
    database = Database(lived.database_url)
    write_backup(database, lived, file, quiet)
    database.close()
    folder.mkdir(mode=0o755)
    restore_backup(file, Settings(data=folder), quiet)
    assert (folder / "arena.db").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_two_commands_do_not_use_one_place(
    database: Database, lived: Settings, tmp_path: Path
) -> None:
    """The second is refused in the midst of the first, of which nothing is lost."""
    file, settings = tmp_path / "backup.tar", Settings(data=tmp_path / "second")
    refused = []

    def write_too(_: str) -> None:
        with pytest.raises(BackupError, match=r"another command writes .*backup.tar: name another"):
            write_backup(database, lived, file, quiet)
        refused.append(file)

    def restore_too(_: str) -> None:
        with pytest.raises(BackupError, match=r"runs on .*second, or is restored there: restore"):
            restore_backup(file, settings, quiet)
        assert is_running(settings)
        refused.append(settings.data)

    write_backup(database, lived, file, write_too)
    restore_backup(file, settings, restore_too)
    assert set(refused) == {file, settings.data}
    assert [path.name for path in tmp_path.iterdir() if "backup" in path.name] == [file.name]
    assert (settings.bundles / DIGEST).read_bytes() == CONTENT
    assert not is_running(settings)
    restored = Database(settings.database_url)
    assert rows(restored) == kept(database)
    restored.close()


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)  # a backup is the same of both
def test_what_is_no_backup_is_refused(database: Database, lived: Settings, tmp_path: Path) -> None:
    """Damaged, cut short, of something else; and then the same place takes a whole one."""
    whole = tmp_path / "backup.tar"
    write_backup(database, lived, whole, quiet)
    with pytest.raises(BackupError, match="is there already"):
        write_backup(database, lived, whole, quiet)
    data = whole.read_bytes()
    other = tmp_path / "other.tar"
    with tarfile.open(other, "w") as tar:
        tar.add(__file__, "bot.py")
    with tarfile.open(whole) as tar:
        members = {member.name: member for member in tar}
        contents = json.loads(tar.extractfile(CONTENTS).read())
    (users, *_), *_ = contents["tables"]["user"]
    middle = members[f"rows/{users}"].offset_data + members[f"rows/{users}"].size // 2
    begin = members[CONTENTS].offset_data
    spoilt = {
        "is no backup": b"something else" * 100,
        "no backup of an arena": other.read_bytes(),
        "cut short": data[: len(data) // 2],
        # Cut where a file would begin, a tar seems whole.
        "it has no contents.json": data[: members[CONTENTS].offset],
        f"it has no rows/{users}": _without(whole, f"rows/{users}"),
        "table user is not as it was": _with(data, middle, bytes([data[middle] ^ 255])),
        "contents.json can't be read": _with(data, begin, b"]"),
        "contents.json can't": data.replace(b'"elsewhere": {}', b'"elsewhere": []'),
        "not the tables of this release: alien": data.replace(b'"bot_tag": ', b'"alien":   ', 1),
        "bundle .* is damaged": data.replace(CONTENT, b"A BOT"),
        "bundle .* damaged": data.replace(NET[:7000], NET[7000:14000][::-1], 1),
        "of which release": data.replace(b'{"format"', b'{"farmot"', 1),
        r"another release \(format 9": data.replace(b'"format": 4', b'"format": 9', 1),
        r"another release \(schema": data.replace(b'"schema": "', b'"schema": "x', 1).replace(
            b'", "made"', b'","made"', 1
        ),
    }
    for number, (words, content) in enumerate(spoilt.items()):
        file = tmp_path / f"spoilt{number}.tar"
        file.write_bytes(content)
        settings = Settings(data=tmp_path / f"data{number}")
        with pytest.raises(BackupError, match=words):
            restore_backup(file, settings, quiet)
        if "bundle" in words or "it has no rows" in words:  # after rows and files were stored
            restore_backup(whole, settings, quiet)
            restored = Database(settings.database_url)
            assert rows(restored) == kept(database), words
            restored.close()


def _names(file: Path) -> set[str]:
    with tarfile.open(file) as tar:
        return set(tar.getnames())


def _without(file: Path, part: str) -> bytes:
    """A tar that lacks one of its files."""
    rest = io.BytesIO()
    with tarfile.open(file) as whole, tarfile.open(fileobj=rest, mode="w") as tar:
        for member in whole:
            if member.name != part:
                tar.addfile(member, whole.extractfile(member))
    return rest.getvalue()


def _with(data: bytes, at: int, other: bytes) -> bytes:
    """The same with some bytes put in the place of others."""
    return data[:at] + other + data[at + len(other) :]


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)  # a backup is the same of both
def test_increments_have_what_is_new(
    database: Database, lived: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is restored with those before it, and refused without one; day files come once, too, and
    rows that are long are few together."""
    monkeypatch.setattr(writing, "PART_BYTES", 4000)
    first, second, third = (tmp_path / f"{name}.tar" for name in ("a", "b", "c"))
    later = datetime.now(UTC) + timedelta(days=1)
    with database.begin() as session:
        whole = session.execute(sa.select(PlayedGame.id, PlayedGame.record)).all()
    write_backup(database, lived, first, quiet)
    cold = FolderStore(Path(lived.cold_store))
    Mover(database, cold).move(later, later)
    with database.begin() as session:
        session.execute(sa.update(BotVersion).values(note="another"))
    write_backup(database, lived, second, quiet, since=first)
    write_backup(database, lived, third, quiet, since=second)
    parts = [_names(file) for file in (first, second, third)]
    assert {name for name in parts[1] if name.startswith("cold/")}
    assert not parts[1] & {f"bundles/{DIGEST}", f"bundles/{LARGE}", f"runtimes/{DIGEST}"}
    assert parts[2] == {"about.json", CONTENTS}, "nothing has changed"
    with tarfile.open(first) as tar:
        its = [tar.extractfile(name) for name in parts[0] if name.startswith("rows/")]
        texts = [zlib.decompress(file.read()) for file in its if file is not None]
    assert max(text.rfind(b"\n") for text in texts) < 4000 < max(map(len, texts))
    settings = Settings(data=tmp_path / "new")
    restore_backup(third, settings, quiet)
    restored = Database(settings.database_url, cold=settings.cold_store)
    assert rows(restored) == kept(database)
    with restored.read() as session:
        for number, record in whole:
            assert text_of(session, number, b"") == unpack_text(record)
    restored.close()
    assert (settings.bundles / LARGE).read_bytes() == NET
    (tmp_path / "elsewhere").mkdir()
    with pytest.raises(BackupError, match=f"belong into one folder: write it to {tmp_path}"):
        write_backup(database, lived, tmp_path / "elsewhere" / "d.tar", quiet, since=third)
    with pytest.raises(BackupError, match="is no backup, or was cut short"):
        write_backup(database, lived, tmp_path / "d.tar", quiet, since=tmp_path / "arena.db")
    other, content = Settings(data=tmp_path / "other"), first.read_bytes()
    first.unlink()
    with pytest.raises(BackupError, match=r"a\.tar, which it needs, is not beside it"):
        restore_backup(third, other, quiet)
    with pytest.raises(BackupError, match=r"a\.tar, which it needs, is not beside it"):
        write_backup(database, lived, tmp_path / "d.tar", quiet, since=third)
    first.write_bytes(content.replace(CONTENT, b"A BOT"))
    with pytest.raises(BackupError, match=r"bundle .* is damaged"):
        restore_backup(third, other, quiet)
    first.write_bytes(content)
    restore_backup(third, other, quiet)


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_day_files_that_are_not_whole_are_left_out(
    database: Database, lived: Settings, tmp_path: Path
) -> None:
    """And so are all, if that is wanted; a restore says what is missing, and makes the arena."""
    later = datetime.now(UTC) + timedelta(days=1)
    (file,) = Mover(database, FolderStore(Path(lived.cold_store))).move(later, later)
    there = Path(lived.cold_store) / file.name
    content, said = there.read_bytes(), list[str]()
    for number, spoil in enumerate(
        (there.unlink, lambda: there.write_bytes(content[:-1]), lambda: there.write_bytes(content))
    ):
        spoil()
        backup = tmp_path / f"{number}.tar"
        write_backup(database, lived, backup, said.append, without_cold=number == 2)
        assert not [name for name in _names(backup) if name.startswith("cold/")]
        assert bool([line for line in said if "left out" in line and file.name in line]) == (
            number < 2
        )
        said.clear()
        restore_backup(backup, Settings(data=tmp_path / f"new{number}"), said.append)
        assert any(f"{file.name} is not in the cold store" in line for line in said)
        said.clear()
    beside = Settings(data=tmp_path / "beside", cold=lived.cold_store)
    restore_backup(tmp_path / "2.tar", beside, said.append)
    assert not any("is not in" in line for line in said), "the store is where it was"


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_the_commands_back_up_restore_and_prove(
    database: Database,
    lived: Settings,
    tmp_path: Path,
    cli: Cli,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As the docs tell it."""
    file, new = tmp_path / "arena.tar", str(tmp_path / "new")
    with monkeypatch.context() as there:
        there.setenv("ARENA_DATABASE", database.url)
        done = cli("backup", file, "--data", lived.data)
        assert done.code == 0, done.err
        done = cli("backup", tmp_path / "next.tar", "--since", file, "--data", lived.data)
    assert done.code == 0, done.err
    file = tmp_path / "next.tar"
    done = cli("restore", file, "--data", new)
    assert done.code == 0, done.err
    command = done.out.rpartition(": arena ")[2].split()
    assert command == ["ratings", "rebuild", "--check", "--data", new]
    done = cli(*command)
    assert (done.code, done.out.count(": equal")) == (0, 2), done.out
    again = cli("restore", file, "--data", new)
    assert (again.code, "is not empty" in again.err) == (2, True)
    monkeypatch.setenv("ARENA_DATABASE", f"sqlite:///{tmp_path}/other.db")
    done = cli("restore", file, "--data", tmp_path / "third")
    assert "now prove it, with ARENA_DATABASE set as now: arena" in done.out, done.err
