"""The logs of a running match: each is told to who may read it, and to nobody else."""

from __future__ import annotations

import pytest

from arena.live.running_logs import RunningLogs
from engine.jobs import Lease
from engine.live import LONGEST_LOG, LiveLog

LEASE = Lease("match", 7, 1, "ticket")
TURN = {0: (0, 1), 1: (1, 0)}
"""Who sits where in both games of a match of two."""


def told(game: int, seat: int, texts: dict[int, str], again: int = 0) -> LiveLog:
    return LiveLog(LEASE, game, again, seat, texts)


@pytest.mark.parametrize(
    ("entrants", "lines"),
    [
        (set(), []),
        ({0}, [(0, [0, 0, "first\n"]), (1, [0, 1, "second\n"])]),
        ({1}, [(0, [1, -1, "up\n"]), (1, [1, 0, "third\n"])]),
        ({0, 1}, [
            (0, [0, 0, "first\n"]), (0, [1, -1, "up\n"]),
            (1, [0, 1, "second\n"]), (1, [1, 0, "third\n"]),
        ]),
        ({2}, []),
    ],
)  # fmt: skip
def test_who_is_told(entrants: set[int], lines: list[tuple[int, list[object]]]) -> None:
    """The player counts and not the seat, which is another's in the next game."""
    logs = RunningLogs()
    for one in (
        told(0, 0, {0: "first\n"}),
        told(0, 1, {-1: "up\n"}),
        told(1, 1, {1: "second\n"}),
        told(1, 0, {0: "third\n"}),
    ):
        logs.take(one, 2)
    found, number = logs.since(0, entrants, TURN.__getitem__)
    assert [(one["game"], line) for one in found for line in one["logs"]] == lines
    assert logs.since(number, {0, 1}, TURN.__getitem__) == ([], number)
    logs.forget()
    assert logs.since(0, {0, 1}, TURN.__getitem__)[0] == []


def test_only_what_is_new_is_told() -> None:
    """What grew at a ply comes as a whole; what is told again is nothing new."""
    logs = RunningLogs()
    logs.take(told(0, 0, {0: "a", 2: "b"}), 2)
    _, number = logs.since(0, {0}, TURN.__getitem__)
    logs.take(told(0, 0, {0: "a", 2: "bc"}), 2)
    (found,), number = logs.since(number, {0}, TURN.__getitem__)
    assert found == {"game": 0, "again": 0, "logs": [[0, 2, "bc"]], "lines": []}
    exchanged = "2 > go 2 moves ...\n2 < 1.50 ms: move \x1b\nnonsense\n"
    logs.take(LiveLog(LEASE, 0, 0, 0, {2: "bc"}, {2: exchanged}), 2)
    (found,), _ = logs.since(number, {0}, TURN.__getitem__)
    lines = [[0, 2, [[None, "go 2 moves ..."], [1.5, "move \\x1b"]]]]
    assert found == {"game": 0, "again": 0, "logs": [], "lines": lines}


def test_what_cannot_be_seen_is_written_out() -> None:
    """As where a log is read when the match is over."""
    logs = RunningLogs()
    logs.take(told(0, 0, {0: "a\x1b[31m\u202e\ud800\n"}), 2)
    (found,), _ = logs.since(0, {0}, TURN.__getitem__)
    assert found["logs"] == [[0, 0, "a\\x1b[31m\\u202e\\ud800\n"]]


def test_players_of_several_seats_have_one_log() -> None:
    """It is in the order of their seats."""
    logs = RunningLogs()
    for seat in range(4):
        logs.take(told(0, seat, {-1: f"{seat} "}), 4)
    (found,), _ = logs.since(0, {0}, lambda _: (0, 1, 0, 1))
    assert found["logs"] == [[0, -1, "0 2 "]]


def test_a_worker_that_tells_too_much_fills_nothing() -> None:
    """The newest of a seat is kept, two plays of a match; nothing of a seat that there isn't."""
    logs = RunningLogs()
    for play in range(50):
        for ply in range(50):
            logs.take(told(0, 1, {ply: "x" * 5000}, again=play), 2)
    logs.take(told(0, 2, {0: "x"}, again=60), 2)
    logs.take(told(0, 0, {}, again=70), 2)
    found, _ = logs.since(0, {0, 1}, TURN.__getitem__)
    assert [one["again"] for one in found] == [48, 49]
    for one in found:
        kept = [ply for _, ply, _ in one["logs"]]
        assert kept == list(range(50 - LONGEST_LOG // 5000, 50))
