"""The bridges, as the referee has them: real processes, with a scripted program behind each."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from random import Random
from types import MappingProxyType

import pytest

from engine.bot_logs import is_heading
from engine.bot_options import BotOption
from engine.bridges import bot
from engine.bridges.foreign import BridgeError
from engine.bridges.ugi import offered_as
from engine.channel import TracedChannel
from engine.clock import Allowances, Charge, TimeControl
from engine.game import Move, State, Variant
from engine.games import GAMES, find_variant
from engine.match import MatchSpec, entrants_needed, play_match
from engine.process import BotProcess
from engine.program import PlainProgram
from engine.record import GameRecord, replay
from tests.requirements import need

BOTS = Path(__file__).parents[2] / "bots"
ARENA = [sys.executable, "-c", "from arena.cli import main; main()"]
PLENTY = TimeControl(move_ms=20_000)
CLOCK = TimeControl(time_ms=60_000, inc_ms=500)


def bridge(protocol: str, dialect: str, *words: str, options: tuple[str, ...] = ()) -> list[str]:
    """The command of a bridge with the scripted program behind it."""
    program = [sys.executable, str(BOTS / "foreign_engine.py"), dialect, *words]
    return [*ARENA, "bridge", protocol, *options, "--", *program]


def play(
    command: list[str],
    game: str,
    *,
    time: TimeControl = PLENTY,
    games: int = 1,
    lines: list[str] | None = None,
) -> tuple[tuple[GameRecord, ...], str]:
    """Games of a match of the bridge against a bot that plays first moves; the bridge's log."""
    name, *options = game.split()
    variant = find_variant(name, options)
    others = entrants_needed(variant) - 1
    spec = MatchSpec(variant, ("bridge", *(f"bot {n}" for n in range(others))), time, seed=3)
    first = ["sh", str(BOTS / "first.sh")]
    said = [] if lines is None else lines

    def start(entrant: int) -> BotProcess:
        if entrant:
            return BotProcess(lambda: PlainProgram(first))
        environment = os.environ | {"GAME": game}
        return BotProcess(
            lambda: PlainProgram(command, env=environment),
            allowances=Allowances(start_seconds=30.0),
            tells_errors=True,
            open_channel=lambda program, errors: TracedChannel(
                program, errors, lambda way, line: said.append(f"{way} {line}")
            ),
        )

    result = play_match(spec, start, games=games)
    logs = [
        log
        for record, game_logs in zip(result.games, result.logs, strict=True)
        for name, log in zip(record.players, game_logs, strict=True)
        if name == "bridge"
    ]
    return result.games, "\n".join(logs)


@pytest.mark.long
@pytest.mark.parametrize(
    ("protocol", "dialect", "game", "time"),
    [
        ("ugi", "ugi", "clobber", PLENTY),
        ("ugi", "ugi", "clobber size=4x4", CLOCK),
        ("ugi", "ugi", "mijnlieff", PLENTY),
        ("ugi", "ugi", "oxono totems=xc4", PLENTY),
        ("ugi", "uci", "clobber size=5x6", PLENTY),
        ("ugi", "uci", "clobber size=10x10", CLOCK),
        ("gtp", "gtp", "blokus mode=classic corners=fixed", PLENTY),
        ("gtp", "gtp", "blokus mode=duel corners=fixed", PLENTY),
        ("gtp", "gtp", "blokus mode=trio corners=fixed", CLOCK),
    ],
)
def test_whole_games(protocol: str, dialect: str, game: str, time: TimeControl) -> None:
    """They are played from every seat in one process, without a fault; the rules confirm them."""
    records, log = play(bridge(protocol, dialect), game, time=time, games=2)
    for record in records:
        assert record.faults == ()
        replay(record)
        assert "bridge" in record.players
    assert log.count("newgame" if protocol == "ugi" else "set_game") == 2


def said(log: str) -> list[str]:
    """The lines of a log, but for its notes and its headings of plies."""
    lines = log.splitlines()
    return [line for line in lines if not line.startswith("ply") and not is_heading(line)]


