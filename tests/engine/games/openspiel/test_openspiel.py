"""OpenSpiel's games here: all of them play through, and what is ours about them is right.

That they keep the contract of games is tried with all others, by a sample of them.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from random import Random

import pytest

from engine.clock import TimeControl
from engine.game import OptionError, PositionError, State
from engine.games import GAMES, find_variant
from engine.player import Choice, Turn
from engine.record import GameRecord, replay
from engine.referee import play_game
from tests.engine.games.random_games import IS_SPIEL_HERE
from tests.engine.players import FirstMove
from tests.requirements import need_openspiel

pytestmark = pytest.mark.extras
NAMES = [name for name in GAMES if name.startswith("openspiel:")]


if IS_SPIEL_HERE:
    import pyspiel

    from engine.games.openspiel import LEFT_OUT
    from engine.games.openspiel.chess import fault


@pytest.fixture(autouse=True)
def _openspiel() -> None:
    need_openspiel()


def after(name: str, moves: str, *options: str) -> State:
    """The position of a game after some moves."""
    state: State = find_variant(f"openspiel:{name}", options).initial()
    for move in moves.split():
        state = state.play(move)
    return state


class RandomMoves(FirstMove):
    """Plays any legal move."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.random = Random(seed)

    def choose(self, turn: Turn) -> Choice:
        return Choice(self.random.choice(turn.state.legal_moves()), "", 1, 1)


@pytest.mark.parametrize("name", NAMES)
def test_a_game_is_played_recorded_and_replayed(name: str) -> None:
    """Every game, from its first ply through referee, record and text to the same end."""
    variant = GAMES[name].variant()
    players = [RandomMoves(seat) for seat in range(variant.seats)]
    record = play_game(variant, players, time=TimeControl(move_ms=1000), seed=1)
    assert record.faults == ()
    again = GameRecord.from_json(json.loads(json.dumps(record.to_json())))
    assert again == record
    end = replay(again)
    assert variant.read(end.text()) == end
    assert end.scene().captions


def test_what_is_left_out_is_named() -> None:
    """Of its games in turns in which nothing is hidden, three are not here."""
    kind = pyspiel.GameType
    fitting = {
        one.short_name
        for one in pyspiel.registered_games()
        if one.dynamics == kind.Dynamics.SEQUENTIAL
        and one.information == kind.Information.PERFECT_INFORMATION
    }
    left = fitting - {name.partition(":")[2] for name in NAMES}
    # Of the last only a sample is told of what chance may do.
    assert left == {*LEFT_OUT, "efg_game", "stones_and_gems"}
    assert len(NAMES) >= 40


def test_who_has_no_numbers() -> None:
    """All games have them but those that OpenSpiel does not show in numbers, or wrongly."""
    without = {name for name in NAMES if GAMES[name].variant().numbers is None}
    assert without == {"openspiel:morpion_solitaire"}
    assert find_variant("openspiel:twixt", ["board_size=12"]).numbers is None


EXTREMES = """
import itertools, math, random, re
from engine.game import CHANCE, OptionError
from engine.games import GAMES

def values(option):
    bounds = re.fullmatch(r"(\\d+) to (\\d+)", option.allowed)
    given = {"k": bounds.groups()} if bounds else {"k": option.allowed.split(", ")}
    return [*(one for one in given["k"] if option.accepts(one)), option.default]

for name in GAMES:
    if name.startswith("openspiel:"):
        options = GAMES[name].options
        every = list(itertools.product(*map(values, options.values())))
        for chosen in random.Random(1).sample(every, min(len(every), 6)):
            try:
                variant = GAMES[name].variant(**dict(zip(options, chosen, strict=True)))
            except OptionError as error:
                assert "needs" in str(error), error
                continue
            state, dice = variant.initial(), random.Random(1)
            for ply in range(8):
                if codes := state.codes():
                    if (numbers := variant.numbers) and state.to_move != CHANCE:
                        assert max(codes) < numbers.moves, variant
                        sizes = {len(state.observation(s)) for s in range(variant.seats)}
                        assert sizes == {math.prod(numbers.shape)}, variant
                    state = state.play_code(dice.choice(codes))
            assert all(map(re.compile("[!-~]+").fullmatch, state.legal_moves())), variant
            state.scene(), state.text(), state.playout(dice)
print("all played")
"""


