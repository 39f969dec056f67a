"""The puzzles of Blokus: known answers, hand counts, and games beside a second implementation."""

from __future__ import annotations

from random import Random

import pytest

from engine.game import IllegalMoveError, OptionError, PositionError, State, Termination
from engine.games.puzzle import GAME
from tests.engine.games.oracle_blokus import ORDER, PuzzleOracle

TASKS = ["full", "tetrominoes", "pentominoes"]
FOURS = "I4,L4,O4,T4,Z4"
ALL_NAMES = f"1,2,I3,V3,{FOURS},F,I5,L5,N,P,T5,U,V5,W,X,Y,Z5"

# The answer given with the rules: a line a file, from a; in it the ranks from 1.
ANSWER = """
BT4 GI4 GI4 GI4 GI4 YI4 YI4 YI4 YI4 RZ4
BT4 BT4 YZ4 YZ4 RT4 RT4 RT4 BZ4 RZ4 RZ4
BT4 YZ4 YZ4 GZ4 GZ4 RT4 BZ4 BZ4 RZ4 BI4
RI4 BL4 BL4 YL4 GZ4 GZ4 BZ4 GL4 GL4 BI4
RI4 BL4 GT4 YL4 YL4 YL4 RO4 RO4 GL4 BI4
RI4 BL4 GT4 GT4 BO4 BO4 RO4 RO4 GL4 BI4
RI4 YT4 GT4 RL4 BO4 BO4 GO4 GO4 YO4 YO4
YT4 YT4 YT4 RL4 RL4 RL4 GO4 GO4 YO4 YO4
"""

# All twelve pentominoes in 15x4, found by exact cover; four of these strips fill 15x16.
STRIP = """
V5 V5 V5 X  I5 I5 I5 I5 I5 Z5 T5 P  P  P  W
V5 F  X  X  X  U  U  Z5 Z5 Z5 T5 P  P  W  W
V5 F  F  X  N  N  U  Z5 Y  T5 T5 T5 W  W  L5
F  F  N  N  N  U  U  Y  Y  Y  Y  L5 L5 L5 L5
"""


def answer_moves() -> list[str]:
    """The moves of ANSWER, in the order in which its lines first name the pieces."""
    squares: dict[str, list[str]] = {}
    for file, line in zip("abcdefgh", ANSWER.strip().splitlines(), strict=True):
        for rank, piece in enumerate(line.split(), start=1):
            squares.setdefault(piece, []).append(f"{file}{rank}")
    colours = {colour[0].upper(): colour for colour in ORDER}
    return [f"{colours[piece[0]]}:{','.join(names)}" for piece, names in squares.items()]


def strip_moves() -> list[str]:
    """The moves that lay STRIP four times, once in each colour."""
    moves = []
    for number, colour in enumerate(ORDER):
        squares: dict[str, list[str]] = {}
        for row, line in enumerate(STRIP.strip().splitlines()):
            for file, piece in zip("abcdefghijklmno", line.split(), strict=True):
                squares.setdefault(piece, []).append(f"{file}{4 * number + 4 - row}")
        moves += [f"{colour}:{','.join(names)}" for names in squares.values()]
    return moves


def after(task: str, hard: str, *moves: str) -> State:
    """The position after some moves of a task."""
    state: State = GAME.variant(task=task, hard=hard).initial()
    for move in moves:
        state = state.play(move)
    return state


@pytest.mark.parametrize(
    ("task", "hard", "moves", "squares"),
    [
        ("tetrominoes", "yes", answer_moves(), 80),
        ("tetrominoes", "no", answer_moves()[::-1], 80),
        ("pentominoes", "no", strip_moves(), 240),
    ],
)
def test_known_answers_solve(task: str, hard: str, moves: list[str], squares: int) -> None:
    """Every move of an answer is legal in its turn, and the last one ends the game, solved."""
    state = after(task, hard, *moves[:-1])
    assert state.to_move == 0
    solved = state.play(moves[-1])
    assert solved.ending() is Termination.NORMAL
    assert solved.legal_moves() == []
    assert solved.scores() == (squares,)
    assert solved.scores()[0] == solved.variant.solved_score
    assert solved.variant.read(solved.text()) == solved
    assert len(moves) == solved.variant.max_plies
    assert solved.scene().captions[0] == f"Solved: all {squares} squares covered"


