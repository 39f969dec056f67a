"""Oxono: worked examples, hand counts, and whole games beside a slow second implementation."""

from __future__ import annotations

from random import Random

import pytest

from engine.board import bits_of, mask_of, read_ranks
from engine.game import IllegalMoveError, OptionError, PositionError, Termination
from engine.games.oxono import GAME, OxonoState
from engine.games.oxono.board import BOARD, NAMES, completing, prospects
from engine.perft import perft
from tests.engine.games import oracle_oxono as oracle

VARIANT = GAME.variant(totems="xc4")


def same(state: OxonoState, position: oracle.Position) -> None:
    """Asserts that two implementations agree on everything about a position."""
    assert state.text() == position.text()
    assert list(state.legal_moves()) == sorted(position.moves())
    assert {state.word(code) for code in state.codes()} == set(position.moves())
    scores = position.scores()
    assert state.to_move == (position.seat - 1 if scores is None else None)
    if scores is not None:
        assert state.scores() == scores


@pytest.mark.parametrize("totems", ["xc4", "xd3"])
@pytest.mark.parametrize("seed", range(10))
def test_random_games_agree_with_the_oracle(totems: str, seed: int) -> None:
    """Moves, texts, ends and scores are those of the rules, ply for ply."""
    random = Random(seed)
    state, position = GAME.variant(totems=totems).initial(), oracle.initial(totems)
    same(state, position)
    while moves := position.moves():
        word = random.choice(sorted(moves))
        state, position = state.play(word), position.play(word)
        same(state, position)
    assert state.ending() is Termination.NORMAL


def crowded(random: Random) -> str:
    """A position text with up to 16 pieces a seat on random squares, and no row of four."""
    squares = oracle.SQUARES.copy()
    random.shuffle(squares)
    board = {squares[0]: "*", squares[1]: "@"}
    wanted = random.randrange(14, 33)
    for count, square in enumerate(squares[2:]):
        seat = count % 2 + 1
        if count == wanted:
            return oracle.Position(board, seat).text()
        for symbol in random.sample("XO", 2):
            piece = symbol if seat == 1 else symbol.lower()
            after = oracle.Position(board | {square: piece}, seat)
            alike = {symbol, symbol.lower()}.__contains__
            own = str.isupper if seat == 1 else str.islower
            if (
                list(board.values()).count(piece) < 8
                and not after.row_through(square, alike)
                and not after.row_through(square, own)
            ):
                board[square] = piece
                break
        else:
            return oracle.Position(board, seat).text()
    return oracle.Position(board, 1).text()


@pytest.mark.parametrize("seed", range(40))
def test_crowded_positions_agree_with_the_oracle(seed: int) -> None:
    """Shut-in totems jump as they should, and every move of the position ends where it should."""
    text = crowded(Random(seed))
    state, position = VARIANT.read(text), oracle.read(text)
    same(state, position)
    for word in position.moves():
        same(state.play(word), position.play(word))


def test_the_published_jump() -> None:
    """The O totem on e4 is enclosed and jumps in three directions: 20 moves, 8 of them with O."""
    state = VARIANT.read("6/2*1Xx/2Xx@O/4Oo/6/6 2")
    moves = state.legal_moves()
    assert len(moves) == 20
    assert [move for move in moves if move[0] == "O"] == (
        ["Ob4a4", "Ob4b3", "Ob4b5", "Oe2d2", "Oe2e1", "Oe2f2", "Oe6d6", "Oe6f6"]
    )


def test_an_enclosed_landing_frees_the_piece() -> None:
    """From a1 X jumps to c1, which is shut in too, or to a3: 30 and 3 places for the piece."""
    state = VARIANT.read("5@/6/6/6/X1x3/*o1O2 1")
    moves = state.legal_moves()
    to_c1 = [move for move in moves if move.startswith("Xc1")]
    # 36 squares without four pieces and two totems; the square just left is free.
    assert len(to_c1) == 30
    assert "Xc1a1" in to_c1
    assert [move for move in moves if move.startswith("Xa3")] == ["Xa3a4", "Xa3b3"]
    # O slides from f6 to five squares on each edge: 3 free neighbours, 2 at the far end.
    assert len(moves) == 30 + 2 + 2 * (4 * 3 + 2)


def test_a_totem_in_full_lines_goes_anywhere() -> None:
    """With rank 1 and file a full, X goes from a1 to any free square, 24 of them."""
    state = VARIANT.read("X5/x5/O2@2/o5/X5/*oXxOo 1")
    moves = state.legal_moves()
    by_x = [move for move in moves if move[0] == "X"]
    assert len({move[1:3] for move in by_x}) == 24
    # The free squares are b2-f6 without d4: 80 ordered neighbours in 5x5, 8 of them with d4.
    assert len(by_x) == 72
    # O on d4 slides to four squares with four free neighbours and four with three.
    assert len(moves) - len(by_x) == 4 * 4 + 4 * 3


