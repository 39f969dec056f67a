"""The database: its schema is the models', on both kinds, and newer ones are refused."""

from __future__ import annotations

import hashlib
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Container, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from sqlalchemy import event

from arena.ground.db import (
    MIGRATIONS,
    SERVED_FROM,
    SERVED_MARK,
    Database,
    SchemaError,
    is_lately,
    unusable,
)
from arena.models import Base, Bot, BrowserSession, Mark, User, Worker
from arena.models.searching import FULL_TEXT, FULL_TEXT_INDEX
from tests import postgres
from tests.conftest import DATABASES

FIRST = MIGRATIONS / "versions" / "0002_the_schema.py"
OF_BEFORE = (
    ('        sa.Column("lower_name", sa.String(length=40), nullable=False),\n', ""),
    ('        sa.UniqueConstraint("lower_name", name=op.f("uq_bot_lower_name")),\n', ""),
    ('"last_match", sa.DateTime(), nullable=True', '"last_match_id", sa.Integer(), nullable=False'),
    ('        sa.Column("trend", sa.JSON(), nullable=False),\n', ""),
    ('        sa.Column("best_rank", sa.Integer(), nullable=True),\n', ""),
    ('        sa.Column("best_rank_at", sa.DateTime(), nullable=True),\n', ""),
    (
        """        sa.CheckConstraint(
            "(best_rank IS NULL) = (best_rank_at IS NULL)", name=op.f("ck_entrant_best_rank")
        ),
""",
        "",
    ),
)
"""What the first migration came to say while nothing was released, and what it said before."""


def test_migrations_make_the_models(database: Database) -> None:
    """What the migrations build is what the models describe, but for a database's own full text."""

    def is_ours(name: str | None, kind: str, _: object) -> bool:
        return name != FULL_TEXT_INDEX and not (name or "").startswith(FULL_TEXT)

    with database.engine.connect() as connection:
        opts = {"compare_type": True, "include_name": is_ours}
        context = MigrationContext.configure(connection, opts=opts)
        assert compare_metadata(context, Base.metadata) == []


def test_a_migration_stays_as_it_is() -> None:
    """Arenas were made by it, and would be taken for what it makes now: write another one."""
    digest = hashlib.sha256(FIRST.read_bytes()).hexdigest()
    assert digest == "f427ce5ebadb13efacdb344d30469dfc066014a1c4798b2d15d25c3d6d2a8e5f"


@pytest.fixture(params=DATABASES)
def of_before(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """A database as the first migration made it before the last changes to it."""
    words = FIRST.read_text()
    for later, before in OF_BEFORE:
        assert words.count(later) == 1, later
        words = words.replace(later, before)
    made: dict[str, Any] = {}
    exec(compile(words, FIRST, "exec", dont_inherit=True), made)
    with ExitStack() as ended:
        url = f"sqlite:///{tmp_path}/arena.db"
        if request.param == "postgresql":
            server = request.getfixturevalue("postgres_url")
            url = ended.enter_context(postgres.database(server))
        found = Database(url)
        ended.callback(found.close)
        with found.engine.begin() as connection:
            with Operations.context(MigrationContext.configure(connection)):
                made["upgrade"]()
            connection.execute(sa.text("CREATE TABLE alembic_version (version_num VARCHAR(32))"))
            connection.execute(sa.text("INSERT INTO alembic_version VALUES ('0002')"))
        yield found


def test_an_arena_made_before_the_schema_was_settled_is_brought_up_to_it(
    of_before: Database,
) -> None:
    """With all columns; of two bots whose names differ in the size of letters, one is renamed."""
    names = ["mybot", "MyBot", "M" * 40, "m" * 40, "MYBOT-4"]
    ada = {"id": 1, "name": "ada", "lower_name": "ada", "role": "participant"}
    ada |= {"session_key": "of her cookie", "last_sign_in": datetime(2026, 1, 2)}
    with of_before.engine.begin() as connection:
        for table, row in (
            ("user", ada),
            *(("bot", {"id": 3 + n, "name": name, "owner_id": 1}) for n, name in enumerate(names)),
        ):
            described = sa.Table(table, sa.MetaData(), autoload_with=connection, resolve_fks=False)
            connection.execute(sa.insert(described).values(_whole(described, row)))
    of_before.upgrade()
    of_before.demand_schema()
    with of_before.engine.connect() as connection:
        found = sa.inspect(connection)
        for table in Base.metadata.sorted_tables:
            columns = {column["name"] for column in found.get_columns(table.name)}
            assert columns == set(table.c.keys()), table.name
    with of_before.read() as session:
        bots = session.execute(sa.select(Bot.name, Bot.lower_name).order_by(Bot.id)).all()
        assert bots == [
            ("mybot", "mybot"),
            ("MyBot-5", "mybot-5"),
            ("M" * 40, "m" * 40),
            ("m" * 38 + "-6", "m" * 38 + "-6"),
            ("MYBOT-4", "mybot-4"),
        ]
        # Who was signed in stays so.
        assert session.execute(sa.select(BrowserSession.user_id, BrowserSession.key)).all() == [
            (1, "of her cookie")
        ]
    with pytest.raises(sa.exc.IntegrityError), of_before.begin() as session:
        session.add(Bot(name="MYBOT", owner_id=1, created=datetime.now(UTC)))


def _whole(table: sa.Table, row: dict[str, object]) -> dict[str, object]:
    """A row with something in each column that must have a value."""
    usual = {int: 0, str: "", bool: False, datetime: datetime(2026, 1, 1)}
    missing = (one for one in table.c if not one.nullable and one.name not in row)
    return {one.name: usual[one.type.python_type] for one in missing} | row


NUMBERED_ONCE = sorted(
    table.name
    for table in Base.metadata.sorted_tables
    if table.dialect_options["sqlite"]["autoincrement"]
)


def _upgraded(database: Database, revision: str) -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    database.make_file()
    with database.engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)


