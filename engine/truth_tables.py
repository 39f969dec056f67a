"""Tables of values: made from the rules alone, and read from disk in microseconds.

A table has the positions of the first plies of a variant, each by the digest of its key
(`engine.truth.Truth.key`), so that positions that look alike are in it once. The file is a line of
JSON, then the digests in order, then a byte for the value of each. The line says what variant it
is of, by which rules, and the digest of all that follows; a table of other rules, or one that is
damaged, is refused.

To make one, the positions of the last of its plies are searched to the end of the game; those
before follow from them. Where a search takes more steps than it is granted, the position is left
out, and so are those that hang on it alone.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import re
from bisect import bisect_left
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from engine.game import GameError, State, Variant
from engine.games import GAMES, find_variant
from engine.translation import gettext, pgettext
from engine.truth import Advance, Budget, Truth, Value, wants

FORMAT = 1
KEY_BYTES = 12
"""How many of a digest a key has: two of a million million positions are alike by chance once in
10^5 tables."""
LONGEST_HEADER = 10_000
FURTHEST = 127
"""The highest value that a byte holds; the lowest is that below zero."""
SUFFIX = ".truth"


class TableError(GameError):
    """A file that is no table, or none for the rules of now; one sentence that says which."""


def file_name(variant: Variant) -> str:
    """What the file of a variant's table is called in a folder of tables."""
    return re.sub(r"[^\w=.-]", "_", str(variant)) + SUFFIX


def _digest(key: str) -> bytes:
    return hashlib.blake2b(key.encode(), digest_size=KEY_BYTES).digest()


def look_of(folder: Path) -> str:
    """What a folder of tables looks like: another one, if a table is new there or was changed."""
    try:
        files = sorted(file for file in folder.iterdir() if file.suffix == SUFFIX)
        looks = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    except FileNotFoundError:
        return ""
    return hashlib.sha256(repr(looks).encode()).hexdigest() if looks else ""


class TruthTable:
    """A table that lies open in a file."""

    def __init__(self, file: Path) -> None:
        """Opens a table, and proves that it is whole.

        Raises:
            TableError: it is none, is damaged, or was made by other rules.
            OSError: the file can't be read.
        """
        with file.open("rb") as opened:
            line = opened.readline(LONGEST_HEADER)
            try:
                header = json.loads(line)
                if header["format"] != FORMAT:
                    raise TableError(
                        gettext(
                            "%(name)s is a table of format %(format)r",
                            name=file.name,
                            format=header["format"],
                        )
                    )
                self.variant = find_variant(*_split(header["variant"]))
                self.rules, self.plies = str(header["rules"]), int(header["plies"])
                self.count, self.digest = int(header["positions"]), str(header["digest"])
            except (ValueError, KeyError, TypeError) as error:
                if isinstance(error, GameError):
                    raise TableError(
                        gettext("%(name)s: %(error)s", name=file.name, error=error)
                    ) from None
                raise TableError(
                    gettext("%(name)s is no table of values", name=file.name)
                ) from None
            self._start = len(line)
            size = os.fstat(opened.fileno()).st_size - self._start
            if size != self.count * (KEY_BYTES + 1) or not size:
                raise TableError(
                    gettext("%(name)s is cut off, or longer than it says", name=file.name)
                )
            self._data = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
        now = str(GAMES.edition(self.variant.game))
        if self.rules != now:
            raise TableError(
                gettext(
                    "%(name)s was made by the rules of %(rules)s; now: %(now)s",
                    name=file.name,
                    rules=self.rules,
                    now=now,
                )
            )
        if _body_digest(self._head(), self._data[self._start :]) != self.digest:
            raise TableError(gettext("%(name)s is damaged: make it again", name=file.name))

    def _head(self) -> str:
        return _head(self.variant, self.rules, self.plies)

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, number: int) -> bytes:
        """The digest of a position, in their order."""
        start = self._start + number * KEY_BYTES
        return self._data[start : start + KEY_BYTES]

    def value(self, key: str) -> Value | None:
        """The value of the positions with a key, if they are in it."""
        digest = _digest(key)
        number = bisect_left(self, digest)
        if number == self.count or self[number] != digest:
            return None
        byte = self._data[self._start + self.count * KEY_BYTES + number]
        return byte - 256 if byte > FURTHEST else byte

    def close(self) -> None:
        """Lets go of the file."""
        self._data.close()


def _split(variant: str) -> tuple[str, list[str]]:
    game, *options = variant.split()
    return game, options


