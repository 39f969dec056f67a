"""Blokus: the pieces, worked examples, and whole games beside a slow second implementation."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from engine.game import IllegalMoveError, OptionError, PositionError, State, Termination
from engine.games.blokus.board import board
from engine.games.blokus.game import GAME
from engine.games.blokus.polyominoes import ALL, NAMES, SIZES, of_size, squares_in
from engine.scene import Body
from tests.engine.games.oracle_blokus import BlokusOracle

NAMES_IN_ORDER = "1,2,I3,V3,I4,L4,O4,T4,Z4,F,I5,L5,N,P,T5,U,V5,W,X,Y,Z5"
MODES = ["classic", "teams", "duel", "trio"]

OPENING = ("blue:a1,a2,b2", "yellow:t20", "red:a20,b20", "green:s1,t1")


def without(*placed: str) -> str:
    """The remaining pieces of a colour that placed some."""
    return ",".join(name for name in NAMES_IN_ORDER.split(",") if name not in placed)


# The position after OPENING, written down by hand.
OPENED = (
    f"RR17Y/{'20/' * 17}BB18/B17GG b "
    f"{without('V3')}/{without('1')}/{without('2')}/{without('2')} V3/1/2/2 -"
)


def opened(mode: str = "classic") -> State:
    """The position after OPENING."""
    state: State = GAME.variant(mode=mode).initial()
    for move in OPENING:
        state = state.play(move)
    return state


def test_the_pieces_are_the_free_polyominoes_of_up_to_five_squares() -> None:
    """1, 1, 2, 5 and 12 of them, 89 squares a colour, in the order of the position text."""
    assert Counter(SIZES) == {1: 1, 2: 1, 3: 2, 4: 5, 5: 12}
    assert squares_in(ALL) == 89
    assert ",".join(NAMES) == NAMES_IN_ORDER


def test_there_are_91_orientations() -> None:
    """The number given with the rules; by size the fixed polyominoes, OEIS A001168."""
    shapes = board(20, 20).piece_of
    assert len(shapes) == 91
    assert Counter(shape.bit_count() for shape in shapes) == {1: 1, 2: 2, 3: 6, 4: 19, 5: 63}


def test_placements_without_seeds_are_all_that_stay_on_the_board() -> None:
    """Tetrominoes on 8x10, by hand: 106 I, 440 L, 63 O, 220 T and 220 Z."""
    table = board(8, 10)
    counts: Counter[str] = Counter()
    for shape, anchors in table.placements(table.full, table.full, of_size(4)):
        counts[NAMES[table.piece_of[shape]]] += anchors.bit_count()
    assert counts == {"I4": 106, "L4": 440, "O4": 63, "T4": 220, "Z4": 220}


@pytest.mark.parametrize("corners", ["free", "fixed"])
@pytest.mark.parametrize("mode", MODES)
def test_random_games_agree_with_the_oracle(mode: str, corners: str) -> None:
    """Turns, texts, ends, scores and ranks at every ply, legal moves at every fifth."""
    random = Random(f"{mode} {corners}")
    variant = GAME.variant(mode=mode, corners=corners)
    state, oracle = variant.initial(), BlokusOracle(mode, corners)
    ply = 0
    while True:
        assert state.text() == oracle.text()
        assert state.to_move == (None if oracle.colour is None else oracle.to_move() - 1)
        assert variant.read(state.text()) == state
        moves = list(state.legal_moves())
        if ply % 5 == 0:
            assert moves == oracle.legal_moves()
        if not moves:
            break
        if mode in ("classic", "trio") and random.random() < 0.03:
            seat = int(random.random() * variant.seats)
            state = state.retire(seat)
            oracle.retire(seat + 1)
            continue
        # Large pieces first, as people play, so that the small ones decide the end.
        large = [move for move in moves if random.random() < 0.3 or move.count(",") == 4]
        move = random.choice(large or moves)
        state = state.play(move)
        oracle.play(move)
        ply += 1
    assert list(state.scores()) == oracle.scores()
    assert list(state.ranks()) == oracle.ranks()


@pytest.mark.parametrize("seed", range(3))
def test_the_fast_playout_scores_as_played_games_do(seed: int) -> None:
    """A playout gives the scores of the same random numbers played code by code."""
    state = opened("trio").retire(seed)
    slow = state
    random = Random(seed)
    while codes := slow.codes():
        slow = slow.play_code(codes[int(random.random() * len(codes))])
    assert state.playout(Random(seed)) == slow.scores()


def test_a_move_names_its_squares_by_file_then_rank() -> None:
    """Any order is accepted; ranks are ordered as numbers, not as text."""
    state = GAME.variant().initial()
    assert state.canonical("blue:b2,a1,a2") == "blue:a1,a2,b2"
    assert state.play("blue:b2,a1,a2") == state.play("blue:a1,a2,b2")
    table = board(20, 20)
    assert table.write(table.read("b2,a10,a9")) == "a9,a10,b2"


def test_position_text_of_an_opening() -> None:
    """The text of four first moves is the one written by hand, and reads back equal."""
    state = opened()
    assert state.text() == OPENED
    assert state.variant.read(OPENED) == state
    assert hash(state.variant.read(OPENED)) == hash(state)


@pytest.mark.parametrize("move", ["blue:c3", "blue:c1,d1", "blue:d3,c3", "blue:b3,c3,d3"])
def test_corner_to_corner_is_legal(move: str) -> None:
    """Beside the V of blue; the last touches it edge to edge as well, which is not."""
    assert opened().is_legal(move) == (move != "blue:b3,c3,d3")


@pytest.mark.parametrize(
    ("move", "reason"),
    [
        ("blue:c2", "touches a blue piece edge to edge"),
        ("blue:d4", "touches no blue piece corner to corner"),
        ("blue:a1", "covered already"),
        ("blue:c3,c4,d4", "blue has no V3 left"),
        ("blue:c3,e3", "not connected"),
        ("blue:c3,d4", "not connected"),
        ("blue:a20,b1", "not connected"),
        ("yellow:s19", "it is blue's turn"),
        ("blue:c3,c3", "a move is a colour and"),
        ("blue:c3,c4,c5,c6,c7,c8", "a move is a colour and"),
        ("blue:c3,", "a move is a colour and"),
        ("blue:u3", "a move is a colour and"),
        ("blue:c21", "a move is a colour and"),
        ("blue:c03", "a move is a colour and"),
        ("blue:c\uff13", "a move is a colour and"),
        ("blue:", "a move is a colour and"),
        ("Blue:c3", "a move is a colour and"),
        ("c3", "a move is a colour and"),
        ("stop", "a move is a colour and"),
        ("", "a move is a colour and"),
        ("blue:" + "c3," * 100_000, "a move is a colour and"),
    ],
)
def test_refused_moves(move: str, reason: str) -> None:
    """Each with its reason, from the position after OPENING."""
    state = opened()
    assert not state.is_legal(move)
    with pytest.raises(IllegalMoveError, match=reason):
        state.play(move)


def test_first_pieces_start_in_corners() -> None:
    """Any free corner, or with corners=fixed the colour's own: a20, t20, t1, a1."""
    free = GAME.variant().initial()
    assert all(free.is_legal(f"blue:{corner}") for corner in ("a1", "a20", "t1", "t20"))
    assert not free.is_legal("blue:j10")
    assert not free.play("blue:a1").is_legal("yellow:a1")
    fixed: State = GAME.variant(corners="fixed").initial()
    with pytest.raises(IllegalMoveError, match="a corner of the board that is open to it"):
        fixed.play("blue:a1")
    for move in ("blue:a20", "yellow:t20", "red:t1", "green:a1"):
        fixed = fixed.play(move)
    assert fixed.to_move == 0


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("RR17Y", "RR18Y", "rank 20 has 21 squares"),
        ("RR17Y/", "", "19 ranks"),
        ("RR17Y", "RR17X", "rank 20"),
        (" b ", " y ", "not yellow's turn"),
        (" b ", " - ", "the game is not over: blue can place"),
        (" b ", " * ", "the colour to move is"),
        (" b ", " B ", "the colour to move is"),
        (without("V3"), NAMES_IN_ORDER, "blue covers 3 squares"),
        (without("V3"), without("I3"), "are not its pieces"),
        (without("V3"), without("V3", "I3"), "blue covers 3 squares"),
        (without("V3"), "-", "blue covers 3 squares"),
        (without("V3"), "2,1," + without("V3", "1", "2"), "in this order"),
        (without("V3"), "1," + without("V3"), "in this order"),
        (without("V3"), without("V3") + ",Q5", "in this order"),
        (without("V3") + "/", "", "separated by three"),
        ("BB18/B17GG", "BB18/2B15GG", "are not its pieces"),
        ("BB18", "BBB17", "blue covers 4 squares"),
        ("V3/1/2/2", "-/1/2/2", "last piece must be one of those it placed: V3"),
        ("V3/1/2/2", "I5/1/2/2", "last piece must be one of those it placed: V3"),
        ("V3/1/2/2", "B/1/2/2", "the last piece is 'B'"),
        ("V3/1/2/2", "V3/1/2", "separated by three"),
        ("V3/1/2/2 -", "V3/1/2/2", "5 fields"),
        ("V3/1/2/2 -", "V3/1/2/2 0", "the seats out are '0'"),
        ("V3/1/2/2 -", "V3/1/2/2 5", "the seats out are '5'"),
        ("V3/1/2/2 -", "V3/1/2/2 2,2", "the seats out are '2,2'"),
        ("V3/1/2/2 -", "V3/1/2/2 1,2,3,4", "the seats out are '1,2,3,4'"),
        ("V3/1/2/2 -", "V3/1/2/2 1", "blue is out"),
        ("V3/1/2/2 -", "V3/1/2/2 2,3,4", "blue is out"),
    ],
)
def test_refused_positions(old: str, new: str, reason: str) -> None:
    """Texts that differ from a sound one in one place."""
    assert OPENED.count(old) >= 1
    with pytest.raises(PositionError, match=reason):
        GAME.variant().read(OPENED.replace(old, new, 1))


