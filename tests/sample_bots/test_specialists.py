"""The specialists: what they know of their games is right, and their puzzles are solved.

Positions are judged beside them by the rules alone, move by move to the end of the game.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import count
from random import Random

import pytest

from engine.clock import TimeControl
from engine.following import Followed
from engine.game import State, Variant
from engine.games import GAMES, find_variant
from engine.games.clobber import endgame as endgame_of_clobber
from tests.sample_bots.play import ask, load, play, random_moves, sample, start

clobber_expert, mijnlieff_expert, solver = map(
    load, ("clobber_expert", "mijnlieff_expert", "solver")
)


@cache
def lead(state: State) -> int:
    """What White gets out of a game between perfect players: 1, 0 or -1."""
    if state.to_move is None:
        white, black = state.scores()
        return (white > black) - (white < black)
    leads = [lead(state.play(move)) for move in state.legal_moves()]
    return max(leads) if state.to_move == 0 else min(leads)


def after(variant: Variant, seed: int, plies: int) -> State:
    """The position after so many random moves, or the last one before the game ends."""
    state: State = variant.initial()
    for move in random_moves(variant, seed)[:plies]:
        if state.play(move).to_move is None:
            break
        state = state.play(move)
    return state


@pytest.mark.parametrize("small", [2, 4, 7])
@pytest.mark.parametrize(("size", "plies"), [("3x3", 0), ("4x3", 1), ("5x4", 7), ("6x7", 25)])
def test_the_end_of_clobber_is_as_by_the_rules(
    size: str, plies: int, small: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However large the parts are that are replaced by their values."""
    monkeypatch.setattr(endgame_of_clobber, "SMALL", small)
    variant = GAMES["clobber"].variant(size=size)
    endgame = endgame_of_clobber.ClobberEndgame(variant.width, variant.height)
    found = set()
    for seed in range(12):
        state = after(variant, seed, plies)
        wins = endgame.wins(*endgame.stones(state), state.to_move, lambda: True)
        assert wins == (lead(state) == (1, -1)[state.to_move])
        found.add(wins)
    assert found == {True, False} or plies < 2


def test_the_values_of_clobber_are_those_of_the_theory() -> None:
    """By hand: in wb either side moves to nothing, which is *; in wwb White does, Black to wb.

    So wwb is {0|*}, which is up, and 'up' beats nothing but is confused with *.
    """
    endgame = endgame_of_clobber.ClobberEndgame(3, 1)
    values, value = endgame.values, endgame.value
    star, up = value((0b01, 0b10)), value((0b011, 0b100))
    assert star == values.value({0}, {0})
    assert up == values.value({0}, {star})
    assert value((0b100, 0b011)) == values.negative(up)
    assert values.at_most(0, up)
    assert not values.at_most(up, 0)
    assert not values.at_most(up, star)
    assert not values.at_most(star, up)
    assert values.add(star, star) == 0
    assert values.add(up, values.negative(up)) == 0


def test_a_win_of_clobber_is_found_on_the_board() -> None:
    """The move played wins by the rules too, though values have moves that the board has not."""
    variant = GAMES["clobber"].variant(size="5x4")
    endgame = endgame_of_clobber.ClobberEndgame(5, 4)
    for seed in range(8):
        state = after(variant, seed, 6)
        if lead(state) == (1, -1)[state.to_move]:
            tree = clobber_expert.Tree(state, endgame, Random(seed))
            tree.run(count().__next__, 100_000)
            assert lead(state.play(state.word(tree.best()))) == lead(state)


@pytest.mark.parametrize(
    "options", ["", "first=edge", "shape=tee", "shape=zig", "size=5x5", "size=6x4"]
)
def test_the_end_of_mijnlieff_is_as_by_the_rules(options: str) -> None:
    """The value of a position, and a move that keeps it."""
    variant = find_variant("mijnlieff", options.split())
    rules = mijnlieff_expert.ReducedRules(variant.board)
    endgame = mijnlieff_expert.MijnlieffEndgame(rules, 1)
    found = set()
    for seed in range(40):
        state = after(variant, seed, variant.max_plies - 4)
        position = rules.position(state)
        value = endgame.value(position, -1, 1, lambda: True)
        assert value == lead(state) * (1, -1)[state.to_move]
        found.add(value)
        search = mijnlieff_expert.Search(position, rules.pieces(position), endgame, Random(seed))
        search.solve(lambda: True)
        kind, square = search.best()
        code = kind * variant.board.squares + square.bit_length() - 1
        assert lead(state.play_code(code)) == lead(state)
    assert found == {-1, 0, 1}


