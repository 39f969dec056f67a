"""What is certain of positions, on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.arena.conftest import Cli


def test_a_position_and_its_moves_are_weighed(cli: Cli) -> None:
    """3x2 after b1c1: by hand, b2a2 leaves White without a move, and a1a2 does not."""
    told = cli("truth", "show", "clobber", "size=3x2", "--after", "b1c1", "--json").json
    assert told["value"] == -1
    assert told["moves"]["b2a2"] == -1
    said = cli("truth", "show", "clobber", "size=3x2", "--after", "b1c1")
    assert said.out.splitlines()[0] == "Black wins"
    assert "  b2a2: Black wins" in said.out.splitlines()


def test_points_and_what_is_not_known_are_said(cli: Cli) -> None:
    """A lead counts in Mijnlieff; and one step tells nothing of a whole game."""
    moves = "a1+ a3>< a2+ a4<> b2>< c2+ c3<> c1x d2>< d3+ d4x b4x"
    assert cli("truth", "show", "mijnlieff", "--after", moves).out == (
        "White wins by 3\n"
        "  b3<>: White wins by 3\n"
        "  c4<>: White wins by 3\n"
        "  b1<>: White wins by 2\n"
        "  d1<>: White wins by 2\n"
    )
    said = cli("truth", "show", "clobber", "--steps", "1").out
    assert said == "not known within these steps\n  71 moves: not known within these steps\n"


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("show", "siege"), "nothing finds the values of positions of siege"),
        (("make", "oxono", "--plies", "1"), "leaves something to the lot"),
        (("make", "clobber size=1x1", "--plies", "1"), "clobber has no size=1x1"),
        (("make", "clobber"), "give --plies"),
        (("make", "clobber", "--plies", "1", "--parts", "3"), "give --plies"),
        (("make", "clobber", "--parts", "10"), "parts have 2 to 9 stones, not 10"),
        (("make", "mijnlieff", "--parts", "3"), "no sums of their parts"),
        (("make", "siege", "--parts", "3"), "nothing finds the values"),
        (("check", "siege"), "nothing finds the values"),
    ],
)
def test_what_has_no_truth_is_refused(cli: Cli, words: tuple[str, ...], problem: str) -> None:
    """It is refused in one line."""
    said = cli("truth", *words)
    assert said.code == 2
    assert problem in said.err
    assert said.err.count("\n") == 1


def test_a_table_is_made_looked_up_and_checked(cli: Cli, tmp_path: Path) -> None:
    """And a damaged one is refused, not passed over."""
    tables = str(tmp_path / "tables")
    made = cli("truth", "make", "clobber size=4x3", "--plies", "2", "--out", tables, "--json").json
    assert (made["start"], made["unknown"]) == (-1, 0)
    said = cli("truth", "show", "clobber", "size=4x3", "--steps", "1", "--tables", tables)
    assert said.out.splitlines()[0] == "Black wins"
    checked = cli("truth", "check", "clobber size=4x3", "--games", "2", "--tables", tables)
    assert (checked.code, "came out alike" in checked.out) == (0, True)
    parts = cli("truth", "make", "clobber", "--parts", "4", "--out", tables, "--json").json
    assert parts["parts"] == 53
    checked = cli("truth", "check", "clobber size=4x4", "--games", "2", "--tables", tables)
    assert (checked.code, "came out alike" in checked.out) == (0, True)
    file = Path(made["file"])
    file.write_bytes(file.read_bytes()[:-1])
    said = cli("truth", "show", "clobber", "size=4x3", "--tables", tables)
    assert (said.code, "cut off" in said.err) == (2, True)
