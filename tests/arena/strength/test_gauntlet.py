"""Gauntlets: two bots compared by what they do against the same field."""

import json
from dataclasses import replace

import pytest

from arena.cli import run
from arena.ratings.sprt import Decision
from arena.strength.gauntlet import GauntletTest
from arena.strength.outcomes import Outcome
from arena.strength.sequential import StrengthError
from arena.strength.words import gauntlet_rows
from engine.game import Termination
from engine.games import GAMES

CLOBBER = GAMES["clobber"].variant(size="4x4")


def pair(half_points: int, *, opponent: int = 0, **faults: int) -> Outcome:
    """A game pair with this score of four, and with so many crashes of the opponent."""
    wins, draws = divmod(half_points, 2)
    own = {Termination(key): count for key, count in faults.items()}
    theirs = {Termination.CRASH: opponent} if opponent else {}
    return Outcome(half_points, wins, draws, 2 - wins - draws, (own, theirs), "")


def test_everybody_is_met_equally_often():
    """A round is two game pairs: 10 games are 3 rounds, and against 2 opponents 4."""
    assert GauntletTest.begin(CLOBBER, 10, 1).rounds == 3
    assert GauntletTest.begin(CLOBBER, 10, 2).rounds == 4


def test_scores_are_compared_round_by_round():
    """By hand: 3, 4 of 4 against 2, 0: 7/8 against 2/8, differences of +1 and +4 half points."""
    gauntlet = GauntletTest.begin(CLOBBER, 8, 1)
    gauntlet = gauntlet.add(pair(3), pair(2, crash=1)).add(pair(4), pair(0, crash=1))
    assert gauntlet.counts == (0, 0, 0, 0, 0, 1, 0, 0, 1)
    assert gauntlet.difference[0] == pytest.approx(5 / 8)
    # 400 log10(7) + 400 log10(3), by Elo's formula for 7/8 and 2/8.
    assert gauntlet.estimate.elo == pytest.approx(338.04 + 190.85, abs=0.01)
    assert gauntlet.baseline.faults == {Termination.CRASH: 2}
    with pytest.raises(StrengthError, match="is over"):
        gauntlet.add(pair(3), pair(2))


