"""A dump a day: which are kept, what they share, and the process that makes them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from arena.dumps import daily
from arena.dumps.manifest import DumpManifest
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.operation.dumps import DailyDumps
from tests.arena.running import await_politely
from tests.conftest import copied

pytestmark = pytest.mark.extras

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)


@pytest.fixture
def _private() -> Iterator[None]:
    """What this process and those that it starts write is for nobody else to read."""
    before = os.umask(0o077)
    yield
    os.umask(before)


@pytest.fixture
def settings(archive: Database, tmp_path: Path) -> Iterator[Settings]:
    """Those of an arena with some hundred games in a data folder of its own."""
    file = Path(archive.url.removeprefix("sqlite:///"))
    with copied("sqlite", file, tmp_path) as database:
        yield Settings(data=tmp_path, database=database.url, dumps="dumps", dumps_kept=2)


def made(settings: Settings) -> list[str]:
    return sorted(os.listdir(settings.dump_folder))


def test_the_newest_ones_are_kept(settings: Settings) -> None:
    """With what others have put beside them; those of before share what has not changed.

    One of another release goes when its time has come, too.
    """
    for name in ("notes", "2026-05-02", "2026-05-03"):
        (settings.dump_folder / name).mkdir(parents=True)
    (settings.dump_folder / "2026-05-03" / "dump.json").write_text('{"format": 99}')
    of_others = ["2026-05-02", "notes"]
    database = Database(settings.database)
    names = []
    for day in range(4):
        now = NOON + timedelta(days=day)
        assert not daily.is_made(daily.folder_of(settings, now))
        names.append(daily.make(database, settings, now).name)
        assert daily.is_made(daily.folder_of(settings, now))
        kept = ["2026-05-03", *names][-2:]
        assert made(settings) == sorted([*kept, *of_others])
    database.close()
    assert names == ["2026-05-04", "2026-05-05", "2026-05-06", "2026-05-07"]
    one, other = (
        settings.dump_folder / name / "plies" / "part-00001.parquet" for name in names[-2:]
    )
    assert one.samefile(other)


def test_one_that_was_not_finished_is_used_and_gone(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the next day has come meanwhile."""
    from arena.dumps import writing

    monkeypatch.setattr(writing, "PART_GAMES", 50)
    database = Database(settings.database)
    first = daily.make(database, settings, NOON)
    half = DumpManifest.read(first)
    assert half is not None
    half.is_finished, half.parts = False, half.parts[:3]
    half.write(first)
    file = first / "plies" / "part-00001.parquet"
    number = file.stat().st_ino
    second = daily.make(database, settings, NOON + timedelta(days=1))
    database.close()
    assert made(settings) == [second.name]
    assert (second / "plies" / "part-00001.parquet").stat().st_ino == number


@pytest.mark.timeout(900)  # such a process starts twice
@pytest.mark.usefixtures("_private")
def test_a_process_makes_it_and_what_keeps_it_from_that_is_told(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until one is made, and then no other is begun on that day; without the setting none is.

    Everybody may read it, though the arena's account keeps what it writes to itself.
    """
    monkeypatch.setattr("arena.operation.started.RETRY_SECONDS", 0.0)
    settings.dump_folder.touch()
    dumps, now = DailyDumps(settings), datetime.now(UTC)
    await_politely(lambda: dumps.look(now), "a problem")
    there = settings.dump_folder / f"{now:%Y-%m-%d}"
    why = f"can't write {there}: Not a directory"
    assert dumps.look(now) == f"the dump of the day could not be made: {why}"
    settings.dump_folder.unlink()
    await_politely(lambda: not dumps.look(now), "no problem any more")
    assert made(settings) == [there.name]
    assert all(path.stat().st_mode & 0o044 == 0o044 for path in there.rglob("*"))
    assert dumps.process is None
    unset = DailyDumps(Settings(data=settings.data))
    assert unset.look(now) == ""
    assert unset.process is None
