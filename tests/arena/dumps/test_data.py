"""Dumps as programs read them: DataFrames, and batches to learn from."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from arena.dumps.manifest import About
from engine.clock import TimeControl
from engine.game import OptionError
from engine.games import find_variant
from engine.numbering import Numbering, UnnumberedError, numbering_of
from engine.player import Choice, Turn
from engine.record import GameRecord, states
from engine.referee import play_game
from tests.arena.simulator import LotPlayer
from tests.requirements import need_openspiel

pytestmark = pytest.mark.extras

VARIANTS = ("clobber size=4x3", "oxono totems=random", "blokus mode=duel")
OPENSPIEL = ("openspiel:tic_tac_toe", "openspiel:backgammon")


class Hopeful(LotPlayer):
    """It says what it expects."""

    def choose(self, turn: Turn) -> Choice:
        return super().choose(turn)._replace(values={"eval": 0.5})


def games_of(*variants: str, times: int = 2) -> list[GameRecord]:
    """So many games of each."""
    found = []
    for seed, variant in enumerate(variants * times):
        name, *words = variant.split()
        drawn = find_variant(name, words).drawn(seed)
        players, time = [Hopeful() for _ in range(drawn.seats)], TimeControl(move_ms=1000)
        opening = drawn.initial(seed).legal_moves()[:1] if "clobber" in variant else ()
        found.append(play_game(drawn, players, seed=seed, time=time, opening=opening))
    return found


class Played:
    """A source of games that were just played."""

    arena, licence = "here", ""

    def __init__(self, records: list[GameRecord]) -> None:
        self.records = records

    def newest(self) -> int:
        return len(self.records)

    def lines(self, after: int) -> Iterator[bytes]:
        for number, record in enumerate(self.records, start=1):
            about: dict[str, Any] = {
                "number": number,
                "match": number,
                "competition": "a-cup",
                "finished": record.started.replace("Z", "+00:00"),
                "counts": True,
                "void": False,
            }
            seats = [
                {
                    "bot": player,
                    "version": 1,
                    "rank": rank,
                    "points": 2.0 - rank,
                    **dict.fromkeys(("mu_before", "sigma_before", "mu_after", "sigma_after")),
                }
                for player, rank in zip(record.players, record.ranks, strict=True)
            ]
            if number > after:
                yield json.dumps({**record.to_json(), **about, "seats": seats}).encode()


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Writes a dump of games, in parts of four, and reads it."""
    from arena import data
    from arena.dumps import writing

    def dump(records: list[GameRecord]) -> Any:
        folder, source = tmp_path_factory.mktemp("dump"), Played(records)
        about = About(source.arena, {}, source.licence)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(writing, "PART_GAMES", 4)
            writing.write_dump(folder, source, about, datetime.now(UTC))
        return data.read(folder)

    return dump


@pytest.fixture(scope="module")
def records() -> list[GameRecord]:
    return games_of(*VARIANTS)


@pytest.fixture(scope="module")
def dump(read: Any, records: list[GameRecord]) -> Any:
    return read(records)


def test_tables_are_frames(dump: Any, records: list[GameRecord]) -> None:
    """All of a table, some columns of it, some rows."""
    from pyarrow.dataset import field

    assert len(dump.frame("games")) == len(records)
    plies = dump.frame("plies", ["number", "move"], field("number") == 2)
    assert list(plies.columns) == ["number", "move"]
    assert plies["move"].tolist() == list(records[1].moves)
    seats = dump.frame("seats").merge(dump.frame("games", ["number", "game"]), on="number")
    assert seats.groupby("game")["points"].mean().to_dict()["clobber"] == 0.5
    assert repr(dump).startswith(f"<dump of {len(records)} games, 20")


@pytest.mark.parametrize("seed", [None, 1])
@pytest.mark.parametrize("variant", VARIANTS)
def test_batches_are_what_was_played(
    dump: Any, records: list[GameRecord], variant: str, seed: int | None
) -> None:
    """Each position of a bot's move once, with that move, what came of it, and its legal moves."""
    name, *words = variant.split()
    wanted = find_variant(name, words)
    numbering = numbering_of(wanted)
    assert isinstance(numbering, Numbering)
    seen = []
    for batch in dump.batches(variant, size=10, seed=seed, masks=True):
        assert batch.observations.shape[1:] == numbering.shape
        assert len(batch.actions) <= 10
        for row, (number, ply) in enumerate(zip(batch.numbers, batch.plies, strict=True)):
            seen.append((int(number), int(ply)))
            record = records[number - 1]
            *before, _ = states(record)
            state, played = before[ply], record.plies[ply]
            assert batch.seats[row] == played.seat
            assert numbering.moves[batch.actions[row]] == played.move
            assert batch.observations[row].reshape(-1).nonzero()[0].tolist() == sorted(
                numbering.ones(state)
            )
            assert batch.masks[row].nonzero()[0].tolist() == sorted(numbering.legal(state))
            assert (batch.points[row], batch.evals[row]) == (2 - record.ranks[played.seat], 0.5)
    all_of_bots = [
        (number, ply)
        for number, record in enumerate(records, start=1)
        if record.variant.game == name
        for ply in range(record.opening, len(record.plies))
    ]
    assert sorted(seen) == all_of_bots
    assert (seen == all_of_bots) is (seed is None)


