"""The Siege of Paris, sentence by sentence of its rules."""

from __future__ import annotations

import re

import pytest

from engine.board import bits_of
from engine.game import IllegalMoveError, OptionError, Termination
from engine.games.siege.board import NAMES, PIECES, PLACES, PLACINGS, board_of
from engine.games.siege.game import GAME, SiegeState
from engine.games.siege.turns import ARMY
from tests.engine.games import oracle_siege as oracle
from tests.engine.games.positions_siege import FAR, IN, LAST, ROUND_TRIP, START, at, play, text_of

OPTIONS = {
    "seats": ("3", "2"),
    "setup": ("free", "fixed"),
    "soldiers": ("2", "3"),
    "retreat": ("no", "yes"),
    "protection": ("any", "able"),
    "demand": ("yes", "no"),
}


def ends_from(state: SiegeState, place: str) -> set[str]:
    """Where the piece on a place may go."""
    moves = (re.fullmatch(f"{place}([a-l][0-9]+)!?", move) for move in state.legal_moves())
    return {move[1] for move in moves if move}


# The set-up and the seats.


def test_the_game_begins_with_56_placings():
    """Yellow may place a general, a colonel and six soldiers in 8 x 7 ways; then it moves."""
    state = GAME.variant().initial()
    assert state.text() == f"{START} ........ setup - 0 0"
    assert (state.to_move, len(state.legal_moves())) == (0, 56)
    placed = state.play("=SSGSSCSS")
    assert placed.text() == f"{START} yyYyyZyy y1 - 0 1"
    assert (placed.to_move, placed.legal_moves()) == (0, ["d8c8", "d9c9", "i8j8", "i9j9"])


def test_with_a_fixed_set_up_yellow_has_the_first_move():
    """The general is on d9 and the colonel on i8, and no ply was played."""
    state = GAME.variant(setup="fixed").initial()
    assert state.text() == f"{START} YyyyyyyZ y1 - 0 0"


def test_each_option_has_two_values():
    """The first is the default; anything else is refused."""
    assert dict(GAME.variant().options) == {key: values[0] for key, values in OPTIONS.items()}
    for key, values in OPTIONS.items():
        for value in values:
            assert GAME.variant(**{key: value}).options[key] == value
        with pytest.raises(OptionError):
            GAME.variant(**{key: "4"})


def test_all_moves_are_those_of_each_piece_alone():
    """With a demand or without, and Yellow's placings; captures go where Yellow steps, too."""
    variant = GAME.variant(retreat="yes")
    possible = set()
    for letter, (army, _) in PIECES.items():
        for bit in bits_of(PLACES):
            board = board_of({NAMES[bit]: letter})
            for lows, pair in variant.bundles(board, ARMY.index(army), demanded=False):
                for low in bits_of(lows):
                    possible.add((NAMES[bit], NAMES[(pair << low ^ 1 << bit).bit_length() - 1]))
    steps = {start + end for start, end in possible}
    told = set(variant.all_moves())
    assert told == steps | {step + "!" for step in steps} | set(PLACINGS)
    plain = GAME.variant(retreat="yes", demand="no", setup="fixed")
    assert set(plain.all_moves()) == steps


@pytest.mark.parametrize(
    ("seats", "names", "sides", "turns"),
    [
        ("3", ("Yellow", "White", "Black"), (0, 1, 1), [0, 0, 1, 0, 2, 0, 1]),
        ("2", ("Yellow", "White and Black"), (0, 1), [0, 0, 1, 0, 1, 0, 1]),
    ],
)
def test_white_and_black_are_one_side_and_with_two_seats_one_seat(seats, names, sides, turns):
    """Yellow moves before each of them, in either case."""
    state = GAME.variant(seats=seats).initial()
    assert (state.variant.seat_names, state.variant.side_of) == (names, sides)
    assert state.variant.entrant_of == tuple(range(int(seats)))
    for turn in turns:
        assert state.to_move == turn
        state = state.play(state.legal_moves()[0])


# The attackers on the squares.