def test_no_option_ends_the_process() -> None:
    """OpenSpiel ends all where it is given what it can't play; the ends of our bounds are none."""
    done = subprocess.run([sys.executable, "-c", EXTREMES], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "all played\n"), done.stderr[-2000:]


@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("connect_four", "rows=0"),  # a crash in OpenSpiel
        ("gomoku", "dims=4"),
        ("y", "board_size=-1"),
        ("checkers", "columns=10"),  # goes wrong in jumps
        ("breakthrough", "rows=10"),  # has ranks without names
        ("havannah", "board_size=16"),
        ("amazons", "board_size=7"),
        ("go", "komi=7.25"),
        ("go", "handicap=2"),
        ("nim", "pile_sizes=3;;3"),
        ("chess", "fen=8/8/8/8/8/8/8/8_w_-_-_0_1"),
        ("chess", "chess960=true"),
    ],
)
def test_what_openspiel_can_not_play_is_refused(name: str, option: str) -> None:
    """Before it is asked."""
    with pytest.raises(OptionError, match=f"openspiel:{name}"):
        find_variant(f"openspiel:{name}", [option])


@pytest.mark.parametrize(
    ("name", "moves", "piece", "square", "move", "clicks"),
    [
        ("connect_four", "x3 o3", "yellow disc", "d2", "x3", "d3"),
        ("othello", "d3", "black disc", "d3", "c5", "c5"),
        ("hex", "k1 a11", "blue stone", "a11", "b1", "b1"),
        ("go", "B_j6 W_a1", "black stone", "j6", "B_PASS", "B_PASS"),
        ("breakthrough", "a7a6 b2b3", "white piece", "b3", "a6b5", "a6 b5"),
        ("amazons", "X_From_(10,_4) X_To_(4,_4)", "white amazon", "d7", "X_Shoot:_(4,_2)", "b7"),
        ("amazons", "X_From_(10,_4)", "white amazon", "d1", "X_To_(4,_4)", "d7"),
        ("checkers", "a3b4 b6a5", "black man", "a5", "b4c5", "b4 c5"),
        ("chess", "e4 Nc6", "black knight", "c6", "Nf3", "g1 f3"),
        ("chess", "a4 b5 axb5 a6 bxa6 c6 a7 c5", "white pawn", "a7", "axb8=N", "a7 b8 knight"),
    ],
)
def test_what_is_drawn_and_clicked(
    name: str, moves: str, piece: str, square: str, move: str, clicks: str
) -> None:
    """Pieces stand where the moves' notation has them, and the last move is marked there."""
    state = after(name, moves)
    scene = state.scene()
    assert square in [one.squares[0] for one in scene.pieces if one.words == piece]
    assert state.clicks(move) == tuple(clicks.split())
    played = state.play(move)
    marked = played.marks(move)
    assert set(marked) <= {one.name for one in scene.squares}
    assert marked == () or clicks.split()[: len(marked)] == list(marked)


def test_a_plain_game_is_drawn_by_its_text() -> None:
    """With a button for each move; and a board in FEN has its ranks below each other."""
    state = after("tic_tac_toe", "x(1,1)")
    assert state.scene().text == ("...", ".x.", "...")
    assert state.clicks("o(0,0)") == ("o(0,0)",)
    assert after("shogi", "").scene().text[0] == "l n s g k g s n l"


