"""What a worker tells of a match under way: what is read is what one of ours would say."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from engine.jobs import JobError, Lease
from engine.live import (
    LONGEST_LOG,
    LONGEST_MESSAGE,
    LONGEST_OF_PLY,
    LONGEST_TEXT,
    MOST_TOGETHER,
    LiveLog,
    LivePlies,
    in_parts,
    logged,
)
from engine.record import Ply

LEASE = Lease("match", 7, 2, "ticket")
PLIES = (
    Ply(0, "a1b2"),
    Ply(-1, "d6"),
    Ply(1, "c3", 1500, 2500, "good <b>", {"depth": 5.0}, 3, ("book",), ("c3", "d4")),
)


def test_it_is_read_as_it_was_told() -> None:
    """Moves of the opening and of chance, too, and all that a bot says."""
    told = LivePlies(LEASE, 1, 0, 4, PLIES)
    assert LivePlies.from_json(told.to_json().encode()) == told


def test_a_long_text_is_cut() -> None:
    """Who watches hears its beginning."""
    told = LivePlies(LEASE, 0, 0, 0, (Ply(0, "a1", 1, 1, "x" * 4000),))
    (ply,) = LivePlies.from_json(told.to_json().encode()).plies
    assert ply.text == "x" * LONGEST_TEXT


@pytest.mark.parametrize(("count", "first"), [(0, 0), (1, 0), (1201, 0), (1201, 700), (5, 5)])
def test_a_long_game_is_told_in_parts(count: int, first: int) -> None:
    """Each says how many plies came before it, and together they are all."""
    plies = [Ply(n % 2, f"m{n}", n, n) for n in range(count)]
    parts = list(in_parts(LEASE, 3, 1, plies, first))
    assert [ply for part in parts for ply in part.plies] == plies[first:]
    at = first
    for part in parts:
        assert (part.game, part.again, part.first) == (3, 1, at)
        assert 0 < len(part.plies) <= MOST_TOGETHER
        at += len(part.plies)


def changed(**changes: Any) -> bytes:
    """The message with some of it replaced."""
    return json.dumps(json.loads(LivePlies(LEASE, 0, 0, 0, PLIES).to_json()) | changes).encode()


WORDS = ["1:a1", 1, 1, 0, "", {}, [], []]


def with_word(at: int, value: Any) -> bytes:
    """The message with one ply of which a part is another."""
    return changed(plies=[[*WORDS[:at], value, *WORDS[at + 1 :]]])


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\xff",
        b"[]",
        b"7",
        b"[" * 100_000,
        b" " * (LONGEST_MESSAGE + 1),
        changed(lease=None),
        changed(lease={"kind": "match", "job": -1, "attempt": 1, "ticket": "t"}),
        changed(game=-1),
        changed(game=True),
        changed(game=10**9),
        changed(again=1.0),
        changed(first="0"),
        changed(first=10**6),
        changed(plies=7),
        changed(plies=[7]),
        changed(plies=[WORDS[:6]]),
        changed(plies={"a": 1}),
        with_word(0, "a1"),
        with_word(0, 7),
        with_word(0, "1:" + "x" * 2000),
        with_word(1, -1),
        with_word(1, 2**63),
        with_word(2, 1.5),
        with_word(3, True),
        with_word(4, "bell \a"),
        with_word(4, "\ud800"),
        with_word(5, {"two words": 1}),
        with_word(5, {f"k{n}": 1 for n in range(17)}),
        with_word(5, {"k": "1"}),
        with_word(6, ["two words"]),
        with_word(6, "tag"),
        with_word(7, ["two words"]),
        with_word(7, "move"),
    ],
    ids=lambda text: text[-60:].decode("ascii", "replace"),
)
def test_what_no_worker_of_ours_says_is_refused(text: bytes) -> None:
    """Whoever holds a worker's login may tell anything."""
    with pytest.raises(JobError):
        LivePlies.from_json(text)


def test_a_log_is_read_as_it_was_told() -> None:
    """It comes by plies, with what belongs to none; but for the lines after the end."""
    lines = ["begin > hello 1\n", "4 > go 4 moves ...\n", "4 < 1.50 ms: move a1\n", "end > quit\n"]
    log = "up\nply 4: <b>\n--- standard error ---\nnew\n--- ply 4 ---\nbad\n"
    texts, exchanged = logged(f"{log}--- lines exchanged ---\n{''.join(lines)}")
    assert texts == {-1: "up\n--- standard error ---\nnew\n", 4: "<b>\nbad\n"}
    assert exchanged == {-1: lines[0], 4: lines[1] + lines[2]}
    told = LiveLog(LEASE, 1, 0, 1, texts, exchanged)
    assert LiveLog.from_json(told.to_json().encode()) == told
    of_before = json.loads(told.to_json())
    del of_before["exchanged"]  # of a worker of the release before
    assert LiveLog.from_json(json.dumps(of_before).encode()) == replace(told, exchanged={})


def test_of_a_long_log_the_newest_plies_are_told() -> None:
    """Each one's beginning is; the same again where a worker tells more."""
    texts = {ply: f"{ply} ".ljust(10_000, "x") for ply in range(20)}
    log = "".join(f"--- ply {ply} ---\n{text}\n" for ply, text in texts.items())
    overlong = LiveLog(LEASE, 0, 0, 0, texts).to_json().encode()
    told = list(logged(log)[0].items())
    assert list(LiveLog.from_json(overlong).texts.items()) == told
    plies = [ply for ply, _ in told]
    assert plies == sorted(plies, reverse=True) == list(range(19, 19 - len(plies), -1))
    assert len(plies) == LONGEST_LOG // (LONGEST_OF_PLY + 100)
    for ply, text in told:
        assert text.startswith(texts[ply][:LONGEST_OF_PLY])
        assert text[LONGEST_OF_PLY:] == "\n[... the rest when the match is over ...]\n"


def changed_log(**changes: Any) -> bytes:
    """The message of a log with some of it replaced."""
    return json.dumps(json.loads(LiveLog(LEASE, 0, 0, 0, {0: "a"}).to_json()) | changes).encode()


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"[" * 100_000,
        b" " * (LONGEST_MESSAGE + 1),
        LivePlies(LEASE, 0, 0, 0, PLIES).to_json().encode(),
        changed_log(lease=None),
        changed_log(game=-1),
        changed_log(again=True),
        changed_log(seat=64),
        changed_log(seat=-1),
        changed_log(texts=7),
        changed_log(texts=[7]),
        changed_log(texts={"0": "a"}),
        changed_log(texts=[[0, 7]]),
        changed_log(texts=[[0, None]]),
        changed_log(exchanged=None),
        changed_log(exchanged=[[0, 7]]),
        changed_log(texts=[[-2, "a"]]),
        changed_log(texts=[["0", "a"]]),
        changed_log(texts=[[10**6, "a"]]),
        changed_log(texts=[[0, "a", "b"]]),
    ],
    ids=lambda text: text[-60:].decode("ascii", "replace"),
)
def test_a_log_that_no_worker_of_ours_tells_is_refused(text: bytes) -> None:
    """As plies are."""
    with pytest.raises(JobError):
        LiveLog.from_json(text)