def test_seats_out_exist_only_where_others_play_on() -> None:
    """A position of two sides has none: a fault ends the game, and stands in the record."""
    classic = GAME.variant().read(OPENED[:-1] + "3,2")
    assert classic == opened().retire(2).retire(1)
    with pytest.raises(PositionError, match="always '-'"):
        GAME.variant(mode="teams").read(OPENED[:-1] + "2")


def test_a_leaver_ranks_behind_all_who_stay() -> None:
    """Its colour is skipped, an earlier leaver is behind a later one, and one stayer ends it."""
    state = opened().retire(1).retire(0)
    assert state.to_move == 2
    assert state.retire(1) == state, "it left before"
    after = state.play("red:c19").play("green:r2")
    assert after.to_move == 2, "blue and yellow are skipped"
    assert state.ending() is None
    over = state.retire(3)
    assert over.ending() is Termination.NORMAL
    assert over.to_move is None
    assert over.ranks() == (3, 4, 1, 2)
    assert over.scores() == (-86.0, -88.0, -87.0, -87.0)
    assert over.text() == OPENED.replace(" b ", " - ")[:-1] + "2,1,4"
    assert over.variant.read(over.text()) == over
    assert over.retire(2) == over


@pytest.mark.parametrize(
    ("mode", "seat", "ranks", "scores"),
    [
        ("duel", 0, (2, 1), (-86 - 87, -88 - 87)),
        ("duel", 1, (1, 2), (-86 - 87, -88 - 87)),
        ("teams", 0, (2, 1, 2, 1), (-86, -88, -87, -87)),
        ("teams", 3, (1, 2, 1, 2), (-86, -88, -87, -87)),
    ],
)
def test_between_two_sides_a_fault_ends_the_game(
    mode: str, seat: int, ranks: tuple[int, ...], scores: tuple[int, ...]
) -> None:
    """The side of the fault loses whatever the scores, which stay as they are."""
    over = opened(mode).retire(seat)
    assert over.to_move is None
    assert over.ranks() == ranks
    assert over.scores() == scores
    assert over.text() == OPENED