def test_what_a_uci_program_is_told() -> None:
    """As Fairy-Stockfish takes it: the variant by its name, moves as they are, both clocks."""
    lines: list[str] = []
    options = ("--option", "Threads=1", "--option", "UCI_Elo=2000")
    command = bridge("ugi", "uci", options=options)
    (record,), log = play(command, "clobber size=5x6", time=CLOCK, lines=lines)
    told = said(log)
    assert told[1:8] == [
        "ugi",
        "uci",
        "setoption name Threads value 1",
        "setoption name UCI_Elo value 2000",
        "isready",
        "setoption name UCI_Variant value clobber",
        "ucinewgame",
    ]
    assert told[8:11] == [
        "isready",
        "position startpos",
        "go wtime 59950 btime 60000 winc 500 binc 500",
    ]
    assert told[11] == f"position startpos moves {' '.join(record.moves[:2])}"
    assert "< ready Random-uci" in lines
    assert record.plies[0].values == {"depth": 4.0, "nodes": 1234.0, "cp": -35.0}


OFFERED = [
    ("Threads", " spin default 1 min 1 max 8", "Threads int 1 8 1"),
    ("Threads", " spin min 1 max 8 default 1", "Threads int 1 8 1"),
    ("Skill Level", " spin default -3 min -20 max 20", "Skill_Level int -20 20 -3"),
    ("Ponder", " check default false", "Ponder bool false"),
    ("Style", " combo default Solid var Solid var Risky", "Style choice Solid|Risky Solid"),
    ("Book", " string default <empty>", "Book text <empty>"),
    ("Hash", " spin default 16", None),
    ("Hash", f" spin default 1 min 1 max {'9' * 5000}", None),
    ("Style", " combo default Old Style var Old Style var New", None),
    ("Style", " combo default Odd var Even", None),
    ("Book", " string default", None),
    ("Clear Hash", " button", None),
    ("1st", " check default true", None),
]


@pytest.mark.parametrize(("name", "said", "declared"), OFFERED)
def test_what_a_program_offers_is_an_option(name: str, said: str, declared: str | None) -> None:
    """As UCI has options (https://www.chessprogramming.org/UCI), where a bot's can say as much."""
    option = offered_as(name, said)
    assert (option and option.declaration) == declared


def test_an_option_of_a_program_is_chosen() -> None:
    """Its own name chooses it, unless its owner did; what is not offered is not told."""
    program = bridge("ugi", "uci", options=("--option", "Book=x"))
    requests = "hello 1\nset Threads 4\nset Book y\nset Hsh 3\nquit\n"
    ended = subprocess.run(program, input=requests, capture_output=True, text=True, check=True)
    assert ended.stdout.splitlines() == [
        "# option nodes int 0 1000000000 0",
        "# option Threads int 1 8 1",
        "ready Random-uci",
    ]
    told = [line for line in ended.stderr.splitlines() if line.startswith("setoption")]
    assert told == ["setoption name Book value x", "setoption name Threads value 4"]


@pytest.mark.parametrize(
    ("options", "line"), [((), "set nodes 2000"), (("--option", "nodes=2000"), "set nodes 7")]
)
@pytest.mark.parametrize("dialect", ["ugi", "uci"])
def test_a_program_plays_by_nodes(dialect: str, options: tuple[str, ...], line: str) -> None:
    """It is told these in place of the time; what the bridge's owner chose is chosen."""
    requests = f"""\
hello 1
{line}
newgame clobber size=5x6 seats=2 you=1 time=1000 inc=0
go 0 clocks=1000,1000 moves
quit
"""
    ended = subprocess.run(
        bridge("ugi", dialect, options=options),
        input=requests,
        capture_output=True,
        text=True,
        check=True,
    )
    told = ended.stderr.splitlines()
    assert [one for one in told if one.startswith(("go", "setoption name nodes"))] == [
        "go nodes 2000"
    ]
    assert ended.stdout.splitlines()[-1].startswith("move ")


def test_what_a_ugi_program_is_told() -> None:
    """The usual board as startpos, others written out; a time for the move that leaves some."""
    _, log = play(bridge("ugi", "ugi"), "clobber")
    told = "\n".join(said(log))
    assert "uginewgame\nisready\nposition startpos\ngo movetime 19800\n" in told
    _, log = play(bridge("ugi", "ugi"), "clobber size=4x4", time=CLOCK)
    assert "\nposition fen wbwb/bwbw/wbwb/bwbw 1\ngo p1time 59950 p2time 60000 p1inc 500" in log


