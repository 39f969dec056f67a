"""When a link was silent, by what was said and heard, in milliseconds."""

from __future__ import annotations

import pytest

from workers.home.hearing import Hearing

MS = 1_000_000
Deed = tuple[str, int, int]
"""What happens, when, and the number of a message."""


def hearing_of(*deeds: Deed) -> Hearing:
    """A link to which that happened; it was connected at 0."""
    made = Hearing(0)
    made.hear(0, 0)
    for what, number, when in deeds:
        if what == "lose":
            made.lose(when * MS)
        else:
            getattr(made, what)(number, when * MS)
    return made


@pytest.mark.parametrize(
    ("deeds", "start", "end", "silent"),
    [
        ([], 0, 60_000, 0),
        # Nothing was said, so nothing is missed.
        ([("say", 1, 100), ("hear", 1, 150)], 0, 5000, 0),
        # A way of less than half a second is no silence.
        ([("say", 1, 100)], 0, 590, 0),
        # From the last thing that was heard on: what came between is lost as well.
        ([("hear", 0, 50), ("say", 1, 100)], 0, 1000, 950),
        ([("hear", 0, 50), ("say", 1, 100)], 400, 1000, 600),
        ([("say", 1, 100), ("hear", 1, 5100)], 0, 9000, 5100),
        ([("say", 1, 100), ("hear", 1, 5100)], 2000, 4000, 2000),
        # What is heard again is said at that moment, as far as anybody knows.
        ([("say", 1, 100), ("hear", 0, 5100)], 0, 5500, 5100),
        ([("say", 1, 100), ("hear", 0, 5100)], 0, 6100, 6100),
        # A connection that is lost tells so at once.
        ([("lose", 0, 100)], 0, 300, 200),
        ([("lose", 0, 100), ("hear", 0, 300)], 0, 900, 200),
        ([("lose", 0, 100), ("lose", 0, 200), ("hear", 0, 300)], 0, 900, 200),
        ([("say", 1, 100), ("lose", 0, 2000), ("hear", 1, 3000)], 0, 9000, 3000),
        ([("lose", 0, 100), ("hear", 0, 300), ("lose", 0, 500), ("hear", 0, 600)], 0, 900, 300),
        # This end did not run.
        ([("skip", 1000 * MS, 3000)], 0, 9000, 2000),
    ],
    ids=range(15),
)
def test_for_how_long_a_link_was_silent(
    deeds: list[Deed], start: int, end: int, silent: int
) -> None:
    assert hearing_of(*deeds).silence(start * MS, end * MS) == silent * MS


def test_the_oldest_message_that_waits_is_known() -> None:
    made = hearing_of(("say", 1, 100), ("say", 2, 200), ("hear", 1, 300))
    assert made.oldest() == 200 * MS
    made.hear(2, 400 * MS)
    assert made.oldest() is None