@pytest.mark.parametrize("hard", ["no", "yes"])
@pytest.mark.parametrize("task", TASKS)
def test_random_games_agree_with_the_oracle(task: str, hard: str) -> None:
    """Texts, ends and scores at every ply, legal moves at every eighth."""
    random = Random(f"{task} {hard}")
    state, oracle = after(task, hard), PuzzleOracle(task, hard)
    variant, ply = state.variant, 0
    while not oracle.over:
        assert state.text() == oracle.text()
        assert state.to_move == 0
        assert variant.read(state.text()) == state
        codes = [code for code in state.codes() if code]
        if ply % 8 == 0 or len(codes) < 20:
            assert list(state.legal_moves()) == oracle.legal_moves()
        move = state.word(random.choice(codes))
        state = state.play(move)
        oracle.play(move)
        ply += 1
    assert state.text() == oracle.text()
    assert state.to_move is None
    assert state.scores() == (oracle.score(),)


@pytest.mark.parametrize(
    ("task", "moves"),
    # By hand: the placements of Blokus's first piece; 4 x 1049 tetrominoes in 8x10 (106 I, 440 L,
    # 63 O, 220 T, 220 Z); 4 x 11596 pentominoes in 15x16 (1456 F, 356 I, 1448 each of L, N and Y,
    # 1564 P, 782 U, 728 each of T, V, W and Z, 182 X). And `stop`.
    [("full", 232 + 1), ("tetrominoes", 4 * 1049 + 1), ("pentominoes", 4 * 11596 + 1)],
)
def test_moves_at_the_start(task: str, moves: int) -> None:
    """As many as hand counts say."""
    assert len(after(task, "no").legal_moves()) == moves


def test_the_variants() -> None:
    """One seat, no openings, and the squares that solve each task."""
    for task, squares, pieces in (
        ("full", 356, 84),
        ("tetrominoes", 80, 20),
        ("pentominoes", 240, 48),
    ):
        variant = GAME.variant(task=task)
        assert variant.seats == len(variant.seat_names) == 1
        assert variant.opening_plies == 0
        assert variant.solved_score == squares
        assert variant.max_plies == pieces
        assert str(variant) == f"puzzle task={task} hard=no"
    with pytest.raises(OptionError, match="full, tetrominoes, pentominoes"):
        GAME.variant(task="dominoes")


def test_stop_ends_the_game_where_it_stands() -> None:
    """The squares covered so far are the score; `-` in the text says that it is over."""
    state = after("tetrominoes", "no", "red:c1,c2,c3,d3")
    assert state.text() == (
        f"{'8/' * 7}2RR4/2R5/2R5 * {FOURS}/{FOURS}/I4,O4,T4,Z4/{FOURS} -/-/L4/- -"
    )
    assert "stop" in state.legal_moves()
    over = state.play("stop")
    assert over.to_move is None
    assert over.ending() is Termination.NORMAL
    assert over.scores() == (4.0,)
    assert over.text() == state.text().replace(" * ", " - ")
    assert over.variant.read(over.text()) == over
    with pytest.raises(IllegalMoveError, match="the game is over"):
        over.play("stop")


def test_a_fault_scores_nothing() -> None:
    """A solver that breaks down has covered no squares."""
    over = after("tetrominoes", "no", "red:c1,c2,c3,d3").retire(0)
    assert over.to_move is None
    assert over.scores() == (0.0,)
    assert over.ranks() == (1,)


@pytest.mark.parametrize(
    ("task", "hard", "moves", "refused", "reason"),
    [
        ("tetrominoes", "yes", ["red:c1,c2,c3,d3"], "red:d2,e2,f2,g2", "edge to edge"),
        ("tetrominoes", "no", ["red:c1,c2,c3,d3"], "red:c1,d1,e1,f1", "covered already"),
        ("tetrominoes", "no", ["red:c1,c2,c3,d3"], "red:g1,g2,g3,h3", "no L4 left"),
        ("tetrominoes", "no", [], "red:g1,g2,g3,g4,g5", "no I5 left"),
        ("tetrominoes", "no", [], "red:i1,i2,i3,i4", "a move is a colour and"),
        ("full", "no", [], "yellow:a1", "it is blue's turn"),
        ("full", "no", [], "blue:b2", "must cover a corner"),
        ("full", "yes", [], "blue:a1", "blue has a larger piece left"),
        ("full", "yes", [], "blue:a1,a2,a3,a4", "blue has a larger piece left"),
        ("full", "no", [], "Stop", "a move is a colour and"),
    ],
)
def test_refused_moves(task: str, hard: str, moves: list[str], refused: str, reason: str) -> None:
    """Each with its reason."""
    state = after(task, hard, *moves)
    assert not state.is_legal(refused)
    with pytest.raises(IllegalMoveError, match=reason):
        state.play(refused)


