"""Strength tests as a fold: who sits where, how a match is scored, when it ends, how it goes on."""

import json
import re
from collections import Counter
from dataclasses import replace
from math import log
from random import Random

import pytest

from arena.ratings.outliers import Series, outliers
from arena.ratings.sprt import Decision
from arena.strength.outcomes import BASELINE, CANDIDATE, Outcome, cells, outcome, seatings
from arena.strength.sequential import SequentialTest, StrengthError, StrengthSettings, Version
from arena.strength.terms import StrengthTerms
from arena.strength.words import chance_words
from engine.clock import TimeControl
from engine.game import Termination, Variant
from engine.games import GAMES
from engine.record import Fault, GameRecord

CLOBBER = GAMES["clobber"].variant(size="4x4")
CLASSIC = GAMES["blokus"].variant(mode="classic")
SIEGE = GAMES["siege"].variant()
MINE, THEIRS = Version("new", "aa"), Version("old", "bb")
SECOND = TimeControl(move_ms=1000)


def settings(variant: Variant = CLOBBER, *, games=None, seed=0, **terms) -> StrengthSettings:
    return StrengthSettings(
        variant, MINE, THEIRS, SECOND, seed, StrengthTerms(games=games, **terms)
    )


def record(variant: Variant, *ranks: int, faults: tuple[Fault, ...] = ()) -> GameRecord:
    return GameRecord(
        variant=variant,
        seed=0,
        players=("",) * variant.seats,
        time=SECOND,
        opening=0,
        plies=(),
        faults=faults,
        termination=Termination.NORMAL,
        scores=(0.0,) * variant.seats,
        ranks=ranks,
        isolation="none",
        started="2020-01-01T00:00:00Z",
    )


def pair(half_points: int, mine: int = 0, theirs: int = 0) -> Outcome:
    """A game pair with this score of four, and with so many timeouts of either side."""
    wins, draws = divmod(half_points, 2)
    faults = tuple({Termination.TIMEOUT: count} if count else {} for count in (mine, theirs))
    return Outcome(half_points, wins, draws, 2 - wins - draws, faults, f"{half_points}")


def play(test: SequentialTest, scores, random: Random) -> SequentialTest:
    """Plays to the end; ``scores`` draws the half points of a game."""
    while test.decision is Decision.CONTINUE:
        test = test.add(pair(scores(random) + scores(random)))
    return test


