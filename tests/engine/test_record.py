"""Records: they come back as they were, and only what the rules confirm is believed."""

import copy
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.clock import TimeControl
from engine.game import Termination
from engine.games import GAMES
from engine.player import Choice, CrashError, TimeForfeitError
from engine.record import Fault, GameRecord, Ply, RecordError, parse_record, replay, states
from engine.referee import play_game
from tests.engine.players import FirstMove, Scripted

CLOBBER = GAMES["clobber"].variant(size="3x2")
BLOKUS = GAMES["blokus"].variant(mode="classic", corners="fixed")
CLOCK = TimeControl(time_ms=60_000, inc_ms=500)


def normal_game() -> GameRecord:
    """Black wins after an opening of one move, two replies and much talk."""
    black = Scripted(
        Choice(
            "a1a2",
            "größer",
            3,
            4,
            {"eval": 0.5, "nodes": 1e6},
            tags=("book", "quiet"),
            pv=("a1a2", "c2b2"),
        ),
        Choice("a2b2", "", 5, 6),
    )
    white = Scripted(Choice("c2b2", "ok", 1, 2))
    return play_game(CLOBBER, [white, black], time=CLOCK, seed=7, opening=["b1c1"])


def game_on_a_busy_machine() -> GameRecord:
    """White wins, of whom others had the core for a while."""
    white = Scripted(Choice("b1c1", "", 5, 6), Choice("a2a1", "", 5, 600, waited_us=590))
    return play_game(CLOBBER, [white, FirstMove()], time=CLOCK, seed=7)


def forfeited_game() -> GameRecord:
    """White moves, Black runs out of time."""
    black = Scripted(TimeForfeitError("slept"))
    return play_game(CLOBBER, [FirstMove(), black], time=TimeControl(move_ms=5, charge="wall"))


def game_of_four() -> GameRecord:
    """Blokus: seat 2 leaves first, the others play on, seats 1 and 3 leave, seat 4 has it."""
    players = [
        Scripted("blue:a20", "resign"),
        Scripted("yellow:a1"),
        Scripted("red:t1", CrashError("exit 1")),
        Scripted("green:a1"),
    ]
    return play_game(BLOKUS, players, time=TimeControl(move_ms=5))


PLAYED = {
    "normal": normal_game(),
    "busy": game_on_a_busy_machine(),
    "forfeited": forfeited_game(),
    "of four": game_of_four(),
}
NORMAL, _, FORFEITED, FOUR = PLAYED.values()


@pytest.mark.parametrize("record", PLAYED.values(), ids=PLAYED)
def test_there_and_back(record):
    """JSON keeps everything, through text too."""
    assert GameRecord.from_json(record.to_json()) == record
    assert parse_record(json.dumps(record.to_json())) == record
    assert replay(record).ranks() == record.ranks


def test_the_form():
    """The JSON of one game, by hand: seats from 1, times beside the essence."""
    record = replace(normal_game(), started="2026-01-02T03:04:05Z")
    assert record.to_json() == {
        "record": 1,
        "game": "clobber",
        "options": {"size": "3x2"},
        "seed": 7,
        "players": ["seat 1", "seat 2"],
        "time": {"charge": "cpu", "time_ms": 60_000, "inc_ms": 500},
        "opening": 1,
        "moves": ["1:b1c1", "2:a1a2", "1:c2b2", "2:a2b2"],
        "texts": {"1": "größer", "2": "ok"},
        "values": {"1": {"eval": 0.5, "nodes": 1e6}},
        "tags": {"1": ["book", "quiet"]},
        "pv": {"1": ["a1a2", "c2b2"]},
        "faults": [],
        "termination": "normal",
        "scores": [0.0, 1.0],
        "ranks": [2, 1],
        "run": {
            "started": "2026-01-02T03:04:05Z",
            "isolation": "full",
            "rules": "game-bot-arena 1",
            "cpu_us": [None, 3, 1, 5],
            "wall_us": [None, 4, 2, 6],
            "details": [],
        },
    }


def test_the_positions_of_a_game():
    """One before each ply and one at the end, worked out by hand."""
    assert [state.text() for state in states(normal_game())] == [
        "wbw/bwb 1",
        "wbw/b1w 2",
        "bbw/2w 1",
        "bw1/2w 2",
        "1b1/2w 1",
    ]


def test_seats_that_left():
    """Those who leave later rank higher, and the game is replayed without them."""
    assert [(fault.seat, fault.ply, fault.termination.value) for fault in FOUR.faults] == [
        (1, 1, "illegal"),
        (0, 3, "resign"),
        (2, 3, "crash"),
    ]
    assert FOUR.termination == Termination.CRASH
    # A single square of 89 is placed; seat 2 placed none.
    assert FOUR.scores == (-88, -89, -88, -88)
    assert FOUR.ranks == (3, 4, 2, 1)
    assert [state.to_move for state in states(FOUR)] == [0, 2, 3, None]


