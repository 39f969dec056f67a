"""Who played whom, as ratings see it."""

import pytest

from arena.ratings.result import GameResult, weights


def test_seats_of_a_side_are_a_team() -> None:
    """Blokus in teams: seats 1 and 3 against 2 and 4."""
    result = GameResult(("a", "b", "c", "d"), (0, 1, 0, 1), (1, 3, 1, 3))
    assert result.teams() == ((("a", "c"), ("b", "d")), (1, 3))


def test_an_entrant_is_one_player_of_its_side() -> None:
    """However many of its seats it holds."""
    result = GameResult(("a", "b", "a", "b"), (0, 1, 0, 1), (1, 3, 1, 3))
    assert result.teams() == ((("a",), ("b",)), (1, 3))


@pytest.mark.parametrize(
    ("entrants", "sides", "ranks", "message"),
    [
        (("a", "b"), (0, 1), (1,), "2 entrants need as many sides and ranks, not 2 and 1"),
        (("a", "b"), (0,), (1, 2), "2 entrants need as many sides and ranks, not 1 and 2"),
        (("a", "b", "c"), (0, 1, 1), (1, 2, 3), "side 1 has the ranks 2 and 3"),
        (("a", "b", "a"), (0, 1, 2), (1, 2, 3), "'a' plays against itself"),
        (("a", "b"), (0, 0), (1, 1), "a game of one side"),
        ((), (), (), "a game of one side"),
    ],
)
def test_what_is_no_game_is_refused(
    entrants: tuple[str, ...], sides: tuple[int, ...], ranks: tuple[int, ...], message: str
) -> None:
    """With one line that says what is wrong."""
    with pytest.raises(ValueError, match=message):
        GameResult(entrants, sides, ranks)


@pytest.mark.parametrize(
    ("teams", "want"),
    [
        (("a", "b"), [1, 1]),
        (("ab", "cd"), [1, 1]),
        (("a", "bc"), [1, 0.5]),
        (("a", "b", "cde"), [1, 1, 1 / 3]),
    ],
)
def test_weights_of_unequal_sides_sum_to_one(teams: tuple[str, ...], want: list[float]) -> None:
    """Those of equal sides are all 1."""
    assert weights(teams) == want
