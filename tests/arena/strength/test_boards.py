"""One test on several boards: how they take turns, how they are counted, and how it goes on."""

import json
from itertools import islice

import pytest

from arena.ratings.sprt import Decision
from arena.strength.sequential import SequentialTest, StrengthError, StrengthSettings
from arena.strength.terms import StrengthTerms
from arena.strength.words import result_rows
from engine.games import GAMES
from tests.arena.strength.test_sequential import CLOBBER, MINE, SECOND, THEIRS, pair

OTHER = GAMES["clobber"].variant(size="3x4")
OXONO = GAMES["oxono"].variant()


def settings(*others, games=None, **terms) -> StrengthSettings:
    return StrengthSettings(
        CLOBBER, MINE, THEIRS, SECOND, 0, StrengthTerms(**terms, games=games), others=others
    )


@pytest.mark.long
def test_their_openings_take_turns_until_one_board_has_no_more():
    """Each board has the openings that it has alone; the smallest ends the turns of all."""
    smallest = GAMES["clobber"].variant(size="3x3")  # with 209; one of 3x4 has 2648
    both = [*settings(smallest, OXONO).openings()]
    alone = [*StrengthSettings(smallest, MINE, THEIRS, SECOND).openings()]
    assert [one.variant.game for one in both[:3]] == ["clobber", "clobber", "oxono"]
    assert both[1::3] == alone
    assert len(both) == 3 * len(alone)
    assert both[::3] == [*islice(settings().openings(), len(alone))]


def test_matches_are_summed_and_kept_by_board():
    """By hand: a win of both games on the one, a loss of both on the other, three times."""
    test = SequentialTest.begin(settings(OTHER, games=24))
    for half_points in (4, 0) * 3:
        test = test.add(pair(half_points))
    assert test.counts == (3, 0, 0, 0, 3)
    assert [one.counts for one in test.on_boards] == [(0, 0, 0, 0, 3), (3, 0, 0, 0, 0)]
    assert [(one.wins, one.losses) for one in test.on_boards] == [(6, 0), (0, 6)]
    # Three shares of 1 stand for 1200 Elo, which is as far as it goes.
    assert [round(one.estimate.elo) for one in test.on_boards] == [1200, -1200]
    assert test.estimate.elo == pytest.approx(0, abs=1e-6)
    names = [name for name, _ in result_rows(test)]
    assert names.count("on") == 2


def test_what_boards_differ_by_makes_no_verdict():
    """One of them is won and the other lost: no interval is far from zero, and no LLR moves."""
    test = SequentialTest.begin(settings(OTHER, elo0=-50.0, elo1=50.0))
    for half_points in (4, 0) * 100:
        test = test.add(pair(half_points))
    assert test.decision is Decision.CONTINUE
    assert test.llr == pytest.approx(0, abs=1e-6)


def test_one_that_was_saved_goes_on():
    """Through JSON's text, in the middle of a turn."""
    whole = halted = SequentialTest.begin(settings(OTHER, games=24))
    for half_points in (4, 1, 2, 3, 0):
        whole = whole.add(pair(half_points))
        saved = json.loads(json.dumps(halted.to_json()))
        halted = SequentialTest.from_json(saved, halted.settings).add(pair(half_points))
    assert halted == whole
    assert [sum(one.counts) for one in halted.on_boards] == [3, 2]


@pytest.mark.parametrize(
    "damage",
    [
        {"boards": []},
        {"boards": [{"counts": [1, 0, 0, 0, 0], "wins": 0, "draws": 0, "losses": 2}] * 2},
        {"boards": [{"counts": "x"}] * 2},
        {"boards": 5},
        {"settings": None},
    ],
)
def test_a_damaged_file_is_refused(damage):
    """With a sentence."""
    saved = SequentialTest.begin(settings(OTHER)).to_json() | damage
    with pytest.raises(StrengthError, match="saved"):
        SequentialTest.from_json(saved, settings(OTHER))


def test_a_test_on_other_boards_is_another():
    """Also if it was saved before there could be several."""
    saved = SequentialTest.begin(settings()).to_json()
    del saved["settings"]["others"], saved["boards"]
    assert SequentialTest.from_json(saved, settings()) == SequentialTest.begin(settings())
    with pytest.raises(StrengthError, match="others is"):
        SequentialTest.from_json(saved, settings(OTHER))


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ((CLOBBER,), "named twice"),
        ((OTHER, OTHER), "named twice"),
        (
            (GAMES["blokus"].variant(mode="classic"),),
            "is 2 games with 5 scores, and of the other 6 games with 49 scores",
        ),
        ((GAMES["puzzle"].variant(),), "can't be one test"),
    ],
)
def test_what_does_not_go_together_is_refused(others, message):
    """With the reason."""
    with pytest.raises(StrengthError, match=message):
        settings(*others)