def test_no_totem_without_a_piece_of_its_symbol() -> None:
    """White has all its X on the board, so only O can be moved."""
    state = VARIANT.read("XXoXX1/oXxoXo/1x1X1x/X2*1@/x5/6 1")
    assert {move[0] for move in state.legal_moves()} == {"O"}
    assert not state.is_legal("Xe3e2")


@pytest.mark.parametrize(
    ("text", "move", "scores"),
    [
        ("6/6/3@2/3*2/xox3/XOX3 1", "Xd2d1", (1.0, 0.0)),
        ("6/6/3@2/3*2/xox3/XOX3 1", "Xd2e2", None),
        ("6/6/3@2/3*2/xox1xo/XOX1XO 1", "Xd2d1", (1.0, 0.0)),
        ("o3@O/1o1*2/6/2X3/2X3/2X2x 2", "Xd4c4", (0.0, 1.0)),
        ("6/6/3@*1/6/xo1x2/XO1X2 1", "Xe2e1", None),
        ("6/6/3@2/4*1/xo4/XO4 1", "Od1c1", None),
    ],
    ids=[
        "four of one colour in a rank",
        "three in a rank",
        "six are more than four",
        "four of one symbol in a file, three of them the other's",
        "a gap is no row",
        "a totem is no part of a row",
    ],
)
def test_rows(text: str, move: str, scores: tuple[float, float] | None) -> None:
    """Four in an unbroken row of one colour or one symbol win for the seat that completes it."""
    state = VARIANT.read(text).play(move)
    assert (state.to_move is None) == (scores is not None)
    if scores is not None:
        assert state.scores() == scores
        assert state.legal_moves() == []
        assert state.codes() == []
        assert not state.is_legal("Xd3c3")
        assert VARIANT.read(state.text()) == state


def test_the_lot() -> None:
    """An even seed puts X on c4, an odd one on d3, and the state names what was drawn."""
    lot = GAME.variant()
    assert str(lot) == "oxono totems=random"
    for seed, drawn in ((0, "xc4"), (1, "xd3"), (2, "xc4"), (12345, "xd3")):
        assert lot.drawn(seed) == GAME.variant(totems=drawn)
        assert lot.initial(seed) == GAME.variant(totems=drawn).initial()
        assert lot.initial(seed).variant == lot.drawn(seed)
        assert lot.read(lot.initial(seed).text()) == lot.initial(seed)
        assert hash(lot.read(lot.initial(seed).text())) == hash(lot.initial(seed))
    assert lot.initial(0).text() == "6/6/2*3/3@2/6/6 1"
    assert lot.initial(1).text() == "6/6/2@3/3*2/6/6 1"
    assert VARIANT.drawn(1) == VARIANT
    assert VARIANT.initial(1) == VARIANT.initial(0)


def test_a_board_without_a_row_is_drawn() -> None:
    """With all 32 pieces placed and no row the game is a draw."""
    random = Random(7)
    text = next(text for _ in range(10_000) if sum(map(str.isalpha, text := crowded(random))) == 32)
    state = VARIANT.read(text)
    assert text.endswith(" 1")
    assert state.ending() is Termination.NORMAL
    assert state.legal_moves() == []
    assert state.scores() == (0.5, 0.5)
    assert state.ranks() == (1, 1)
    assert "draw" in state.scene().title


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("6/6/2*3/3@2/6/6", "fields"),
        ("6/6/2*3/3@2/6 1", "5 ranks"),
        ("6/6/2*3/3@3/6/6 1", "7 squares"),
        ("6/6/2*3/3@w1/6/6 1", "rank 3"),
        ("6/6/2*3/6/6/6 1", "the O totem"),
        ("6/6/2*3/3@*1/6/6 1", "the X totem"),
        ("6/6/2*3/3@2/6/6 2", "turn"),
        ("6/6/2*3/3@2/6/X5 1", "turn"),
        ("6/6/2*3/3@2/6/x5 2", "turn"),
        ("6/6/2*3/3@2/6/6 3", "seat"),
        ("XXoXX1/oXxoXo/1x1X1x/X2*1@/x5/5X 2", "9 pieces X"),
        ("6/6/2*3/3@2/xo1xo1/XOXX2 1", "seat 1 has a row"),
        ("6/6/2*3/3@2/xoox2/XO1XXO 2", "seat 2 has a row"),
    ],
)
def test_refused_texts(text: str, reason: str) -> None:
    """A text that is no position is refused with its reason."""
    with pytest.raises(PositionError, match=reason):
        VARIANT.read(text)


