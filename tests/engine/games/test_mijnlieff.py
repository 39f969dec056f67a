"""Mijnlieff: the published game, hand counts, and games beside a slow second implementation."""

from __future__ import annotations

from random import Random

import pytest

from engine.conformance import pick
from engine.game import IllegalMoveError, OptionError, PositionError, Termination
from engine.games.mijnlieff import GAME, MijnlieffState
from engine.games.mijnlieff.board import Board
from engine.perft import perft
from tests.engine.games import oracle_mijnlieff as oracle

VARIANT = GAME.variant()
WHOLE_GAME = "a1+ a3>< a2+ a4<> b2>< c2+ c3<> c1x d2>< d3+ d4x b4x b3<> b1<>"

VARIANTS = [
    {},
    {"first": "edge"},
    {"size": "5x5"},
    {"size": "6x4"},
    {"size": "4x7", "first": "edge"},
    {"size": "6x6", "first": "edge"},
    {"size": "8x8"},
    {"shape": "ell"},
    {"shape": "tee", "first": "edge"},
    {"shape": "zig"},
]


def same(state: MijnlieffState, position: oracle.Position) -> None:
    """Asserts that two implementations agree on everything about a position."""
    assert state.text() == position.text()
    assert list(state.legal_moves()) == sorted(position.moves())
    assert {state.word(code) for code in state.codes()} == set(position.moves())
    assert state.to_move == (None if position.over else position.seat - 1)
    assert state.ending() is (Termination.NORMAL if position.over else None)
    assert state.scores() == position.scores()
    assert state.variant.read(state.text()) == state


@pytest.mark.parametrize("options", VARIANTS, ids=lambda options: " ".join(options.values()))
def test_random_games_agree_with_the_oracle(options: dict[str, str]) -> None:
    """Moves, texts, ends and scores are those of the rules, ply for ply."""
    variant = GAME.variant(**options)
    for seed in range(6):
        random = Random(seed)
        state, position = variant.initial(), oracle.initial(**options)
        same(state, position)
        plies = 0
        while moves := position.moves():
            word = random.choice(sorted(moves))
            state, position = state.play(word), position.play(word)
            same(state, position)
            plies += 1
        assert plies <= variant.max_plies


def test_every_small_end_agrees_with_the_oracle() -> None:
    """Passes, last pieces and double passes: the ends of 300 games on the 4x4 board."""
    for seed in range(300):
        random = Random(seed)
        state, position = VARIANT.initial(), oracle.initial()
        while moves := position.moves():
            word = random.choice(sorted(moves))
            state, position = state.play(word), position.play(word)
            assert state.to_move == (None if position.over else position.seat - 1)
        same(state, position)


def test_the_published_game() -> None:
    """Black passes after d4x and after b4x; White wins by 4 to 1."""
    state = VARIANT.initial()
    movers = []
    for word in WHOLE_GAME.split():
        movers.append(state.to_move)
        state = state.play(word)
        if word == "d3+":
            assert {move[:2] for move in state.legal_moves()} == {"b3", "d4", "d1"}
    assert movers == [0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 0, 1]
    assert state.to_move is None
    assert state.ending() is Termination.NORMAL
    assert state.scores() == (4.0, 1.0)
    assert state.ranks() == (1, 2)


def test_texts_of_the_published_game() -> None:
    """The binding piece, the free choice after a pass, and the finished position."""
    state = VARIANT.initial()
    texts = [state.text()]
    for word in WHOLE_GAME.split():
        state = state.play(word)
        texts.append(state.text())
    assert texts[0] == "......../......../......../........ 1 - 2222/2222"
    assert texts[2] == "......../Bo....../......../W+...... 1 a3o 1222/2212"
    assert texts[4] == "BO....../Bo....../W+....../W+...... 1 a4O 0222/2211"
    assert texts[11] == "BO....Wx/Bo..WOB+/W+WoB+Wo/W+..Bx.. 1 - 0101/0111"
    assert texts[14] == "BOWx..Wx/BoWOWOB+/W+WoB+Wo/W+BOBx.. 1 b1O 0000/0110"
    for text in texts:
        assert VARIANT.read(text).text() == text


@pytest.mark.parametrize(
    ("piece", "reached"),
    [
        ("+", "b1 b3 b4 b5 a2 c2 d2 e2"),
        ("x", "a1 c3 d4 e5 a3 c1"),
        ("><", "a1 b1 c1 a2 c2 a3 b3 c3"),
        ("<>", "d1 e1 d2 e2 d3 e3 a4 b4 c4 d4 e4 a5 b5 c5 d5 e5"),
    ],
)
def test_where_each_type_sends(piece: str, reached: str) -> None:
    """From b2 on 5x5, counted by hand."""
    state = GAME.variant(size="5x5").initial().play("b2" + piece)
    assert {move[:2] for move in state.legal_moves()} == set(reached.split())


