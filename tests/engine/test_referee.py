"""One game, refereed: what players are told, and what becomes of every fault."""

import pytest

from engine.clock import TimeControl
from engine.game import IllegalMoveError, Termination
from engine.games import GAMES
from engine.player import (
    Choice,
    CrashError,
    MemoryForfeitError,
    ProtocolError,
    StartError,
    TimeForfeitError,
    VoidGameError,
)
from engine.record import Fault, replay
from engine.referee import play_game
from engine.seeds import derive
from tests.engine.players import FirstMove, Scripted

CLOBBER = GAMES["clobber"].variant(size="3x2")
CLASSIC = GAMES["blokus"].variant(mode="classic", corners="fixed")
TEAMS = GAMES["blokus"].variant(mode="teams", corners="fixed")
SECOND = TimeControl(move_ms=1000)


def test_an_ordinary_game():
    """What each side is told, turn by turn, and what the record keeps of it."""
    white = Scripted(Choice("b1c1", "first", 300_000, 400_000, {"eval": 1.0}))
    black = Scripted(Choice("b2a2", "", 100_500, 200_000))
    clock = TimeControl(time_ms=1000, inc_ms=10)
    record = play_game(CLOBBER, [white, black], time=clock, seed=5, names=["a", "b"])
    for player in (white, black):
        player.finish()
        assert not player.closed
        assert [(end.ranks, end.scores, end.termination) for end in player.ends] == [
            ((2, 1), (0.0, 1.0), Termination.NORMAL)
        ]
    (setup,) = black.setups
    assert (setup.variant, setup.seat, setup.time) == (CLOBBER, 1, clock)
    assert setup.seed == derive(5, "seat", 1) != white.setups[0].seed
    (turn,) = black.turns
    assert (turn.ply, turn.history, list(turn.out)) == (1, "1:b1c1", [])
    assert turn.state == CLOBBER.initial().play("b1c1")
    assert turn.clock.left_ms == 1000
    first, second = record.plies
    assert (first.text, first.values, second.text) == ("first", {"eval": 1.0}, "")
    assert [(ply.cpu_us, ply.wall_us) for ply in record.plies] == [
        (300_000, 400_000),
        (100_500, 200_000),
    ]
    assert (record.players, record.seed, record.opening) == (("a", "b"), 5, 0)
    assert replay(record).ranks() == (2, 1)


def test_clocks_as_players_see_them():
    """Each pays for its own moves and gains its increments."""
    white, black = FirstMove(cpu_us=100_000), FirstMove(cpu_us=1_500)
    variant = GAMES["clobber"].variant(size="4x4")
    play_game(variant, [white, black], time=TimeControl(time_ms=1000, inc_ms=10))
    assert [turn.clock.left_us for turn in white.turns[:3]] == [1_000_000, 910_000, 820_000]
    assert [turn.clock.left_us for turn in black.turns[:3]] == [1_000_000, 1_008_500, 1_017_000]


FAULTS = [
    (Choice("a1a9"), Termination.ILLEGAL, "'a1a9' is not legal here: a move takes", True),
    (Choice("Resign"), Termination.ILLEGAL, "'Resign' is not legal here", True),
    (Choice("ä¹\u0661"), Termination.ILLEGAL, "is not legal here", True),
    (Choice("b" * 4000), Termination.ILLEGAL, "bbb...' is not legal here", True),
    (Choice("resign", "good game"), Termination.RESIGN, "resigned", False),
    (TimeForfeitError("slept"), Termination.TIMEOUT, "slept", True),
    (CrashError("exit 1"), Termination.CRASH, "exit 1", True),
    (MemoryForfeitError("256 MiB"), Termination.MEMORY, "256 MiB", True),
    (ProtocolError("said 'x'"), Termination.PROTOCOL, "said 'x'", True),
    (StartError("no ok"), Termination.START, "no ok", True),
]


