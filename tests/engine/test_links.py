"""What travels over a link comes once and in its order, whatever becomes of its connections."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.links import FULL_PARCEL, MOST_KEPT, LinkEnd, LinkError, Parcel


def texts(parcel: Parcel | None) -> list[str]:
    return [] if parcel is None else [one["text"] for one in parcel.says]


def test_what_was_said_is_sent_once_and_acknowledged() -> None:
    here, there = LinkEnd(), LinkEnd()
    here.say({"text": "a"})
    here.say({"text": "b"})
    parcel = here.parcel()
    assert parcel == Parcel(0, 1, ({"text": "a"}, {"text": "b"}))
    assert here.parcel() is None
    assert list(there.take(parcel)) == [{"text": "a"}, {"text": "b"}]
    answer = there.parcel()
    assert answer == Parcel(2, 1)
    assert here.take(answer) == ()
    assert (here.taken, here.parcel()) == (2, None), "an acknowledgement is not acknowledged"


@pytest.mark.parametrize(
    ("parcel", "words"),
    [
        (Parcel(1, 1), "it has heard message 1, and 0 is the last one"),
        (Parcel(0, 2, ({},)), "message 2 came, and 1 is the next one"),
        (Parcel(0, 0, ({},)), "message 0 came, and 1 is the next one"),
    ],
)
def test_what_no_other_end_says_is_refused(parcel: Parcel, words: str) -> None:
    with pytest.raises(LinkError, match=words):
        LinkEnd().take(parcel)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no",
        "[]",
        "{}",
        '{"got": -1, "first": 1, "says": []}',
        '{"got": true, "first": 1, "says": []}',
        '{"got": 0, "first": 1.5, "says": []}',
        '{"got": 0, "first": 1, "says": {}}',
        '{"got": 0, "first": 1, "says": ["a"]}',
        '{"got": 0, "first": 9007199254740993, "says": []}',
        "[" * 100_000,
        " " * 1_100_000,
    ],
    ids=range(12),
)
def test_what_is_no_parcel_is_refused(text: str) -> None:
    with pytest.raises(LinkError):
        Parcel.from_text(text)


def test_of_much_that_waits_a_parcel_has_the_first() -> None:
    """So that none is longer than the other end takes."""
    here, there = LinkEnd(), LinkEnd()
    for number in range(20):
        here.say({"text": str(number) + "x" * (FULL_PARCEL // 8)})
    heard = []
    while parcel := here.parcel():
        assert len(parcel.says) < 20
        heard += [one["text"].rstrip("x") for one in there.take(parcel)]
    assert heard == [str(number) for number in range(20)]


def test_who_takes_nothing_is_not_there() -> None:
    here = LinkEnd()
    for _ in range(MOST_KEPT):
        here.say({})
    with pytest.raises(LinkError, match="takes none of 10000 messages"):
        here.say({})


BLOWS = ("say here", "say there", "send", "answer", "lose", "again", "reconnect")


@given(st.lists(st.sampled_from(BLOWS), max_size=80))
def test_nothing_is_lost_or_doubled_over_connections_that_break(blows: list[str]) -> None:
    """Parcels are lost with their connection, or come twice; after a last one all is there."""
    ends = LinkEnd(), LinkEnd()
    said: tuple[list[Any], list[Any]] = ([], [])
    heard: tuple[list[Any], list[Any]] = ([], [])
    last: list[Parcel | None] = [None, None]

    def say(number: int) -> None:
        message = {"text": f"{number} {len(said[number])}"}
        said[number].append(message)
        ends[number].say(message)

    def deliver(number: int, parcel: Parcel | None) -> None:
        if parcel is not None:
            last[number] = parcel
            heard[1 - number].extend(ends[1 - number].take(parcel))

    def reconnect() -> None:
        got = ends[0].got, ends[1].got
        ends[0].connect(got[1])
        ends[1].connect(got[0])

    for blow in blows:
        if blow.startswith("say"):
            say(blow == "say there")
        elif blow in ("send", "answer"):
            deliver(blow == "answer", ends[blow == "answer"].parcel())
        elif blow == "lose":
            ends[0].parcel()
            reconnect()
        elif blow == "again" and last[0] is not None:
            deliver(0, last[0])
        elif blow == "reconnect":
            reconnect()
    reconnect()
    for _ in range(3):
        for number in (0, 1):
            deliver(number, ends[number].parcel())
    assert heard == (said[1], said[0])
    assert [end.taken for end in ends] == [len(its) for its in said]