def _head(variant: Variant, rules: str, plies: int) -> str:
    return f"{FORMAT} {variant} {rules} {plies}"


def _body_digest(head: str, body: bytes) -> str:
    return hashlib.sha256(head.encode() + b"\n" + body).hexdigest()


class TabledTruth(Truth):
    """What a table has, and beyond it what a search finds."""

    def __init__(self, truth: Truth, table: TruthTable) -> None:
        self._truth, self._table = truth, table
        self.tables = (*truth.tables, table.digest)

    def value(self, state: State, budget: Budget) -> Value | None:
        known = self._table.value(self._truth.key(state))
        return self._truth.value(state, budget) if known is None else known

    def key(self, state: State) -> str:
        return self._truth.key(state)

    def gain(self, state: State) -> Value:
        return self._truth.gain(state)


def find_truth(variant: Variant, *folders: Path) -> Truth | None:
    """What is known of a variant's positions, with the first of its tables in some folders.

    Raises:
        TableError: its table is none, is damaged, or was made by other rules.
        OSError: it can't be read.
    """
    truth = variant.truth()
    if truth is not None:
        for folder in folders:
            truth.learn(folder)
            file = folder / file_name(variant)
            if file.is_file():
                return TabledTruth(truth, TruthTable(file))
    return truth


@dataclass(frozen=True, slots=True)
class Made:
    """A table that was made."""

    plies: int
    positions: int
    unknown: int
    """How many positions are left out, as their searches took too many steps."""
    start: Value | None
    """The value of the first position."""
    digest: str


def make(variant: Variant, plies: int, steps: int, file: Path, advance: Advance) -> Made:
    """Makes the table of the first plies of a variant, and writes it to a file.

    What is found is kept beside it meanwhile, so that one that was broken off goes on there.

    Args:
        steps: that the search from one position may take.

    Raises:
        GameError: the game has no truth, or leaves something to the lot.
        OSError: the file can't be written; nothing is left of it then.
    """
    truth = variant.truth()
    if truth is None:
        raise GameError(
            gettext("nothing finds the values of positions of %(game)s", game=variant.game)
        )
    if variant.has_chance or variant.drawn(0) != variant.drawn(1):
        raise GameError(
            gettext(
                "%(variant)s leaves something to the lot: take one that does not", variant=variant
            )
        )
    layers = _layers(truth, variant.initial(), plies, advance)
    values: dict[str, Value] = {}
    with truth.quicker(advance) as search, Notes(variant, file) as notes:
        for ply in reversed(range(len(layers))):
            layer = layers[ply]
            # In the order of their keys, those that have much in common follow each other.
            for done, key in enumerate(sorted(layer)):
                advance(gettext("ply %(ply)s", ply=ply), done, len(layer))
                is_last = ply == len(layers) - 1
                value = None if is_last else _from_children(truth, layer[key], values)
                if value is None:
                    value = notes.found.get(key)
                if value is None:
                    value = search.value(layer[key], Budget(steps))
                    if value is not None:
                        notes.add(key, value)
                if value is not None:
                    values[key] = value
            advance(gettext("ply %(ply)s", ply=ply), len(layer), len(layer))
    # Where pieces can be turned back, the same position comes at several plies.
    positions = len(set[str]().union(*layers))
    digest = _write(variant, plies, values, file)
    notes.drop()
    start = values.get(truth.key(variant.initial()))
    return Made(plies, len(values), positions - len(values), start, digest)


class Notes:
    """What searches have found for a table that is being made, in a file of lines beside it."""

    def __init__(self, variant: Variant, file: Path) -> None:
        """Reads what was found before by the same rules, if that is there.

        Raises:
            OSError: the file can't be read or written.
        """
        self._file = file.with_name(file.name + ".part")
        self.found: dict[str, Value] = {}
        head = f"{FORMAT} {variant} {GAMES.edition(variant.game)}"
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):
            # The last line may have been cut off.
            first, *lines = self._file.read_text().split("\n")[:-1] or [""]
            if first == head:
                self.found = {
                    key: int(value) for value, _, key in (one.partition(" ") for one in lines)
                }
        # Whole again, at once: hours of work may be in it.
        whole = self._file.with_name(self._file.name + ".new")
        lines = [head, *(f"{value} {key}" for key, value in self.found.items())]
        whole.write_text("".join(f"{line}\n" for line in lines))
        whole.replace(self._file)
        self._open = self._file.open("a")

    def __enter__(self) -> Notes:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def add(self, key: str, value: Value) -> None:
        """Notes the value of a position."""
        self._open.write(f"{value} {key}\n")
        self._open.flush()

    def drop(self) -> None:
        """Deletes the notes, once the table is made."""
        self._file.unlink()


