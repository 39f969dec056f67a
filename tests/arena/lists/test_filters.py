"""The words of a filter: read, written and refused."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from arena.ground.refusals import WrongField
from arena.lists.filters import WORDS, DayOrMoment, GameFilter, Order

GOOD = [
    ("competition", "clobber-6x7", "clobber-6x7"),
    ("bot", " greedy:02 ", "greedy:2"),
    ("against", "a, b:3,,a", "a,b:3"),
    ("seat", "2", "2"),
    ("result", "won", "won"),
    ("fault", "resign", "resign"),
    ("ending", "plylimit", "plylimit"),
    ("opening", "00000000000000ff", "00000000000000ff"),
    ("line", "AAAAAAAAAP_f_w-_", "AAAAAAAAAP_f_w-_"),
    ("plies", "20-20", "20"),
    ("plies", "20-60", "20-60"),
    ("plies", "20-", "20-"),
    ("plies", "-60", "-60"),
    ("speed", "0.7-1.4", "0.7-1.4"),
    ("speed", "1.40-", "1.4-"),
    ("speed", "-2", "-2"),
    ("since", "2026-05-31", "2026-05-31"),
    ("until", "2026-05-31T12:00", "2026-05-31T12:00:00+00:00"),
    ("until", "2026-05-31T12:00 02:00", "2026-05-31T10:00:00+00:00"),
    ("tag", "book,mate-found", "book,mate-found"),
    ("value", "depth", "depth"),
    ("value", "depth >= 1.5e1", "depth>=15"),
    ("value", "depth>3,depth<=9,cp=-35", "depth>3,depth<=9,cp=-35"),
    ("counts", "no", "no"),
    ("worker", "worker-1", "worker-1"),
    ("sort", "longest", "longest"),
]


@pytest.mark.parametrize(("word", "text", "written"), GOOD)
def test_there_and_back(word: str, text: str, written: str) -> None:
    """What was read is written in one way, and read from that again."""
    wanted = GameFilter.read({word: text})
    assert wanted.words == {word: written}
    assert GameFilter.read(wanted.words) == wanted != GameFilter()


@pytest.mark.parametrize(
    ("word", "text", "problem"),
    [
        ("bot", "a:b:c", "names no bot"),
        ("against", "a,b,c,d", "at most 3"),
        ("seat", "0", "from 1 to 99"),
        ("seat", "100", "from 1 to 99"),
        ("result", "Won", "one of won, drawn, lost"),
        ("ending", "void", "one of normal"),
        ("fault", "normal", "one of illegal"),
        ("opening", "8000000000000000", "16 letters and digits"),
        ("opening", "ff", "16 letters and digits"),
        ("line", "AAAAAAAAAP_f_w", "letters and digits by which the explorer"),
        ("line", "AAAA", "letters and digits by which the explorer"),
        ("plies", "-", "20-60"),
        ("plies", "60-20", "no number from 60 to 20"),
        ("plies", "1.5", "20-60"),
        ("speed", "-", "0.7-1.4"),
        ("speed", "1", "0.7-1.4"),
        ("speed", "1.4-0.7", "no number from 1.4 to below 0.7"),
        ("speed", "1e3-", "0.7-1.4"),
        ("since", "2026-02-30", "2026-05-31"),
        ("since", "yesterday", "2026-05-31"),
        ("until", "9999-12-31T23:59-12:00", "2026-05-31"),
        ("tag", "two words", "no tag"),
        ("tag", "9", "no tag"),
        ("value", "depth>=", "depth>=12"),
        ("value", ">=3", "depth>=12"),
        ("value", "depth>=nan", "depth>=12"),
        ("value", "depth>=1e300", "depth>=12"),
        ("value", "a b>=1", "depth>=12"),
        ("value", "a,b,c,d", "at most 3"),
        ("counts", "maybe", "yes or no"),
        ("sort", "up", "one of newest"),
        ("worker", "x" * 201, "at most 200"),
        ("worker", "a\0b", "at most 200"),
    ],
)
def test_what_cant_be_meant_is_refused(word: str, text: str, problem: str) -> None:
    """With the name of the word, and what to write."""
    with pytest.raises(WrongField, match=problem) as refused:
        GameFilter.read({word: text})
    assert refused.value.field == word


def test_every_word_is_tried() -> None:
    """And others are none of a filter's, as are empty ones."""
    assert {word for word, *_ in GOOD} | {"game"} == set(WORDS)
    assert GameFilter.read({"page": "2", "bot": " "}) == GameFilter()
    assert GameFilter.read({"sort": "newest"}).words == {}
    assert GameFilter().sort is Order.NEWEST


def test_a_day_is_all_of_it() -> None:
    """It goes to its last moment, also the last day that there is."""
    day = GameFilter.read({"until": "2026-05-31"}).until
    assert day == DayOrMoment(datetime(2026, 5, 31, tzinfo=UTC), is_day=True)
    assert day is not None
    assert day.end == datetime(2026, 5, 31, 23, 59, 59, 999999, tzinfo=UTC)
    last = GameFilter.read({"until": "9999-12-31"}).until
    assert last is not None
    assert last.end.year == 9999
