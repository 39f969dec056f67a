"""The fold over results."""

from random import Random

import pytest

from arena.ratings.book import RatingBook, RatingChange
from arena.ratings.result import GameResult
from arena.ratings.trueskill import Rating, TrueSkill

NEW = Rating()


def duel(first: str, second: str, ranks: tuple[int, int] = (1, 2)) -> GameResult[str]:
    return GameResult((first, second), (0, 1), ranks)


def book(**ratings: Rating) -> RatingBook[str]:
    return RatingBook(TrueSkill(0.1), ratings)


def past(games: int, seed: int = 1) -> list[GameResult[str]]:
    """Games of two, of one against two, of teams and of four, in a mix."""
    random, bots = Random(seed), "abcdefg"
    results = []
    for _ in range(games):
        sides = random.choice([(0, 1), (0, 1, 1), (0, 1, 0, 1), (0, 1, 2, 3)])
        rank_of = [random.randint(1, 3) for _ in range(4)]
        results.append(
            GameResult(
                tuple(random.sample(bots, len(sides))), sides, tuple(rank_of[s] for s in sides)
            )
        )
    return results


def test_a_first_game() -> None:
    """Two new bots, with Moser's published values for a win at a draw probability of 10 %."""
    ladder = book()
    first, second = ladder.apply(duel("anna", "bert"))
    assert (first.entrant, first.before) == ("anna", NEW)
    assert (second.entrant, second.before) == ("bert", NEW)
    assert (first.after.mu, first.after.sigma) == pytest.approx((29.395832, 7.171476), abs=1e-6)
    assert (second.after.mu, second.after.sigma) == pytest.approx((20.604168, 7.171476), abs=1e-6)
    assert ladder.ratings == {"anna": first.after, "bert": second.after}


def test_a_game_starts_where_the_last_one_ended() -> None:
    """The ratings after are the ratings before the next game, for those who play it."""
    ladder = book()
    (_, bert), _ = ladder.apply(duel("anna", "bert")), ladder.apply(duel("carl", "dora"))
    again, emil = ladder.apply(duel("bert", "emil", (1, 1)))
    assert again.before == bert.after
    assert emil.before == NEW


def test_changes_come_seat_by_seat() -> None:
    """Whatever the order of the sides: here seat 2 won against seats 1 and 3."""
    changes = book().apply(GameResult(("a", "b", "c"), (1, 0, 1), (2, 1, 2)))
    assert [change.entrant for change in changes] == ["a", "b", "c"]
    assert [change.after.mu > 25 for change in changes] == [False, True, False]


def test_a_rebuild_is_equal_to_the_last_bit() -> None:
    """The same fold over the same past gives the same ratings and the same changes."""
    one, two = book(), book()
    assert [one.apply(result) for result in past(200)] == [two.apply(r) for r in past(200)]
    assert one.ratings == two.ratings


def test_stored_ratings_are_taken_up_to_the_last_bit() -> None:
    """A book needs nothing of the past but the ratings, as any database keeps them."""
    whole, half = book(), book()
    results = past(100)
    for result in results[:60]:
        half.apply(result)
    stored = {name: (repr(r.mu), repr(r.sigma)) for name, r in half.ratings.items()}
    rest = book(**{name: Rating(float(mu), float(s)) for name, (mu, s) in stored.items()})
    for result in results:
        whole.apply(result)
    for result in results[60:]:
        rest.apply(result)
    assert rest.ratings == whole.ratings


def test_a_book_does_not_touch_what_it_was_given() -> None:
    """Two books may start from the same ratings."""
    stored = {"anna": Rating(30, 2)}
    RatingBook(TrueSkill(0.1), stored).apply(duel("anna", "bert"))
    assert stored == {"anna": Rating(30, 2)}


def test_an_entrant_with_both_seats_of_a_team_plays_one_against_one() -> None:
    """Each of its seats shows the one change."""
    teams = GameResult(("a", "b", "a", "b"), (0, 1, 0, 1), (1, 3, 1, 3))
    changes = book().apply(teams)
    assert changes[0] == changes[2]
    assert changes[1] == changes[3]
    assert changes[:2] == book().apply(duel("a", "b"))


def test_an_entrant_with_both_attackers_plays_one_against_one() -> None:
    """The Siege: one bot plays White and Black against Yellow."""
    changes = book().apply(GameResult(("a", "b", "b"), (0, 1, 1), (3, 1, 1)))
    assert changes[:2] == book().apply(duel("a", "b", (2, 1)))


def test_entering() -> None:
    """A new bot has the default; a new version the mean of the last one, less firmly."""
    ladder = book(anna=Rating(31, 1.5), bert=Rating(20, 6))
    assert ladder.enter("carl") == NEW
    assert ladder.enter("anna 2", after="anna") == Rating(31, 5)
    assert ladder.enter("bert 2", after="bert") == Rating(20, 6)
    assert ladder["anna"] == Rating(31, 1.5)
    (change, _) = ladder.apply(duel("anna 2", "carl"))
    assert change.before == Rating(31, 5)


def test_entering_twice_is_refused() -> None:
    """It would wipe out what the games have shown."""
    ladder = book()
    ladder.apply(duel("anna", "bert"))
    with pytest.raises(ValueError, match="'bert' has a rating"):
        ladder.enter("bert", after="anna")


def test_a_draw_without_draw_probability_changes_nothing() -> None:
    """It is refused, and the book stands as it did."""
    ladder = RatingBook[str](TrueSkill(0), {"anna": Rating(30, 2)})
    with pytest.raises(ValueError, match="draw probability of 0"):
        ladder.apply(duel("anna", "bert", (1, 1)))
    assert ladder.ratings == {"anna": Rating(30, 2)}


def test_an_absurd_result_is_passed_over() -> None:
    """Where the arithmetic gives out, the change says that nothing changed."""
    strong, weak = Rating(425, 1), Rating(25, 1)
    assert book(anna=strong, bert=weak).apply(duel("anna", "bert", (2, 1))) == (
        RatingChange("anna", strong, strong),
        RatingChange("bert", weak, weak),
    )


def test_ratings_are_read_only() -> None:
    """A book changes by games alone, and asking for a stranger's rating does not enter it."""
    ladder = book()
    assert ladder["nobody"] == NEW
    assert not ladder.ratings
    with pytest.raises(TypeError):
        ladder.ratings["anna"] = NEW  # type: ignore[index]