@pytest.mark.parametrize(
    ("pieces", "turn", "start", "ends"),
    [
        ("Ge3", "w", "e3", "e4 e5 f4 g5 d4 c5 b6 f3 g3 h3 d3 c3 b3"),
        ("Gf4", "w", "f4", "f5 g5 e5 e4 d4 c4 g4 h4 i4"),
        ("ge14", "b", "e14", "e13 e12 f13 g12 d13 c12 b11 f14 g14 h14 d14 c14 b14"),
        ("Cb2", "w", "b2", "b3 b4 a2 c2 d2"),
        ("cb8", "b", "b8", "b7 b6 a8 c8"),
        ("Kb2", "w", "b2", "b3 a2 c2"),
        ("kb8", "b", "b8", "b7 a8 c8"),
        ("Lh3", "w", "h3", "g4 f5 i4 j5"),
        ("Ld5", "w", "d5", "c6 b7"),
        ("li12", "b", "i12", "j11 k10"),
        ("Sl5", "w", "l5", "k6"),
        ("sk5", "b", "k5", "j4 l4"),
        ("Gl16", "w", "l16", ""),
        ("Gi16", "w", "i16", "h16 g16 f16 j16"),
        ("Ge3 Sf4 sc5", "w", "e3", "e4 e5 d4 f3 g3 h3 d3 c3 b3"),
        ("Ge3 ye4 yc3", "w", "e3", "f4 g5 d4 c5 b6 f3 g3 h3 d3"),
        ("Gb9 Yb1", "w", "b9", "b10 b11 b12 c10 a10 a9 c9"),
    ],
)
def test_attackers_go_straight_over_empty_squares(pieces, turn, start, ends):
    """Each kind has its directions and reach; no retreat, no capture, nothing is crossed."""
    assert ends_from(at(pieces + FAR, turn), start) == set(ends.split())


@pytest.mark.parametrize(
    ("pieces", "turn", "start", "ends"),
    [
        ("Ge3", "w", "e3", "e4 e5 f4 g5 d4 c5 b6 f3 g3 h3 d3 c3 b3 e2 e1 f2 g1 d2 c1"),
        ("cb8", "b", "b8", "b7 b6 a8 c8 b9 b10"),
        ("Sb5", "w", "b5", "a6 c6 a4 c4"),
    ],
)
def test_attackers_may_retreat_where_the_option_says_so(pieces, turn, start, ends):
    """With retreat=yes a piece has every direction of its kind."""
    assert ends_from(at(pieces + FAR, turn, retreat="yes"), start) == set(ends.split())


# Yellow on the squares.


def test_yellow_goes_one_square_in_every_direction():
    """Its general and colonel reach one square; its soldier keeps to the diagonals."""
    state = at("Yb3 Zk9 yc14" + FAR, "y1")
    assert ends_from(state, "b3") == {"a2", "a3", "a4", "b2", "b4", "c2", "c3", "c4"}
    assert ends_from(state, "k9") == {"k8", "k10", "j9", "l9"}
    assert ends_from(state, "c14") == {"b13", "d13", "b15", "d15"}


@pytest.mark.parametrize("protection", ["any", "able"])
@pytest.mark.parametrize(
    ("pieces", "move", "allowed"),
    [
        ("Yb4 Sc5", "b4c5", "any able"),
        ("Yb4 Sc4 Sd4", "b4c4", "able"),
        ("Yb4 Sc4 Ld4", "b4c4", "able"),
        ("Yb4 Sc4 kd4", "b4c4", ""),
        ("Yb4 Sc4 Cd4", "b4c4", ""),
        ("Yb4 Sc4 gd4", "b4c4", ""),
        ("Yb4 Sb5 Kb6", "b4b5", ""),  # it may not retreat, and protects all the same
        ("Yb3 Sc4 Ld5", "b3c4", ""),
        ("Yb3 Sc4 sd5", "b3c4", ""),
        ("Yb3 Sc4 Gd5", "b3c4", ""),
        ("Yb3 Sc4 Kd5", "b3c4", "able"),
        ("Yb3 Sc4 cd5", "b3c4", "able"),
        ("Yb3 Sc4 yd5", "b3c4", "any able"),
        ("Yb3 Sb4 Sb6", "b3b4", "any able"),  # a square too far away
        ("Yk2 Kl2", "k2l2", "any able"),  # the rim does not protect
        ("Yb15 gb16", "b15b16", "any able"),
        ("Yd4 Sd5", "d4d5", "any able"),  # nor does the fortress
        ("Zb3 Sb4", "b3b4", "any able"),
        ("Zb3 Sc4", "b3c4", ""),
        ("yb3 Sc4", "b3c4", "any able"),
        ("yb3 Sb4", "b3b4", ""),
    ],
)
def test_the_very_next_square_behind_protects(pieces, move, allowed, protection):
    """Any attacker there does, or with protection=able one whose kind moves along the line."""
    state = at(pieces + FAR, "y1", protection=protection)
    assert state.is_legal(move) == (protection in allowed.split())