def test_what_a_gtp_program_is_told() -> None:
    """Colours by their numbers, squares with commas between; what it has played not again."""
    command = bridge("gtp", "gtp", options=("--first", "name"))
    (record,), log = play(command, "blokus mode=classic corners=fixed")
    told = said(log)
    assert told[1:5] == ["name", "name", "set_game Blokus", "genmove 1"]
    yellow = record.moves[1].removeprefix("yellow:")
    assert told[5] == f"play 2 {yellow}"
    assert [line for line in told if line.startswith("play 1")] == []


@pytest.mark.long
@pytest.mark.parametrize(
    ("protocol", "dialect", "flaw", "words"),
    [
        ("ugi", "ugi", "dies", "python.* ended (exit 5) before it gave bestmove"),
        ("ugi", "uci", "illegal", "'s answer is no move: 'illegal' is not legal"),
        ("ugi", "ugi", "bare", "answered 'bestmove' without a move"),
        ("ugi", "uci", "bare", "answered 'bestmove' without a move"),
        ("ugi", "uci", "none", "'s answer is no move: '(none)' is not legal"),
        ("gtp", "gtp", "dies", "ended (exit 5) before it gave answer to 'genmove'"),
        ("gtp", "gtp", "illegal", "'s answer is no move: "),
        ("gtp", "gtp", "none", "'s answer is no move: "),
        ("gtp", "gtp", "refuses", "refuses 'set_game Blokus': '? unknown game'"),
    ],
)
def test_a_program_that_fails(protocol: str, dialect: str, flaw: str, words: str) -> None:
    """The bridge says why in one line, and ends: the bot's loss, and its owner's to read."""
    game = "blokus mode=classic corners=fixed" if protocol == "gtp" else "clobber size=5x6"
    (record,), log = play(bridge(protocol, dialect, flaw), game)
    assert [str(fault.termination) for fault in record.faults] == ["crash"]
    (line,) = [line for line in log.splitlines() if line.startswith("arena bridge: ")]
    assert words.removeprefix("python.* ") in line


@pytest.mark.parametrize(
    ("name", "known"), [("threads", True), ("skill level", True), ("Hsh", False)]
)
def test_an_option_that_is_not_there_is_refused(name: str, known: bool) -> None:
    """The program tells the names, in any case (UCI, setoption): else it is ignored."""
    said = subprocess.run(
        bridge("ugi", "uci", options=("--option", f"{name}=1")),
        input="hello 1\nquit\n",
        env=os.environ | {"GAME": "clobber"},
        capture_output=True,
        text=True,
        check=False,
    )
    line = " has no option 'Hsh'; it has: Hash, Threads, Skill Level, UCI_Elo, Book\n"
    answer = said.stdout.splitlines()[-1:]
    assert (said.returncode, answer) == ((0, ["ready Random-uci"]) if known else (1, []))
    assert said.stderr.endswith(line) is not known