def _rows(connection: sa.Connection, table: str) -> list[tuple[Any, ...]]:
    """All of a table, by the names of its columns as an older release had them."""
    return [tuple(row) for row in connection.exec_driver_sql(f'SELECT * FROM "{table}"')]


def test_no_number_is_given_twice(tmp_path: Path) -> None:
    """SQLite gives none of a table of which rows go, nor one of before, whose rows all stay."""
    database = Database(f"sqlite:///{tmp_path}/arena.db")
    _upgraded(database, "0044")
    with closing(sqlite3.connect(tmp_path / "arena.db")) as file:
        # What the rows refer to is not there, and they break rules that this is not about.
        for pragma in ("foreign_keys=OFF", "ignore_check_constraints=ON"):
            file.execute(f"PRAGMA {pragma}")
        described = sa.MetaData()
        with database.engine.connect() as connection:
            described.reflect(connection, only=NUMBERED_ONCE, resolve_fks=False)
        for name in NUMBERED_ONCE:
            columns = [one for one in described.tables[name].c if one.computed is None]
            names = ", ".join(f'"{one.name}"' for one in columns)
            for number in (1, 2, 7):
                row = [_some(one, number) for one in columns]
                marks = ", ".join("?" * len(row))
                file.execute(f'INSERT INTO "{name}" ({names}) VALUES ({marks})', row)
        file.commit()
    with database.engine.connect() as connection:
        before = {name: _rows(connection, name) for name in NUMBERED_ONCE}
    database.upgrade()
    database.close()
    with closing(sqlite3.connect(tmp_path / "arena.db")) as file:
        (problems,) = zip(*file.execute("PRAGMA integrity_check"), strict=True)
        assert {one for one in problems if not one.startswith("CHECK constraint")} == set()
        for name, rows in before.items():
            # Later releases add columns behind those that were there.
            found = file.execute(f'SELECT * FROM "{name}"').fetchall()
            assert [row[: len(rows[0])] for row in found] == rows, name
        last = dict(file.execute("SELECT name, seq FROM sqlite_sequence"))
        assert {name: last[name] for name in NUMBERED_ONCE} == dict.fromkeys(NUMBERED_ONCE, 7)
        file.execute("DELETE FROM link WHERE id = 7")
        made = file.execute(
            "INSERT INTO link (kind, digest, role, created, expires) "
            "VALUES ('invitation', 'x', 'participant', '2026-01-01', '2026-01-01')"
        )
        assert made.lastrowid == 8


def _some(column: sa.Column[Any], number: int) -> Any:
    if column.name == "id":
        return number
    kind = column.type
    if isinstance(kind, (sa.Integer, sa.Float, sa.Boolean)):
        return number
    return "[]" if isinstance(kind, sa.JSON) else f"2026-01-0{number} 00:00:00.000000"


def test_the_schema_says_of_which_tables_no_number_comes_again(sqlite_database: Database) -> None:
    """As the models do: a migration that makes one of them anew has to say so, too."""
    wanted = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%'"
    with sqlite_database.engine.connect() as connection:
        found = connection.exec_driver_sql(wanted).scalars().all()
    assert sorted(found) == NUMBERED_ONCE
    assert {"bot", "bot_version", "check", "entrant"} <= set(found)


def test_a_database_too_old_to_be_brought_up_is_refused(database: Database) -> None:
    """A line says so, and it is left as it was."""
    with database.engine.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '0002'"))
        connection.execute(sa.text("DROP TABLE sitting_seat"))
        connection.execute(sa.text("ALTER TABLE sitting RENAME TO other"))
    with pytest.raises(SchemaError, match="too old for this release: use the release that made it"):
        database.upgrade()
    with database.engine.connect() as connection:
        assert connection.scalar(sa.text("SELECT version_num FROM alembic_version")) == "0002"


