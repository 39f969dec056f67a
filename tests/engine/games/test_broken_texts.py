"""Position texts that no game printed are refused in one line, quickly, or read exactly."""

from __future__ import annotations

import re
import tracemalloc
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.conformance import check_position, check_text, some_moves
from engine.game import PositionError, State, Variant
from tests.engine.games.random_games import VARIANTS, each_of, positions

OF_OPENSPIEL = ("openspiel:amazons", "openspiel:chess", "openspiel:pig")
"""Chess reads texts of its own. Those of all others are their moves, which one function reads: here
some of words with gaps, and some with dice."""
READ = {
    name: variant
    for name, variant in VARIANTS.items()
    if ":" not in variant.game or variant.game in OF_OPENSPIEL
}
each_variant = each_of(READ)

NUMBER = re.compile(r"[0-9]+")
TOKENS = st.one_of(
    st.sampled_from(
        [*"0123456789/,.-+*@#! ", "10", "00", "-1", "1.0", "//", " - ", "\n", "\t", "\0"]
    ),
    st.sampled_from(["9" * 20, "9" * 5000, "\u0661", "\u00b2", "\ud800", "\u212a", "1_0", "+1"]),
    st.characters(codec="ascii"),
    st.characters(),
)
EDITS = st.lists(
    st.tuples(st.integers(0, 999), st.integers(0, 4), st.one_of(TOKENS, st.integers(0, 999))),
    min_size=1,
    max_size=4,
)


def edited(text: str, edits: list[tuple[int, int, str | int]]) -> str:
    """The text with stretches replaced by a token or by a letter from elsewhere in it."""
    for start, length, new in edits:
        at = start % (len(text) + 1)
        put = new if isinstance(new, str) else text[new % len(text) : new % len(text) + 1]
        text = text[:at] + put + text[at + length :] or " "
    return text


def check_broken(variant: Variant, text: str) -> None:
    """A text is refused in one line, or it is exactly the text of a sound position."""
    try:
        state = variant.read(text)
    except PositionError as error:
        reason = str(error)
    else:
        check_sound(state, text)
        return
    assert 0 < len(reason) < 500
    assert reason.isprintable()


def check_sound(state: State, text: str) -> None:
    """A position that was read is printed as it was read, and can be played on."""
    assert state.text() == text
    check_position(state)
    for move in some_moves(state)[:2]:
        check_text(state.play(move))


@each_variant
@settings(
    max_examples=30,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(number=st.integers(0, 999), edits=EDITS)
def test_edited_position_texts_are_refused_or_sound(
    variant: Variant, number: int, edits: list[tuple[int, int, str | int]]
) -> None:
    """Nothing but PositionError comes of a broken text, and nothing is read that isn't printed."""
    known = positions(variant)
    check_broken(variant, edited(known[number % len(known)].text(), edits))


@each_variant
@settings(max_examples=15, derandomize=True, database=None)
@given(text=st.one_of(st.text(), st.text(st.characters(codec="ascii"))))
def test_nonsense_is_no_position(variant: Variant, text: str) -> None:
    """Random text, ASCII or not, is refused in one line."""
    check_broken(variant, text)


@each_variant
def test_exchanged_parts_are_refused_or_sound(variant: Variant) -> None:
    """Letters exchanged, fields and ranks in another order, left out or given twice."""
    random = Random(5)
    for state in positions(variant)[::2]:
        for _ in range(5):
            letters = list(state.text())
            first, second = random.sample(range(len(letters)), 2)
            letters[first], letters[second] = letters[second], letters[first]
            check_broken(variant, "".join(letters))
        for separator in " /,":
            parts = state.text().split(separator)
            for _ in range(2):
                check_broken(variant, separator.join(random.sample(parts, len(parts))))
            cut = int(random.random() * len(parts))
            check_broken(variant, separator.join(parts[:cut] + parts[cut + 1 :]))
            check_broken(variant, separator.join(parts[:cut] + parts[cut:][:1] + parts[cut:]))


@each_variant
def test_other_spellings_of_a_position_are_refused(variant: Variant) -> None:
    """A position has one text: no space, no line end, no other digits are read into it."""
    for state in positions(variant):
        text = state.text()
        others = {
            f" {text}",
            f"{text} ",
            f"{text}\n",
            f"{text}\0",
            text.replace(" ", "  "),
            text.replace(" ", "\t"),
            text.replace("/", "//", 1),
            text.translate({ord("1"): "\u0661", ord("2"): "\uff12", ord("3"): "03"}),
        }
        for other in others - {text}:
            with pytest.raises(PositionError):
                variant.read(other)


@each_variant
def test_huge_numbers_cost_nothing(variant: Variant) -> None:
    """A number of squares or plies that no board has is refused before memory is spent on it."""
    text = positions(variant)[2].text()
    variant.read(text)
    # In each field one of each length: the other numbers there are read by the same function.
    runs = {(text.count(" ", 0, run.start()), len(run[0])): run for run in NUMBER.finditer(text)}
    for run in runs.values():
        for number in ("4000000000", "9" * 5000, "0" * 50 + run[0]):
            huge = text[: run.start()] + number + text[run.end() :]
            tracemalloc.start()
            with pytest.raises(PositionError):
                variant.read(huge)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert peak < 2_000_000