@pytest.mark.parametrize(
    ("leaver", "players"),
    [(None, [0, 1, 2, 0, 1]), (0, [1, 1, 2, 1, 1]), (1, [0, 2, 2, 0, 2]), (2, [0, 1, 0, 0, 1])],
)
def test_green_of_trio_is_played_in_rotation(leaver: int | None, players: list[int]) -> None:
    """The number of green pieces says whose turn it is; that of a leaver falls to the next seat."""
    state: State = GAME.variant(mode="trio").initial()
    if leaver is not None:
        state = state.retire(leaver)
    greens = []
    while len(greens) < len(players):
        move = state.legal_moves()[0]
        if move.startswith("green"):
            assert state.to_move is not None
            greens.append(state.to_move)
        state = state.play(move)
    assert greens == players


# All 21 pieces of blue on the board, the other seats gone.
MONOMINO_LAST = (
    "BB4BB4B7/1BB3BB3BBB6/1B3B1B1BB5B3/B1BBBB3B6BBB1/B5B2BB1BBB1B3/BBB2BBBB2B2BB4/3B6BBB3BB2/"
    "3B7B3BB3/10B4B4/16B3/16B3/16B3/7B8B3/6BB2BBBB2B3/8BB4BB1B2/8BB4B2B2/13BB2B2/11BB2B4/"
    "12BB1B4/15BB3"
)