def test_a_new_file_is_its_owners_alone(tmp_path: Path) -> None:
    """It is in a folder that all may read too, and so is what SQLite keeps beside it."""
    tmp_path.chmod(0o755)
    database = Database(f"sqlite:///{tmp_path}/arena.db")
    database.upgrade()
    with database.begin() as session:
        session.add(Mark(key="some", value="secret"))
        modes = {file.name: file.stat().st_mode & 0o777 for file in tmp_path.iterdir()}
    database.close()
    assert modes == dict.fromkeys(("arena.db", "arena.db-shm", "arena.db-wal"), 0o600)


def test_to_upgrade_again_keeps_the_locks_of_open_connections(tmp_path: Path) -> None:
    """A process that closes the file beside SQLite loses them all; then whoever else closes the
    database takes its log away, though it is still written: https://sqlite.org/howtocorrupt.html
    """
    file = tmp_path / "arena.db"
    with closing(Database(f"sqlite:///{file}")) as database:
        database.upgrade()
        database.upgrade()
        another = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('SELECT * FROM mark')"
        subprocess.run([sys.executable, "-c", another, str(file)], check=True)
        assert Path(f"{file}-wal").exists()


def text(file: Path) -> None:
    file.write_text("this is no database, and long enough to be read\n")


def half(file: Path) -> None:
    with closing(Database(f"sqlite:///{file}")) as database:
        database.upgrade()
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


@pytest.mark.parametrize("write", [text, half])
def test_what_is_no_database_is_refused(write: Callable[[Path], None], tmp_path: Path) -> None:
    """A line names the file, which is left as it was."""
    file = tmp_path / "arena.db"
    write(file)
    before = file.read_bytes()
    with closing(Database(f"sqlite:///{file}")) as database:
        for use in (database.upgrade, database.demand_schema):
            with pytest.raises(SchemaError, match=f"^{file} is no database, or a damaged one: "):
                use()
    assert file.read_bytes() == before


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
def test_a_database_that_cannot_keep_every_name_is_refused(
    encoding: str, postgres_url: str
) -> None:
    """As a server has them that was installed where no language was set, or a western one."""
    with postgres.database(postgres_url, like=f"template0 ENCODING '{encoding}' LOCALE 'C'") as url:
        database = Database(url)
        for use in (database.upgrade, database.demand_schema):
            with pytest.raises(SchemaError, match=f"keeps text as {encoding}, .* needs UTF8: make"):
                use()
        database.close()


@pytest.mark.parametrize(
    ("place", "statement", "words"),
    [
        (
            "{}?mode=ro&uri=true",
            "CREATE TABLE t (n)",
            "readonly database (let this user write its file",
        ),
        (
            "{}/none?uri=true",
            "SELECT 1",
            "open database file (let this user read and write its file",
        ),
        ("{}?uri=true", "nonsense", 'near "nonsense": syntax error'),
    ],
)
def test_what_a_database_raises_is_told_in_a_line(
    place: str, statement: str, words: str, tmp_path: Path
) -> None:
    """And what helps, where that is plain."""
    file = tmp_path / "a.db"
    file.touch()
    engine = sa.create_engine(f"sqlite:///file:{place.format(file)}")
    with pytest.raises(sa.exc.OperationalError) as caught, engine.begin() as connection:
        connection.exec_driver_sql(statement)
    engine.dispose()
    line = unusable(caught.value)
    assert line.startswith("can't use the database: ")
    assert words in line
    assert "\n" not in line


def test_what_is_not_prepared_is_refused(database: Database) -> None:
    """Who serves or records and does not upgrade says how to."""
    database.demand_schema()
    words = "its schema is {}, not .*: first arena up, or arena run prepare"
    with database.engine.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '0002'"))
    with pytest.raises(SchemaError, match=words.format("0002")):
        database.demand_schema()
    with database.engine.begin() as connection:
        connection.execute(sa.text("DROP TABLE alembic_version"))
    with pytest.raises(SchemaError, match=words.format("none")):
        database.demand_schema()


@pytest.mark.parametrize(
    ("served_from", "is_served"), [(None, False), ("9998", False), ("0001", True)]
)
def test_a_newer_database_is_used_if_it_says_so(
    database: Database, served_from: str | None, is_served: bool
) -> None:
    """Who only uses it does, until it is of the later release, too; or a line says what to do."""
    with database.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
        if served_from:
            connection.execute(sa.insert(Mark).values(key=SERVED_MARK, value=served_from))
    refused = pytest.raises(SchemaError, match=r"another release .*; use that release, or another")
    with nullcontext() if is_served else refused:
        database.demand_schema()
    with refused:
        database.upgrade()