def _layers(truth: Truth, start: State, plies: int, advance: Advance) -> list[dict[str, State]]:
    """The positions after each ply that are not over, one of those alike, by their keys."""
    layers = [{truth.key(start): start}]
    for ply in range(1, plies + 1):
        later: dict[str, State] = {}
        for done, state in enumerate(layers[-1].values()):
            advance(gettext("listing ply %(ply)s", ply=ply), done, len(layers[-1]))
            for after in map(state.play_code, state.codes()):
                if after.to_move is not None:
                    later.setdefault(truth.key(after), after)
        if not later:
            break
        layers.append(later)
    return layers


def _from_children(truth: Truth, state: State, values: dict[str, Value]) -> Value | None:
    """The value of a position by those that follow; None if one of these is not known."""
    found = []
    for after in map(state.play_code, state.codes()):
        value = truth.gain(after) if after.to_move is None else values.get(truth.key(after))
        if value is None:
            return None
        found.append(value)
    seat = state.to_move
    assert seat is not None
    return wants(seat) * max(wants(seat) * value for value in found)


def _write(variant: Variant, plies: int, values: dict[str, Value], file: Path) -> str:
    """Writes a table; returns its digest."""
    rows = sorted((_digest(key), value) for key, value in values.items())
    body = b"".join(key for key, _ in rows) + bytes(value & 0xFF for _, value in rows)
    rules = str(GAMES.edition(variant.game))
    digest = _body_digest(_head(variant, rules, plies), body)
    header = {
        "format": FORMAT,
        "variant": str(variant),
        "rules": rules,
        "plies": plies,
        "positions": len(rows),
        "digest": digest,
    }
    write_table(file, header, body)
    return digest


def write_table(file: Path, header: Mapping[str, Any], body: bytes) -> None:
    """Writes a line of JSON and what follows it to a file, at once.

    Raises:
        OSError: it can't be written; nothing is left of it then.
    """
    new = file.with_name(file.name + ".new")
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        new.write_bytes(json.dumps(header).encode() + b"\n" + body)
        new.replace(file)
    except OSError:
        new.unlink(missing_ok=True)
        raise


def brute_value(state: State, truth: Truth, budget: Budget) -> Value | None:
    """A value by trying every move, as the rules alone have it: nothing is kept or cut off.

    Slow, and the same for all games: other ways are checked by it.
    """
    if state.to_move is None:
        return truth.gain(state)
    if not budget.step():
        return None
    seat, best = state.to_move, None
    for move in state.legal_moves():
        value = brute_value(state.play(move), truth, budget)
        if value is None:
            return None
        best = value if best is None else wants(seat) * max(wants(seat) * value, wants(seat) * best)
    return best


@dataclass(frozen=True, slots=True)
class Checked:
    """What came of checking values by brute force."""

    positions: int
    """How many were compared."""
    too_large: int
    """How many took too many steps to be compared."""
    wrong: tuple[str, ...]
    """The texts of the positions that came out differently."""


def check(
    variant: Variant, truth: Truth, games: int, seed: int, steps: int, advance: Advance
) -> Checked:
    """Compares values with brute force, in random games, from their ends as far as that goes.

    What is too large for brute force is compared with a search that knows no table.

    Args:
        truth: what is checked, with or without a table.
        games: how many random games are played.
        steps: that brute force and the search may take for one position.

    Raises:
        GameError: lots are drawn in the game.
    """
    if variant.has_chance:
        raise GameError(gettext("in %(variant)s lots are drawn", variant=variant))
    compared = too_large = 0
    wrong, search = [], variant.truth()
    for number in range(games):
        advance(pgettext("games that were played", "games"), number, games)
        dice, states = Random(f"{seed} {number}"), [variant.initial(seed + number)]
        while states[-1].to_move is not None:
            states.append(states[-1].play_code(dice.choice(list(states[-1].codes()))))
        by_force = True
        for state in reversed(states[:-1]):
            expected = brute_value(state, truth, Budget(steps)) if by_force else None
            by_force = expected is not None
            if expected is None and search is not None:
                expected = search.value(state, Budget(steps))
            found = None if expected is None else truth.value(state, Budget(steps))
            if found is None:
                too_large += 1
                continue
            compared += 1
            if found != expected:
                wrong.append(state.text())
    advance(pgettext("games that were played", "games"), games, games)
    return Checked(compared, too_large, tuple(wrong))
