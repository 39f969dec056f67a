"""Records are packed by what those of a game have in common, and read again for ever."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from arena.ground.db import Database
from arena.keeping import dictionaries
from arena.keeping.dictionaries import LARGEST, REST, SAMPLES, dictionary_of, make_next
from arena.keeping.moving import Mover
from arena.keeping.packing import needed, pack_text, unpack_text
from arena.keeping.reading import record_of, text_of
from arena.keeping.stores import FolderStore
from arena.models import Bot, Competition, Dictionary, PlayedGame
from tests.arena.lists.conftest import NOW, furnish
from tests.arena.simulator import CALM, Simulation
from tests.conftest import DATABASES
from tests.furnished import furnished_database


def stored(database: Database) -> Mapping[int, bytes]:
    with database.read() as session:
        return dict(session.execute(sa.select(PlayedGame.id, PlayedGame.record)).all())


def texts(database: Database) -> Mapping[int, bytes]:
    with database.read() as session:
        return {number: text_of(session, number, its) for number, its in stored(database).items()}


def test_an_arena_makes_them_and_goes_by_them(
    sqlite_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A day after its first start and once there are enough records, one for each game; those from
    before are read as ever, and all of them become cold and come back."""
    monkeypatch.setattr(dictionaries, "ASK_SECONDS", 0.0)
    database = sqlite_database
    simulation = Simulation(database, 1, CALM)
    simulation.furnish([("clobber", {"size": "4x3"}), ("blokus", {"mode": "trio"})], bots=4)
    simulation.alive()
    simulation.tick()
    now = simulation.now
    assert [database.run(lambda session: make_next(session, now)) for _ in range(2)] == [False] * 2
    simulation.run(12)
    before = stored(database)
    assert {needed(record) for record in before.values()} == {None}
    early, late = now + REST - timedelta(seconds=1), now + REST
    assert not database.run(lambda session: make_next(session, early))
    with database.read() as session:
        played = session.execute(sa.select(Competition.game, Competition.games))
        enough = {game for game, games in played if games >= SAMPLES}
    assert "clobber" in enough
    while database.run(lambda session: make_next(session, late)):
        pass
    with database.read() as session:
        names = [name.encode() for name in session.scalars(sa.select(Bot.name))]
        made = session.scalars(sa.select(Dictionary)).all()
    known = {one.game: one.id for one in made}
    assert known.keys() == enough
    for one in made:
        assert (one.id, len(one.content) <= LARGEST) == (zlib.adler32(one.content), True)
        assert not [name for name in names if name in one.content]
    simulation.run(4)
    with database.read() as session:
        digests = dict(session.execute(sa.select(PlayedGame.id, PlayedGame.digest)).all())
        for number, its in stored(database).items():
            record = record_of(session, number, its)
            assert record.digest() == digests[number]
            by = None if number in before else known.get(record.variant.game)
            assert needed(its) == by
            if by is not None:
                assert len(its) < 0.75 * len(zlib.compress(text_of(session, number, its)))
    whole = texts(database)
    assert len(whole) > len(before)
    later, store = simulation.now + timedelta(days=2), FolderStore(tmp_path / "cold")
    files = Mover(database, store).move(later, later)
    assert sum(file.games for file in files) == len(whole)
    assert Mover(database, store).bring_back([file.name for file in files]) == (len(whole), 0)
    assert texts(database) == whole


@pytest.mark.parametrize("kind", DATABASES)
def test_any_database_keeps_them(request: pytest.FixtureRequest, tmp_path: Path, kind: str) -> None:
    """And gives out what was packed by one."""
    request.param = kind
    with furnished_database(request, tmp_path, furnish) as (database, _):
        database.run(lambda session: make_next(session, NOW - REST))
        with database.begin() as session:
            assert make_next(session, NOW)
            session.flush()
            (one,) = session.scalars(sa.select(Dictionary)).all()
        with database.read() as session:
            number = session.scalars(sa.select(sa.func.min(PlayedGame.id))).one()
            content = dictionary_of(session, one.game)
            assert content == one.content
            assert dictionary_of(session, "tag") is None
            packed = pack_text(b'{"moves":[]}', content)
            assert text_of(session, number, packed) == b'{"moves":[]}'
        with database.begin() as session:
            session.execute(sa.delete(Dictionary))
        database.close()
        again = Database(database.url)
        with again.read() as session, pytest.raises(zlib.error, match="there is no dictionary"):
            text_of(session, number, packed)
        again.close()


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_a_server_that_takes_over_is_asked_anew(database: Database) -> None:
    """It may lack a dictionary that was made just before, and nothing is to be packed by that."""
    content, other = b'{"moves":[', Database(database.url)
    made = Dictionary(id=zlib.adler32(content), game="clobber", content=content, made=NOW)
    with database.begin() as session:
        session.add(made)
    with database.begin() as session:
        assert dictionary_of(session, "clobber") == content
    others = "pid <> pg_backend_pid() AND datname = current_database()"
    with other.begin() as session:
        session.execute(sa.delete(Dictionary))
        session.execute(
            sa.text(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}")
        )
    other.close()
    with database.begin() as session:
        session.connection()  # whoever stores games has asked for others before
        assert dictionary_of(session, "clobber") is None


def test_what_is_packed_by_a_dictionary_says_by_which() -> None:
    """As zlib's format has it; and nothing is made of a record that is cut short or by another."""
    text, dictionary = json.dumps({"moves": ["1:a1b1"] * 20}).encode(), b'{"moves": ["1:a1b1"'
    packed = pack_text(text, dictionary)
    assert needed(packed) == zlib.adler32(dictionary)
    assert needed(pack_text(text)) is None
    assert needed(b"") is None
    assert unpack_text(packed, dictionary) == text
    for wrong, its in ((packed[:-5], dictionary), (packed, b"other"), (packed, None)):
        with pytest.raises(zlib.error):
            unpack_text(wrong, its)
