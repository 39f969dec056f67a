"""The table of the sample bots, of real games."""

import pytest
from click.testing import CliRunner

from engine.games import find_variant
from tests.benchmarks.sample_elo import main, table
from tests.sample_bots.play import play, sample


def test_the_table_tells_places_and_faults() -> None:
    """A bot that ends at once loses both games, and by a fault."""
    found = table("two", play(find_variant("oxoxo", []), [["false"], sample("random")]))
    (winner, elo, *places, took), (loser, _, *others, none) = found.rows
    assert (winner, places) == ("bot 1", [2, "1.00", 0])
    assert (loser, others) == ("bot 0", [2, "2.00", 2])
    assert str(elo).startswith("+")
    assert float(str(took)) >= 0 == float(str(none))


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["puzzle", "task=full"], "nobody plays against another"),
        (["oxoxo", "random", "nobody", "--no-box"], "this could not be played: oxoxo random"),
    ],
)
def test_it_says_what_can_not_be_played(words: list[str], complaint: str) -> None:
    done = CliRunner().invoke(main, words)
    assert done.exit_code != 0
    assert complaint in done.output