@pytest.mark.parametrize(
    ("step", "termination", "detail", "killed"), FAULTS, ids=lambda v: repr(v)[:30]
)
@pytest.mark.parametrize("seat", [0, 1])
def test_a_fault_loses_between_two(step, termination, detail, killed, seat):
    """Whoever fails loses by that name and leaves; only who resigned leaves in order."""
    failing, other = Scripted(step), FirstMove()
    record = play_game(CLOBBER, [failing, other][:: 1 - 2 * seat], time=SECOND)
    (fault,) = record.faults
    assert (fault.seat, fault.ply, fault.termination) == (seat, seat, termination)
    assert detail in fault.detail
    assert record.termination == termination
    assert record.ranks == ((2, 1), (1, 2))[seat]
    assert record.scores == ((0.0, 1.0), (1.0, 0.0))[seat]
    assert (failing.killed, failing.ends) == (killed, [])
    assert (other.closed, len(other.ends)) == (False, 1)
    assert replay(record).ranks() == record.ranks


def test_a_side_that_does_not_start_loses():
    """Without a move; of two that don't start the earlier seat, and both of them leave."""
    missing = StartError("no ready")
    one, other = Scripted(start=missing), FirstMove()
    record = play_game(CLOBBER, [other, one], time=SECOND)
    assert record.faults == (Fault(1, 0, Termination.START, "no ready"),)
    assert (record.ranks, record.moves) == ((1, 2), ())
    assert (one.killed, other.closed, len(other.ends)) == (True, False, 1)
    both = Scripted(start=missing), Scripted(start=missing)
    record = play_game(CLOBBER, both, time=SECOND)
    assert [fault.seat for fault in record.faults] == [0]
    assert record.ranks == (2, 1)
    assert [player.killed for player in both] == [True, True]


def test_four_play_on_without_those_that_fail():
    """The others are told who left; the leavers rank behind them, the earlier the lower."""
    blue = Scripted("blue:a20", "resign")
    yellow = Scripted(start=StartError("no ready"))
    red = Scripted("red:t1", TimeForfeitError("slept"))
    green = Scripted("green:a1")
    record = play_game(CLASSIC, [blue, yellow, red, green], time=SECOND)
    for player in (blue, yellow, red, green):
        player.finish()
    assert record.moves == ("blue:a20", "red:t1", "green:a1")
    assert record.ranks == (3, 4, 2, 1)
    assert record.termination == Termination.TIMEOUT
    assert [list(turn.out) for turn in (blue.turns[0], red.turns[1])] == [
        [(1, 0)],
        [(1, 0), (0, 3)],
    ]
    assert red.turns[1].history == "1:blue:a20 3:red:t1 4:green:a1"
    assert [len(player.ends) for player in (blue, yellow, red, green)] == [0, 0, 0, 1]


def test_a_game_that_goes_on_ends_by_the_rules():
    """And by no fault of whoever left it before."""
    players = [Scripted(start=StartError("no ready")), *(FirstMove() for _ in range(3))]
    record = play_game(CLASSIC, players, time=SECOND)
    assert record.faults == (Fault(0, 0, Termination.START, "no ready"),)
    assert record.termination == Termination.NORMAL
    assert players[1].ends[0].termination == Termination.NORMAL
    assert replay(record).ranks() == record.ranks


def test_a_fault_in_a_team_ends_the_game():
    """Both of its seats lose, whatever is on the board."""
    players = [FirstMove(), Scripted("nonsense"), FirstMove(), FirstMove()]
    record = play_game(TEAMS, players, time=SECOND)
    assert record.termination == Termination.ILLEGAL
    assert record.ranks == (1, 2, 1, 2)
    assert [player.closed for player in players] == [False, True, False, False]


def test_a_move_is_kept_in_its_one_spelling():
    """Blokus takes squares in any order; the record and the others see the canonical one."""
    blue, yellow = Scripted("blue:a20,b20,a19", "resign"), Scripted("resign")
    record = play_game(CLASSIC, [blue, yellow, Scripted("resign"), FirstMove()], time=SECOND)
    assert record.moves[0] == "blue:a19,a20,b20"
    assert yellow.turns[0].history == "1:blue:a19,a20,b20"