def test_the_same_seed_mixes_in_the_same_way(dump: Any) -> None:
    """And another one in another."""
    first, again, other = (
        [tuple(batch.plies) for batch in dump.batches(VARIANTS[0], seed=seed)] for seed in (1, 1, 2)
    )
    assert first == again != other


def test_rows_of_plies_can_be_chosen(dump: Any) -> None:
    """What their columns hold decides."""
    from pyarrow.dataset import field

    (batch,) = dump.batches(VARIANTS[0], where=field("seat") == 2)
    assert set(batch.seats) == {1}
    assert batch.masks is None


def test_games_that_give_numbers_themselves(read: Any) -> None:
    """Each position as it looks from the seat that moves, without the throws of dice."""
    need_openspiel()
    records = games_of(*OPENSPIEL, times=1)
    dump = read(records)
    for variant in OPENSPIEL:
        rows = 0
        for batch in dump.batches(variant, masks=True):
            assert batch.masks[range(len(batch.actions)), batch.actions].all()
            for row, (number, ply) in enumerate(zip(batch.numbers, batch.plies, strict=True)):
                *before, _ = states(records[number - 1])
                looks = before[ply].observation(int(batch.seats[row]))
                assert batch.observations[row].reshape(-1).tolist() == pytest.approx(list(looks))
            rows += len(batch.actions)
        own = [record for record in records if record.variant.game == variant]
        assert rows == sum(ply.seat >= 0 for record in own for ply in record.plies)


@pytest.mark.parametrize(
    ("ask", "error", "words"),
    [
        (lambda dump: dump.frame("moves"), ValueError, "no table 'moves'; there are: games, "),
        (lambda dump: dump.frame("games", ["elo"]), ValueError, "games has no column 'elo'; "),
        (lambda dump: next(dump.batches("chess")), OptionError, "there is no game 'chess'"),
        (lambda dump: next(dump.batches("clobber size=0")), OptionError, "size"),
        (lambda dump: next(dump.batches("")), OptionError, "no game"),
        (lambda dump: next(dump.batches("clobber", size=0)), ValueError, "give at least 1"),
    ],
    ids=["table", "column", "game", "option", "nothing", "size"],
)
def test_what_is_not_there_is_refused(
    dump: Any, ask: Any, error: type[Exception], words: str
) -> None:
    """It is refused in one line that says what there is."""
    with pytest.raises(error, match=words):
        ask(dump)


def test_a_game_without_numbers_is_refused(dump: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that tells neither its moves nor its looks."""
    monkeypatch.setattr(type(find_variant("clobber")), "all_moves", lambda _: None)
    with pytest.raises(UnnumberedError, match="clobber can't be put in numbers"):
        next(dump.batches("clobber"))


@pytest.mark.parametrize("variant", ["clobber size=5x6", "oxoxo"])
def test_of_what_was_not_played_there_is_nothing(dump: Any, variant: str) -> None:
    """Another board of the same game, and another game."""
    assert list(dump.batches(variant)) == []


def test_a_folder_that_is_no_dump(tmp_path: Path) -> None:
    """Is refused, as is one of another release."""
    from arena import data

    with pytest.raises(data.DumpError, match=r"is no dump: it has no dump\.json"):
        data.read(tmp_path)
    (tmp_path / "dump.json").write_text('{"format": 99}')
    with pytest.raises(data.DumpError, match="use the release that wrote it"):
        data.read(tmp_path)


def test_a_dump_of_nothing_is_read(read: Any) -> None:
    """It has tables without rows."""
    dump = read([])
    assert len(dump.frame("plies")) == len(dump.frame("games", ["number"])) == 0
    assert list(dump.batches("clobber")) == []


def test_the_example_of_the_docs_tells_seats_apart(
    dump: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each game and seat, with the points that it has."""
    text = (Path(__file__).parents[3] / "docs" / "data.md").read_text()
    (code,) = (one for one in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "math" in one)
    (tmp_path / "dump").symlink_to(dump.folder)
    monkeypatch.chdir(tmp_path)
    exec(code, {})
    _, *lines = capsys.readouterr().out.splitlines()
    told = {(line.split()[0], int(line.split()[2])): line.split()[3] for line in lines}
    points: dict[tuple[str, int], list[float]] = {}
    for game in dump.frame("games").merge(dump.frame("seats"), on="number").itertuples():
        points.setdefault((game.game, game.seat), []).append(game.points)
    assert told == {key: f"{sum(its) / len(its):.1%}" for key, its in points.items()}
