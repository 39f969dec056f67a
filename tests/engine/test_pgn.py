"""Games of chess as PGN: what is written reads back, and says how it began and ended."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from engine.clock import TimeControl
from engine.game import Termination, Variant
from engine.games import GAMES
from engine.pgn import NoPgnError, PgnError, dialect_of, read_games, read_record, write
from engine.record import GameRecord, Ply, replay
from tests.requirements import need_openspiel

STANDARD = Path(__file__).parents[1] / "data" / "books" / "standard.pgn"


def chess(fen: str = "") -> Variant:
    """Chess, from a position."""
    need_openspiel()
    usual = GAMES["openspiel:chess"].variant()
    return usual.beginning_at(fen) if fen else usual


def recorded(variant: Variant, moves: list[str]) -> GameRecord:
    """A drawn game of these moves, as nobody played it."""
    state, plies = variant.initial(), []
    for move in moves:
        assert state.to_move is not None
        plies.append(Ply(state.to_move, move, 1000, 1000))
        state = state.play(move)
    return GameRecord(
        variant=variant,
        seed=0,
        players=('Al "A" B\\', "Boris"),
        time=TimeControl(time_ms=10_000, inc_ms=100),
        opening=0,
        plies=tuple(plies),
        faults=(),
        termination=Termination.NORMAL,
        scores=(0.5, 0.5),
        ranks=(1, 1),
        isolation="none",
        started="2026-11-25T10:00:00Z",
    )


def test_a_published_game_is_read_and_written():
    """All of it: 85 plies with castling, captures, checks and moves of one of two pieces."""
    need_openspiel()
    (game,) = read_games(STANDARD.read_text())
    moves = [move.text for move in game.moves]
    text = write(recorded(chess(), moves), event="F/S", site="Belgrade", round="29")
    (again,) = read_games(text)
    assert [move.text for move in again.moves] == moves
    assert again.tags == {
        "Event": "F/S",
        "Site": "Belgrade",
        "Date": "2026.11.25",
        "Round": "29",
        "White": 'Al "A" B\\',
        "Black": "Boris",
        "Result": "1/2-1/2",
        "TimeControl": "10+0.1",
        "Termination": "normal",
    }
    # The standard's own lines, from the first move on.
    assert text.partition("\n\n")[2] == STANDARD.read_text().partition("\n\n")[2]


def test_a_game_from_a_position_in_which_black_begins():
    fen = "4k3/8/8/8/8/8/8/4K2R b K - 3 17"
    record = recorded(chess(fen), ["Kd7", "O-O", "Kd6"])
    (game,) = read_games(write(record))
    assert (game.tags["SetUp"], game.tags["FEN"]) == ("1", fen)
    assert write(record).endswith("\n\n17... Kd7 18. O-O Kd6 1/2-1/2\n")
    first, second, third = record.plies
    told = replace(record, plies=(first, second._replace(text="so } so"), third))
    assert write(told) == write(record)
    words = "17... Kd7 18. O-O {so ) so} 18... Kd6 1/2-1/2"
    assert write(told, comments=True).endswith(f"\n\n{words}\n")


@pytest.mark.parametrize(
    ("changes", "tags"),
    [
        ({"ranks": (1, 2)}, {"Result": "1-0", "Termination": "normal"}),
        (
            {"ranks": (2, 1), "termination": Termination.TIMEOUT},
            {"Result": "0-1", "Termination": "time forfeit"},
        ),
        (
            {"ranks": (2, 1), "termination": Termination.ILLEGAL},
            {"Result": "0-1", "Termination": "rules infraction"},
        ),
        ({"termination": Termination.VOID}, {"Result": "*", "Termination": "unterminated"}),
        ({"time": TimeControl(move_ms=50)}, {"TimeControl": "1/0.05"}),
        ({"time": TimeControl(time_ms=5000)}, {"TimeControl": "5"}),
    ],
    ids=str,
)
def test_how_a_game_ended(changes, tags):
    (game,) = read_games(write(replace(recorded(chess(), ["e4"]), **changes)))
    assert game.tags.items() >= tags.items()


def test_other_games_have_no_pgn():
    clobber = GAMES["clobber"].variant(size="4x4")
    assert dialect_of(clobber) is None
    with pytest.raises(NoPgnError, match="games of clobber are not written as PGN"):
        write(recorded(clobber, ["a2a1"]))


@pytest.mark.parametrize(
    ("moves", "changes"),
    [
        (["f3", "e5", "g4", "Qh4#"], {"ranks": (2, 1), "scores": (-1.0, 1.0)}),
        (["e4", "e5"], {"ranks": (1, 2), "termination": Termination.RESIGN}),
        (["e4", "e5"], {"ranks": (2, 1), "termination": Termination.TIMEOUT}),
        (["e4"], {"ranks": (2, 1), "termination": Termination.ILLEGAL}),
        (["e4"], {"ranks": (), "scores": (), "termination": Termination.VOID}),
        (["e4"], {"time": TimeControl(move_ms=50)}),
        (["e4"], {"time": TimeControl(time_ms=5000)}),
    ],
    ids=["mate", "resigned", "on time", "illegal", "it goes on", "a time a move", "a clock"],
)
def test_what_is_written_is_read_as_a_record(moves, changes):
    """With its players, its moves without times, its end, its day and its clock."""
    record = replace(recorded(chess(), moves), **changes)
    (game,) = read_games(write(record))
    found = read_record(game, record.variant)
    assert (found.players, found.moves, found.time) == (record.players, record.moves, record.time)
    assert (found.ranks, found.termination) == (record.ranks, record.termination)
    assert found.started == "2026-11-25T00:00:00Z"
    assert GameRecord.from_json(found.to_json()) == found
    if 2 in found.ranks:
        replay(found)


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ('[TimeControl "40/7200"]', TimeControl(move_ms=86_400_000)),
        ('[TimeControl "0+0"]', TimeControl(move_ms=86_400_000)),
        ('[TimeControl "999999+1"]', TimeControl(move_ms=86_400_000)),
        ('[TimeControl "-"]\n[Date "????.??.??"]', TimeControl(move_ms=86_400_000)),
        ('[TimeControl "180+2"]', TimeControl(time_ms=180_000, inc_ms=2000)),
    ],
)
def test_what_a_record_can_not_say_is_left_open(text, time):
    (game,) = read_games(f"{text}\n1. e4 *")
    found = read_record(game, chess())
    assert (found.time, found.started, found.players) == (time, "", ("?", "?"))


def test_a_record_is_read_of_no_other_game():
    (game,) = read_games("1. e4 *")
    with pytest.raises(NoPgnError, match="games of clobber are not written as PGN"):
        read_record(game, GAMES["clobber"].variant(size="4x4"))
    (game,) = read_games("1. e4\ne5\n2. e5")
    with pytest.raises(PgnError, match="ply 3: 'e5' is not legal here") as raised:
        read_record(game, chess())
    assert raised.value.line == 3
