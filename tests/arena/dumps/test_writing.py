"""Dumps say of every game what its record says, whatever broke them off meanwhile."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from arena.competitions.voids import make_void
from arena.dumps.manifest import About, DumpManifest
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.ground.refusals import NotThere, Refusal
from arena.keeping.packing import unpack
from arena.lists.filters import GameFilter
from arena.models import JobStatus, Match, PlayedGame
from engine.games import find_variant
from engine.record import states
from tests.arena.lists.conftest import plain_games
from tests.conftest import DATABASES, copied

pytestmark = pytest.mark.extras

NOW = datetime(2026, 5, 5, tzinfo=UTC)
TABLES = ("games", "seats", "plies")
LADDER = "blocco-5x6-2"
"""It has 70 games."""


class Dumper:
    """Writes dumps of an arena's games, in parts of ten."""

    def __init__(self, database: Database) -> None:
        from arena.dumps import writing
        from arena.dumps.sources import OfArena

        self.writing, self._of_arena = writing, OfArena
        self.database = database
        self.told: list[str] = []

    def source(self, **words: str) -> Any:
        """The games that some words of a filter want."""
        settings = Settings(public_url="https://arena.example", licence="CC0-1.0")
        return self._of_arena(self.database, settings, GameFilter.read(words))

    def __call__(
        self, folder: Path, source: Any = None, earlier: Path | None = None, **words: str
    ) -> Any:
        source = source or self.source(**words)
        about = About(source.arena, words, source.licence)
        return self.writing.write_dump(
            folder, source, about, NOW, earlier=earlier, tell=self.told.append
        )


@pytest.fixture
def dump(archive: Database, monkeypatch: pytest.MonkeyPatch) -> Dumper:
    dumper = Dumper(archive)
    monkeypatch.setattr(dumper.writing, "PART_GAMES", 10)
    monkeypatch.setattr(dumper.writing, "GROUP_ROWS", 100)
    return dumper


