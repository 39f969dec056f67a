"""The Siege of Paris agrees with its second implementation, and with itself."""

from __future__ import annotations

from contextlib import suppress
from random import Random

import pytest

from engine.board import write_ranks
from engine.game import PositionError
from engine.games.siege.game import GAME, SiegeState
from engine.games.siege.turns import SETUP
from tests.engine.games import oracle_siege as oracle
from tests.engine.games.positions_siege import FAR, at


def assert_agree(state: SiegeState, slow: oracle.Oracle) -> None:
    """Both implementations say the same of a position."""
    assert state.text() == slow.text()
    legal = slow.legal_moves()
    assert list(state.legal_moves()) == legal
    assert sorted(map(state.word, state.codes())) == legal
    ended = slow.result()
    assert str(state.ending() or "") == (ended[0] if ended else "")
    if ended:
        assert state.scores() == slow.scores()


VARIANTS = [
    {},
    {"seats": "2", "retreat": "yes"},
    {"setup": "fixed", "protection": "able"},
    {"soldiers": "3", "retreat": "yes", "protection": "able"},
    {"demand": "no"},
]


def compare_a_game(seed: int, options: dict[str, str], plies: int) -> None:
    """Plays at random, every other move with progress where there is one, and compares."""
    rng = Random(seed)
    variant = GAME.variant(**options)
    state, slow = variant.initial(), oracle.new_game(**options)
    for _ in range(plies):
        assert_agree(state, slow)
        moves = state.legal_moves()
        if not moves:
            break
        read = variant.read(state.text())
        assert (read, hash(read)) == (state, hash(state))
        forwards = [move for move in moves if slow.after(move).quiet == 0]
        move = rng.choice(forwards if forwards and rng.random() < 0.5 else moves)
        assert state.canonical(move) == move
        state, slow = state.play(move), slow.after(move)


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_games_agree_with_the_second_implementation(options):
    """Moves, texts, ends and scores are the same all along a game."""
    compare_a_game(1871, options, 220)


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_many_whole_games_agree_with_the_second_implementation(options, seed):
    """The same to the end of the game."""
    compare_a_game(seed, options, 2000)


def crowd(rng: Random) -> str:
    """A random position text with most pieces close to the fortress, or in it."""
    squares = list(oracle.SQUARES)
    if rng.random() < 0.7:
        squares = [name for name in squares if name[0] in "abcjkl" and 6 <= int(name[1:]) <= 11]
    places = rng.sample(squares, len(squares))
    cells = rng.sample(oracle.CELLS, len(oracle.CELLS))
    pieces = {}
    for letter in "YZyyyyyy":
        pieces[cells.pop() if rng.random() < 0.5 else places.pop()] = letter
    army = list(oracle.first_pieces().values())
    for letter in rng.sample(army, rng.randint(0, 25)):
        inside = cells and rng.random() < 0.05
        pieces[cells.pop() if inside else places.pop()] = letter
    board = ["."] * 12 * 16
    for name in pieces.keys() - set(oracle.CELLS):
        file, rank = oracle.place_of(name)
        board[(rank - 1) * 12 + file - 1] = pieces[name]
    fortress = "".join(pieces.get(cell, ".") for cell in oracle.CELLS)
    sign = rng.choice("---!")
    turn = rng.choice(("y1", "y2")) if sign == "!" else rng.choice(("y1", "w", "y2", "b"))
    return f"{write_ranks(board, 12)} {fortress} {turn} {sign} {rng.choice((0, 98, 99))} 500"


def compare_crowds(seed: int, options: dict[str, str], count: int) -> None:
    """Compares random positions and what each becomes by one random move."""
    rng = Random(seed)
    for _ in range(count):
        text = crowd(rng)
        slow = oracle.read(text, **options)
        try:
            state = GAME.variant(**options).read(text)
        except PositionError:
            never_demanded = slow.demand and (
                slow.options["demand"] == "no" or not slow.legal_moves()
            )
            assert never_demanded or (slow.result() is None and not slow.plain_moves())
            continue
        assert_agree(state, slow)
        if moves := state.legal_moves():
            move = rng.choice(moves)
            assert_agree(state.play(move), slow.after(move))


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_crowded_positions_agree_with_the_second_implementation(options):
    """So they do where armies stand about the gates, shut in or skipped, in and out."""
    compare_crowds(1870, options, 100)


@pytest.mark.deep
@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_many_crowded_positions_agree_with_the_second_implementation(options):
    """The same for more of them."""
    compare_crowds(0, options, 5000)


# The fast path.


def left_to_do(pieces: dict[str, str]) -> int:
    """How many ranks all attackers together may still come nearer to the gates, and live."""
    left = 0
    for place, letter in pieces.items():
        army = oracle.army_of(letter)
        if army != "yellow" and place not in oracle.CELLS:
            rank = oracle.place_of(place)[1]
            left += 1 + max(0, 8 - rank if army == "white" else rank - 9)
        elif army != "yellow":
            left += 1
    return left


def test_progress_has_an_end():
    """Without retreat: each uses up some of what is left to do, and no move gives any of it back.

    A White piece on rank r has 8 - r ranks to go, and as Black mirrors White the start leaves
    2 x (6 x 7 + 6 x 6 + 6 x 5) = 216 of them and 36 captures; so a game has 252 times progress at
    most, however its pieces go in and out of the fortress.
    """
    assert left_to_do(oracle.first_pieces()) == 252
    rng = Random(1871)
    tried = {"through a gate": 0, "progress": 0}
    for number in range(12):
        state = GAME.variant(setup="fixed").initial()
        while number % 2 and (state.turn == SETUP or state.over):
            with suppress(PositionError):
                state = GAME.variant().read(crowd(rng))
        for _ in range(400):
            if not (moves := state.legal_moves()):
                break
            gates = [move for move in moves if sum(cell in move for cell in oracle.CELLS) == 1]
            move = rng.choice(gates if gates and rng.random() < 0.7 else moves)
            before, state = left_to_do(state.board.pieces()), state.play(move)
            after = left_to_do(state.board.pieces())
            assert after < before if state.quiet == 0 else after <= before
            tried["through a gate"] += move in gates
            tried["progress"] += state.quiet == 0
    assert min(tried.values()) > 200


def test_codes_stand_for_moves():
    """play_code does what play does, during the set-up, with demands and without."""
    demands = at("Yb4 Kd4" + FAR, "w")
    for state in (GAME.variant().initial(), GAME.variant(setup="fixed").initial(), demands):
        for code in state.codes():
            assert state.play_code(code) == state.play(state.word(code))


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_playouts_end(options):
    """Random moves lead to a win or a draw."""
    rng = Random(5)
    for _ in range(3):
        scores = GAME.variant(**options).initial().playout(rng)
        assert (scores[0], set(scores[1:])) in ((1, {0}), (0, {1}), (0.5, {0.5}))


def test_playouts_draw_demands_like_other_moves():
    """Of White's three moves one demands the capture that wins, one allows it, one ends in a draw.

    Yellow has ten answers where it may choose, one of them the capture, and then it is ply 2,000.
    """
    state = at("Ya4 Sc4", "w", rest="- 0 1998")
    assert state.legal_moves() == ["c4b5", "c4b5!", "c4d5"]
    assert len(state.play("c4b5").legal_moves()) == 10
    rng = Random(3)
    wins = sum(state.playout(rng)[0] == 1 for _ in range(3000))
    assert wins == pytest.approx(3000 * (1 + 1 / 10) / 3, abs=100)
