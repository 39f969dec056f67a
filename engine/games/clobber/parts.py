"""A table of the small parts of Clobber positions, each with its value, on disk.

What a part is worth in a sum does not depend on the board that it lies on. So one table of all
parts of some stones serves boards of every size: the file is a line of JSON, then for each part the
digest of its look, in order, then the number of its value, then for each value the numbers of
those that White and Black may make of it. The line has the digest of all that follows.
"""

from __future__ import annotations

import hashlib
import json
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from engine.games import GAMES
from engine.games.clobber.endgame import ClobberEndgame, Stones, Values, look
from engine.translation import gettext
from engine.truth import Advance
from engine.truth_tables import FORMAT, KEY_BYTES, LONGEST_HEADER, TableError, write_table

NAME = "clobber_parts.truth"
MOST_STONES = 9
"""The most of a part that is solved: with each more there are seven times as many."""
Cells = frozenset[tuple[int, int]]
"""Squares by their files and ranks."""


class PartsTable:
    """The values of all parts of so many stones and fewer."""

    def __init__(self, file: Path) -> None:
        """Reads a table, and proves that it is whole.

        Raises:
            TableError: it is none, is damaged, or was made by other rules.
            OSError: the file can't be read.
        """
        with file.open("rb") as opened:
            line, body = opened.readline(LONGEST_HEADER), opened.read()
        try:
            header = json.loads(line)
            self.stones, count, values = (int(header[key]) for key in ("stones", "parts", "values"))
            rules, self.digest = str(header["rules"]), str(header["digest"])
            if header["format"] != FORMAT or count < 0:
                raise ValueError
        except (ValueError, KeyError, TypeError):
            raise TableError(gettext("%(name)s is no table of parts", name=file.name)) from None
        now = str(GAMES.edition("clobber"))
        if rules != now:
            raise TableError(
                gettext(
                    "%(name)s was made by the rules of %(rules)s; now: %(now)s",
                    name=file.name,
                    rules=rules,
                    now=now,
                )
            )
        if _digest_of(rules, self.stones, count, body) != self.digest:
            raise TableError(gettext("%(name)s is damaged: make it again", name=file.name))
        self._keys, self._count = body[: count * KEY_BYTES], count
        self._numbers = _numbers(body[count * KEY_BYTES : count * (KEY_BYTES + 4)])
        self._options, self._values = _numbers(body[count * (KEY_BYTES + 4) :]), values

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, number: int) -> bytes:
        """The digest of a part's look, in their order."""
        return self._keys[number * KEY_BYTES : (number + 1) * KEY_BYTES]

    def values(self) -> Values:
        """The values of the parts, by their numbers."""
        found, at = Values(), 0
        for _ in range(self._values):
            left, right = self._options[at], self._options[at + 1]
            options = self._options[at + 2 : at + 2 + left + right]
            found.number(frozenset(options[:left]), frozenset(options[left:]))
            at += 2 + left + right
        return found

    def value(self, key: Stones) -> int | None:
        """The number of the value of the parts that look so; None if it has none such."""
        digest = _key(key)
        number = bisect_left(self, digest)
        found = number < self._count and self[number] == digest
        return self._numbers[number] if found else None


def _numbers(data: bytes) -> array[int]:
    found = array("I")
    found.frombytes(data)
    return found


def _key(key: Stones) -> bytes:
    text = f"{key[0]:x} {key[1]:x}"
    return hashlib.blake2b(text.encode(), digest_size=KEY_BYTES).digest()


def _digest_of(rules: str, stones: int, count: int, body: bytes) -> str:
    return hashlib.sha256(f"{FORMAT} {rules} {stones} {count}\n".encode() + body).hexdigest()


def shapes(squares: int) -> set[Cells]:
    """All shapes of connected squares, one of those that look alike."""
    found = {frozenset({(0, 0)})}
    for _ in range(squares - 1):
        grown = (
            shape | {beside}
            for shape in found
            for file, rank in shape
            for beside in ((file + 1, rank), (file - 1, rank), (file, rank + 1), (file, rank - 1))
            if beside not in shape
        )
        found = {_first(shape) for shape in grown}
    return found


def _first(shape: Cells) -> Cells:
    """The first of the shapes that look like one, in its corner."""
    ways = []
    for turned, file_sign, rank_sign in product((False, True), (1, -1), (1, -1)):
        cells = [(file * file_sign, rank * rank_sign) for file, rank in shape]
        if turned:
            cells = [(rank, file) for file, rank in cells]
        left, low = (min(numbers) for numbers in zip(*cells, strict=True))
        ways.append(sorted((file - left, rank - low) for file, rank in cells))
    return frozenset(map(tuple, min(ways)))


def _colourings(shape: Cells, up: int) -> Iterator[Stones]:
    """A shape with stones of both colours, in every way."""
    squares = [1 << rank * up + file for file, rank in sorted(shape)]
    for colours in range(1, (1 << len(squares)) - 1):
        white = sum(square for bit, square in enumerate(squares) if colours >> bit & 1)
        yield white, sum(squares) - white


def make_parts(stones: int, file: Path, advance: Advance) -> tuple[int, str]:
    """Makes the table of all parts of so many stones and fewer, from the rules alone.

    Returns:
        How many parts are in it, and its digest.

    Raises:
        OSError: the file can't be written; nothing is left of it then.
    """
    endgame = ClobberEndgame(stones, stones, small=stones)
    found: dict[bytes, int] = {}
    for size in range(2, stones + 1):
        known = sorted(map(sorted, shapes(size)))
        for done, shape in enumerate(known):
            advance(gettext("parts of %(size)s stones", size=size), done, len(known))
            for part in _colourings(frozenset(shape), endgame.up):
                key = _key(look(*part, endgame.up))
                if key not in found:
                    found[key] = endgame.total(*part)
    values = endgame.values
    used = set(found.values())
    for number in reversed(range(len(values.left))):  # options come before what has them
        if number in used:
            used.update(values.left[number], values.right[number])
    numbers = {number: new for new, number in enumerate(sorted(used | {0}))}
    options = array("I")
    for number in numbers:
        left, right = values.left[number], values.right[number]
        options.extend((len(left), len(right)))
        options.extend(sorted(numbers[one] for one in left))
        options.extend(sorted(numbers[one] for one in right))
    rows = sorted(found.items())
    worth = array("I", (numbers[value] for _, value in rows))
    body = b"".join(key for key, _ in rows) + worth.tobytes() + options.tobytes()
    rules = str(GAMES.edition("clobber"))
    digest = _digest_of(rules, stones, len(rows), body)
    header = {
        "format": FORMAT,
        "game": "clobber",
        "rules": rules,
        "stones": stones,
        "parts": len(rows),
        "values": len(numbers),
        "digest": digest,
    }
    write_table(file, header, body)
    return len(rows), digest