def test_an_attacker_in_the_fortress_does_not_protect():
    """A piece before a gate can be taken towards the gate."""
    state = at("Yb9 Zk9 Sc9 sj9", "y1", cells="Syyyyyys")
    assert state.is_legal("b9c9")
    assert state.is_legal("k9j9")


def test_what_is_captured_is_removed():
    """Yellow stands where its prey stood."""
    after = at("Yb3 Sc4" + FAR, "y1").play("b3c4")
    assert after.text() == text_of("Yc4" + FAR, "w", rest="- 0 51")


# The fortress and its gates.

WAYS = {
    "d9": {"f9", "d8", "c9"},
    "f9": {"d9", "g9", "f8"},
    "g9": {"f9", "i9", "g8"},
    "i9": {"g9", "i8", "j9"},
    "d8": {"f8", "d9", "c8"},
    "f8": {"d8", "g8", "f9"},
    "g8": {"f8", "i8", "g9"},
    "i8": {"g8", "i9", "j8"},
}


@pytest.mark.parametrize("letter", "GCKLSgcklsYZ")
@pytest.mark.parametrize(("place", "ends"), WAYS.items())
def test_all_pieces_go_alike_in_the_fortress(letter, place, ends):
    """One step along a segment or a gate, whatever the kind and the army; up and down too."""
    garrison = "YZyyyyyy".replace(letter, "")
    outside = " ".join(f"{piece}a{rank}" for rank, piece in enumerate(garrison, 1))
    cells = "".join(letter if cell == place else "." for cell in oracle.CELLS)
    turn = {"yellow": "y1", "white": "w", "black": "b"}[oracle.army_of(letter)]
    assert ends_from(at(outside + FAR, turn, cells), place) == ends


@pytest.mark.parametrize(
    ("pieces", "turn", "cells", "illegal"),
    [
        ("Kc9 yb1", "y1", "Yyyyyy.Z", "d9c9"),  # Yellow does not capture on its way out
        ("Yc9 yb1", "y1", "Syyyyy.Z", "c9d9"),  # nor on its way in
        ("Yc9 yb1", "w", "Syyyyy.Z", "d9c9"),
        ("yb1 yb2", "w", "YyyySy.Z", "d8d9 d8f8"),  # an occupied place is not free
        ("yb1 yb2", "y1", "YyyySy.Z", "f8d8 d9d8"),  # pieces inside are never taken
        ("Gb9 Yb1", "w", None, "b9d9"),  # a gate is never part of a longer move
        ("Yb1 yb2 yb3", "w", "K..yyyyZ", "d9g9 d9b9"),
        ("Yb1 Kd5", "w", None, "d5d6 d5d8"),  # there is no other way in
    ],
)
def test_gates_and_segments_are_for_one_step_to_a_free_place(pieces, turn, cells, illegal):
    """No capture and no second step; and there are four gates."""
    state = at(pieces + FAR, turn, cells)
    for move in illegal.split():
        assert not state.is_legal(move)


def test_who_leaves_the_fortress_plays_by_the_rules_outside():
    """A White soldier that came out of c8 cannot retreat, and can be taken."""
    state = at("Ya9 yb1" + FAR, "w", cells="yyyySy.Z").play("d8c8")
    assert state.is_legal("a9a8")
    state = play(state, "a9a8 k16l15 a8b8")
    assert ends_from(state, "c8") == {"d8", "b9"}
    assert play(state, "k1l2").is_legal("b8c8")


@pytest.mark.parametrize(
    ("outside", "may_step_out"),
    [
        ("ya1 ya3 yc1", "d8c8 i9j9 i8j8"),  # three on dark
        ("ya1 ya3 yb1", "d9c9 d8c8 i9j9 i8j8"),  # two on dark, one on light
        ("ya2 yb1 yb3", "d9c9 i8j8"),  # three on light
    ],
)
def test_no_fourth_yellow_soldier_steps_out_onto_a_colour(outside, may_step_out):
    """c9 and j8 are dark, c8 and j9 light; the colonel on i8 goes out where it likes."""
    state = at(outside + FAR, "y1", cells="y..yy.YZ")
    gates = {"d9c9", "d8c8", "i9j9", "i8j8"}
    assert gates.intersection(state.legal_moves()) == set(may_step_out.split())