def test_random_games_of_mijnlieff_are_as_by_the_rules() -> None:
    """The quick games of the tree end with the scores of the engine's, on the whole."""
    variant = GAMES["mijnlieff"].variant()
    rules = mijnlieff_expert.ReducedRules(variant.board)
    state = after(variant, 1, 9)
    dice = Random(1)
    rounds = 4000
    quick = (
        sum(mijnlieff_expert.playout(rules, rules.position(state), dice) for _ in range(rounds))
        / rounds
    )
    slow = 0.0
    for _ in range(rounds):
        white, black = state.playout(dice)
        slow += (1 + (white > black) - (white < black)) / 2
    assert quick == pytest.approx(slow / rounds, abs=0.04)


PUZZLES = [
    f"task={task} hard={hard}"
    for task in ("tetrominoes", "pentominoes", "full")
    for hard in ("no", "yes")
]


@pytest.mark.long
@pytest.mark.parametrize("options", PUZZLES)
def test_puzzles_are_solved_within_the_time(options: str) -> None:
    """The referee's rules say that it is solved, and no move took a tenth of a second."""
    variant = find_variant("puzzle", options.split())
    (record,) = play(variant, [sample("solver")], seed=1, move_ms=100)
    assert record.faults == ()
    assert record.scores == (variant.solved_score,)


@pytest.mark.parametrize("options", PUZZLES)
def test_a_search_that_is_cut_off_goes_on_from_the_pieces_placed(options: str) -> None:
    """With little time at every move all moves are legal, and what is covered stays covered."""
    variant = find_variant("puzzle", options.split())
    state = variant.initial()
    solve = (solver.Board if variant.in_turn else solver.Rectangle)(variant, Random(3))
    played: list[tuple[int, int]] = []
    while True:
        solve.run(len(played), count().__next__, 4)
        assert solve.plan[: len(played)] == played
        if len(solve.plan) == len(played):
            break
        played.append(solve.plan[len(played)])
        colour, mask = played[-1]
        state = state.play_code(mask << 2 | colour)
        assert state.scores() == (solver.squares(played),)
    assert state.to_move is None or not solve.is_solved


def test_a_puzzle_that_others_began_is_played_on() -> None:
    """A plan that the game did not follow is dropped."""
    variant = GAMES["puzzle"].variant(task="tetrominoes")
    opening = random_moves(variant, 1)[:3]
    (record,) = play(variant, [sample("solver")], opening=opening)
    assert record.faults == ()
    assert len(record.plies) > len(opening)


EXPERTS = [
    pytest.param(name, variant, id=str(variant))
    for name, game in (("clobber-expert", "clobber"), ("mijnlieff-expert", "mijnlieff"))
    for variant in GAMES[game].offered
]


@pytest.mark.long
@pytest.mark.parametrize(("name", "variant"), EXPERTS)
@pytest.mark.parametrize("share", [0.0, 0.5], ids=["at first", "halfway"])
def test_experts_keep_within_a_short_time(name: str, variant: Variant, share: float) -> None:
    """A tenth of a second a move is kept on every board."""
    moves = random_moves(variant, 1)
    bot = start(sample(name))
    try:
        choice = ask(bot, variant, moves[: int(share * len(moves))], TimeControl(move_ms=100))
    finally:
        bot.close()
    assert choice.cpu_us <= 100_000


@pytest.mark.parametrize(
    "time",
    [TimeControl(time_ms=2_000, inc_ms=50), TimeControl(time_ms=20, inc_ms=5)],
    ids=lambda time: time.words,
)
@pytest.mark.parametrize("name", ["clobber-expert", "mijnlieff-expert", "solver"])
def test_specialists_share_out_their_clock(name: str, time: TimeControl) -> None:
    """A whole game is played on a clock, long or short."""
    game = {"solver": "puzzle"}.get(name, name.partition("-")[0])
    variant = GAMES[game].offered[1]
    bot = start(sample(name))
    try:
        choice = ask(bot, variant, [], time)
    finally:
        bot.close()
    assert choice.cpu_us <= 1000 * max(10, time.time_ms / 5)


@pytest.mark.parametrize(
    "make",
    [clobber_expert.Player, mijnlieff_expert.Player, solver.Player],
    ids=["clobber", "mijnlieff", "puzzles"],
)
def test_specialists_refuse_other_games(make: Callable[[Followed], object]) -> None:
    """They refuse in one line that says so."""
    with pytest.raises(SystemExit, match="oxono"):
        make(Followed(["oxono", "totems=xc4", "seats=2", "you=1", "move=100", "seed=1"]))
