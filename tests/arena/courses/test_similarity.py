"""Fingerprints: what makes two programs alike, and what does not."""

from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.courses import similarity
from arena.courses.similarity import (
    MOST_BYTES,
    RUN,
    WINDOW,
    Passage,
    Prints,
    fragments,
    likenesses,
    prints_of,
)

PYTHON = b'''
def best(board, seat):
    """The move with the most answers left."""
    scores = {}
    for move in board.moves():
        after = board.play(move)
        scores[move] = len(after.moves(seat)) - 2 * len(after.moves(1 - seat))
    return max(scores, key=lambda move: (scores[move], move))


def main():
    while True:
        line = input()
        words = line.split()
        if words[0] == "quit":
            return
        if words[0] == "go":
            print("move", best(read(words[1:]), int(words[2])))
'''
RENAMED = b"""
# my own work
def choose(b, who):
    values = {}
    for m in b.moves():   # all of them
        b2 = b.play(m)
        values[m] = (len(b2.moves(who))
                     - 3 * len(b2.moves(1 - who)))
    return max(values, key=lambda m: (values[m], m))


def run():
    while True:
        text = input()
        parts = text.split()
        if parts[0] == 'quit':
            return
        if parts[0] == 'go':
            print('move', choose(read(parts[1:]), int(parts[2])))
"""
OTHER = b"""
import random
import sys

class Tree:
    def __init__(self, state, parent=None):
        self.visits, self.wins, self.children = 0, 0.0, []
        self.state, self.parent = state, parent

    def select(self):
        return random.choice(self.children) if self.children else self

for line in sys.stdin:
    command, *rest = line.split()
    if command == "newgame":
        tree = Tree(rest)
    elif command == "go":
        tree = tree.select()
        sys.stdout.write(f"move {tree.state}\\n")
        sys.stdout.flush()
"""
C = (
    b"int best(int *board, int n) { int top = 0; for (int i = 0; i < n; i++) "
    b"if (board[i] > board[top]) top = i; return top; }\n"
)
C_RENAMED = C.replace(b"board", b"cells").replace(b"top", b"result").replace(b"; ", b";\n\t")
"""All by hand."""


@pytest.mark.parametrize(
    ("first", "second", "least", "most"),
    [
        ({"bot.py": PYTHON}, {"bot.py": PYTHON}, 1.0, 1.0),
        ({"bot.py": PYTHON}, {"other_name.py": PYTHON}, 1.0, 1.0),
        ({"bot.py": PYTHON}, {"bot.py": RENAMED}, 0.5, 1.0),
        ({"bot.c": C}, {"program.c": C_RENAMED}, 1.0, 1.0),
        ({"bot.py": PYTHON}, {"bot.py": OTHER}, 0.0, 0.1),
        ({"bot.py": PYTHON}, {"a.py": OTHER, "b.py": PYTHON}, 1.0, 1.0),
        ({"bot.py": PYTHON}, {"bot.c": C}, 0.0, 0.0),
        ({"bot.py": PYTHON}, {"notes.txt": PYTHON}, 0.0, 0.0),
        ({"bot.py": PYTHON}, {"bot.py": b"\xff" + PYTHON}, 0.9, 1.0),
        ({"bot.py": PYTHON}, {"bot.py": PYTHON + b"#" * MOST_BYTES}, 0.0, 0.0),
        ({"bot.py": b""}, {"bot.py": b""}, 0.0, 0.0),
    ],
)
def test_what_makes_two_alike(
    first: dict[str, bytes], second: dict[str, bytes], least: float, most: float
) -> None:
    found = likenesses({"ann": prints_of(first), "bob": prints_of(second)})
    share = found[0].share if found else 0.0
    assert least <= share <= most


def test_what_everybody_was_given_counts_nowhere() -> None:
    handed_in = {
        "ann": prints_of({"bot.py": PYTHON}),
        "bob": prints_of({"bot.py": PYTHON + OTHER}),
        "cia": prints_of({"bot.py": OTHER}),
    }
    pairs = {(one.first, one.second) for one in likenesses(handed_in)}
    assert pairs == {("ann", "bob"), ("bob", "cia")}
    given = [prints_of({"starter.py": PYTHON})]
    pairs = {(one.first, one.second) for one in likenesses(handed_in, given=given)}
    assert pairs == {("bob", "cia")}
    assert not fragments(handed_in["ann"], handed_in["bob"], given=given)


def test_what_stands_in_many_is_taken_for_given() -> None:
    handed_in = {name: prints_of({"bot.py": PYTHON}) for name in ("ann", "bob", "cia", "dan")}
    assert len(likenesses(handed_in, common=4)) == 6
    assert likenesses(handed_in, common=3) == []


def test_shares_are_of_each() -> None:
    """Who hides the program of another in a large one has all of it."""
    small, large = prints_of({"bot.py": PYTHON}), prints_of({"a.py": OTHER * 3, "b.py": PYTHON})
    (found,) = likenesses({"small": small, "large": large})
    assert (found.first, found.second) == ("large", "small")
    assert found.of_second == found.share == 1.0
    assert found.of_first < 0.7