OUT, WITHIN = {"d9c9", "d8c8", "i9j9", "i8j8"}, {"g9g8", "f8g8", "i8g8"}


@pytest.mark.parametrize(
    ("pieces", "cells", "moves"),
    [
        ("ya1 Sb2 Sc3", "Yyyyyy.Z", OUT),
        ("ya1 Sb2", "Yyyyyy.Z", OUT | WITHIN | {"a1b2"}),  # a capture is a move
        ("ya1", "Yyyyyy.Z", OUT | WITHIN | {"a1b2"}),
        ("yc9 Sb8 Sb10 Sa7 Sa11", "Yyyyyy.Z", OUT - {"d9c9"}),
        ("yc9 Sb8 Sb10 Sa7 Sa11", ".yyyyyYZ", {"c9d9", "f9d9", "d8d9", *OUT} - {"d9c9"}),
    ],
)
def test_a_sortie_is_forced_when_nobody_outside_can_move(pieces, cells, moves):
    """Then Yellow can only step out with another piece; a step back in is a move."""
    assert set(at(pieces + FAR, "y1", cells).legal_moves()) == moves


def test_a_sortie_that_cannot_be_made_loses():
    """The one piece outside is shut in, and so are the gates."""
    state = at("ya1 Sb2 Sc3 Kc9 Kc8 kj9 kj8" + FAR, "y1", "Yyyyyy.Z")
    assert (state.ending(), state.scores()) == (Termination.NORMAL, (0, 1, 1))


# Demands.


def test_a_demand_binds_the_next_move_only():
    """Yellow must capture, with whichever piece it likes; then it is free again."""
    state = at("Yb4 yb3 Kd4" + FAR, "w")
    assert {"d4c4", "d4c4!", "d4d5"} <= set(state.legal_moves())
    free, bound = state.play("d4c4"), state.play("d4c4!")
    assert {"b4c4", "b4a4", "b3c4", "d8c8"} <= set(free.legal_moves())
    assert bound.legal_moves() == ["b3c4", "b4c4"]
    assert bound.text() == text_of("Yb4 yb3 Kc4" + FAR, "y2", rest="! 8 51")
    after = play(bound, "b4c4 k16j15")
    assert after.is_legal("c4c5")


@pytest.mark.parametrize(
    ("pieces", "turn", "rest", "cells", "move", "options"),
    [
        ("Yb4 Kd4", "w", "- 7 50", None, "d4d5!", {}),  # nothing to capture then
        ("Yb4 Kd4", "w", "- 7 50", None, "d4c4!", {"demand": "no"}),
        ("Yb4 Kc3 Gd4", "w", "- 7 50", None, "c3c4!", {}),  # it will be protected
        ("Yb4 Kd4", "w", "- 99 150", None, "d4c4!", {}),  # the hundredth ply without progress
        ("Yb4 Kd4", "w", "- 7 1999", None, "d4c4!", {}),  # the two thousandth ply
        ("Yb4 Sa5 yb1 yb2 Kc9", "w", "- 7 50", ".SsyyyyZ", "c9d9!", {}),  # the attackers win
        ("Yb4 Ka4", "y1", "- 7 50", None, "b4a4!", {}),  # Yellow demands nothing
    ],
)
def test_demands_that_are_not_legal(pieces, turn, rest, cells, move, options):
    """Only an attacker demands, where the game goes on and Yellow will have a capture."""
    state = at(pieces + FAR, turn, cells, rest, **options)
    assert state.is_legal(move[:-1])
    assert not state.is_legal(move)
    assert move not in state.legal_moves()
    with pytest.raises(IllegalMoveError, match="demand=no" if options else "the game goes on"):
        state.play(move)


# Turns, and the end.


def test_an_army_without_a_move_is_skipped():
    """White's last soldier has come to the rim: y1 is followed by y2, and Black moves on."""
    state = at("Yb4 Sl16 sk15", "y1")
    turns = []
    for move in ("b4b5", "b5b4", "k15j14", "b4b5"):
        state = state.play(move)
        turns.append(state.text().split()[2])
    assert turns == ["y2", "b", "y1", "y2"]