@pytest.mark.long
@pytest.mark.parametrize(
    ("protocol", "option", "code", "words"),
    [
        ("gtp", ("--first", " "), 2, "arena: --first is empty; it takes a GTP command\n"),
        ("gtp", ("--first", "lire é"), 1, "refuses 'lire é': '? unknown command'\n"),
        ("ugi", ("--option", "Book=é"), 0, "setoption name Book value é\n"),
        ("ugi", ("--option", "Threads=é"), 1, " takes a whole number as Threads, not 'é'\n"),
        ("ugi", ("--option", "threads=9"), 1, " takes at most 8 as threads, not 9\n"),
        ("ugi", ("--option", "Threads=0"), 1, " takes at least 1 as Threads, not 0\n"),
        ("ugi", ("--option", "Threads=8"), 0, "setoption name Threads value 8\n"),
        ("ugi", ("--option", "Hash=-5"), 0, "setoption name Hash value -5\n"),
        # The largest of 64 bits, as a seed may be.
        ("ugi", ("--option", f"Hash={2**64 - 1}"), 0, f"setoption name Hash value {2**64 - 1}\n"),
        ("ugi", ("--option", "nodes=-1"), 1, "nodes is a number from 0 to 1000000000, not -1\n"),
        ("ugi", ("--option", "Hash"), 2, "'Hash' is no option; an option is written NAME=VALUE\n"),
    ],
)
def test_options_that_are_odd(
    protocol: str, option: tuple[str, ...], code: int, words: str
) -> None:
    """Each is refused in one line, or told as it stands."""
    said = subprocess.run(
        bridge(protocol, "uci" if protocol == "ugi" else "gtp", options=option),
        input="hello 1\nquit\n",
        env=os.environ | {"GAME": "clobber", "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert said.returncode == code
    assert words in said.stderr


@pytest.mark.long
@pytest.mark.parametrize(
    ("protocol", "dialect", "charge", "what"),
    [
        ("ugi", "uci", "cpu", "bestmove"),
        ("ugi", "ugi", "wall", "bestmove"),
        ("gtp", "gtp", "cpu", "answer to 'genmove'"),
    ],
)
def test_a_program_that_sleeps_is_late(
    protocol: str, dialect: str, charge: Charge, what: str
) -> None:
    """By the referee's own limit, twice the move's time and a second, and not by the bridge's.

    What is missing it says before, for its owner to read.
    """
    game = "blokus mode=duel corners=fixed" if protocol == "gtp" else "clobber size=5x6"
    time = TimeControl(move_ms=400, charge=charge)
    (record,), log = play(bridge(protocol, dialect, "sleeps"), game, time=time)
    (fault,) = record.faults
    assert str(fault.termination) == "timeout"
    limit = "400" if charge == "wall" else "1800"
    assert fault.detail.startswith(f"no reply within {limit} ms of wall time")
    (line,) = [line for line in log.splitlines() if line.startswith("arena bridge: ")]
    assert line.endswith(f" gave no {what} in time")
    assert fault.detail.endswith(f"; last on standard error: {line}")


@pytest.mark.parametrize(
    ("protocol", "dialect", "game", "words"),
    [
        ("ugi", "uci", "clobber", "no UCI variant is known for clobber size=6x7"),
        ("ugi", "uci", "mijnlieff", "no UCI variant is known for mijnlieff"),
        ("ugi", "ugi", "siege", "ugi is for two seats; siege seats=3"),
        ("gtp", "gtp", "clobber", "there is no translation to GTP for clobber size=6x7"),
        ("gtp", "gtp", "blokus", "is no translation to GTP for blokus mode=classic corners=free"),
    ],
)
def test_games_without_a_translation_are_refused(
    protocol: str, dialect: str, game: str, words: str
) -> None:
    """A line says which it is."""
    (record,), log = play(bridge(protocol, dialect), game)
    assert record.faults[0].termination.value == "crash"
    (line,) = [line for line in log.splitlines() if line.startswith("arena bridge: ")]
    assert words in line


class Patient:
    """A program that is started, and never asked for a move."""

    offered: Mapping[str, BotOption] = MappingProxyType({})

    def set(self, option: str, value: str) -> None:
        raise AssertionError(option)

    def start(self) -> str:
        return "patient"

    def new_game(self, variant: Variant) -> None:
        """It takes any."""

    def choose(self, request: bot.Request) -> tuple[Move, dict[str, float]]:
        raise AssertionError(request)

    def close(self, *, politely: bool) -> None:
        """There is nothing to end."""


class Listener(Patient):
    """A program that makes the first move there is, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[bot.Request] = []

    def choose(self, request: bot.Request) -> tuple[Move, dict[str, float]]:
        self.asked.append(request)
        return next(iter(request.state.legal_moves())), {}


def test_a_position_is_reached_once() -> None:
    """However often the referee tells the whole game: what comes again is not played again, and
    two seats that leave are where they left. A history that is another one is another game."""
    variant = find_variant("blokus", ["mode=classic"])
    state: State = variant.initial()
    states, told, out = [state], [], []
    lines = ["hello 1", "newgame blokus mode=classic seats=4 you=4 move=100 seed=1"]
    dice = Random(2)
    for ply in range(20):
        if ply in (6, 13):
            seat = 0 if ply == 6 else 2
            states[-1] = state = state.retire(seat)
            out.append(f"{seat + 1}@{ply}")
        seats = f" out={','.join(out)}" if out else ""
        lines.append(f"go {ply} clocks=9,9,9,9{seats} moves {' '.join(told)}")
        move = dice.choice(state.legal_moves())
        told.append(f"{state.to_move + 1}:{move}")
        states.append(state := state.play(move))
    other = variant.initial().legal_moves()[-1]
    program = Listener()
    bot.run(program, [*lines, f"go 1 clocks=9,9,9,9 moves 1:{other}", "quit"], lambda _: None)
    *asked, last = program.asked
    for ply, request in enumerate(asked):
        assert len(request.states) == ply + 1
        assert request.state == states[ply]
        if ply not in (0, 6, 13):
            before = asked[ply - 1].states
            assert all(one is two for one, two in zip(before, request.states, strict=False))
    assert last.states == [variant.initial(), variant.initial().play(other)]


HELLO = "hello 1\n"
NEWGAME = "newgame clobber size=4x4 seats=2 you=1 move=1000 seed=1\n"


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (NEWGAME, "'newgame' came before 'hello'"),
        (f"{HELLO}go 0 clocks=9,9 moves\n", "'go' came before 'newgame'"),
        (f"{HELLO}newgame\n", "there is no game ''; there are: blocco"),
        (f"{HELLO}newgame clobber size=4x4\n", "you= is missing in 'newgame clobber size=4x4'"),
        (f"{HELLO}newgame clobber you=1\n", "time= is missing in 'newgame clobber you=1'"),
        (f"{HELLO}newgame clobber you=1 move=x\n", "a number is missing in 'newgame clobber"),
        (f"{HELLO}newgame clobber you=1 move=0\n", "a time of 0 ms is out of range"),
        (f"{HELLO}newgame clobber seats=2 you=9 move=9\n", "clobber size=6x7 has no seat 9"),
        (f"{HELLO}newgame clobber seats=2 you=0 move=9\n", "clobber size=6x7 has no seat 0"),
        (f"{HELLO}{NEWGAME}go x\n", "clocks= is missing in 'go x'"),
        (f"{HELLO}{NEWGAME}go 0 clocks=9,y moves\n", "a number is missing in 'go 0 clocks=9,y"),
        (f"{HELLO}{NEWGAME}go 0 clocks=9 moves\n", "clobber size=4x4 has 2 clocks, not 1"),
        (f"{HELLO}{NEWGAME}go 0 clocks=9,9 out=9@0 moves\n", "clobber size=4x4 has no seat 9"),
        (f"{HELLO}{NEWGAME}go 1 clocks=9,9 moves 1:a9\n", "'a9' is not legal here"),
    ],
)
def test_lines_that_no_referee_sends(lines: str, words: str) -> None:
    """What is wrong with them; nobody waits for an answer."""
    with pytest.raises(BridgeError, match=re.escape(words)):
        bot.run(Patient(), lines.splitlines(), lambda _: None)


@pytest.mark.parametrize("lines", [b"newgame\n", b"\xff\n"])
def test_a_bridge_that_reads_nonsense_ends(lines: bytes) -> None:
    """With one line and a code that is not zero."""
    strict = os.environ | {"PYTHONIOENCODING": "utf-8:strict"}
    said = subprocess.run(
        bridge("ugi", "ugi"), input=lines, capture_output=True, check=False, env=strict
    )
    assert said.returncode == 1
    assert re.fullmatch(rb"arena bridge: .*\n", said.stderr)


@pytest.mark.parametrize(
    ("program", "why"),
    [("./nobody", "No such file or directory"), ("nobody", "there is no such program")],
)
def test_a_program_that_is_not_there(
    program: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever else the system has to say of the folders where it looked."""
    (tmp_path / "nobody").write_text("no program")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    (record,), log = play([*ARENA, "bridge", "ugi", "--", program], "clobber size=5x6")
    assert record.faults
    assert f"arena bridge: {program} can't be started: {why}" in log


@pytest.mark.long
@pytest.mark.parametrize(
    "game",
    [
        "clobber size=5x6",
        "clobber size=10x10",
        pytest.param("openspiel:chess", marks=pytest.mark.extras),
    ],
)
def test_fairy_stockfish_plays(game: str) -> None:
    """A real program of others: whole games, from both seats."""
    need(game.split()[0] in GAMES, f"{game} is not here")
    found = shutil.which("fairy-stockfish", path=f"{os.environ['PATH']}:/usr/games")
    need(found, "fairy-stockfish is not installed")
    command = [*ARENA, "bridge", "ugi", "--option", "Threads=1", "--", str(found)]
    records, _ = play(command, game, time=TimeControl(time_ms=1000, inc_ms=20), games=2)
    for record in records:
        assert record.faults == ()
        # It is far above one that plays the first move there is.
        assert record.ranks[record.players.index("bridge")] == 1
