"""A game that goes on move by move, with a bot that is started anew for each of its moves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from random import Random

import pytest

from engine import sitting
from engine.clock import TimeControl
from engine.game import IllegalMoveError, Termination, Variant
from engine.games import GAMES
from engine.openings import Opening, opening
from engine.player import BotError, Choice, CrashError, StartError, VoidGameError
from engine.record import Fault, GameRecord, Ply, RecordError, replay
from tests.engine.players import FirstMove, Scripted

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
SMALL = GAMES["clobber"].variant(size="3x2")
CLOCK = TimeControl(time_ms=1000, inc_ms=100)
MAIN = [game.offered[0] for game in GAMES.singles.values()]


def begun(variant: Variant = SMALL, time: TimeControl = CLOCK) -> GameRecord:
    """A game at its start."""
    names = [f"player {seat}" for seat in range(variant.seats)]
    return sitting.begin(
        Opening(variant.drawn(7), ()), seed=7, players=names, time=time, started=NOW
    )


@pytest.mark.parametrize("variant", MAIN, ids=str)
def test_a_game_of_people_and_bots_is_a_record_in_the_end(variant: Variant) -> None:
    """Every other ply by a bot that has just come; the rules confirm the result."""
    random = Random(1)
    start = opening(variant, 5)
    names = ["somebody"] * variant.seats
    game = sitting.begin(start, seed=9, players=names, time=CLOCK, started=NOW)
    assert game.opening == len(start.moves)
    for number in range(60):
        if not sitting.goes_on(game):
            break
        before = game
        if number % 2:
            game = sitting.ask(game, FirstMove(cpu_us=10, wall_us=20))
            sitting.confirm(before, game)
        else:
            game = sitting.moved(game, random.choice(sitting.position(game).legal_moves()))
        game = GameRecord.from_json(game.to_json())
        assert game.plies[:-1] == before.plies
    while sitting.goes_on(game):
        game = sitting.resigned(game, sitting.position(game).to_move or 0)
    replay(game)
    assert game.started == "2026-01-02T03:04:05Z"


@pytest.mark.parametrize(
    ("moves", "before", "refused"),
    [
        ("red:a1,a2,a3,b1", "", False),
        ("red:a1,a2,a3,b1 stop", "red:a1,a2,a3,b1", False),
        ("", "", True),
        ("red:a1,a2,a3,b1 resign", "", True),
    ],
)
def test_the_last_move_of_a_seat_is_taken_back(moves: str, before: str, refused: bool) -> None:
    """Also one that ended the game; never one of the opening, and none after a seat left."""
    game = begun(GAMES["puzzle"].variant(task="tetrominoes"))
    for move in moves.split():
        game = sitting.resigned(game, 0) if move == "resign" else sitting.moved(game, move)
    if refused:
        with pytest.raises(RecordError, match="no move to be taken back"):
            sitting.taken_back(game)
        return
    game = sitting.taken_back(game)
    assert game.moves == tuple(before.split())
    assert (sitting.goes_on(game), game.scores, game.ranks) == (True, (), ())
    sitting.prove(game)


def test_a_game_that_goes_on_is_proved_as_far_as_it_was_played() -> None:
    """Its moves are legal; once nobody is to move it must have a result."""
    game = sitting.moved(begun(), "b1c1")
    over = sitting.resigned(game, 0)
    for right in (game, over):
        sitting.prove(right)
    for forged, words in (
        (replace(game, plies=(Ply(0, "a1c1"),)), "at ply 0: 'a1c1' is not legal"),
        (replace(over, termination=Termination.VOID, scores=(), ranks=()), "the result is"),
        (replace(over, faults=()), "the game is not over"),
    ):
        with pytest.raises(RecordError, match=words):
            sitting.prove(forged)


def test_a_bot_is_told_all_that_was_played() -> None:
    """White's move by a person, then Black's bot: the whole game, its clock, dice of the ply."""
    game = sitting.moved(begun(), "b1c1")
    bot = FirstMove(cpu_us=30_000, wall_us=40_000)
    after = sitting.ask(game, bot)
    (setup,), (turn,) = bot.setups, bot.turns
    assert (setup.seat, turn.ply, turn.history) == (1, 1, "1:b1c1")
    assert [clock.left_ms for clock in turn.clocks] == [1000, 1000]
    # The page of the protocol: this position has the moves a1a2, b2a2 and b2c2.
    assert after.plies[1] == Ply(1, "a1a2", 30_000, 40_000)
    # 1000 ms, less 30 that it used, and 100 more; the person has the time that people begin with.
    assert [clock.left_ms for clock in sitting.clocks(after)] == [1000, 1070]
    later = FirstMove()
    sitting.ask(game, later)
    assert later.setups[0].seed == setup.seed
    other = FirstMove()
    sitting.ask(begun(), other)
    assert other.setups[0].seed != setup.seed


def test_each_seat_has_a_clock_and_each_ply_its_dice() -> None:
    """They are bots alone: none pays for another's moves, and the weakest box of all is kept."""
    game = begun(GAMES["clobber"].variant(size="4x3"))
    bots = [FirstMove(cpu_us=10_000 * (1 + number % 2)) for number in range(4)]
    bots[1].isolation = "good"
    for bot in bots:
        game = sitting.ask(game, bot)
    # 1000 ms, and of two moves each 100 ms more, and 10 or 20 ms less.
    assert [clock.left_ms for clock in sitting.clocks(game)] == [1180, 1160]
    assert len({bot.setups[0].seed for bot in bots}) == 4
    assert game.isolation == "good"


