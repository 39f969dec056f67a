"""Plies of nobody: what is drawn is the seed's, and record, replay and openings know it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from importlib import import_module
from itertools import islice
from pathlib import Path
from random import Random

import pytest

from arena.cli import run
from engine import sitting
from engine.clock import TimeControl
from engine.conformance import checks_of
from engine.game import CHANCE, Variant
from engine.games import GAMES
from engine.openings import openings
from engine.record import GameRecord, Ply, RecordError, replay, states
from engine.referee import play_game
from engine.seeds import lot
from tests import dice
from tests.engine.players import FirstMove
from tests.packages import Installer

TIME = TimeControl(move_ms=20_000)


@pytest.fixture
def variant(packages: Installer) -> Iterator[Variant]:
    """The game with dice, on the shelf."""
    packages.install("dice-game", dice.CODE, dice.ENTRY)
    return GAMES["dice"].variant()


def test_it_keeps_to_what_every_game_must(variant: Variant) -> None:
    """Its positions are nobody's turn half of the time."""
    for check in checks_of("dice").values():
        check()


def test_what_is_drawn_is_the_seeds(variant: Variant) -> None:
    """Every second ply, by its probability, and in no other order at the next time."""
    drawn: Counter[str] = Counter()
    for seed in range(40):
        record = play_game(variant, [FirstMove(), FirstMove()], time=TIME, seed=seed)
        assert [ply.seat for ply in record.plies[:4]] == [CHANCE, 0, CHANCE, 1]
        assert {ply.cpu_us for ply in record.plies[::2]} == {None}
        drawn.update(ply.move for ply in record.plies[::2])
        again = play_game(variant, [FirstMove(), FirstMove()], time=TIME, seed=seed)
        assert again.moves == record.moves
    total = drawn.total()
    # Who takes nothing throws to the limit: 40 games of 200 throws, so 5 standard deviations are
    # 5 * sqrt(0.5 * 0.5 / 8000) = 0.028 and less.
    assert total == 8000
    assert abs(drawn["one"] / total - 0.5) < 0.028
    assert abs(drawn["two"] / total - 0.25) < 0.028
    assert len({lot(7, ply) for ply in range(1000)}) == 1000


def test_a_record_says_what_was_drawn_and_a_replay_proves_it(variant: Variant) -> None:
    """As moves of seat 0; whoever draws for himself is found out."""
    record = play_game(variant, [FirstMove(), FirstMove()], time=TIME, seed=3)
    data = record.to_json()
    assert data["moves"][0].startswith("0:")
    again = GameRecord.from_json(data)
    assert again == record
    assert replay(again).to_move is None
    first = record.plies[0].move
    other = next(face for face in ("one", "two", "three") if face != first)
    with pytest.raises(RecordError, match=f"at ply 0 its seed draws {first}, not {other}"):
        replay(replace(record, plies=(Ply(CHANCE, other), *record.plies[1:])))
    with pytest.raises(RecordError, match="at ply 0 it was not seat 1's turn"):
        replay(replace(record, plies=(Ply(0, first), *record.plies[1:])))
    clobber = GAMES["clobber"].variant(size="4x3")
    told = play_game(clobber, [FirstMove(), FirstMove()], time=TIME).to_json()
    told["moves"][0] = "0" + told["moves"][0][1:]
    with pytest.raises(RecordError, match="there is no seat 0 in clobber"):
        GameRecord.from_json(told)


def test_bots_are_told_what_was_drawn(variant: Variant) -> None:
    """With the moves, and are never asked for it."""
    first, second = FirstMove(), FirstMove()
    play_game(variant, [first, second], time=TIME, seed=3)
    for seat, player in enumerate((first, second)):
        assert {turn.state.to_move for turn in player.turns} == {seat}
        assert player.turns[1].history.split()[0].startswith("0:")


def test_a_replay_tells_chance_from_an_opening(
    variant: Variant, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It tells its name, and no time."""
    record = play_game(
        variant, [FirstMove(), FirstMove()], time=TIME, seed=3, opening=["one", "leave"]
    )
    file = tmp_path / "game.jsonl"
    file.write_text(json.dumps(record.to_json()))
    with pytest.raises(SystemExit) as ended:
        run(["replay", str(file)])
    assert not ended.value.code
    lines = [line.split() for line in capsys.readouterr().out.splitlines()[2:6]]
    assert lines[0] == ["0", "chance", "one", "opening"]
    assert lines[2] == ["2", "chance", record.plies[2].move]
    assert lines[3][-2:] == ["0.0", "ms"]


def test_openings_draw_by_the_odds(variant: Variant) -> None:
    """An opening may set what is drawn, and a replay takes it as it is."""
    found = list(islice(openings(variant, 5), 3))
    assert len({one.moves for one in found}) == 3
    for one in found:
        record = play_game(variant, [FirstMove(), FirstMove()], time=TIME, opening=one.moves)
        assert record.moves[:2] == one.moves
        replay(record)


def test_a_person_plays_against_chance_too(variant: Variant) -> None:
    """What is drawn comes at once, and a bot's answer is confirmed with it."""
    begun = sitting.begin(
        next(iter(openings(variant, 5, plies=0))),
        seed=3,
        players=["ada", "bot"],
        time=TIME,
        started=datetime(2026, 1, 1),
    )
    assert [ply.seat for ply in begun.plies] == [CHANCE]
    moved = sitting.moved(begun, "take")
    assert [ply.seat for ply in moved.plies] == [CHANCE, 0, CHANCE]
    answered = sitting.ask(moved, FirstMove())
    assert [ply.seat for ply in answered.plies] == [CHANCE, 0, CHANCE, 1, CHANCE]
    sitting.confirm(moved, answered)
    assert len(list(states(answered))) == 6
    with pytest.raises(RecordError, match="not the game that was asked about"):
        sitting.confirm(moved, replace(answered, plies=(*answered.plies[:-1], Ply(CHANCE, "six"))))


@pytest.mark.parametrize(
    ("text", "best"),
    [
        # What lies wins at once; if it is left the other throws, and may win first.
        ("3 0 1 three 9", "take"),
        ("2 4 2 two 9", "take"),
    ],
)
@pytest.mark.parametrize("name", ["alphabeta", "mcts"])
def test_samples_reckon_with_chance(variant: Variant, name: str, text: str, best: str) -> None:
    """They search through what may be drawn, and find the better of two moves."""
    search = import_module(f"bots.{name}").Search(variant.read(text), Random(1))
    if name == "alphabeta":
        search.run(3)
        code = search.best
    else:
        for _ in range(300):
            search.round()
        code = search.best().code
    assert variant.read(text).word(code) == best