def test_yellow_alone_moves_when_neither_army_can():
    """Both are skipped, turn after turn."""
    state = at("Yb4 Sl16 sl1", "y1", seats="2")
    turns = []
    for move in ("b4b5", "b5b4", "b4b5"):
        state = state.play(move)
        turns.append(state.text().split()[2])
        assert state.to_move == 0
    assert turns == ["y2", "y1", "y2"]


@pytest.mark.parametrize(
    ("pieces", "turn", "cells", "move", "options", "scores"),
    [
        (f"{IN} Kc8", "w", "SSyy.yyZ", "c8d8", {}, (0, 1, 1)),
        (f"{IN} Sc8", "w", "Skyy.yyZ", "c8d8", {}, (0, 1, 1)),
        (f"{IN} sc9", "b", ".syyKyyZ", "c9d9", {"seats": "2"}, (0, 1)),
        (f"{IN} Kc8", "w", "SSyy.yyZ", "c8d8", {"soldiers": "3"}, None),
        (f"{IN} yl1 Kc8", "w", "SsSy.yyZ", "c8d8", {"soldiers": "3"}, (0, 1, 1)),
        (
            f"{IN} Sc8",
            "w",
            "SSyy.yyZ",
            "c8d8",
            {},
            None,
        ),  # Yellow's colonel is no officer of theirs
        (f"{IN} Kc8", "w", "GSyy.yyZ", "c8d8", {}, None),
        (f"Kc9 Kc8 Sj9 sk9 {FAR}", "b", None, "k9j8", {}, (0, 1, 1)),  # Yellow is shut in
        (f"Kc9 Kc8 Sj9 sk9 {FAR}", "b", None, "k9l8", {}, None),
        (f"{LAST} kl10", "y1", None, "b3c4", {}, (1, 0, 0)),
        (f"{LAST} kl10", "y1", None, "b3c4", {"seats": "2"}, (1, 0)),
        (f"{LAST} kl10 kl7", "y1", None, "b3c4", {}, None),  # five officers are taken
        (f"{LAST} sl10", "y1", None, "b3c4", {}, None),
        ("Yb3 Kc3 Ga8 Ca9 Ka10 gl8 cl9 kl10", "y1", None, "b3c3", {}, (1, 0, 0)),
        (LAST, "y1", "kyyyyyyZ", "b3c4", {}, (0.5, 0.5, 0.5)),
    ],
)
def test_how_the_game_is_won(pieces, turn, cells, move, options, scores):
    """Two soldiers and an officer inside, or Yellow stuck; or the armies taken, and nobody in."""
    state = at(pieces, turn, cells, **options).play(move)
    if scores is None:
        assert state.ending() is None
        assert state.legal_moves()
    else:
        assert (state.ending(), state.scores()) == (Termination.NORMAL, scores)
        assert (state.to_move, list(state.legal_moves())) == (None, [])


def test_the_attackers_share_their_rank():
    """First together, or behind Yellow together; a fault of one is a fault of both."""
    won = at(f"{IN} Kc8", "w", "SSyy.yyZ").play("c8d8")
    lost = at(f"{LAST} kl10", "y1").play("b3c4")
    assert (won.ranks(), lost.ranks()) == ((2, 1, 1), (1, 2, 2))
    start = GAME.variant().initial()
    assert [start.retire(seat).scores() for seat in range(3)] == [(0, 1, 1), (1, 0, 0), (1, 0, 0)]
    assert [start.retire(seat).ranks() for seat in range(3)] == [(2, 1, 1), (1, 2, 2), (1, 2, 2)]


def test_the_third_repetition_is_a_draw():
    """Yellow's turn before White's is not the one before Black's, so this takes two round trips."""
    pieces = "Yb4 Kb6 kk12" + FAR
    state = play(at(pieces, "y1", rest="- 0 50"), f"{ROUND_TRIP} {ROUND_TRIP[:-7]}")
    assert state.ending() is None
    ended = state.play("l12k12")
    assert (ended.ending(), ended.scores()) == (Termination.REPETITION, (0.5, 0.5, 0.5))
    assert ended.text() == text_of(pieces, "y1", rest="- 16 66")
    read = GAME.variant().read(ended.text())
    assert (read, hash(read), read.ending()) == (ended, hash(ended), None)