def test_nothing_blocks_a_line_of_influence() -> None:
    """A straight piece sends past other pieces, and past the gap of a shape."""
    state = VARIANT.read("......../......../......../W+BxWx.. 1 b1x 1122/2122")
    assert VARIANT.read(state.text()) == state
    state = state.play("a2+").play("a3+")
    # a2 and b1 stand between; from a3 the file goes on to a4, the rank to d3.
    assert {move[:2] for move in state.legal_moves()} == {"a4", "b3", "c3", "d3"}
    ell = GAME.variant(shape="ell").initial().play("a5x")
    # From a5 a diagonal passes over c3, which is missing, to d2.
    assert {move[:2] for move in ell.legal_moves()} == {"b6", "b4", "d2"}
    tee = GAME.variant(shape="tee").initial().play("c2<>").play("a3x")
    assert {move[:2] for move in tee.legal_moves()} == {"b4", "c1"}


@pytest.mark.parametrize(
    ("options", "text", "scores"),
    [
        ({}, "W+W+W+W+/......../......../........", (2.0, 0.0)),
        ({}, "W+W+W+../......../......../........", (1.0, 0.0)),
        ({}, "W+W+..W+/......../......../........", (0.0, 0.0)),
        ({}, "B+....B+/..B+B+../..W+W+../W+....W+", (0.0, 0.0)),
        ({}, "B+....../..B+..../....B+../......B+", (0.0, 2.0)),
        ({}, "......W+/....W+W+/..W+..W+/........", (2.0, 0.0)),
        ({"size": "8x8"}, "W+" * 8 + ("/" + "." * 16) * 7, (6.0, 0.0)),
        ({"size": "5x5"}, "B+" * 5 + "/........B+" * 2 + ("/" + "." * 10) * 2, (0.0, 4.0)),
        ({"shape": "tee"}, "............/..W+W+W+..../####..W+####/####..W+####", (2.0, 0.0)),
        ({"shape": "zig"}, "..W+....####/....W+..####/####..W+..../####....W+..", (2.0, 0.0)),
        (
            {"shape": "ell"},
            "..W+####/..W+####/....####/..W+####/..W+W+W+/B+......",
            (1.0, 0.0),
        ),
        (
            {"shape": "ell"},
            "....####/W+..####/..W+####/....####/......W+/........",
            (0.0, 0.0),
        ),
    ],
    ids=[
        "four in line",
        "three in line",
        "a gap of a free square",
        "corners and centre",
        "a long diagonal",
        "an angle counts twice",
        "eight in line",
        "five and three",
        "two runs around a corner",
        "a diagonal over the step",
        "two and three",
        "a missing square ends a run",
    ],
)
def test_points(options: dict[str, str], text: str, scores: tuple[float, float]) -> None:
    """A maximal run of n >= 3 scores n - 2, in four directions, within the board."""
    board = GAME.variant(**options).board
    assert tuple(map(board.points, board.read(text))) == scores


def test_the_one_more_piece() -> None:
    """White has played its last piece; Black plays one of its two more, and the game is over."""
    state = VARIANT.initial()
    for word in WHOLE_GAME.split()[:-1]:
        state = state.play(word)
    assert state.text().endswith(" 2 b3O 0000/0111")
    assert state.to_move == 1
    for word in state.legal_moves():
        after = state.play(word)
        assert after.to_move is None
        assert after.legal_moves() == []
        assert after.codes() == []


def test_a_last_chance_without_a_square_ends_the_game() -> None:
    """White's last piece pushes from b2, but the free squares a1, b1 and c1 are next to it."""
    state = VARIANT.read("W+BxW+Bo/WxB+WxBO/Wo..WoB+/......WO 1 b3+ 0001/0111").play("b2<>")
    assert state.to_move is None
    assert state.text() == "W+BxW+Bo/WxB+WxBO/WoWOWoB+/......WO 2 b2O 0000/0111"
    assert VARIANT.read(state.text()) == state


def test_other_spellings() -> None:
    """o is >< and O is <>; the engine prints the latter."""
    state = VARIANT.initial()
    assert (state.canonical("b2o"), state.canonical("b2O")) == ("b2><", "b2<>")
    assert state.play("b2o") == state.play("b2><")
    assert state.play("b2O") == state.play("b2<>")
    assert state.play("b2O") != state.play("b2o")