def test_the_digest_is_that_of_the_essence():
    """Times, date, box and the words of a fault may differ; moves and results may not."""
    record = forfeited_game()
    (fault,) = record.faults
    (ply,) = record.plies
    same = replace(
        record,
        started="2001-01-01T00:00:00Z",
        isolation="none",
        plies=(ply._replace(cpu_us=99, wall_us=99),),
        faults=(replace(fault, detail="slept longer"),),
    )
    assert same.digest() == record.digest()
    for other in (
        replace(record, seed=1),
        replace(record, players=("a", "b")),
        replace(record, opening=1),
        replace(record, plies=(ply._replace(text="x"),)),
        replace(record, plies=(ply._replace(values={"eval": 1.0}),)),
        replace(record, faults=(replace(fault, termination=Termination.CRASH),)),
    ):
        assert other.digest() != record.digest()


def tampered(path: str, value: object, record: GameRecord) -> object:
    """The record's JSON with another value at a path such as ``run.cpu_us.0``."""
    data = copy.deepcopy(record.to_json())
    *parents, last = path.split(".")
    place = data
    for key in parents:
        place = place[int(key) if isinstance(place, list) else key]
    last = int(last) if isinstance(place, list) else last
    if value is GONE:
        del place[last]
    else:
        place[last] = value
    return data


GONE = "(no such key)"


@pytest.mark.parametrize(
    ("record", "path", "value", "words"),
    [
        # Another format, or none at all.
        (NORMAL, "record", 2, "has format 2; this program reads format 1"),
        (NORMAL, "record", "1", "has format 1"),
        (NORMAL, "record", GONE, "no key 'record'"),
        (NORMAL, "game", "chess", "no game 'chess'"),
        (NORMAL, "game", ["clobber"], "no text"),
        (NORMAL, "options", {"size": "1x1"}, "no size=1x1"),
        (NORMAL, "options", {"colour": "red"}, "no option 'colour'"),
        (NORMAL, "options", {"size": 3}, "'3' is no text"),
        (NORMAL, "moves", GONE, "no 'moves'"),
        (NORMAL, "run.cpu_us", [None], "damaged: its times are 1, its moves 4"),
        # Values of the wrong kind or size.
        (NORMAL, "seed", 7.5, "whole number"),
        (NORMAL, "seed", float("inf"), "whole number"),
        (NORMAL, "seed", 2**63, "64 bits"),
        (NORMAL, "seed", -(2**63) - 1, "64 bits"),
        (NORMAL, "seed", True, "whole number"),
        (NORMAL, "players", "ab", "no list"),
        (NORMAL, "players.0", None, "no text"),
        (NORMAL, "players.0", "\ud800", "damaged"),
        (NORMAL, "opening", -1, "an opening of -1 moves"),
        (NORMAL, "opening", 5, "an opening of 5 moves in a game of 4"),
        (NORMAL, "run.cpu_us.1", -1, "no time in microseconds"),
        (NORMAL, "run.cpu_us.1", 2**63, "64 bits"),
        (NORMAL, "run.wall_us.1", 0.5, "whole number"),
        (NORMAL, "values.1.eval", float("nan"), "no number"),
        (NORMAL, "values.1.eval", 10**400, "no number"),
        (NORMAL, "values", [], "damaged"),
        (NORMAL, "tags", [], "damaged"),
        (NORMAL, "pv", {"0": "a1"}, "is no list"),
        (NORMAL, "time", {"charge": "sun", "move_ms": 1}, "charged by no clock"),
        (NORMAL, "time.time_ms", 0, "out of range"),
        (NORMAL, "time.inc_ms", GONE, "no 'inc_ms'"),
        (NORMAL, "termination", "boredom", "damaged"),
        # Moves and seats that the rules contradict.
        (NORMAL, "moves.0", "2:b1c1", "at ply 0 it was not seat 2's turn"),
        (NORMAL, "moves.0", "3:b1c1", "no seat 3"),
        (NORMAL, "moves.0", "0:b1c1", "there is no seat 0"),
        (NORMAL, "moves.0", "b1c1", "no move with its seat"),
        (NORMAL, "moves.1", "2:a1b1", "at ply 1: 'a1b1' is not legal here"),
        (NORMAL, "moves.3", "2:", "at ply 3: '' is not legal here"),
        (NORMAL, "options.size", "2x2", "at ply 0: 'b1c1' is not legal here"),
        # Names and results of another number of seats.
        (NORMAL, "players", ["a"], "its players are 1, not 2"),
        (NORMAL, "scores", [], "its scores are 0, not 2"),
        (NORMAL, "ranks", [1, 2, 3], "its ranks are 3, not 2"),
        (NORMAL, "termination", "void", "its scores are 2, not 0"),
        # Results that the rules contradict.
        (NORMAL, "ranks", [1, 2], "the result is ranks [2, 1]"),
        (NORMAL, "scores", [1.0, 0.0], "scores [0.0, 1.0]"),
        (NORMAL, "scores", [float("nan"), 1.0], "no number"),
        (NORMAL, "termination", "repetition", "it ended by normal, not by repetition"),
        (FORFEITED, "termination", "normal", "it ended by timeout, not by normal"),
        (FORFEITED, "termination", "crash", "it ended by timeout, not by crash"),
        (FORFEITED, "faults.0.seat", 1, "the result is ranks [2, 1]"),
        (FORFEITED, "faults.0.seat", 3, "no seat 3"),
        (FORFEITED, "faults.0.ply", 2, "no faults of this game"),
        (FORFEITED, "faults.0.ply", -1, "no faults of this game"),
        (FORFEITED, "faults.0.ply", 0, "at ply 0 it was not seat 1's turn"),
        (FORFEITED, "faults.0.termination", "normal", "no faults of this game"),
        (FORFEITED, "faults.0.termination", "void", "no faults of this game"),
        (FORFEITED, "faults", [], "damaged"),
        (FOUR, "faults.1.seat", 4, "the result is"),
        (FOUR, "faults.0.ply", 3, "at ply 1 it was not seat 3's turn"),
        (FOUR, "faults.2.ply", 2, "no faults of this game"),
        (FOUR, "ranks", [3, 4, 1, 1], "the result is ranks [3, 4, 2, 1]"),
    ],
    ids=lambda value: None if isinstance(value, GameRecord) else repr(value)[:30],
)
def test_a_tampered_record_is_refused(record, path, value, words):
    """With a message that names what is wrong."""
    with pytest.raises(RecordError) as refused:
        replay(GameRecord.from_json(tampered(path, value, record)))
    assert words in str(refused.value)