@pytest.mark.parametrize(
    ("game", "options", "games", "scores"),
    [
        # Counted by hand. Two entrants: 2 seatings of 1 meeting each.
        ("clobber", {}, 2, 5),
        ("siege", {"seats": "2"}, 2, 5),
        # A team is one entrant with two seats.
        ("blokus", {"mode": "teams"}, 2, 5),
        # Four entrants: 6 seatings of 2 * 2 meetings.
        ("blokus", {"mode": "classic"}, 6, 49),
        # One besieger against two allies: alone the candidate meets 2 as the one, 1 as either
        # of the two; with two places likewise: 8 meetings.
        ("siege", {}, 6, 17),
    ],
)
def test_a_match_gives_every_place_equally_often(game, options, games, scores):
    """Whatever a place is worth, both bots have it in as many games of a match."""
    variant = GAMES[game].variant(**options)
    seats = seatings(variant)
    assert len(seats) == len(set(seats)) == games
    for place in zip(*seats, strict=True):
        assert Counter(place) == {CANDIDATE: games // 2, BASELINE: games // 2}
    assert cells(variant) == scores


def test_a_game_pair_is_scored_from_both_seats():
    """The candidate sits first, then second: here it wins and draws, 3 of 4 half points."""
    found = outcome(CLOBBER, [record(CLOBBER, 1, 2), record(CLOBBER, 1, 1)])
    assert (found.half_points, found.wins, found.draws, found.losses) == (3, 1, 1, 0)


def test_four_seats_are_scored_by_their_meetings():
    """By hand: with ranks 1 2 3 4 in every game, the seats of each seating meet as counted."""
    found = outcome(CLASSIC, [record(CLASSIC, 1, 2, 3, 4)] * 6)
    # Candidate in 12: 4 of 4 meetings won; 14: 2; 34: 0; 23: 2; 13: 3; 24: 1. 12 of 24.
    assert found.half_points == 24
    assert (found.wins, found.draws, found.losses) == (2, 2, 2)
    assert outcome(CLASSIC, [record(CLASSIC, 1, 1, 1, 1)] * 6).half_points == 24


def test_a_better_bot_takes_every_meeting_of_four():
    """A candidate that is first and second wherever it sits scores all 48 half points."""
    games = []
    for holders in seatings(CLASSIC):
        order = sorted(range(4), key=lambda seat, h=holders: (h[seat], seat))
        games.append(record(CLASSIC, *(order.index(seat) + 1 for seat in range(4))))
    assert outcome(CLASSIC, games).half_points == 48


def test_allies_do_not_meet():
    """In the Siege the lone side wins every game: the 8 meetings are shared evenly."""
    found = outcome(SIEGE, [record(SIEGE, 1, 2, 2)] * 6)
    assert (found.half_points, found.wins, found.losses) == (8, 3, 3)


def test_faults_are_told_by_bot():
    """A fault counts for whoever sat there; to resign is none."""
    crash = Fault(0, 3, Termination.CRASH, "exit 1")
    resign = Fault(1, 3, Termination.RESIGN, "resigned")
    games = [record(CLOBBER, 2, 1, faults=(crash,)), record(CLOBBER, 1, 2, faults=(resign,))]
    assert outcome(CLOBBER, games).faults == ({Termination.CRASH: 1}, {})
    test = SequentialTest.begin(settings())
    for _ in range(2):
        test = test.add(outcome(CLOBBER, games[:1] * 2))
    assert test.faults == ({Termination.CRASH: 2}, {Termination.CRASH: 2})


def test_a_stronger_bot_is_found_and_an_equal_one_is_not():
    """Simulated tests of +60 against 0 Elo: at most a few of 60 are wrong, by alpha = 0.05.

    An Elo of 60 is a score of 0.585 (Elo's formula), with 3 games in 10 drawn.
    """
    wrong = 0
    random = Random(1)
    asked = settings(elo0=0, elo1=60, model="logistic")
    for win, right in ((0.435, Decision.ACCEPT), (0.35, Decision.REJECT)):
        for _ in range(30):
            end = play(
                SequentialTest.begin(asked),
                lambda r, win=win: 2 if (x := r.random()) < win else int(x < win + 0.3),
                random,
            )
            wrong += end.decision is not right
    # 60 tests, 3 wrong ones expected at most; 9 or more have a chance of 1 in 300 (binomial).
    assert wrong < 9


def test_a_finished_test_takes_no_more_matches():
    """The first decision is the last."""
    end = play(SequentialTest.begin(settings()), lambda _: 2, Random(0))
    assert end.decision is Decision.ACCEPT
    with pytest.raises(StrengthError, match="is over"):
        end.add(pair(0))


def test_the_limit_ends_a_test_undecided():
    """After max_games, and not earlier."""
    test = SequentialTest.begin(settings(elo0=0, elo1=2, max_games=41))
    for number in range(20):
        assert test.decision is Decision.CONTINUE, number
        assert test.matches_left is not None
        assert test.matches_left <= 20 - number
        test = test.add(pair(number % 3 + 1))
    assert test.decision is Decision.UNDECIDED
    assert "limit of 41 games" in test.verdict


@pytest.mark.parametrize(
    ("counts", "bound"),
    [((0, 10, 40, 30, 20), log(0.95 / 0.05)), ((20, 30, 40, 10, 0), log(0.05 / 0.95))],
    ids=["better", "worse"],
)
def test_how_many_matches_are_left(counts, bound):
    """So many that the ratio comes to Wald's bound at the pace of those before."""
    test = SequentialTest(settings(elo0=-1, elo1=1), counts)
    assert test.matches_left is not None
    assert test.llr * (100 + test.matches_left) / 100 == pytest.approx(bound)
    assert replace(test, settings=settings(elo0=-1, elo1=1, max_games=220)).matches_left == 10


@pytest.mark.parametrize(
    ("asked", "counts", "left"),
    [
        ({"games": 40}, (0, 0, 0, 0, 0), 20),
        ({"games": 40}, (0, 0, 1, 1, 3), 15),
        ({"games": 400}, (0, 0, 0, 20, 40), 140),
        ({"max_games": 400}, (0, 0, 0, 0, 0), 200),
        ({}, (0, 0, 0, 0, 0), None),
        # Nothing is decided before the sixteenth match.
        ({"elo1": 150}, (0, 0, 0, 1, 3), 12),
        ({"elo1": 150}, (0, 0, 0, 20, 40), 0),
    ],
)
def test_how_many_matches_are_left_where_it_is_plain(asked, counts, left):
    """They go to a limit, to the least number, or none; before the first match nobody can tell."""
    assert SequentialTest(settings(**asked), counts).matches_left == left


@pytest.mark.parametrize(
    ("scores", "decision"),
    [
        # By hand: 20 pairs; their mean and its standard error are 0.75 and 0.056; 0.25 and
        # 0.056; 0.5 and 0.112. Only the last reaches across one half with 1.96 of it.
        ([4, 2] * 10, Decision.ACCEPT),
        ([0, 2] * 10, Decision.REJECT),
        ([0, 4] * 10, Decision.UNDECIDED),
    ],
)
def test_a_fixed_number_of_games_is_judged_by_its_interval(scores, decision):
    """All 40 games are played, however clear it is, and then the interval decides."""
    test = SequentialTest.begin(settings(games=39))
    for half_points in scores:
        assert test.decision is Decision.CONTINUE
        test = test.add(pair(half_points))
    assert test.decision is decision
    assert test.games == 40


def test_a_board_without_openings_ends_a_test_undecided():
    """Nothing is played twice for want of openings, and the reason is told."""
    test = SequentialTest.begin(settings()).add(pair(2)).end_of_openings()
    assert test.decision is Decision.UNDECIDED
    assert "no more different openings" in test.verdict
    end = play(SequentialTest.begin(settings()), lambda _: 2, Random(0))
    assert end.end_of_openings().decision is Decision.ACCEPT


@pytest.mark.parametrize(
    ("mine", "theirs", "score"),
    [(2, 0, 0), (0, 2, 4), (1, 1, 2), (0, 1, 3), (1, 0, 1)],
    ids=["the candidate", "the baseline", "both", "every second game", "one side"],
)
@pytest.mark.parametrize("asked", [{}, {"elo0": -50, "elo1": 0}, {"games": 100}])
def test_faults_are_no_proof_of_strength(asked, mine, theirs, score):
    """Whoever fails in every match, nothing is decided, and soon: at the fifth fault."""
    test = SequentialTest.begin(settings(**asked))
    while test.decision is Decision.CONTINUE:
        test = test.add(pair(score, mine, theirs))
    assert test.decision is Decision.UNDECIDED
    assert test.matches == -(-5 // (mine + theirs))
    assert re.search(r"^undecided: [56] faults in \d+ games \(new \d, old \d\)", test.verdict)


@pytest.mark.parametrize("side", [0, 1])
def test_a_verdict_is_taken_back_by_faults(side):
    """31 wins of 32 games pass; but not with two faults, which are more than 3 in 100."""
    tests = []
    for faults in (1, 2):
        test = SequentialTest.begin(settings(elo1=150))
        for number in range(16):
            lost = [0, 0]
            lost[side] = int(number < faults)
            test = test.add(pair(4 if number else 2, *lost))
        tests.append(test)
    assert [test.decision for test in tests] == [Decision.ACCEPT, Decision.UNDECIDED]
    assert [test.is_spoilt for test in tests] == [False, True]
    asked = settings(elo1=150, allow_faults=True)
    assert replace(tests[1], settings=asked).decision is Decision.ACCEPT


def test_a_bot_that_fails_now_and_then_is_tested_still():
    """Two timeouts in a hundred games, one of either side."""
    test = SequentialTest.begin(settings(games=100))
    for number in range(50):
        test = test.add(pair(4 if number % 2 else 2, int(number == 0), int(number == 1)))
    assert test.decision is Decision.ACCEPT


def test_a_saved_test_goes_on_as_if_nothing_had_been():
    """Through JSON's text after every match, and the end is the same."""
    random = Random(3)
    whole = halted = SequentialTest.begin(settings(games=40))
    for _ in range(20):
        match = pair(random.randrange(5))
        whole = whole.add(match)
        halted = SequentialTest.from_json(
            json.loads(json.dumps(halted.to_json())), halted.settings
        ).add(match)
    assert halted == whole


def test_what_was_saved_before_faults_were_judged_goes_on():
    """It has no such setting, and is judged as any other."""
    saved = SequentialTest.begin(settings()).to_json()
    del saved["settings"]["allow_faults"]
    assert SequentialTest.from_json(saved, settings()) == SequentialTest.begin(settings())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"terms": StrengthTerms(elo1=5)}, "elo1 is 10.0 there, not 5"),
        ({"seed": 1}, "seed is 0 there, not 1"),
        ({"terms": StrengthTerms(allow_faults=True)}, "allow_faults is False there, not True"),
        ({"variant": CLASSIC}, "game is clobber size=4x4 there"),
        (
            {"candidate": replace(MINE, digest="x")},
            "one: the files of the candidate new were others",
        ),
        ({"baseline": Version("other", "x")}, "one: baseline is old there, not other; give"),
    ],
)
def test_a_test_does_not_go_on_with_other_settings(changes, message):
    """It says which differ."""
    saved = SequentialTest.begin(settings()).to_json()
    with pytest.raises(StrengthError, match=message):
        SequentialTest.from_json(saved, replace(settings(), **changes))


