"""What is added up of a run of games."""

from __future__ import annotations

from dataclasses import replace

import pytest

from arena.cli.tally import RunTally
from arena.ratings.elo import estimate
from engine.clock import TimeControl
from engine.game import Termination
from engine.games import GAMES
from engine.match import MatchResult, MatchSpec, play_match
from engine.places import mean_place
from engine.record import Fault
from tests.engine.players import FirstMove


@pytest.mark.parametrize(
    ("boxes", "weakest"),
    [(["full", "good"], "good"), (["none", "full"], "none"), (["good", "good"], "good")],
)
def test_a_run_was_as_safe_as_its_weakest_box(boxes: list[str], weakest: str) -> None:
    """Whichever game came last."""
    variant = GAMES["clobber"].variant(size="2x3")
    spec = MatchSpec(variant, ("one", "two"), TimeControl(move_ms=1000))
    played = play_match(spec, lambda _: FirstMove())
    games = [replace(game, isolation=box) for game, box in zip(played.games, boxes, strict=True)]
    tally = RunTally(variant, spec.entrants)
    assert tally.to_json()["isolation"] is None
    tally.add(spec, MatchResult(tuple(games), played.logs))
    assert tally.to_json()["isolation"] == weakest


def test_the_first_faults_are_told_and_all_are_counted() -> None:
    """Three of each bot, with where they were; the bots take turns to begin."""
    variant = GAMES["clobber"].variant(size="2x3")
    spec = MatchSpec(variant, ("one", "two"), TimeControl(move_ms=1000))
    played = play_match(spec, lambda _: FirstMove())
    fault = Fault(0, 1, Termination.CRASH, "exit status 1")
    games = (replace(played.games[0], faults=(fault,)),) * 8
    tally = RunTally(variant, spec.entrants)
    tally.add(spec, MatchResult(games, played.logs[:1] * 8))
    assert tally.lines[0].faults == {Termination.CRASH: 4}
    assert tally.lines[0].fault_details == [
        f"game {number}, ply 1: crash, exit status 1" for number in (1, 3, 5)
    ]


@pytest.mark.parametrize(("charge", "ms"), [("cpu", 2.0), ("wall", 300.0)])
def test_the_times_are_those_that_are_charged(charge: str, ms: float) -> None:
    """CPU time says nothing of a bot that sleeps, where wall time counts."""
    variant = GAMES["clobber"].variant(size="2x3")
    spec = MatchSpec(variant, ("one", "two"), TimeControl(move_ms=1000, charge=charge))
    tally = RunTally(variant, spec.entrants)
    tally.add(spec, play_match(spec, lambda _: FirstMove(cpu_us=2000, wall_us=300_000)))
    assert [(bot["mean_ms"], bot["longest_ms"]) for bot in tally.to_json()["bots"]] == 2 * [
        (ms, ms)
    ]


def played(game: str, entrants: int, ranks: list[tuple[int, ...]], **options: str) -> RunTally:
    """A tally of matches of which each game ends with these ranks of the entrants, in turn."""
    variant = GAMES[game].variant(**options)
    spec = MatchSpec(variant, tuple("abcd"[:entrants]), TimeControl(move_ms=1000))
    whole = play_match(spec, lambda _: FirstMove())
    tally = RunTally(variant, spec.entrants)
    for number in range(0, len(ranks), spec.games):
        games = [
            replace(record, ranks=tuple(its[entrant] for entrant in spec.seating(game)))
            for game, (record, its) in enumerate(
                zip(whole.games, ranks[number : number + spec.games], strict=False)
            )
        ]
        tally.add(spec, MatchResult(tuple(games), whole.logs[: len(games)]))
    return tally


WON, LOST = (1, 2), (2, 1)


@pytest.mark.parametrize(
    ("ranks", "counts", "words"),
    [
        # By hand: pairs with 0, 1, 2, 3, 4 half points of the first bot.
        ([WON, LOST] * 3, [0, 0, 3, 0, 0], "a 3-0-3"),
        ([WON, WON, LOST], [0, 0, 0, 0, 1], "a 2-0-1"),  # the last match was cut short
        ([WON] * 18, [0, 0, 0, 0, 9], "a 18-0-0"),
        ([WON] * 20, [0, 0, 0, 0, 10], "a 20-0-0, Elo above "),
        ([WON, LOST] * 10 + [LOST, LOST], [1, 0, 10, 0, 0], "a 10-0-12, Elo -"),
    ],
)
def test_two_bots_have_an_elo_by_pairs(
    ranks: list[tuple[int, ...]], counts: list[int], words: str
) -> None:
    """As soon as there are enough to say; each has that of the other with its sign turned."""
    tally = played("clobber", 2, ranks, size="2x3")
    assert tally.elo == (estimate(counts), estimate(counts[::-1]))
    assert tally.words.startswith(words)
    first, second = tally.to_json()["bots"]
    assert first["elo"] == -second["elo"]


def test_of_several_bots_places_are_told() -> None:
    """Those that tie share the better place, of which the mean is the middle; there is no Elo."""
    ranks = [(1, 2, 3, 4), (4, 1, 1, 3), (1, 2, 2, 4), (2, 1, 4, 2)]
    tally = played("blokus", 4, ranks)
    assert tally.elo is None
    # By hand.
    assert [mean_place(line.score, 4) for line in tally.lines] == [2.125, 1.75, 2.75, 3.375]
    bots = tally.to_json()["bots"]
    assert [bot["places"] for bot in bots] == [
        [2, 1, 0, 1],
        [2, 2, 0, 0],
        [1, 1, 1, 1],
        [0, 1, 1, 2],
    ]
    assert tally.words == "b leads with 75.0%"
