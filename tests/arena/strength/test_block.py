"""The block of a test beside those that people pasted of OpenBench's, number by number."""

from __future__ import annotations

from dataclasses import replace

import pytest

from arena.strength.block import block_markdown, block_rows, block_text
from arena.strength.sequential import SequentialTest, StrengthSettings, Version
from arena.strength.terms import StrengthTerms
from engine.clock import TimeControl
from engine.games import find_variant

# Pull requests at github.com: Yoshie2000/PlentyChess 213, 228, Quanticade/Quanticade 158 and
# xu-shawn/Serendipity 96, each with its counts of wins, draws and losses, pairs, and errors.
PASTED = [
    (
        (898, 1148, 672), (44, 241, 590, 413, 71), 0.10, 3,
        ["LLR   | 2.91 (-2.25, 2.89) [0.00, 3.00]", "Games | N: 2718 W: 898 L: 672 D: 1148"],
        # OpenBench has 8.30: by Student's t its interval is wider after so few pairs.
        (28.96, 8.30),
    ),
    (
        (2422, 4809, 2213), (78, 1041, 2265, 1270, 68), 0.10, 3,
        ["LLR   | 2.90 (-2.25, 2.89) [0.00, 3.00]", "Games | N: 9444 W: 2422 L: 2213 D: 4809"],
        (7.69, 3.88),
    ),
    (
        (15339, 33958, 15011), (374, 7478, 16137, 7776, 389), 0.10, 3,
        ["LLR   | 2.91 (-2.25, 2.89) [0.00, 3.00]", "Games | N: 64308 W: 15339 L: 15011 D: 33958"],
        (1.77, 1.43),
    ),
    (
        (7375, 15538, 7129), (367, 3530, 6977, 3784, 363), 0.05, 5,
        ["LLR   | 2.95 (-2.94, 2.94) [0.00, 5.00]", "Games | N: 30042 W: 7375 L: 7129 D: 15538"],
        (2.85, 2.29),
    ),
]  # fmt: skip
PAIRS = StrengthSettings(
    find_variant("clobber"),
    Version("new", "1"),
    Version("old", "2"),
    TimeControl(time_ms=8000, inc_ms=80),
)


@pytest.mark.parametrize(("games", "pairs", "beta", "elo1", "lines", "elo"), PASTED)
def test_it_says_what_openbench_said(
    games: tuple[int, int, int],
    pairs: tuple[int, ...],
    beta: float,
    elo1: float,
    lines: list[str],
    elo: tuple[float, float],
) -> None:
    """Line by line the same, but for the interval's last digit."""
    settings = replace(PAIRS, terms=StrengthTerms(0, elo1, beta=beta))
    found = block_text(SequentialTest(settings, pairs, *games)).splitlines()
    assert found[2:4] == lines
    assert found[4] == f"Ptnml | {list(pairs)}"
    name, sign, half, _ = found[0].removeprefix("Elo   | ").split()
    assert (float(name), sign) == (elo[0], "+-")
    assert float(half) == pytest.approx(elo[1], rel=0.003)
    assert found[1].startswith("SPRT  | 8.0+0.08s clobber size=")


def test_it_says_what_kind_of_test_it_is() -> None:
    """Of a fixed number of games no bounds, before the first match no Elo; matches of more than two
    games have other scores.
    """
    fixed = replace(PAIRS, terms=StrengthTerms(games=100), time=TimeControl(move_ms=50))
    assert dict(block_rows(SequentialTest.begin(fixed)))["Conf"].startswith("0.05s a move clobber")
    logistic = replace(PAIRS, terms=StrengthTerms(model="logistic"))
    rows = block_rows(SequentialTest.begin(logistic))
    assert [name for name, _ in rows] == ["SPRT", "LLR", "Games", "Ptnml"]
    assert dict(rows)["LLR"] == "0.00 (-2.94, 2.94) [0.00, 10.00] logistic"
    more = (find_variant("clobber", ["size=4x4"]),)
    clock = TimeControl(time_ms=8000, inc_ms=80, reference=True)
    boards = replace(PAIRS, others=more, time=clock)
    assert dict(block_rows(SequentialTest.begin(boards)))["SPRT"] == (
        "8.0+0.08s (reference machine) clobber size=6x7 and clobber size=4x4"
    )
    four = replace(PAIRS, variant=find_variant("blokus"))
    assert block_rows(SequentialTest.begin(four))[-1][0] == "Scores"


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("new", "`new against old`: passed"),
        ("a`b``c", "``` a`b``c against old ```: passed"),
        ("<b>*x*", "`<b>*x* against old`: passed"),
        ("x\ny", "`x\\ny against old`: passed"),
    ],
)
def test_no_name_is_markup(name: str, title: str) -> None:
    """CommonMark 6.1: a span of code ends by just as many backticks as it begins with."""
    settings = replace(PAIRS, candidate=Version(name, "1"))
    text = block_markdown(SequentialTest.begin(settings), "passed")
    assert text.splitlines()[0] == title
    assert text.count("\n```\n") == 2