def test_a_finished_game_is_left_by_nobody():
    """A fault added to a game that had ended by the rules is no fault."""
    late = Fault(0, 4, Termination.TIMEOUT, "slept")
    for termination in (Termination.NORMAL, Termination.TIMEOUT):
        forged = replace(NORMAL, faults=(late,), termination=termination)
        with pytest.raises(RecordError, match="seat 1 left at ply 4 a game that was over"):
            replay(forged)


def test_moves_that_are_missing_or_too_many():
    """A record is a whole game."""
    with pytest.raises(RecordError, match="the game is not over after 3 plies"):
        replay(replace(NORMAL, plies=NORMAL.plies[:-1]))
    with pytest.raises(RecordError, match="at ply 4 it was not seat 1's turn"):
        replay(replace(NORMAL, plies=(*NORMAL.plies, Ply(0, "b2b1"))))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no JSON"),
        ("{", "no JSON"),
        ("[]", "no game record"),
        ("null", "no game record"),
        ("{}", "no key 'record'"),
        ('{"record": 1}', "no 'game'"),
        ('{"record": ' + 5000 * "9" + "}", "too deeply or too long"),
        (100_000 * "[", "too deeply or too long"),
        ('{"record": ' + 900 * "[" + 900 * "]" + "}", "format"),
    ],
    ids=lambda text: text[:20],
)
def test_a_text_that_is_no_record(text, words):
    """Whatever a file holds, the answer is one sentence."""
    with pytest.raises(RecordError, match=words):
        parse_record(text)


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["1:a1a2", "clobber", "blokus", "timeout", "normal", "wall", "a1", 0, 1, 2]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)


def paths(value, path=()):
    """The path of every value inside a JSON value."""
    if not isinstance(value, dict | list):
        return
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        yield (*path, key)
        yield from paths(item, (*path, key))


@given(st.data())
def test_no_damage_brings_the_reader_down(data):
    """A record with values replaced or removed at random is read, or is a RecordError."""
    record = data.draw(st.sampled_from(list(PLAYED.values()))).to_json()
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(list(paths(record))))
        place = record
        for key in path[:-1]:
            place = place[key]
        if data.draw(st.booleans()):
            place[path[-1]] = data.draw(ANYTHING)
        else:
            del place[path[-1]]
    try:
        read = GameRecord.from_json(record)
        replay(read)
    except RecordError:
        return
    assert GameRecord.from_json(json.loads(json.dumps(read.to_json()))) == read


@given(ANYTHING | st.text())
def test_anything_is_a_record_or_refused(value):
    """JSON of any shape gives a RecordError and nothing else."""
    with pytest.raises(RecordError):
        GameRecord.from_json(value)
    with pytest.raises(RecordError):
        parse_record(json.dumps(value))
    if isinstance(value, str):
        with pytest.raises(RecordError):
            parse_record(value)
