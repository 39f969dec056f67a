"""Tables of values: what is in them, how they are read, and what is refused."""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random

import pytest

from engine.game import GameError, Variant
from engine.games import find_variant
from engine.truth import Budget
from engine.truth_tables import (
    TabledTruth,
    TableError,
    TruthTable,
    check,
    file_name,
    find_truth,
    make,
)
from tests.requirements import need

PLENTY = 1_000_000


def silent(_what: str, _done: int, _total: int) -> None:
    """Nobody watches."""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The table of all of Clobber on 3x3."""
    file = tmp_path_factory.mktemp("tables") / "clobber_size=3x3.truth"
    make(clobber(), 9, PLENTY, file, silent)
    return file


def clobber() -> Variant:
    return find_variant("clobber", ["size=3x3"])


def test_a_table_has_every_position_of_its_plies(small: Path) -> None:
    """With its value, whatever way it is turned; and the same file comes out again."""
    table, variant = TruthTable(small), clobber()
    truth = variant.truth()
    assert truth is not None
    layer = {variant.initial()}
    seen = set()
    while layer:
        for state in layer:
            assert table.value(truth.key(state)) == truth.value(state, Budget(PLENTY))
            seen.add(truth.key(state))
        afters = (state.play(move) for state in layer for move in state.legal_moves())
        layer = {after for after in afters if after.to_move is not None}
    assert len(table) == len(seen) > 20
    assert table.value("something else") is None
    again = make(variant, 9, PLENTY, small.with_name("again.truth"), silent)
    assert small.with_name("again.truth").read_bytes() == small.read_bytes()
    assert again.digest == table.digest
    assert again.start == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda data: data[:-1], "cut off"),
        (lambda data: data + b"x", "longer than it says"),
        (lambda data: data[:-1] + bytes([data[-1] ^ 2]), "damaged"),
        (lambda data: data.replace(b"3x3", b"3x2", 1), "damaged"),
        (lambda data: data.replace(b"arena 1", b"arena 0", 1), "rules of game-bot-arena 0; now"),
        (lambda data: data.replace(b'"format": 1', b'"format": 7', 1), "format 7"),
        (lambda data: data.replace(b"clobber", b"clobbed", 1), "no game 'clobbed'"),
        (lambda _: b"", "no table"),
        (lambda _: b"[1, 2]\n", "no table"),
        (lambda data: b"\0" * len(data), "no table"),
    ],
)
def test_what_is_no_table_is_refused(small: Path, tmp_path: Path, change, words: str) -> None:
    """With what is wrong, and nothing is taken from it."""
    file = tmp_path / small.name
    file.write_bytes(change(small.read_bytes()))
    with pytest.raises(TableError, match=words):
        TruthTable(file)
    with pytest.raises(TableError):
        find_truth(clobber(), tmp_path)


def test_a_table_answers_without_a_step_and_a_search_beyond_it(small: Path) -> None:
    """A variant that has one in the folder uses it; others have their search."""
    found = find_truth(clobber(), small.parent)
    assert isinstance(found, TabledTruth)
    assert found.value(clobber().initial(), Budget(0)) == 1
    other = find_truth(find_variant("clobber", ["size=4x3"]), small.parent)
    assert other is not None
    assert other.value(find_variant("clobber", ["size=4x3"]).initial(), Budget(0)) is None
    assert find_truth(find_variant("siege"), small.parent) is None


def test_what_takes_too_long_is_left_out(tmp_path: Path) -> None:
    """And so is what hangs on it; what is in the table is right."""
    variant, file = find_variant("clobber", ["size=4x3"]), tmp_path / "few.truth"
    made = make(variant, 2, 10, file, silent)
    assert made.unknown > 0
    assert made.positions > 0
    found = find_truth(variant)
    assert found is not None
    assert check(variant, TabledTruth(found, TruthTable(file)), 1, 1, 300, silent).wrong == ()


def test_what_is_broken_off_goes_on(small: Path, tmp_path: Path) -> None:
    """With what was found, whose last line may be cut off; but not by other rules."""
    file = tmp_path / small.name
    notes = file.with_name(file.name + ".part")

    class Interrupted(Exception):
        pass

    def break_off(what: str, done: int, _total: int) -> None:
        if (what, done) == ("ply 2", 3):
            raise Interrupted

    with pytest.raises(Interrupted):
        make(clobber(), 2, PLENTY, file, break_off)
    head, *found = notes.read_text().splitlines()
    assert (len(found), file.exists()) == (3, False)
    assert "clobber size=3x3" in head

    # A wrong value shows that what was found is not searched again; this one nobody would find.
    value, key = found[1].split(" ", 1)
    notes.write_text("\n".join([head, f"{-int(value)} {key}", f"{value} {key[:-2]}"]))
    make(clobber(), 2, PLENTY, file, silent)
    assert TruthTable(file).value(key) == -int(value)
    assert not notes.exists()
    notes.write_text("\n".join([head.replace("arena 1", "arena 0"), f"{-int(value)} {key}", ""]))
    make(clobber(), 2, PLENTY, file, silent)
    assert TruthTable(file).value(key) == int(value)


@pytest.mark.parametrize("name", ["siege", "oxono", "puzzle"])
def test_no_table_is_made_of_what_has_no_one_beginning(name: str, tmp_path: Path) -> None:
    """Nothing solves the Siege; Oxono's totems are drawn; a puzzle's beginning is too hard."""
    variant, file = find_variant(name), tmp_path / "none.truth"
    if name == "puzzle":
        assert make(variant, 0, 50, file, silent).unknown == 1
        with pytest.raises(TableError):
            TruthTable(file)
    else:
        with pytest.raises(GameError):
            make(variant, 1, 50, file, silent)
        assert not file.exists()


def test_a_wrong_value_is_found(small: Path, tmp_path: Path) -> None:
    """A check of a table that lies says where."""

    class Lying(TabledTruth):
        def value(self, state, budget):
            value = super().value(state, budget)
            return -value if state.text() == clobber().initial().text() else value

    truth = clobber().truth()
    assert truth is not None
    checked = check(clobber(), Lying(truth, TruthTable(small)), 2, 1, 10_000, silent)
    assert set(checked.wrong) == {clobber().initial().text()}
    honest = check(clobber(), TabledTruth(truth, TruthTable(small)), 2, 1, 10_000, silent)
    assert honest.wrong == ()
    assert honest.positions > 4


@pytest.mark.parametrize(
    ("name", "plies", "seeds", "known"),
    [
        ("mijnlieff shape=tee", 7, 12, 3),  # of which squares are missing
        ("clobber size=5x6", 12, 10, 2),
    ],
)
def test_programs_in_c_and_in_python_agree(name: str, plies: int, seeds: int, known: int) -> None:
    """Two programs that share nothing but the board."""
    need(shutil.which("c++") is not None, "a C++ compiler")
    game, *options = name.split()
    variant = find_variant(game, options)
    truth = variant.truth()
    assert truth is not None
    found = set()
    with truth.quicker(silent) as compiled:
        assert type(compiled) is not type(truth)
        for seed in range(seeds):
            state, dice = variant.initial(), Random(seed)
            for _ in range(plies + seed % 3):
                afters = [state.play_code(code) for code in state.codes()]
                state = dice.choice([one for one in afters if one.to_move is not None])
            value = compiled.value(state, Budget(0))
            assert value == truth.value(state, Budget(PLENTY))
            found.add(value)
    assert len(found) >= known


def test_files_are_called_by_their_variants() -> None:
    """Whatever an option holds, it is a name in the folder."""
    assert file_name(clobber()) == "clobber_size=3x3.truth"
