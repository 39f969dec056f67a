"""An arena whose games are cold: the process that sees to it, and the commands."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from arena.ground.config import Settings
from arena.ground.db import Database
from arena.keeping import reading
from arena.keeping.moving import Mover, begins_cold
from arena.keeping.stores import FolderStore
from arena.models import PlayedGame
from arena.operation import alarms, health
from arena.operation.cold import ColdRecords
from arena.recorder.judging import AT_A_TIME, Judge
from tests.arena.conftest import Cli
from tests.arena.lists.conftest import furnish
from tests.arena.running import await_politely
from tests.furnished import furnished_database

LATER = datetime.now(UTC) + timedelta(days=1)


@pytest.fixture
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Settings]:
    """Those of an arena with some hundred games in a data folder of its own."""
    with furnished_database(request, tmp_path, furnish) as (database, _):
        yield Settings(data=tmp_path, database=database.url, cold_days=20)


class Looking:
    """Looks at cold records as the recorder does, which keeps what is wrong with them."""

    def __init__(self, settings: Settings) -> None:
        self.database = Database(settings.database_url, cold=settings.cold_store)
        self.records, self.now = ColdRecords(settings), datetime.now(UTC)

    def look(self, days: float = 20) -> str:
        with self.database.begin() as session:
            health.note(session, health.COLD_MARK, self.records.look(session, days, self.now))
            return session.get_one(health.Mark, health.COLD_MARK).value

    def ends_well(self) -> bool:
        """Whether nothing is wrong, and nothing runs."""
        return not self.look() and self.records.process is None


@pytest.fixture
def looking(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Looking]:
    """Somebody who tries at once what has failed."""
    monkeypatch.setattr("arena.operation.started.RETRY_SECONDS", 0.0)
    found = Looking(settings)
    yield found
    found.database.close()


@pytest.mark.long
@pytest.mark.timeout(900)  # such a process starts twice
def test_a_process_does_it(settings: Settings, looking: Looking) -> None:
    """Nothing runs where nothing is to be done; what is wrong is said until it is mended."""
    assert looking.look(0) == ""
    assert looking.records.process is None, "never"
    folder = Path(settings.cold_store)
    folder.touch()
    await_politely(looking.look, "a problem")
    assert looking.look().startswith("something is wrong with cold records: ")
    assert str(folder) in looking.look()
    folder.unlink()
    await_politely(lambda: looking.ends_well() and folder.is_dir(), "its end")


@pytest.mark.long
@pytest.mark.timeout(900)
def test_a_file_that_is_missing_is_an_alarm(settings: Settings, looking: Looking) -> None:
    """Until it is there again."""
    folder, database = Path(settings.cold_store), looking.database
    before = begins_cold(settings.cold_days, looking.now)
    *_, last = Mover(database, FolderStore(folder)).move(before, looking.now)
    kept = (folder / last.name).rename(settings.data / "kept")
    await_politely(looking.look, "a problem")
    assert f"{last.name} is not in the cold store {folder}" in looking.look()
    with database.read() as session:
        found = alarms.find(session, settings, datetime.now(UTC))
        (alarm,) = [one for one in found if one.kind == "cold records"]
    assert last.name in alarm.words
    kept.rename(folder / last.name)
    await_politely(looking.ends_well, "no problem any more")


def test_a_game_that_is_away_is_not_judged_and_stops_nobody(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    """It is passed over, as one that can't be read."""
    database = Database(settings.database_url, cold=settings.cold_store)
    Mover(database, FolderStore(Path(settings.cold_store))).move(LATER, LATER)
    judge = Judge(settings.truth, steps=10)
    assert judge.go_on(database) == AT_A_TIME
    assert "can't be judged" not in caplog.text
    shutil.rmtree(settings.cold_store)
    reading._texts.cache_clear()
    while "can't be judged" not in caplog.text:
        assert judge.go_on(database) == AT_A_TIME
    database.close()


def test_the_commands(cli: Cli, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Move, list, prove, and bring back; and each says what is wrong with what it is asked."""
    monkeypatch.setenv("ARENA_DATABASE", settings.database)
    data = ("--data", settings.data)
    assert cli("cold", "list", *data, "--json").json == []
    refused = cli("cold", "move", *data)
    assert (refused.code, "ARENA_COLD_DAYS" in refused.err) == (2, True)
    moved = cli("cold", "move", "--days", 20, *data, "--json").json
    listed = cli("cold", "list", *data, "--json").json
    assert moved["files"] == [file["name"] for file in listed]
    assert moved["games"] == sum(file["games"] for file in listed) > 100
    proven = cli("cold", "verify", *data, "--json")
    assert (proven.code, {row["problem"] for row in proven.json}) == (0, {""})
    spoiled = settings.data / "cold" / listed[0]["name"]
    content = spoiled.read_bytes()
    spoiled.write_bytes(content[:70] + b"?" + content[71:])
    wrong = cli("cold", "verify", *data)
    assert wrong.code == 1
    assert f"{spoiled.name} is not in the cold store as it was put there" in wrong.out
    assert f"{len(listed)} files with {moved['games']} games, 1 of them wrong" in wrong.out
    refused = cli("cold", "back", *data)
    assert (refused.code, "is damaged" in refused.err) == (2, True)
    spoiled.write_bytes(content)
    refused = cli("cold", "back", "1999-01-01", *data)
    assert (refused.code, "has no file of 1999-01-01" in refused.err) == (2, True)
    day = cli("cold", "back", listed[-1]["day"], *data, "--json").json
    assert day["files"] == [file["name"] for file in listed if file["day"] == listed[-1]["day"]]
    monkeypatch.setenv("ARENA_COLD_DAYS", "5")
    rest = cli("cold", "back", *data)
    assert "will move them again" in rest.err
    assert cli("cold", "list", *data, "--json").json == []
    database = Database(settings.database_url)
    with database.read() as session:
        assert set(session.scalars(sa.select(sa.func.length(PlayedGame.record) > 0))) == {True}
    database.close()