def test_the_first_piece() -> None:
    """With first=edge only the first piece is confined to the rim, also of a shape."""
    edge = GAME.variant(size="5x5", first="edge").initial()
    inner = {file + rank for file in "bcd" for rank in "234"}
    rim = {file + rank for file in "abcde" for rank in "12345"} - inner
    assert {move[:2] for move in edge.legal_moves()} == rim
    assert edge.play("a1<>").is_legal("c3+")
    tee = GAME.variant(shape="tee", first="edge").initial()
    # Every square of the tee has fewer than eight neighbours, but for none at all.
    assert len({move[:2] for move in tee.legal_moves()}) == 16


def test_sizes_and_hands() -> None:
    """W*H div 8 pieces of each type and seat; the plies cannot be more than the pieces."""
    for size, hand in (("4x4", 2), ("5x5", 3), ("6x6", 4), ("8x8", 8), ("6x4", 3), ("5x7", 4)):
        variant = GAME.variant(size=size)
        assert variant.initial().text().split(" ")[3] == f"{str(hand) * 4}/{str(hand) * 4}"
        assert variant.max_plies == 8 * hand
    for shape in ("ell", "tee", "zig"):
        assert GAME.variant(shape=shape).max_plies == 16


def test_a_fault_leaves_the_points() -> None:
    """Who leaves the game loses it, whatever the points, and they stay as they are."""
    state = VARIANT.initial()
    for word in WHOLE_GAME.split()[:-1]:
        state = state.play(word)
    left = state.retire(0)
    assert left.scores() == (4.0, 0.0)
    assert left.ranks() == (2, 1)
    assert left.to_move is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size": "3x4"}, "each 4 to 8"),
        ({"size": "9x4"}, "each 4 to 8"),
        ({"shape": "ring"}, "square, ell, tee, zig"),
        ({"first": "rim"}, "any, edge"),
        ({"size": "5x5", "shape": "ell"}, "size=4x4 only"),
    ],
)
def test_refused_options(options: dict[str, str], message: str) -> None:
    """The message lists what there is."""
    with pytest.raises(OptionError, match=message):
        GAME.variant(**options)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("......../......../......../........ 1 -", "fields"),
        ("......../......../........ 1 - 2222/2222", "3 ranks"),
        ("......../......../......../....... 1 - 2222/2222", "7 characters"),
        ("......../......../......../......w+ 1 - 1222/2222", "d1"),
        ("......../......../......../......W? 1 - 1222/2222", "d1"),
        ("......../......../......../......## 1 - 2222/2222", "d1"),
        ("......../......../......../........ 2 - 2222/2222", "White begins"),
        ("......../......../......../B+...... 1 a1+ 2222/1222", "White begins"),
        ("......../......../......../W+...... 2 a1+ 2222/2222", "pieces in hand"),
        ("......../......../......../W+...... 2 a1+ 1222", "pieces in hand"),
        ("......../......../......../W+...... 2 a1+ 1222/2222/", "pieces in hand"),
        ("......../......../......../W+...... 1 a1+ 1222/2222", "binding"),
        ("......../......../......../W+...... 2 a1x 1222/2222", "binding"),
        ("......../......../......../W+...... 2 b1+ 1222/2222", "binding"),
        ("......../......../......../W+...... 2 a1 1222/2222", "binding"),
        ("......../......../......../Wo...... 2 a1>< 2212/2222", "binding"),
        ("......../......../......../W+...... 2 - 1222/2222", "no pass"),
        ("......../......../......../W+...... 1 - 1222/2222", "no pass"),
        ("......../......../......../W+...... 3 a1+ 1222/2222", "seat to move"),
        ("......../......../......../W+W+W+.. 2 a1+ /222/2222", "3 straight"),
        ("BO....Wx/Bo..WOB+/W+WoB+Wo/W+..Bx.. 2 d4x 0101/0111", "seat 2 passes"),
    ],
)
def test_refused_texts(text: str, reason: str) -> None:
    """A text that is no position is refused with its reason."""
    with pytest.raises(PositionError, match=reason):
        VARIANT.read(text)


def test_missing_squares_are_written() -> None:
    """The text of a shape has ## for the squares that it has not, and nothing else there."""
    ell = GAME.variant(shape="ell")
    text = "....####/....####/....####/....####/......../........ 1 - 2222/2222"
    assert ell.initial().text() == text
    with pytest.raises(PositionError, match="d6"):
        ell.read(text.replace("####", "##..", 1))
    tee, zig = GAME.variant(shape="tee").initial(), GAME.variant(shape="zig").initial()
    assert tee.text().startswith("............/............/####....####/####....#### ")
    assert zig.text().startswith("........####/........####/####......../####........ ")


@pytest.mark.parametrize(
    "move", ["", "a1", "a1+", "c3+", "b1*", "b1 +", "b1<", "b1+" * 9999, "b\u0661+", "e1+", "B1+"]
)
def test_refused_moves(move: str) -> None:
    """Taken squares, squares that the binding piece does not allow, and nonsense are refused."""
    state = VARIANT.initial().play("a1+")
    assert not state.is_legal(move)
    for ask in (state.canonical, state.play):
        with pytest.raises(IllegalMoveError):
            ask(move)


