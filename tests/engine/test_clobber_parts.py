"""The table of small parts of Clobber: what is in it, what it is good for, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.games import find_variant
from engine.games.clobber.endgame import BLACK, WHITE, ClobberEndgame, look
from engine.games.clobber.parts import NAME, PartsTable, make_parts, shapes
from engine.truth import Budget
from engine.truth_tables import TableError, find_truth
from tests.engine.test_truth import late

STONES = 5


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One with the table of all parts of five stones."""
    folder = tmp_path_factory.mktemp("parts")
    make_parts(STONES, folder / NAME, lambda *_: None)
    return folder


@pytest.mark.parametrize(
    ("squares", "count"),
    [(1, 1), (2, 1), (3, 2), (4, 5), (5, 12), (6, 35)],  # OEIS A000105, free polyominoes
)
def test_every_shape_is_there_once(squares: int, count: int) -> None:
    """Those that look alike are one."""
    assert len(shapes(squares)) == count


def test_the_parts_are_counted(folder: Path) -> None:
    """By hand, with Burnside's lemma: one pair; of three stones in a row and around a corner four
    each; of four in a row 8, in a square 4, in a T 10, in an S 8, in an L 14."""
    small = folder / "small.truth"
    count = 1 + 2 * 4 + (8 + 4 + 10 + 8 + 14)
    assert make_parts(4, small, lambda *_: None) == (count, PartsTable(small).digest)


def wins(own: int, other: int, endgame: ClobberEndgame) -> bool:
    """Whether who owns the first stones makes the last move, by trying all."""
    return any(not wins(after[1], after[0], endgame) for after in endgame.moves(own, other))


def test_values_say_who_wins(folder: Path) -> None:
    """They do of every part that is in it, for both seats, as trying every move does."""
    table, endgame = PartsTable(folder / NAME), ClobberEndgame(STONES, STONES)
    values, seen = table.values(), set()
    for size in range(2, STONES + 1):
        for shape in shapes(size):
            squares = [1 << rank * endgame.up + file for file, rank in sorted(shape)]
            for colours in range(1, (1 << size) - 1):
                white = sum(square for bit, square in enumerate(squares) if colours >> bit & 1)
                black = sum(squares) - white
                value = table.value(look(white, black, endgame.up))
                assert value is not None
                assert (not values.at_most(value, 0)) == wins(white, black, endgame)
                assert (not values.at_most(0, value)) == wins(black, white, endgame)
                seen.add(look(white, black, endgame.up))
    assert len(seen) == len(table)
    assert table.value((1, 1 << 400)) is None


def test_values_are_those_of_the_theory(folder: Path) -> None:
    """By hand: w b is *, since either takes the other and is alone; w w b is up, { 0 | * }."""
    table = PartsTable(folder / NAME)
    values = table.values()
    star, up = table.value(look(0b01, 0b10, 9)), table.value(look(0b011, 0b100, 9))
    assert star is not None
    assert up is not None
    assert (values.left[star], values.right[star]) == ((0,), (0,))
    assert (values.left[up], values.right[up]) == ((0,), (star,))
    assert table.value(look(0b100, 0b011, 9)) == values.negative(up)


def test_sums_on_larger_boards_are_known_sooner(folder: Path) -> None:
    """The same is said as without it, in fewer steps, of what has fallen into parts."""
    variant = find_variant("clobber", ["size=10x10"])
    folder_steps = steps = 0
    for seed in range(6):
        state = late(variant, seed, 64)
        said = []
        for where in (folder, folder / "none"):
            truth = find_truth(variant, where)
            assert truth is not None
            assert bool(truth.tables) == (where is folder)
            budget = Budget(100_000)
            said.append(truth.value(state, budget))
            if where is folder:
                folder_steps += budget.used
            else:
                steps += budget.used
        assert said[0] == said[1] != None  # noqa: E711
    assert folder_steps <= steps


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda data: data[:-1], "damaged"),
        (lambda data: data[:-1] + bytes([data[-1] ^ 2]), "damaged"),
        (lambda data: data.replace(b'"stones": 5', b'"stones": 6', 1), "damaged"),
        (lambda data: data.replace(b"arena 1", b"arena 0", 1), "rules of game-bot-arena 0; now"),
        (lambda data: data.replace(b'"format": 1', b'"format": 7', 1), "no table"),
        (lambda _: b"", "no table"),
        (lambda _: b"[1, 2]\n", "no table"),
    ],
)
def test_what_is_no_table_is_refused(folder: Path, tmp_path: Path, change, words: str) -> None:
    """With what is wrong."""
    (tmp_path / NAME).write_bytes(change((folder / NAME).read_bytes()))
    with pytest.raises(TableError, match=words):
        find_truth(find_variant("clobber", ["size=4x4"]), tmp_path)


def test_seats() -> None:
    """White is Left: what is good for it is above zero."""
    endgame = ClobberEndgame(3, 1)
    up = endgame.value((0b011, 0b100))
    assert endgame.is_clear((up,), WHITE) is True
    assert endgame.is_clear((up,), BLACK) is False


def test_rows_are_won_as_was_proved() -> None:
    """Of stones in turn of one colour and the other, an even number in one row: who moves first
    wins, but for six (Chen and others, arXiv 2509.08985, 2025)."""
    endgame = ClobberEndgame(16, 1)
    for length in range(2, 17, 2):
        white = sum(1 << bit for bit in range(0, length, 2))
        assert endgame.wins(white, white << 1, WHITE, lambda: True) == (length != 6)