@pytest.mark.parametrize(
    "damage",
    [
        {"strength_test": 99},
        {"counts": [1, 0, 0]},
        {"counts": [1, 0, 0, 0, 0]},
        {"counts": "many"},
        {"wins": -1},
        {"digest": 5},
        {"out_of_openings": "no"},
        {"faults": [{"hiccup": 1}, {}]},
        {"settings": None},
    ],
    ids=lambda damage: next(iter(damage)),
)
def test_a_damaged_file_is_refused(damage):
    """With a sentence, never a traceback."""
    saved = SequentialTest.begin(settings()).to_json() | damage
    with pytest.raises(StrengthError, match="saved"):
        SequentialTest.from_json(saved, settings())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"variant": GAMES["puzzle"].variant()}, "a game of one seat is played alone"),
        ({"elo0": 5, "elo1": 5}, "elo0 must be less than elo1"),
        ({"alpha": 0.0}, "alpha and beta"),
        ({"elo1": 5000.0}, "needs no sequential test"),
        ({"elo0": -1e6, "elo1": 1e6, "model": "logistic"}, "needs no sequential test"),
        ({"max_games": 10}, "needs 32 games or more, not 10"),
        ({"games": 0}, "a game or more"),
    ],
)
def test_what_cannot_be_tested_is_refused(changes, message):
    """With the reason."""
    with pytest.raises(StrengthError, match=message):
        settings(**changes)


@pytest.mark.parametrize(
    ("matches", "words"), [(8, r"1 in [\d,]+"), (1000, "fewer than 1 in 1,000,000,000")]
)
def test_how_odd_a_worker_is_can_be_told_whatever_it_does(matches, words):
    """One worker loses everything that the other wins, until that is no chance a float can hold."""
    odd = outliers(
        {
            "broken": Series((matches, 0, 0), 2 * matches, 2 * matches),
            "sound": Series((0, 0, matches + 1), 2 * matches + 2, 0),
        }
    )
    assert set(odd) == {"broken"}
    assert re.fullmatch(words, chance_words(odd["broken"]))