@pytest.mark.parametrize(("last", "score"), [("1", 20.0), ("2", 15.0), ("X", 15.0)])
def test_all_pieces_placed_score_15_and_the_single_square_last_5_more(
    last: str, score: float
) -> None:
    """The scores of blue with nothing left, and of the others with everything left."""
    others = "/".join([NAMES_IN_ORDER] * 3)
    over = GAME.variant().read(f"{MONOMINO_LAST} - -/{others} {last}/-/-/- 2,3,4")
    assert over.scores() == (score, -89.0, -89.0, -89.0)
    assert over.ranks() == (1, 4, 3, 2)


def test_the_seats_of_each_mode() -> None:
    """Seats, sides and entrants as the rules have them; 84 pieces are the most plies."""
    for mode, sides in (
        ("classic", (0, 1, 2, 3)),
        ("teams", (0, 1, 0, 1)),
        ("duel", (0, 1)),
        ("trio", (0, 1, 2)),
    ):
        variant = GAME.variant(mode=mode)
        assert variant.seats == len(variant.seat_names) == len(sides)
        assert variant.side_of == variant.entrant_of == sides
        assert variant.max_plies == 84
    assert {str(variant) for variant in GAME.offered} == {
        "blokus mode=classic corners=free",
        "blokus mode=teams corners=free",
        "blokus mode=duel corners=free",
        "blokus mode=trio corners=free",
        "blokus mode=classic corners=fixed",
    }


def test_unknown_modes_are_refused() -> None:
    """The message lists those there are."""
    with pytest.raises(OptionError, match="classic, teams, duel, trio"):
        GAME.variant(mode="quartet")


def test_the_scene_shows_every_piece_and_whose_turn_it_is() -> None:
    """Each connected area of a colour is one polyomino with the piece's name."""
    scene = opened("trio").scene()
    assert len(scene.squares) == 400
    assert {piece.body for piece in scene.pieces} == {Body.POLYOMINO}
    assert {(piece.words, piece.squares) for piece in scene.pieces} == {
        ("blue V3", ("a1", "a2", "b2")),
        ("yellow 1", ("t20",)),
        ("red 2", ("a20", "b20")),
        ("green 2", ("s1", "t1")),
    }
    assert scene.captions == ("Blue to move", "Left: blue 86, yellow 88, red 87, green 87")
    green = opened("trio").play("blue:c3").play("yellow:s18,s19").play("red:c19").scene()
    assert green.captions[0] == "Green to move, played by Yellow"
    over = opened().retire(1).retire(0).retire(3).scene()
    assert over.captions[0] == (
        "Over: Blue -86, Yellow -88, Red -87, Green -87, Yellow left the game, "
        "Blue left the game, Green left the game"
    )