@pytest.mark.parametrize(
    ("answer", "start", "termination", "detail"),
    [
        ("c1c2", None, Termination.ILLEGAL, "'c1c2' is not legal here"),
        ("resign", None, Termination.RESIGN, "resigned"),
        (CrashError("closed its output"), None, Termination.CRASH, "closed its output"),
        ("", StartError("sent no 'ready' within 10 s"), Termination.START, "sent no 'ready'"),
    ],
)
def test_a_fault_of_the_bot_ends_the_game(
    answer: str | BotError, start: BotError | None, termination: Termination, detail: str
) -> None:
    """Its side loses; the record says why."""
    game = sitting.moved(begun(), "b1c1")
    after = sitting.ask(game, Scripted(answer, start=start))
    assert (after.termination, after.ranks, after.scores) == (termination, (1, 2), (1.0, 0.0))
    assert after.faults[0].detail.startswith(detail)
    replay(after)
    sitting.confirm(game, after)


def test_our_own_fault_changes_nothing() -> None:
    """It goes through, for the move to be asked for again."""
    with pytest.raises(VoidGameError):
        sitting.ask(begun(), Scripted(VoidGameError("no box")))


def test_where_the_others_play_on() -> None:
    """In Blokus a bot that crashes leaves, and the next seat is to move."""
    game = begun(GAMES["blokus"].variant())
    after = sitting.ask(game, Scripted(CrashError("gone")))
    assert sitting.goes_on(after)
    assert sitting.position(after).to_move == 1
    assert after.faults == (Fault(0, 0, Termination.CRASH, "gone"),)
    bot = FirstMove()
    assert sitting.goes_on(sitting.ask(after, bot))
    assert bot.turns[0].out == [(0, 0)]


def test_what_people_may_not_play() -> None:
    """The rules refuse, in their own words."""
    with pytest.raises(IllegalMoveError, match="a move takes one of your stones"):
        sitting.moved(begun(), "a1b1")
    over = sitting.resigned(begun(), 0)
    assert (over.termination, over.ranks) == (Termination.RESIGN, (2, 1))
    with pytest.raises(IllegalMoveError, match="the game is over"):
        sitting.moved(over, "b1c1")
    with pytest.raises(RecordError, match="the game is over"):
        sitting.resigned(over, 1)


ALTER: dict[str, Callable[[GameRecord], GameRecord]] = {
    "nothing was answered": lambda game: begun_and_moved(),
    "the move has no times": lambda game: replace(
        game, plies=(*game.plies[:-1], Ply(1, game.plies[-1].move))
    ),
    "there is no isolation 'perfect'": lambda game: replace(game, isolation="perfect"),
    "seat 1 was not asked": lambda game: replace(
        game, plies=(*game.plies[:-1], Ply(0, "a1a2", 5, 6))
    ),
    "'c2c1' is not legal here: a move": lambda game: replace(
        game, plies=(*game.plies[:-1], Ply(1, "c2c1", 5, 6))
    ),
    "it is not the game that was asked about": lambda game: replace(game, players=("x", "y")),
    "seat 2 can't leave so before ply 9": lambda game: replace(
        game, plies=game.plies[:-1], faults=(Fault(1, 9, Termination.CRASH, ""),)
    ),
}


def begun_and_moved() -> GameRecord:
    """A game of which the first ply was played."""
    return sitting.moved(begun(), "b1c1")


@pytest.mark.parametrize("problem", ALTER)
def test_what_a_worker_may_not_report(problem: str) -> None:
    """One answer of the seat that was asked, by the rules, and nothing else."""
    before = begun_and_moved()
    honest = sitting.ask(before, Scripted(Choice("a1a2", "", 5, 6)))
    sitting.confirm(before, honest)
    with pytest.raises(RecordError) as refused:
        sitting.confirm(before, ALTER[problem](honest))
    assert str(refused.value).startswith(problem)