def test_a_program_is_told_what_each_of_the_two_did():
    """By hand, of the same after two of three rounds; nothing has passed before the last one.

    Scores of 3 and 4 of 4 are a game won and one drawn, and two won; 2 and 0 are one won and one
    lost, and two lost. Two rounds, had all been won, leave 0.5 ** 3 for the other's being stronger.
    """
    gauntlet = GauntletTest.begin(CLOBBER, 12, 1)
    assert (gauntlet.score(gauntlet.candidate), gauntlet.difference[0]) == (0.5, 0)
    said = dict(gauntlet_rows(gauntlet, ["new", "old", "random"]))
    assert said["score"] == "new -, W-D-L 0-0-0, faults 0"  # no share of nothing
    gauntlet = gauntlet.add(pair(3), pair(2, crash=1)).add(pair(4), pair(0, crash=1))
    told = gauntlet.to_json(["random"])
    lower, upper = told["difference_95"]
    assert -1 <= lower < told["difference"] == 5 / 8 < upper <= 1
    assert {key: told[key] for key in ("decision", "passed", "rounds", "games", "los")} == {
        "decision": "continue", "passed": False, "rounds": 2, "games": 8, "los": 0.875,
    }  # fmt: skip
    assert told["counts"] == [0, 0, 0, 0, 0, 1, 0, 0, 1]
    assert told["candidate"] == {
        "score": 0.875, "wins": 3, "draws": 1, "losses": 0, "faults": {},
    }  # fmt: skip
    assert told["baseline"] == {
        "score": 0.25, "wins": 1, "draws": 0, "losses": 3, "faults": {"crash": 2},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("candidate", "baseline", "decision"),
    [
        (3, 2, Decision.ACCEPT),
        (2, 3, Decision.REJECT),
        (3, 3, Decision.UNDECIDED),
    ],
)
def test_it_is_decided_by_the_interval_at_the_end(candidate, baseline, decision):
    """Forty rounds that differ a little, now and then by chance the other way."""
    gauntlet = GauntletTest.begin(CLOBBER, 160, 1)
    for number in range(40):
        assert gauntlet.decision is Decision.CONTINUE
        luck = number % 2
        gauntlet = gauntlet.add(pair(candidate - luck), pair(baseline - (number // 2) % 2))
    assert gauntlet.decision is decision
    assert (gauntlet.estimate.lower > 0) is (decision is Decision.ACCEPT)
    assert (gauntlet.estimate.upper < 0) is (decision is Decision.REJECT)


def test_elo_has_the_interval_of_the_difference():
    """By hand: 100 rounds, 3 of 4 against 1 in half of them and level in the others, differ by
    0.25 +- 1.96 * 0.25 / 10; and 0.625 against 0.375 is 2 * 400 log10(0.625 / 0.375) Elo.
    """
    gauntlet = GauntletTest.begin(CLOBBER, 400, 1)
    for _ in range(50):
        gauntlet = gauntlet.add(pair(3), pair(1)).add(pair(2), pair(2))
    assert gauntlet.difference == pytest.approx((0.25, 0.201, 0.299), abs=1e-4)
    found = gauntlet.to_json(["random"])
    assert (found["elo"], *found["elo_95"]) == pytest.approx((177.5, 141.6, 214.3), abs=0.1)


def test_an_opponent_that_fails_is_no_opponent():
    """The third of three never plays: after two turns it has 8 faults in 8 games; both others none.

    All that the two win against it they win alike, which would hide how far they are apart.
    """
    names, gauntlet = ["new", "old", "a", "b", "c"], GauntletTest.begin(CLOBBER, 120, 3)
    while gauntlet.decision is Decision.CONTINUE:
        fails = 2 * (gauntlet.played % 3 == 2)
        gauntlet = gauntlet.add(pair(4, opponent=fails), pair(4 if fails else 2, opponent=fails))
    assert (gauntlet.played, gauntlet.games_of) == (6, (12, 12, 8, 8, 8))
    assert (gauntlet.decision, gauntlet.spoilt_by) == (Decision.UNDECIDED, (4,))
    assert gauntlet.spoilt_words(names).startswith("c has 8 faults in 8 games: too many")
    assert gauntlet.to_json(names[2:])["field"] == [
        {"name": "a", "games": 8, "faults": {}},
        {"name": "b", "games": 8, "faults": {}},
        {"name": "c", "games": 8, "faults": {"crash": 8}},
    ]
    assert replace(gauntlet, allow_faults=True).decision is Decision.CONTINUE


@pytest.mark.parametrize(
    ("candidate", "baseline", "spoilt"), [(4, 0, (0,)), (0, 4, (1,)), (3, 3, ())]
)
def test_a_fault_now_and_then_spoils_no_gauntlet(candidate, baseline, spoilt):
    """Three in a hundred games are borne, of each by itself, and four are not."""
    gauntlet = GauntletTest.begin(CLOBBER, 200, 1)
    for number in range(50):
        mine, theirs = ({"crash": 1} if number < count else {} for count in (candidate, baseline))
        gauntlet = gauntlet.add(pair(3 - number % 2, **mine), pair(1 + number % 2, **theirs))
    assert gauntlet.spoilt_by == spoilt
    assert gauntlet.decision is (Decision.UNDECIDED if spoilt else Decision.ACCEPT)


@pytest.mark.parametrize(("game", "opponents"), [("puzzle", 1), ("clobber", 0)])
def test_what_is_no_gauntlet_is_refused(game, opponents):
    """Puzzles, and nobody to meet."""
    with pytest.raises(StrengthError):
        GauntletTest.begin(GAMES[game].variant(), 10, opponents)


def arena(*arguments: str) -> int:
    try:
        return run(["test", *arguments, "--game", "clobber", "size=4x4"])
    except SystemExit as end:
        return int(end.code or 0)


@pytest.mark.long
def test_greedy_does_better_than_random_against_random_bots(tmp_path, capsys):
    """After the same games with any concurrency; and the other way round it fails."""
    results = []
    for concurrency in ("1", "3"):
        path = tmp_path / concurrency
        options = ["--against", "random,random", "--games", "64", "--json", str(path)]
        assert arena("greedy", "random", *options, "--concurrency", concurrency) == 0
        results.append(json.loads(path.read_text()))
    assert results[0] == results[1]
    assert results[0]["games"] == 64
    assert results[0]["difference_95"][0] > 0
    assert "passed" in capsys.readouterr().out
    assert arena("random", "greedy", "--against", "random", "--games", "64") == 1


@pytest.mark.parametrize(
    "options",
    [
        ["--against", "random"],
        ["--against", "random", "--games", "8", "--save", "x"],
        ["--against", "nobody", "--games", "8"],
        ["--against", "", "--games", "8"],
    ],
)
def test_wrong_usage_is_refused(options, capsys):
    """With exit code 2, in one line."""
    assert arena("greedy", "random", *options) == 2
    assert capsys.readouterr().err.count("\n") == 1