def test_a_demand_makes_another_position():
    """Where a move would end the game by repetition, it may still be made with a demand."""
    start = at("Yb4 Kb6 kk12 Sc3" + FAR, "y1", rest="- 0 50")
    state = play(start, f"{ROUND_TRIP} {ROUND_TRIP[:-7]}")
    assert state.play("l12k12").ending() is Termination.REPETITION
    assert state.play("l12k12!").legal_moves() == ["b4c3"]


@pytest.mark.parametrize(
    ("pieces", "turn", "cells", "move", "options", "quiet"),
    [
        ("Yb4 Ke3", "w", None, "e3f3", {}, 8),
        ("Yb4 Ke3", "w", None, "e3e4", {}, 0),
        ("Yb4 ke13", "b", None, "e13e12", {}, 0),
        ("Yb4 Ke3", "w", None, "e3e2", {"retreat": "yes"}, 8),
        ("Yb4 ke13", "b", None, "e13e14", {"retreat": "yes"}, 8),
        ("Yb4 Ke3", "w", None, "e3e4", {"retreat": "yes"}, 0),
        ("Yb4 Ke3", "y1", None, "b4b5", {}, 8),
        ("Yb4 Kb5", "y1", None, "b4b5", {}, 0),  # a capture
        # As far as the gates: White to rank 8, Black to rank 9.
        ("Yb4 Kb7", "w", None, "b7b8", {}, 0),
        ("Yb4 Kb8", "w", None, "b8b9", {}, 8),
        ("Yb4 Kb10", "w", None, "b10b11", {}, 8),
        ("Yb4 Cb7", "w", None, "b7b9", {}, 8),  # beyond them, though from before them
        ("Yb4 kb10", "b", None, "b10b9", {}, 0),
        ("Yb4 kb9", "b", None, "b9b8", {}, 8),
        ("Yb4 kb7", "b", None, "b7b6", {}, 8),
        ("Yb4 gk12", "b", None, "k12k9", {}, 0),
        ("Yb4 gk11", "b", None, "k11k8", {}, 8),
        # No step in the fortress, nor through a gate.
        ("Yb4 Ke3", "y1", None, "d8c8", {}, 8),
        ("Yb4 Ke3", "y1", None, "d8d9", {}, 8),
        ("Yc9 Ke3", "y1", None, "c9d9", {}, 8),
        ("Yb4 Kc9", "w", None, "c9d9", {}, 8),
        ("Yb4 kj8", "b", "Zyyyyyy.", "j8i8", {}, 8),
        ("Yb4 yb2", "w", "K.yyyyyZ", "d9c9", {}, 8),
        ("Yb4 yb2", "w", "K.yyyyyZ", "d9f9", {}, 8),
        ("Yb4 yb2", "w", ".yyyKyyZ", "d8d9", {}, 8),
        ("Yb4 yb2", "w", "Kyyy.yyZ", "d9d8", {}, 8),
        ("Yb4 yb2", "b", "kyyy.yyZ", "d9d8", {}, 8),
    ],
)
def test_what_progress_is(pieces, turn, cells, move, options, quiet):
    """A capture, or an attacker's move outside to a rank further on, as far as the gates."""
    after = at(pieces + FAR, turn, cells, **options).play(move)
    assert after.text().split()[4:] == [str(quiet), "51"]


@pytest.mark.parametrize(
    ("pieces", "rest", "move", "cause"),
    [
        ("Yb4 Ke3" + FAR, "- 98 150", "b4b5", None),
        ("Yb4 Ke3" + FAR, "- 99 150", "b4b5", Termination.PLY_LIMIT),
        ("Yb4 Ke3" + FAR, "- 99 150", "d8c8", Termination.PLY_LIMIT),
        ("Yb4 Kb5" + FAR, "- 99 150", "b4b5", None),
        ("Yb4 Ke3" + FAR, "- 0 1998", "b4b5", None),
        ("Yb4 Ke3" + FAR, "- 0 1999", "d8c8", Termination.PLY_LIMIT),
        (f"{LAST} kl10", "- 0 1999", "b3c4", Termination.NORMAL),  # a win is tested first
    ],
)
def test_the_limits_of_plies(pieces, rest, move, cause):
    """A draw after 100 plies without progress, and at ply 2,000."""
    after = at(pieces, "y1", rest=rest).play(move)
    assert after.ending() is cause
    if cause is Termination.PLY_LIMIT:
        assert after.scores() == (0.5, 0.5, 0.5)
        assert GAME.variant().read(after.text()).ending() is cause