def test_what_comes_to_a_schema_is_nothing_that_older_programs_must_know(
    sqlite_database: Database, tmp_path: Path
) -> None:
    """Since `SERVED_FROM` nothing of a table is taken away, and no row has to be another one."""
    with closing(Database(f"sqlite:///{tmp_path}/older.db")) as older:
        _upgraded(older, SERVED_FROM)
        before, now = sa.inspect(older.engine), sa.inspect(sqlite_database.engine)
        for table in before.get_table_names():
            had = {one["name"]: one for one in before.get_columns(table)}
            has = {one["name"]: one for one in now.get_columns(table)}
            for name, column in has.items():
                may_be_none = column["nullable"] or column["default"] is not None
                assert may_be_none or not had[name]["nullable"], f"{table}.{name}"
            assert had.keys() <= has.keys(), table
            assert _demands(now, table, had) <= _demands(before, table, had), table


def _demands(inspector: sa.Inspector, table: str, columns: Container[str]) -> set[str]:
    """What must hold for the rows of a table, as far as it is about these columns alone."""
    keys = [tuple(one["column_names"]) for one in inspector.get_unique_constraints(table)]
    keys += [tuple(one["column_names"]) for one in inspector.get_indexes(table) if one["unique"]]
    foreign = [tuple(one["constrained_columns"]) for one in inspector.get_foreign_keys(table)]
    checks = {one["sqltext"] for one in inspector.get_check_constraints(table)}
    names = [one["name"] for one in inspector.get_columns(table)]
    new = [re.compile(rf"\b{name}\b") for name in names if name not in columns]
    of_keys = {str(key) for key in [*keys, *foreign] if all(name in columns for name in key)}
    return of_keys | {text for text in checks if not any(one.search(text) for one in new)}


def test_the_schema_is_looked_at_beside_a_writer(database: Database) -> None:
    """Who makes ratings anew writes for long, and commands that only read don't wait for it."""
    other = Database(database.url)
    # Or a failure would come after half a minute.
    event.listen(other.engine, "connect", lambda connection, _: _hasten(connection))
    with database.begin() as session:
        session.add(Mark(key="count", value="0"))
        session.flush()
        other.demand_schema()
    other.close()


def _hasten(connection: Any) -> None:
    if isinstance(connection, sqlite3.Connection):
        connection.execute("PRAGMA busy_timeout=0")


def test_times_come_back_in_utc(database: Database) -> None:
    """A moment survives the database with its zone."""
    moment = datetime(2026, 5, 4, 3, 2, 1, 123456, tzinfo=UTC)
    with database.begin() as session:
        session.add(User(name="somebody", created=moment))
    with database.read() as session:
        assert session.scalar(sa.select(User.created)) == moment


@pytest.mark.parametrize(
    ("ago", "found"), [(0, True), (59, True), (61, False), (-59, True), (-61, False)]
)
def test_a_moment_to_come_is_not_of_late(database: Database, ago: int, found: bool) -> None:
    """But where another machine's clock is a little ahead."""
    now = datetime(2026, 5, 4, tzinfo=UTC)
    moment = sa.literal(now - timedelta(seconds=ago), Worker.last_seen.type)
    with database.read() as session:
        lately = session.scalar(sa.select(is_lately(moment, timedelta(minutes=1), now)))
    assert bool(lately) is found


def test_writers_wait_for_each_other(database: Database) -> None:
    """Transactions that read, then write, neither fail nor lose an update."""
    with database.begin() as session:
        session.add(Mark(key="count", value="0"))

    def add_one(_: int) -> None:
        with database.begin() as session:
            mark = session.get(Mark, "count", with_for_update=True)
            assert mark is not None
            mark.value = str(int(mark.value) + 1)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(add_one, range(40)))
    with database.read() as session:
        assert session.get_one(Mark, "count").value == "40"


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_who_met_a_server_that_only_reads_finds_the_one_that_took_over(database: Database) -> None:
    """Without being told: by a new connection, for the old one's server stays as it is."""
    other = Database(database.url)
    for whether in ("on", "off"):
        with database.engine.connect() as connection:
            words = (
                f"ALTER DATABASE {database.engine.url.database} "
                f"SET default_transaction_read_only = {whether}"
            )
            connection.execution_options(isolation_level="AUTOCOMMIT").exec_driver_sql(words)
        if whether == "on":
            for _ in range(2):
                with pytest.raises(sa.exc.InternalError), other.begin() as session:
                    session.add(Mark(key="written", value=""))
    with other.begin() as session:
        session.add(Mark(key="written", value=""))
    other.close()