def test_perft() -> None:
    """The rules' numbers; deeper ones are in tests/data/perft."""
    assert [perft(VARIANT.initial(), depth) for depth in (1, 2, 3)] == [64, 1568, 35680]


@pytest.mark.parametrize(
    ("size", "pieces", "lines"),
    [
        ("4x4", "a1 b1", ""),
        ("4x4", "a1 b1 c1", "a1-c1:1"),
        ("4x4", "a1 b2 c3 d4 a4", "a1-d4:2"),
        ("4x4", "a3 b2 c1 a1 a2", "a1-a3:1 c1-a3:1"),
        # Two lines on one rank, with a gap; a run of five is worth three.
        ("8x4", "a2 b2 c2 e2 f2 g2 h2", "a2-c2:1 e2-h2:2"),
        ("5x5", "a5 b4 c3 d2 e1", "e1-a5:3"),
    ],
)
def test_lines_that_score(size: str, pieces: str, lines: str) -> None:
    """By hand, from the rules: a run of n is worth n - 2; their sum is the seat's points."""
    board = Board(size, "square")
    mask = sum(1 << board.names.index(name) for name in pieces.split())
    found = board.lines(mask)
    said = [f"{board.names[start]}-{board.names[end]}:{points}" for start, end, points in found]
    assert sorted(said) == lines.split()
    assert sum(points for _, _, points in found) == board.points(mask)


def test_lines_are_shown_with_their_points() -> None:
    """A game's end shows them, and what they are worth together is the score."""
    random = Random(5)
    state = GAME.variant(size="6x6").initial()
    while moves := state.legal_moves():
        state = state.play(pick(random, moves))
    rows = state.scene().rows
    totals = [
        sum(int(row.points) for row in rows if row.paint == paint) for paint in ("white", "black")
    ]
    assert tuple(map(float, totals)) == state.scores()
    assert sum(totals) > 0


def test_the_scene_says_what_there_is() -> None:
    """The caption says where the mover plays, and those squares are marked."""
    scene = VARIANT.initial().play("b2><").scene()
    assert scene.captions == (
        "Black to move",
        "next to b2",
        "White holds 2 +, 2 x, 1 ><, 2 <>",
        "Black holds 2 +, 2 x, 2 ><, 2 <>",
    )
    marked = sorted(square.name for square in scene.squares if square.shade == "special")
    assert " ".join(marked) == "a1 a2 a3 b1 b3 c1 c2 c3"
    assert [piece.words for piece in scene.pieces] == ["white pull piece"]


@pytest.mark.parametrize(
    ("options", "title"),
    [
        ({"size": "6x4"}, "Mijnlieff 6x4: White to move, anywhere"),
        ({"first": "edge"}, "Mijnlieff 4x4: White to move, on the rim"),
        ({"shape": "ell", "first": "edge"}, "Mijnlieff ell: White to move, anywhere"),
        ({"shape": "tee"}, "Mijnlieff tee: White to move, anywhere"),
    ],
)
def test_the_title_names_the_board(options: dict[str, str], title: str) -> None:
    """A board in another outline is no square of 4x4, and who only hears of it should know."""
    assert GAME.variant(**options).initial().scene().title == title


@pytest.mark.parametrize(
    ("white", "black", "prospects"),
    [
        # Counted on paper: a corner is in three threes of a 4x4 board, a square in its middle in
        # seven: two along its rank, two along its file, two on the long diagonal, one across it.
        ("a1", "", 3),
        ("b2", "", 7),
        # Both, and together in one of the corner's and the middle's, which counts for each.
        ("a1 b2", "", 10),
        # Without those of b2 in which c2 is: its rank's, both.
        ("b2", "c2", 5),
        # Nothing is left to a corner whose three neighbours are the other's.
        ("a1", "a2 b2 b1", 0),
    ],
)
def test_prospects(white: str, black: str, prospects: int) -> None:
    """Pieces in threes that may still come."""
    board = GAME.variant().board

    def pieces(squares: str) -> int:
        return sum(1 << board.code_of[f"{square}+"] for square in squares.split())

    assert board.prospects(pieces(white), pieces(black)) == prospects


def test_the_outlook_goes_by_points_and_prospects() -> None:
    """A row that is there counts more than one that may come, and equals hope for a half."""
    start = GAME.variant().initial()
    assert start.outlook() == (0.5, 0.5)
    corner, middle = (start.play(move).outlook()[0] for move in ("a1+", "b2+"))
    assert 0.5 < corner < middle < 1