def test_fragments_have_their_lines() -> None:
    """What was copied stands in lines 2 to 18, and in the second 30 lines further down."""
    first = prints_of({"bot.py": PYTHON})
    second = prints_of({"bot.py": b"x = 1\n" * 30 + PYTHON})
    longest, *_ = fragments(first, second)
    assert (longest.first.file, longest.second.file) == ("bot.py", "bot.py")
    assert longest.second.first - longest.first.first == 30
    assert longest.second.last - longest.first.last == 30
    assert longest.first.first <= 4
    assert longest.first.last == 18


def test_fragments_end_with_their_file() -> None:
    split = PYTHON.index(b"def main")
    parts = prints_of({"a.py": PYTHON[:split] * 2, "b.py": PYTHON[split:] * 2})
    for one in fragments(prints_of({"bot.py": PYTHON * 2}), parts):
        assert one.second.file in ("a.py", "b.py")
        assert one.second.first <= one.second.last <= 18


@given(st.data())
def test_whatever_is_long_enough_and_shared_is_found(data: st.DataObject) -> None:
    """As the paper guarantees: of a run of `RUN + WINDOW - 1` tokens one fingerprint at least."""
    words = st.sampled_from(["if", "for", "while", "return", "+", "-", "*", "(", ")", "[", "]"])
    run = st.lists(words, min_size=RUN + WINDOW - 1, max_size=RUN + WINDOW + 9)
    shared = data.draw(run)
    texts = [
        " ".join(data.draw(st.lists(words, max_size=30)) + shared + data.draw(st.lists(words)))
        for _ in range(2)
    ]
    first, second = (prints_of({"bot.py": text.encode()}) for text in texts)
    assert set(first.hashes) & set(second.hashes)


@given(st.binary(max_size=300), st.sampled_from(["a.py", "a.c", "Makefile", "a.java", "x", "a.rs"]))
def test_any_file_can_be_read(content: bytes, name: str) -> None:
    assert isinstance(prints_of({name: content}), Prints)


@pytest.mark.parametrize(
    ("limit", "most", "read"),
    [
        ("MOST_ALL_BYTES", 2 * len(PYTHON), {"a.py", "b.py"}),
        ("MOST_ALL_BYTES", 2 * len(PYTHON) - 1, {"a.py"}),
        ("MOST_TOKENS", 130, {"a.py"}),
        ("MOST_TOKENS", 200_000, {"a.py", "b.py", "c.py"}),
    ],
)
def test_no_more_is_read_than_some(
    monkeypatch: pytest.MonkeyPatch, limit: str, most: int, read: set[str]
) -> None:
    """Files are read by the order of their names; the program has 139 tokens."""
    monkeypatch.setattr(similarity, limit, most)
    found = prints_of({"c.py": PYTHON, "a.py": PYTHON, "b.py": PYTHON, "0.txt": PYTHON * 9})
    assert {passage.file for passage in found.passages} == read


def test_what_fewest_have_is_compared_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there would be too many pairs: what all have makes six, what two have one each."""
    own = {"ann": OTHER, "bob": OTHER, "cia": b"", "dan": b""}
    handed_in = {
        name: prints_of({"a.py": PYTHON, "b.py": content}) for name, content in own.items()
    }
    assert len(likenesses(handed_in)) == 6
    of_two = len(set(prints_of({"b.py": OTHER}).hashes))
    monkeypatch.setattr(similarity, "MOST_PAIRS", of_two)
    (found,) = likenesses(handed_in)
    assert (found.first, found.second, found.share) == ("ann", "bob", 1.0)
    monkeypatch.setattr(similarity, "MOST_PAIRS", 0)
    assert likenesses(handed_in) == []
    assert fragments(handed_in["ann"], handed_in["bob"])
    monkeypatch.setattr(similarity, "MOST_PLACES", 0)
    assert fragments(handed_in["ann"], handed_in["bob"]) == []


def test_many_that_have_the_same_are_compared_within_seconds() -> None:
    """300 hand-ins with 3,000 fingerprints in common would make 130 million pairs."""
    same = Prints(tuple(range(3000)), (Passage("a.py", 1, 2),) * 3000)
    began = process_time()
    likenesses({f"student-{number}": same for number in range(300)})
    assert process_time() - began < 10


@pytest.mark.long
def test_two_of_many_places_are_compared_within_seconds() -> None:
    """5,000 fingerprints that stand 20 times in both would make two million pairs."""
    places = (Passage("a.py", 1, 2),) * 100_000
    one = Prints(tuple(n % 5000 for n in range(100_000)), places)
    other = Prints(tuple(n * 7 % 5000 for n in range(100_000)), places)
    began = process_time()
    assert len(fragments(one, other)) > 1000
    assert process_time() - began < 5
