"""The course of ratings."""

from arena.ratings.book import RatingChange
from arena.ratings.trends import TREND_RESULTS, Trends
from arena.ratings.trueskill import Rating


def change(entrant: str, mu: float) -> RatingChange[str]:
    return RatingChange(entrant, Rating(), Rating(mu, 1.0))


def test_a_trend_goes_on_from_what_is_known() -> None:
    """1500 + 47 (mu - 25), the formula that every board prints, worked out by hand."""
    trends = Trends({"anna": [1500.0, 1510.4]})
    trends.note([change("anna", 26.0), change("bert", 24.0)])
    trends.note([change("anna", 25.01), change("bert", 24.99)])
    assert trends["anna"] == [1500.0, 1510.4, 1547.0, 1500.5]
    assert trends["bert"] == [1453.0, 1499.5]
    assert trends["cleo"] == []


def test_who_has_two_seats_changes_once() -> None:
    trends = Trends[str]()
    trends.note([change("anna", 26.0), change("bert", 24.0), change("anna", 26.0)])
    assert trends["anna"] == [1547.0]


def test_it_forgets_what_is_long_ago() -> None:
    trends = Trends[str]()
    for number in range(TREND_RESULTS + 5):
        trends.note([change("anna", float(number))])
    assert len(trends["anna"]) == TREND_RESULTS
    assert trends["anna"][0] == 1500 + 47 * (5 - 25)