@pytest.mark.parametrize(
    ("fen", "words"),
    [
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", None),
        ("4k3/8/8/8/8/8/8/4K3 b - - 100 9999", None),
        ("rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 3", None),
        ("4k3/8/8/8/8/8/8/4K3 w - -", "6 fields"),
        ("4k3/8/8/8/8/8/4K3 w - - 0 1", "the ranks"),
        ("4k3/44/9/8/8/8/8/4K3 w - - 0 1", "the ranks"),
        ("4k3/8/8/8/8/8/8/4K3 x - - 0 1", "the turn"),
        ("4k3/8/8/8/8/8/8/4K3 w - - 101 1", "no count"),
        ("8/8/8/8/8/8/8/4K3 w - - 0 1", "Black has 0 kings"),
        ("4k3/8/8/8/8/8/8/QQQQKQQQ w - - 0 1", None),
        ("4k3/8/8/8/8/8/PPPPPPPP/QQ2K3 w - - 0 1", "White has more pieces"),
        ("P3k3/8/8/8/8/8/8/4K3 w - - 0 1", "a pawn stands"),
        ("4k3/8/8/8/8/8/8/4K3 w K - 0 1", "castling K needs"),
        ("4k3/8/8/8/8/8/8/4K2R w QK - 0 1", "castling is"),
        ("4k3/8/8/8/8/8/8/4R1K1 w - - 0 1", "the black king is in check"),
        ("4k3/8/8/8/8/8/3p4/4K3 w - - 0 1", None),
        ("4k3/8/8/8/8/8/3p4/4K3 b - - 0 1", "the white king is in check"),
        ("8/8/8/8/8/8/4k3/4K3 w - - 0 1", "the black king is in check"),
        ("4k3/8/3N4/8/8/8/8/4K3 w - - 0 1", "the black king is in check"),
        ("4k3/8/8/8/8/8/8/4K3 w - e6 0 1", "no pawn has passed e6"),
        ("4k3/8/8/4p3/8/8/8/4K3 w - e5 0 1", "en passant is"),
    ],
)
def test_a_fen_is_proven_before_openspiel_sees_it(fen: str, words: str | None) -> None:
    """In which a game can't be it may end the process, a ply or more later."""
    found = fault(fen)
    assert (found is None) == (words is None), found
    assert words is None or words in str(found)
    if words is None:
        state = GAMES["openspiel:chess"].variant().read(fen)
        assert state.text() == fen
        option = f"fen={fen.replace(' ', '_')}"
        assert find_variant("openspiel:chess", [option]).initial().text() == fen


def test_en_passant_is_told_where_it_can_be() -> None:
    """A position has one text; but opening files tell of every step of two, and may."""
    fen = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1"
    with pytest.raises(PositionError, match="no pawn can take en passant on e3"):
        GAMES["openspiel:chess"].variant().read(fen)
    variant = find_variant("openspiel:chess", [f"fen={fen.replace(' ', '_')}"])
    assert variant.initial().text() == fen.replace("e3", "-")


def test_chess_takes_two_spellings() -> None:
    """SAN is the one that is printed; UCI's is read, and written for programs that speak it."""
    state = after("chess", "e2e4 d7d5 e4d5 Qxd5 g1f3 Bg4 f1e2 Nc6")
    assert state.canonical("e1g1") == "O-O"
    assert state.play("e1g1") == state.play("O-O")
    dialect = state.variant.dialect("uci")
    assert dialect is not None
    assert (dialect.name, dialect.start) == ("", "startpos")
    assert dialect.write(state, "O-O") == "e1g1"
    other = find_variant("openspiel:chess", ["fen=4k3/P7/8/8/8/8/8/4K3_w_-_-_0_1"])
    dialect = other.dialect("uci")
    assert dialect is not None
    assert dialect.start == "fen 4k3/P7/8/8/8/8/8/4K3 w - - 0 1"
    assert dialect.write(other.initial(), "a8=Q+") == "a7a8q"


TURNS = (7, 49, 302, 1469, 7361, 36768)


@pytest.mark.parametrize(("depth", "leaves"), list(enumerate(TURNS, 1)))
def test_checkers_has_as_many_turns_as_elsewhere(depth: int, leaves: int) -> None:
    """Aart Bik, https://www.aartbik.com/strategy.php; there a turn of several jumps is one move."""

    def turns(state: State, depth: int) -> int:
        if depth == 0:
            return 1
        nexts = map(state.play_code, state.codes())
        return sum(turns(one, depth - (one.to_move != state.to_move)) for one in nexts)

    assert turns(after("checkers", ""), depth) == leaves


def test_it_is_loaded_only_when_it_is_named() -> None:
    """A bot that plays another game doesn't wait for it."""
    code = (
        "import sys; from engine.games import GAMES; GAMES.default; GAMES['oxono']; "
        "print('pyspiel' in sys.modules); GAMES['openspiel:y']; print('pyspiel' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def test_rules_pages_name_game_and_options() -> None:
    """Those written by hand and those made alike."""
    for name in NAMES:
        page = GAMES[name].rules()
        assert re.match(rf"# .+ \(`{name}`\)\n", page), name
        for heading in ("Notation", "Options", "Position text"):
            assert f"## {heading}\n" in page, name
        for key in GAMES[name].options:
            assert f"`{key}`" in page, (name, key)