def test_the_opening_is_played_first():
    """Its moves have no times, are in the history, and the bots begin behind it."""
    white, black = FirstMove(), FirstMove()
    record = play_game(CLOBBER, [white, black], time=SECOND, opening=["b1c1"])
    assert record.opening == 1
    assert (record.plies[0].cpu_us, record.plies[0].wall_us) == (None, None)
    assert (black.turns[0].ply, black.turns[0].history) == (1, "1:b1c1")


@pytest.mark.parametrize(
    ("opening", "words"),
    [
        (["b1b1"], "'b1b1' is not legal here"),
        (["b1c1", "b2a2", "c1b1"], "the opening goes on after the end of the game"),
    ],
)
def test_an_opening_must_be_legal(opening, words):
    """A match that asks for another is our own mistake, before any bot is asked."""
    players = [FirstMove(), FirstMove()]
    with pytest.raises(IllegalMoveError, match=words):
        play_game(CLOBBER, players, time=SECOND, opening=opening)
    assert not any(player.setups for player in players)


def test_as_many_players_as_seats():
    """Another number is a mistake of the caller."""
    with pytest.raises(ValueError, match="has 2 seats, not 1"):
        play_game(CLOBBER, [FirstMove()], time=SECOND)


def test_our_own_fault_is_no_result():
    """It comes out as an exception, and nobody is blamed."""
    with pytest.raises(VoidGameError, match="the disk is full"):
        play_game(CLOBBER, [FirstMove(), Scripted(VoidGameError("the disk is full"))], time=SECOND)


def test_a_game_that_does_not_end_is_no_result(monkeypatch):
    """Its rules promise when it ends at the latest, and the time of a match is reckoned by that."""
    monkeypatch.setattr(CLOBBER, "max_plies", 1)
    with pytest.raises(VoidGameError, match="clobber size=3x2 goes on after its 1 plies"):
        play_game(CLOBBER, [FirstMove(), FirstMove()], time=SECOND)


def test_whoever_watches_sees_every_ply():
    """The position and the plies so far, after each move that a player made."""
    seen = []
    record = play_game(
        CLOBBER,
        [FirstMove(), FirstMove()],
        time=SECOND,
        opening=["b1c1"],
        watch=lambda state, plies: seen.append((state.text(), len(plies))),
    )
    assert [count for _, count in seen] == list(range(2, len(record.plies) + 1))
    assert seen[-1][0] == replay(record).text()


def test_the_weakest_box_counts():
    """A game is as isolated as its least isolated player."""
    players = [FirstMove(), FirstMove()]
    for level, stamped in [("full", "full"), ("reduced", "reduced"), ("none", "none")]:
        players[1].isolation = level
        assert play_game(CLOBBER, players, time=SECOND).isolation == stamped


def test_the_lot_is_drawn_before_anybody_is_told():
    """A variant that leaves something to chance is played, told and recorded as drawn."""
    variant = GAMES["oxono"].variant(totems="random")
    players = [FirstMove(), Scripted("resign")]
    records = [
        play_game(variant, [FirstMove(), Scripted("resign")], time=SECOND, seed=seed)
        for seed in range(8)
    ]
    assert {record.variant.options["totems"] for record in records} == {"xc4", "xd3"}
    record = play_game(variant, players, time=SECOND, seed=3)
    assert {player.setups[0].variant for player in players} == {record.variant}
    assert replay(record).ranks() == (1, 2)


def test_the_same_seeds_give_the_same_game():
    """But for the circumstances of the run, a record depends on nothing else."""
    digests = {
        play_game(CLASSIC, [FirstMove(cpu_us=us) for _ in range(4)], time=SECOND, seed=9).digest()
        for us in (0, 5)
    }
    assert len(digests) == 1