def test_colours_may_touch_themselves_unless_it_is_hard() -> None:
    """Any piece goes anywhere in a rectangle, in any order of colours."""
    state = after("tetrominoes", "no", "red:c1,c2,c3,d3", "red:d2,e2,f2,g2")
    assert state.scores() == (8.0,)
    hard = after("tetrominoes", "yes", "red:c1,c2,c3,d3", "blue:d2,e2,f2,g2", "red:e1,f1,g1,h1")
    assert hard.scores() == (12.0,)


TEXT = f"{'8/' * 7}2RR4/2R5/2R5 * {FOURS}/{FOURS}/I4,O4,T4,Z4/{FOURS} -/-/L4/- -"

FULL = (
    "1B2R1G1/BB1RR1G1/B3R1GG/1BBYYY2/1GBRYYY1/GGBRRYRR/1G2RYRR/1B1RRRRR/BB1R1GG1/1BRR2GG - "
    "I4,O4/I4,O4,Z4/-/I4,O4 T4/T4/I4/Z4 -"
)


@pytest.mark.parametrize(
    ("task", "hard", "text", "reason"),
    [
        ("tetrominoes", "no", TEXT.replace("*", "b"), "the colour to move is 'b', not"),
        ("tetrominoes", "no", TEXT[:-1] + "1", "the seats out are '1'"),
        ("tetrominoes", "no", TEXT.replace("I4,O4", "O4"), "red covers 4 squares"),
        ("tetrominoes", "no", TEXT.replace(f"* {FOURS}", f"* {FOURS},F"), "blue has F left"),
        ("tetrominoes", "no", TEXT.replace("2R5/2R5", "2R5/3R4/2R5"), "11 ranks"),
        ("tetrominoes", "no", TEXT.replace("-/-/L4/-", "-/-/-/-"), "red's last piece"),
        ("tetrominoes", "no", TEXT.replace("-/-/L4/-", "L4/-/L4/-"), "blue's last piece"),
        ("tetrominoes", "yes", TEXT.replace("2RR4/2R5", "2R5/2RR4"), "are not its pieces"),
        ("pentominoes", "no", TEXT, "10 ranks"),
        ("tetrominoes", "no", FULL.replace(" - ", " * ", 1), "nothing can be placed, so"),
    ],
)
def test_refused_positions(task: str, hard: str, text: str, reason: str) -> None:
    """Each with its reason."""
    with pytest.raises(PositionError, match=reason):
        GAME.variant(task=task, hard=hard).read(text)


def test_full_positions_keep_the_turn_even_after_stop() -> None:
    """Numbers of pieces must fit the colour to move or, at the end, somebody's turn."""
    one = after("full", "no", "blue:a1", "yellow:t1", "red:a20")
    variant, text = one.variant, one.text()
    assert variant.read(text.replace(" g ", " - ")) == one.play("stop")
    with pytest.raises(PositionError, match="not blue's turn"):
        variant.read(text.replace(" g ", " b "))
    with pytest.raises(PositionError, match="the colour to move is"):
        variant.read(text.replace(" g ", " * "))
    # Blue twice and nobody else: blue's second piece came out of turn, whoever said stop.
    four = [
        ",".join(word for word in ALL_NAMES.split(",") if word not in placed)
        for placed in (("1", "2"), (), (), ())
    ]
    twice = f"{'20/' * 18}1BB17/B19 - {'/'.join(four)} 2/-/-/- -"
    with pytest.raises(PositionError, match="nor anyone's"):
        variant.read(twice)


def test_hard_full_positions_hold_no_larger_piece_than_was_placed() -> None:
    """A colour that placed its I4 with fives left broke the rule of hard=yes."""
    easy = after("full", "no", "blue:a1,a2,a3,a4").text()
    GAME.variant(task="full").read(easy)
    with pytest.raises(PositionError, match="blue has larger pieces left"):
        GAME.variant(task="full", hard="yes").read(easy)