def rows(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """All rows of a dump."""
    from pyarrow import parquet

    return {table: parquet.read_table(folder / table).to_pylist() for table in TABLES}


@pytest.mark.parametrize("archive", DATABASES, indirect=True)
def test_rows_are_what_records_say(dump: Dumper, archive: Database, tmp_path: Path) -> None:
    """Each column of each game that is not void, by a plain look at its record."""
    manifest = dump(tmp_path / "dump")
    found = rows(tmp_path / "dump")
    with archive.read() as session:
        void = sa.select(PlayedGame.id).join(PlayedGame.match)
        voids = set(session.scalars(void.where(Match.status == JobStatus.VOID)))
        plain = {game.number: game for game in plain_games(session) if game.number not in voids}
        stored = session.execute(sa.select(PlayedGame.id, PlayedGame.record)).all()
        played = {game.id: game for game in session.scalars(sa.select(PlayedGame))}
        records = {row.id: unpack(row.record) for row in stored}
        ratings = {
            (game.id, seat.seat + 1): (seat.mu_before, seat.sigma_after, seat.cpu_us, seat.points)
            for game in played.values()
            for seat in game.seats
        }
    assert voids
    assert [game["number"] for game in found["games"]] == sorted(plain)
    assert (manifest.count, manifest.until) == (len(plain), max(records))
    assert sum(part.plies for part in manifest.parts) == len(found["plies"])
    for game in found["games"]:
        its, record = plain[game["number"]], records[game["number"]]
        assert (game["competition"], game["game"]) == (its.competition, its.game)
        assert (game["finished"], game["counts"]) == (its.finished, its.counts)
        assert (int(game["opening"], 16), game["plies"]) == (its.opening, its.plies)
        assert (game["termination"], game["variant"]) == (its.ending, str(record.variant))
        assert (game["match"], game["seed"]) == (played[its.number].match_id, record.seed)
        *before, last = states(record)
        assert game["end_position"] == last.text()
        own = [ply for ply in found["plies"] if ply["number"] == its.number]
        assert [ply["position"] for ply in own] == [state.text() for state in before]
        for number, (ply, row) in enumerate(zip(record.plies, own, strict=True)):
            assert (row["ply"], row["seat"], row["move"]) == (number, ply.seat + 1, ply.move)
            assert row["is_opening"] == (number < record.opening)
            assert (row["cpu_us"], row["wall_us"]) == (ply.cpu_us, ply.wall_us)
            assert (dict(row["values"]), row["tags"]) == (ply.values, list(ply.tags))
            assert (row["eval"], row["text"]) == (ply.values.get("eval"), ply.text)
        seats = [seat for seat in found["seats"] if seat["number"] == its.number]
        assert [seat["seat"] for seat in seats] == [seat.seat + 1 for seat in its.seats]
        for seat, row in zip(its.seats, seats, strict=True):
            assert (row["bot"], row["version"]) == (seat.bot, seat.version)
            assert (row["result"], row["fault"]) == (seat.result, seat.fault)
            told = (row["mu_before"], row["sigma_after"], row["cpu_us"], row["points"])
            assert told == ratings[its.number, row["seat"]]
            assert row["score"] == record.scores[seat.seat]


def test_a_file_says_where_it_is_from(dump: Dumper, tmp_path: Path) -> None:
    """Its arena, the moment, the licence, and the versions and licences of the games' rules."""
    from pyarrow import parquet

    dump(tmp_path / "dump", competition=LADDER)
    for file in (tmp_path / "dump").glob("*/*.parquet"):
        told = parquet.read_metadata(file).metadata
        assert told[b"arena.arena"] == b"https://arena.example"
        assert (told[b"arena.licence"], told[b"arena.made"]) == (
            b"CC0-1.0",
            b"2026-05-05T00:00:00+00:00",
        )
        assert json.loads(told[b"arena.where"]) == {"competition": LADDER}
        whose = {"blocco": {"rules": "game-bot-arena 1", "licence": "MIT"}}
        assert json.loads(told[b"arena.games"]) == whose


@pytest.mark.parametrize(
    "words",
    [{"result": "won", "seat": "1", "competition": LADDER}, {"plies": "10000-"}],
    ids=["some", "none"],
)
def test_a_filter_narrows_it(
    dump: Dumper, archive: Database, tmp_path: Path, words: dict[str, str]
) -> None:
    """It has the games that lists find by the same words, if any."""
    manifest = dump(tmp_path / "dump", **words)
    with archive.read() as session:
        voids = {one.number for one in plain_games(session) if not one.counts}
        wanted = GameFilter.read(words)
        found = [one.number for one in plain_games(session) if one.is_wanted(wanted)]
    numbers = [row["number"] for row in rows(tmp_path / "dump")["games"]] if manifest.count else []
    assert numbers == [number for number in found if number not in voids]


class Broken(Exception):
    """The source has gone away."""


@pytest.mark.parametrize("games", [0, 10, 11, 45])
def test_what_broke_off_goes_on(dump: Dumper, tmp_path: Path, games: int) -> None:
    """After so many games; it is the same in the end, and has no game that came meanwhile."""
    words = {"competition": LADDER}
    source = dump.source(**words)

    class Breaking:
        arena, licence = source.arena, source.licence

        def newest(self) -> int:
            return source.newest()

        def lines(self, after: int) -> Iterator[bytes]:
            for number, line in enumerate(source.lines(after)):
                if number == games:
                    raise Broken
                yield line

    class Grown:
        arena, licence = source.arena, source.licence

        def newest(self) -> int:
            return 10**6

        def lines(self, after: int) -> Iterator[bytes]:
            yield from source.lines(after)
            yield b'{"number": 1000000, "game": "blocco", "void": false}'

    whole = dump(tmp_path / "whole", **words)
    with pytest.raises(Broken):
        dump(tmp_path / "dump", Breaking(), **words)
    before = DumpManifest.read(tmp_path / "dump")
    # A part is known to be whole when the game after it comes.
    assert (before.is_finished, len(before.parts)) == (False, max(0, games - 1) // 10)
    manifest = dump(tmp_path / "dump", Grown(), **words)
    assert manifest == whole
    assert rows(tmp_path / "dump") == rows(tmp_path / "whole")
    assert not list((tmp_path / "dump").rglob("*.new"))


def test_of_an_earlier_one_is_taken_over_what_is_the_same(
    archive: Database, dump: Dumper, tmp_path: Path
) -> None:
    """Only the part of a match that was made void since is written again."""
    words = {"competition": LADDER}
    with copied("sqlite", Path(archive.url.removeprefix("sqlite:///")), tmp_path) as database:
        dump.database = database
        old = dump(tmp_path / "old", **words)
        with database.begin() as session:
            match = session.get_one(PlayedGame, old.parts[2].first).match
            make_void(session, match, "a power cut")
        new = dump(tmp_path / "new", earlier=tmp_path / "old", **words)
        fresh = dump(tmp_path / "fresh", **words)
    assert rows(tmp_path / "new") == rows(tmp_path / "fresh")
    assert match.id not in {row["match"] for row in rows(tmp_path / "new")["games"]}
    assert new.count == fresh.count < old.count
    for table in TABLES:
        same = [
            (tmp_path / "old" / table / f"{part.name}.parquet").samefile(
                tmp_path / "new" / table / f"{part.name}.parquet"
            )
            for part in new.parts
        ]
        # The match lies in one part or over the border of two.
        assert len(same) == len(old.parts) == 7
        assert same.count(False) in (1, 2)


@pytest.mark.parametrize(
    ("spoil", "error"),
    [
        (lambda folder: (folder / "mine.txt").touch(), "is not empty, and holds no dump"),
        (lambda folder: (folder / "dump.json").write_text("{"), "is damaged: name another"),
        (lambda folder: (folder / "dump.json").write_text("[]"), "is damaged: name another"),
        (
            lambda folder: (folder / "dump.json").write_text('{"format": 99}'),
            "has format 99, and this program knows format 1",
        ),
    ],
    ids=["other files", "cut short", "no object", "another format"],
)
def test_what_lies_there_is_left_alone(
    dump: Dumper, tmp_path: Path, spoil: Callable[[Path], object], error: str
) -> None:
    """The folder that is to be written holds something else."""
    spoil(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(Refusal, match=error):
        dump(tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_folder_is_one_dumps(dump: Dumper, tmp_path: Path) -> None:
    """Neither that of other games nor of another process."""
    dump(tmp_path, game="blocco")
    with pytest.raises(Refusal, match=r"another dump \(game=blocco of https://arena.example, lic"):
        dump(tmp_path)
    holder = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(holder, fcntl.LOCK_EX)
    try:
        with pytest.raises(Refusal, match="another process writes a dump"):
            dump(tmp_path, game="blocco")
    finally:
        os.close(holder)


def test_a_filter_may_name_nothing_that_is_not_there(dump: Dumper) -> None:
    """It is said before anything is written."""
    with pytest.raises(NotThere, match="no bot nobody"):
        dump.source(bot="nobody")


def _line(dump: Dumper, **changes: Any) -> dict[str, Any]:
    line = json.loads(next(iter(dump.source(game="blocco").lines(0))))
    return {**line, **changes}


class Few:
    """A source of a few lines."""

    arena, licence = "https://arena.example", ""

    def __init__(self, *lines: dict[str, Any]) -> None:
        self._lines = lines

    def newest(self) -> int:
        return 10**6

    def lines(self, after: int) -> Iterator[bytes]:
        return (json.dumps(line).encode() for line in self._lines if line["number"] > after)


@pytest.mark.parametrize(
    ("changes", "positions"),
    [
        ({}, True),
        ({"run": {"rules": "game-bot-arena 0"}}, False),
        ({"game": "atlantis", "options": {}}, False),
        ({"moves": {0: "1:a1a9"}}, False),
    ],
    ids=["as it was", "other rules", "a game that is not here", "rules refute it"],
)
def test_positions_are_those_of_the_rules(
    dump: Dumper, tmp_path: Path, changes: dict[str, Any], positions: bool
) -> None:
    """The rules are those by which the game was played, or there are none; all else is told."""
    line = _line(dump)
    for key, value in changes.items():
        if isinstance(line[key], list):
            for place, one in value.items():
                line[key][place] = one
        else:
            line[key] = {**line[key], **value} if value and isinstance(value, dict) else value
    manifest = dump(tmp_path / "dump", Few(line))
    found = rows(tmp_path / "dump")
    assert (manifest.count, dump.told) == (1, [])
    assert len(found["plies"]) == len(line["moves"])
    told = [*(ply["position"] for ply in found["plies"]), found["games"][0]["end_position"]]
    assert [one is not None for one in told] == [positions] * len(told)
    assert [f"{ply['seat']}:{ply['move']}" for ply in found["plies"]] == line["moves"]


def test_rules_that_fail_keep_no_game_from_being_told(
    dump: Dumper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever they raise; its positions are not known then."""
    monkeypatch.setattr(type(find_variant("blocco").initial()), "text", lambda _: 1 / 0)
    assert dump(tmp_path / "dump", Few(_line(dump))).count == 1
    assert {ply["position"] for ply in rows(tmp_path / "dump")["plies"]} == {None}


def test_a_record_that_can_not_be_read_is_left_out(dump: Dumper, tmp_path: Path) -> None:
    """It keeps no other game from being told, and is named."""
    lines = [_line(dump, number=1), _line(dump, number=2, record=9), _line(dump, number=3)]
    manifest = dump(tmp_path / "dump", Few(*lines))
    assert [row["number"] for row in rows(tmp_path / "dump")["games"]] == [1, 3]
    assert (manifest.count, list(manifest.parts[0].left_out)) == (2, [2])
    (told,) = dump.told
    assert told.startswith("game 2 is left out: this record has format 9")


def test_an_older_server_is_told_so(dump: Dumper, tmp_path: Path) -> None:
    """One that does not say which games are void."""
    line = _line(dump)
    del line["void"]
    with pytest.raises(Refusal, match="does not tell 'void': it is of an older release"):
        dump(tmp_path / "dump", Few(line))


@pytest.mark.parametrize(
    ("told", "kept"), [(0, 0.0), (0.25, 0.25), (1, 1.0), (1.5, None), (-3, None)]
)
def test_an_eval_is_a_share(dump: Dumper, tmp_path: Path, told: float, kept: float | None) -> None:
    """What a bot gives in another measure is among its numbers alone."""
    manifest = dump(
        tmp_path / "dump", Few(_line(dump, values={"1": {"eval": told}}, pv={"1": ["a", "b"]}))
    )
    assert manifest.count == 1
    ply = rows(tmp_path / "dump")["plies"][1]
    assert (ply["eval"], dict(ply["values"])) == (kept, {"eval": told})
    assert ply["pv"] == ["a", "b"]
