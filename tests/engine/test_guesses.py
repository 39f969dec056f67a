"""What is said to whoever names something that is not there."""

from __future__ import annotations

import pytest

from engine.guesses import instead

LADDERS = ("clobber-5x6", "clobber-6x7", "Siege", "oxono")
MANY = [f"cup-{number}" for number in range(21)]


@pytest.mark.parametrize(
    ("name", "known", "words"),
    [
        ("oxno", LADDERS, "did you mean oxono?"),
        ("SEIGE", LADDERS, "did you mean Siege?"),
        ("clobber-5x7", LADDERS, "did you mean clobber-6x7 or clobber-5x6?"),
        ("go", LADDERS, "there are: clobber-5x6, clobber-6x7, Siege, oxono"),
        ("", LADDERS[:1], "there are: clobber-5x6"),
        ("go", (), "there are: none"),
        ("go", MANY, "there are 21, such as cup-0, cup-1, cup-2, cup-3, cup-4"),
        ("go", MANY[1:], f"there are: {', '.join(MANY[1:])}"),
    ],
)
def test_what_there_is_instead(name: str, known: list[str], words: str) -> None:
    """What was likely meant; else all there are, unless that is a long list."""
    assert instead(name, iter(known)) == words