@pytest.mark.parametrize(
    "move",
    [
        "",
        "Xd5",
        "Xd4d4",
        "xd4d5",
        "Xd4 d5",
        "Xc4c5",
        "Xa1a2",
        "Xd5c5" * 9999,
        "Xd4d\u0665",
        "Xg4g5",
    ],
)
def test_refused_moves(move: str) -> None:
    """What is no move in the first position is refused by every way of asking."""
    state = VARIANT.initial()
    assert not state.is_legal(move)
    for ask in (state.canonical, state.play):
        with pytest.raises(IllegalMoveError):
            ask(move)


def test_unknown_options_are_refused() -> None:
    """The message lists what there is."""
    with pytest.raises(OptionError, match="random, xc4, xd3"):
        GAME.variant(totems="c4")


def test_perft() -> None:
    """The rules' numbers from either start; deeper ones are in tests/data/perft."""
    for totems in ("xc4", "xd3"):
        assert [perft(GAME.variant(totems=totems).initial(), depth) for depth in (1, 2)] == [
            68,
            3612,
        ]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("6/6/2*3/3@2/6/6 1", []),
        # Four White pieces of both symbols; then five, of which one closed the gap.
        ("6/6/2*3/3@2/xo1o2/XOXO2 2", [("a1", "d1")]),
        ("6/6/2*3/3@2/xo1x1o/XOXOO1 2", [("a1", "e1")]),
        # Four X along the rank, and four of White's along the file, at once.
        ("5@/3X2/3O2/3O2/xxxX2/5* 2", [("a2", "d2"), ("d2", "d5")]),
    ],
)
def test_rows_that_won_are_shown(text: str, rows: list[tuple[str, str]]) -> None:
    """By hand: of a colour or of a symbol, each once and whole."""
    found = [(row.start, row.end) for row in VARIANT.read(text).scene().rows]
    assert sorted(found) == sorted(rows)


def test_the_scene_says_what_there_is() -> None:
    """Totems and pieces have words, and the captions say who is to move and what is in hand."""
    state = VARIANT.initial().play("Xd4e4")
    scene = state.scene()
    assert {piece.words: piece.squares for piece in scene.pieces} == {
        "X totem": ("d4",),
        "O totem": ("d3",),
        "white X piece": ("e4",),
    }
    assert scene.captions == (
        "Black to move",
        "White holds 7 X, 8 O",
        "Black holds 8 X, 8 O",
    )


@pytest.mark.parametrize("seed", range(10))
def test_the_outlook_knows_who_wins_at_once(seed: int) -> None:
    """It says so exactly where a move wins."""
    random = Random(seed)
    state = GAME.variant().initial(seed)
    while state.to_move is not None:
        codes = state.codes()
        wins = any(state.play_code(code).won for code in codes)
        assert (state.outlook()[state.to_move] == 1.0) is wins
        state = state.play_code(codes[int(random.random() * len(codes))])


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [
        ("6/6/6/6/6/XXX3", {"d1"}),
        ("6/6/6/6/6/1XXX2", {"a1", "e1"}),
        ("6/6/6/6/6/XX1X2", {"c1"}),
        ("6/6/6/6/6/X1XX1X", {"b1", "e1"}),
        ("6/6/6/6/6/XXXx2", set()),  # another's piece stands there
        ("6/6/X5/X5/X5/6", {"a1", "a5"}),
        ("6/6/3XXX/6/6/6", {"c4"}),  # no row goes round the rim
    ],
)
def test_squares_that_complete_a_row(ranks: str, expected: set[str]) -> None:
    """Counted by hand."""
    cells = read_ranks(ranks, 6, 6, "Xx")
    pieces = mask_of(cells, "X")
    found = completing(pieces, BOARD & ~mask_of(cells, "Xx"))
    assert {NAMES[bit] for bit in bits_of(found)} == expected


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [
        ("6/6/6/6/6/6", 0),
        ("6/6/6/6/6/X5", 2),  # a1-d1 and a1-a4
        ("6/6/6/6/2X3/6", 3 + 2),  # three rows of its rank, two of its file
        ("6/6/6/6/6/X2x2", 1),  # a1-a4
        ("6/6/6/6/6/XX4", 2 + 1 + 1 + 1),  # both in a1-d1, one in b1-e1, and their files
    ],
)
def test_prospects_count_pieces_in_open_rows(ranks: str, expected: int) -> None:
    """Counted by hand."""
    cells = read_ranks(ranks, 6, 6, "Xx")
    assert prospects(mask_of(cells, "X"), mask_of(cells, "x")) == expected
