"""The bot protocol clause by clause, kept and broken by a real process."""

import resource
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product

import psutil
import pytest

from engine.clock import ALLOWANCES, Allowances, TimeControl
from engine.game import Termination
from engine.games import GAMES
from engine.match import MatchSpec, play_match
from engine.player import ProtocolError, TimeForfeitError, VoidGameError
from engine.process import BotProcess, HeadAndTail, PipeChannel
from engine.program import PlainProgram, Program
from engine.record import GameRecord, replay
from engine.referee import play_game
from engine.seeds import derive
from tests.engine.leaks import child_processes, highest_file, open_files
from tests.engine.players import BOTS, FirstMove, Scripted, scripted_program

pytestmark = pytest.mark.usefixtures("no_leaks")

CLOBBER = GAMES["clobber"].variant(size="4x3")
PLENTY = TimeControl(move_ms=5000)
"""For bots whose time is not the point, on the busiest machine."""
WALL = TimeControl(move_ms=150, charge="wall")
NO_READY = Allowances(start_seconds=0.15)
NO_OK = Allowances(newgame_seconds=0.15)
NO_QUIT = Allowances(quit_seconds=0.1)
HASTE = Allowances(newgame_seconds=0.1, quit_seconds=0.02)


StartBot = Callable[..., BotProcess]


@pytest.fixture
def start(no_leaks: None) -> Iterator[StartBot]:
    """Makes bots of tests/bots/scripted.py, all of them ended after the test."""
    bots = []

    def start(*, program: Program | None = None, allowances=ALLOWANCES, **events: str):
        bots.append(
            BotProcess(lambda: program or scripted_program(**events), allowances=allowances)
        )
        return bots[-1]

    yield start
    for bot in bots:
        bot.close(kill=True)


def play(bot: BotProcess, time: TimeControl = PLENTY, *, variant=CLOBBER) -> GameRecord:
    """A game of the bot in seat 1."""
    return play_game(variant, [bot, FirstMove()], time=time)


START, TIMEOUT, CRASH = Termination.START, Termination.TIMEOUT, Termination.CRASH
PROTOCOL, ILLEGAL, RESIGN = Termination.PROTOCOL, Termination.ILLEGAL, Termination.RESIGN


def fault(name, termination, detail, *, ply=0, time=PLENTY, allowances=ALLOWANCES, **events):
    """One row: what the bot does, and how its game ends, in which words, before which ply."""
    return pytest.param(events, time, allowances, termination, detail, ply, id=name)


@pytest.mark.parametrize(
    ("events", "time", "allowances", "termination", "detail", "ply"),
    [
        # The handshake.
        fault("says no ready", START, "no 'ready' within 0.15 s", allowances=NO_READY, hello="1"),
        fault("never reads", START, "'ready'", allowances=NO_READY, start="time.sleep(60)"),
        fault(
            "says ready late",
            START,
            "'ready'",
            allowances=NO_READY,
            hello="time.sleep(0.4); honest()",
        ),
        fault("says no ok", START, "no 'ok' within 0.15 s", allowances=NO_OK, newgame="1"),
        fault("says ok late", START, "'ok'", allowances=NO_OK, newgame="time.sleep(0.4); honest()"),
        fault("greets", PROTOCOL, "expected 'ready NAME'", hello="say('hi there\\n')"),
        fault("greets first", PROTOCOL, "got 'hi'", start="say('hi\\n')"),
        fault("is ready for protocol x", PROTOCOL, "'x'", hello="say('ready a protocol=x\\n')"),
        fault("is ready twice", PROTOCOL, "'ready b' w", hello="say('ready a\\nready b\\n')"),
        fault("is not ok", PROTOCOL, "expected 'ok'", newgame="say('not ok\\n')"),
        fault("is ok twice", PROTOCOL, "'ok' without", newgame="say('ok\\nok\\n')"),
        fault("ends at once", CRASH, "closed its output: exit 3", start="os._exit(3)"),
        fault("raises at newgame", CRASH, "exit 1", newgame="1 / 0"),
        # Time.
        fault("hangs", TIMEOUT, "150 ms of wall time; its clock had 150", time=WALL, go="1"),
        fault(
            "sleeps past the backstop",
            TIMEOUT,
            "no reply within 1020 ms of wall time; its clock had 10 ms",
            time=TimeControl(move_ms=10),
            go="time.sleep(60)",
        ),
        fault(
            "burns for ever",
            TIMEOUT,
            "of CPU time; its clock had 100 ms",
            time=TimeControl(move_ms=100),
            go="burn(1e9)",
        ),
        fault(
            "burns in threads, each of them in time",
            TIMEOUT,
            "ms of CPU time",
            time=TimeControl(move_ms=100),
            go="burn_in_threads(4, 50); honest()",
        ),
        fault(
            "uses up its clock",
            TIMEOUT,
            "ms of CPU time",
            ply=4,
            time=TimeControl(time_ms=300, inc_ms=1),
            go="burn(120); honest()",
        ),
        fault(
            "burns while it writes byte by byte",
            TIMEOUT,
            "of CPU time; its clock had 50 ms",
            time=TimeControl(move_ms=50),
            go="while True: say('x'); burn(1)",
        ),
        fault("never flushes", TIMEOUT, "no reply", time=WALL, go="print('move', legal[0])"),
        fault("writes half a line", TIMEOUT, "no reply", time=WALL, go="say('move a')"),
        # Replies that are none.
        fault("moves illegally", ILLEGAL, "'a1a3' is not legal here", go="say('move a1a3\\n')"),
        fault("moves nothing", PROTOCOL, "expected 'move MOVE'", go="say('move\\n')"),
        fault("says nothing", PROTOCOL, "got ''", go="say('\\n')"),
        fault("says something", PROTOCOL, "got 'well'", go="say('well\\n')"),
        fault("resigns", RESIGN, "resigned", go="say('move resign\\n')"),
        fault("is no UTF-8", PROTOCOL, "no UTF-8", go="say(b'move \\xff\\n')"),
        fault("logs what is no UTF-8", PROTOCOL, "no UTF-8", go="say(b'# \\xff\\n'); honest()"),
        fault("writes 4097 bytes", PROTOCOL, "4096 bytes", go="say('move ' + 4092 * 'a' + '\\n')"),
        fault("logs 4097 bytes", PROTOCOL, "4096 bytes", go="say('#' + 4096 * 'a' + '\\n')"),
        fault("floods a line", PROTOCOL, "4096 bytes", go="while True: say(10000 * 'a')"),
        fault("floods lines", PROTOCOL, "got 'a'", go="while True: say(10000 * 'a\\n')"),
        fault("floods the log", PROTOCOL, "65536 bytes of #", go="while True: say(999 * '# a\\n')"),
        fault("logs 64 KiB and a line", PROTOCOL, "65536", go="say(8193 * '#234567\\n'); honest()"),
        # Output that nobody asked for.
        fault(
            "answers twice",
            PROTOCOL,
            "said 'move again' without being asked",
            ply=2,
            go="say(f'move {legal[0]}\\nmove again\\n')",
        ),
        fault(
            "answers one and a half times",
            PROTOCOL,
            "said 'mov' without being asked",
            ply=2,
            go="say(f'move {legal[0]}\\nmov')",
        ),
        fault(
            "floods answers",
            PROTOCOL,
            "without being asked",
            ply=2,
            go="say(9000 * f'move {legal[0]}\\n')",
        ),
        fault(
            "speaks from a thread",
            PROTOCOL,
            "'late'",
            ply=2,
            go="threading.Timer(0.05, say, ['late\\n']).start(); honest(); time.sleep(0.1)",
        ),
        # Ends.
        fault("exits", CRASH, "closed its output: exit 7", go="os._exit(7)"),
        fault("raises", CRASH, "closed its output: exit 1", go="1 / 0"),
        fault("is killed", CRASH, "killed by SIGKILL", go="os.kill(os.getpid(), 9)"),
        fault("closes its output", CRASH, "still running", go="os.close(1); time.sleep(60)"),
        fault("closes its input", CRASH, "exit 1", ply=2, go="honest(); os.close(0)"),
        fault("exits after its answer", CRASH, "exit 0", ply=2, go="honest(); os._exit(0)"),
        fault("exits in the line", CRASH, "exit 0", go="say('move a'); os._exit(0)"),
        fault("exits after a flood", CRASH, "exit 0", go="say(9000 * '# a\\n'); os._exit(0)"),
    ],
)
def test_a_fault_ends_the_game(start: StartBot, events, time, allowances, termination, detail, ply):
    """The bot loses by the right name, its author is told why, and its process is gone."""
    bot = start(allowances=allowances, **events)
    record = play(bot, time)
    (told,) = record.faults
    assert (told.seat, told.ply, told.termination) == (0, ply, termination)
    assert detail in told.detail
    assert record.termination == termination
    assert record.ranks == (2, 1)
    assert replay(record).ranks() == (2, 1)
    assert bot.closed


@pytest.mark.parametrize(
    "events",
    [
        pytest.param({}, id="an honest bot"),
        pytest.param(
            {
                "hello": "say('ready a want=legal\\r\\n')",
                "newgame": "say('ok\\r\\n')",
                "go": "say(f'move {legal[0]}\\r\\n')",
            },
            id="CRLF",
        ),
        pytest.param({"hello": "say('ready a b=c protocol=1 want=legal,x d\\n')"}, id="keys"),
        pytest.param({"go": "for c in f'move {legal[0]}\\n': say(c)"}, id="byte by byte"),
        pytest.param({"go": "say('# a\\n'); honest(); say('# b\\n')"}, id="# around it"),
        pytest.param(
            {
                "go": "say(f'move {legal[0]}\\n# ha')",
                "legal": "if turn: say('lf\\n')",
                "end": "say('lf\\n'); turn = 0",
            },
            id="half a # line",
        ),
        pytest.param({"go": "say(8192 * '#234567\\n'); honest()"}, id="64 KiB of #"),
        pytest.param({"go": "say('#' + 4095 * 'a' + '\\n'); honest()"}, id="4 KiB of #"),
        pytest.param({"go": "say(f'move {legal[0]} '.ljust(4096, '.') + '\\n')"}, id="4 KiB"),
        pytest.param({"go": "say(f'move {legal[0]} '.ljust(4096, '.') + '\\r\\n')"}, id="4 KiB CR"),
        pytest.param({"go": "say(f'\\x1b[1mmo\\x00ve {legal[0]}\\x07\\n')"}, id="control"),
        pytest.param({"go": "complain(3_000_000 * 'e'); honest()"}, id="a flood of complaints"),
        pytest.param({"go": "burn_in_threads(3, 5); honest()"}, id="threads"),
        pytest.param({"end": "say('# thanks\\n')"}, id="# at the end"),
        pytest.param({"end": "complain('bye')"}, id="a complaint at the end"),
    ],
)
def test_what_is_allowed(start: StartBot, events):
    """Two games in one process, without a fault and with the same moves as an honest bot's."""
    program = scripted_program(**events)
    bot = start(program=program)
    records = [play_game(CLOBBER, [bot, FirstMove()], time=PLENTY) for _ in range(2)]
    bot.close()
    honest = play_game(CLOBBER, [FirstMove(), FirstMove()], time=PLENTY)
    for record in records:
        assert record.faults == ()
        assert record.moves == honest.moves
    assert program.kill() == "exit 0"


@pytest.mark.parametrize(
    ("wants", "said"),
    [
        ("", ["go 0 clocks=5000,5000 moves"]),
        ("want=legal", ["legal a1a2 b2a2 b2c2", "go 1 clocks=5000,5000 moves 1:b1c1"]),
        ("want=state", ["state wbw/b1w 2", "go 1 clocks=5000,5000 moves 1:b1c1"]),
        (
            "want=state,legal",
            ["state wbw/b1w 2", "legal a1a2 b2a2 b2c2", "go 1 clocks=5000,5000 moves 1:b1c1"],
        ),
    ],
)
def test_a_bot_hears_what_it_wants(start: StartBot, wants, said):
    """The lines of one request in their order, only those that were asked for."""
    bot = start(
        hello=f"say('ready a {wants}\\n')",
        state="say('# ' + line)",
        legal="say('# ' + line)",
        go="say('# ' + line); say('move resign\\n')",
    )
    variant = GAMES["clobber"].variant(size="3x2")
    opening = ["b1c1"] if "moves 1:b1c1" in said[-1] else []
    players = [bot, FirstMove()][:: -1 if opening else 1]
    play_game(variant, players, time=PLENTY, opening=opening)
    assert bot.take_log() == "".join(f"ply {len(opening)}: {line}\n" for line in said)


def test_two_games_line_by_line(start: StartBot):
    """Every request of two games in one process, with the clock that a move left."""
    echo = "say('# ' + line); honest()"
    program = scripted_program(
        newgame=echo, go=echo, end="say('# ' + line)", quit="complain(line); honest()"
    )
    bot = start(program=program)
    variant = GAMES["clobber"].variant(size="3x2")
    clock = TimeControl(time_ms=60_000, inc_ms=500)
    record = play_game(variant, [bot, FirstMove()], time=clock, seed=3)
    assert record.moves == ("a2a1", "b2b1", "a1b1", "c1b1")
    left_ms = (60_500_000 - record.plies[0].cpu_us) // 1000
    assert bot.take_log().splitlines() == [
        f"newgame clobber size=3x2 seats=2 you=1 time=60000 inc=500 seed={derive(3, 'seat', 0)}",
        "ply 0: go 0 clocks=60000,60000 moves",
        f"ply 2: go 2 clocks={left_ms},60500 moves 1:a2a1 2:b2b1",
    ]
    record = play_game(variant, [FirstMove(), bot], time=PLENTY, seed=4, opening=["b1c1"])
    assert record.moves == ("b1c1", "a1a2", "c2b2", "a2b2")
    assert bot.take_log().splitlines() == [
        "end ranks=2,1 scores=0,1 cause=normal",
        f"newgame clobber size=3x2 seats=2 you=2 move=5000 seed={derive(4, 'seat', 1)}",
        "ply 1: go 1 clocks=5000,5000 moves 1:b1c1",
        "ply 3: go 3 clocks=5000,5000 moves 1:b1c1 2:a1a2 1:c2b2",
    ]
    bot.close()
    assert program.kill() == "exit 0"
    assert bot.take_log() == "--- standard error ---\nquit\n"


def test_four_seats_and_those_that_left(start: StartBot):
    """Blokus goes on without those that failed; a bot is told who left before which ply."""
    bot = start(
        go="say('# ' + line.partition(' moves')[0] + '\\n'); honest()",
        newgame="say('# ' + line); honest()",
    )
    second = Scripted("resign")
    third = Scripted(TimeForfeitError("slept"))
    variant = GAMES["blokus"].variant(mode="classic", corners="fixed")
    stop = VoidGameError("seen enough")
    fourth = Scripted("green:a1", stop)
    with pytest.raises(VoidGameError, match="seen enough"):
        play_game(variant, [bot, second, third, fourth], time=PLENTY, seed=1)
    assert bot.take_log() == (
        "newgame blokus mode=classic corners=fixed seats=4 you=1 move=5000 "
        f"seed={derive(1, 'seat', 0)}\n"
        "ply 0: go 0 clocks=5000,5000,5000,5000\n"
        "ply 2: go 2 clocks=5000,5000,5000,5000 out=2@1,3@1\n"
    )
    assert (second.killed, third.killed, fourth.killed) == (False, True, None)


def test_what_a_bot_notes(start: StartBot):
    """# lines before a reply belong to its ply, later ones to the next; numbers are kept."""
    bot = start(
        start="say('# up\\n')",
        newgame="say('# new 1\\n'); honest()",
        go="say(f'# eval {turn}.5\\n# thinking\\n'); "
        "say(f'move {legal[0]} because\\n# after {turn}\\n')",
        end="say('# over 1\\n')",
    )
    for over in ("", "after 4\nover 1\n"):
        record = play_game(CLOBBER, [bot, FirstMove()], time=PLENTY)
        own = record.plies[::2]
        turn = 4 if over else 0
        assert len(own) == 4
        assert {ply.text for ply in own} == {"because"}
        assert [ply.values for ply in own] == [
            {"eval": turn + 1.5},
            {"eval": turn + 2.5, "after": turn + 1},
            {"eval": turn + 3.5, "after": turn + 2},
            {"eval": turn + 4.5, "after": turn + 3},
        ]
        # What it says between its last move and its first belongs to no ply.
        before = over or "up\n"
        thoughts = [f"ply {ply}: thinking\n" for ply in (0, 2, 4, 6)]
        assert bot.take_log() == "".join([before, "new 1\n", *thoughts])


def test_where_logs_end(start: StartBot):
    """What is kept of a flood is its beginning and its end, without what steers a terminal."""
    bot = start(
        go="complain('\\x1b[31mfirst\\n'); complain(200_000 * 'e' + '\\n'); complain('last\\n')\n"
        "for i in range(20): say(f'# number{i} {i}\\n')\n"
        "say(60 * ('# ' + 999 * 'x' + '\\n')); honest()",
    )
    record = play(bot, variant=GAMES["clobber"].variant(size="5x4"))
    log, _, errors = bot.take_log().partition("--- standard error ---\n")
    assert errors.startswith("first\neeee")
    assert errors.endswith("eeee\nlast\n")
    assert "bytes left out" in errors
    assert len(errors) < 66_000
    # Sixteen numbers a ply, then text; and no more than 256 KiB of that, of 60 KB a ply.
    assert record.plies[0].values == {f"number{i}": i for i in range(16)}
    assert log.startswith("ply 0: number16 16\n")
    assert log.endswith("x\n")
    assert "bytes left out" in log
    assert 262_144 <= len(log) < 262_200


def test_standard_error_never_grows_for_long(start: StartBot):
    """The file of a bot that floods it, and never falls silent meanwhile, is kept small."""
    program = scripted_program(
        go="for i in range(40): complain(200_000 * 'e'); say('# tick\\n'); time.sleep(0.005)\n"
        "say(f'# size {os.fstat(2).st_size}\\n'); honest()"
    )
    record = play(start(program=program), variant=GAMES["clobber"].variant(size="2x2"))
    assert record.faults == ()
    assert record.plies[0].values["size"] < 4_000_000


@pytest.mark.parametrize("work", ["burn(60)", "burn_in_threads(3, 20)", "time.sleep(0.06)", "1"])
@pytest.mark.parametrize("charge", ["cpu", "wall"])
def test_what_is_charged(start: StartBot, work: str, charge):
    """CPU time as the bot itself would count it, all its threads; and wall time beside it."""
    bot = start(
        go=f"before = time.process_time(); {work}\n"
        "say(f'# ms {1000 * (time.process_time() - before)}\\n'); honest()"
    )
    control = TimeControl(time_ms=60_000, charge=charge)
    first, _, third, *_ = play(bot, control).plies
    for ply in (first, third):
        assert 0 <= ply.cpu_us / 1000 - ply.values["ms"] < 10
        assert ply.values["ms"] >= 60 or work in ("time.sleep(0.06)", "1")
        assert ply.wall_us >= 60_000 or work == "1" or "threads" in work


def test_newgame_and_end_cost_nothing(start: StartBot):
    """A bot may think before its game and after it, beyond what the game would allow."""
    bot = start(newgame="burn(100); honest()", end="burn(100)")
    record = play(bot, TimeControl(time_ms=80))
    assert record.faults == ()
    assert sum(ply.cpu_us for ply in record.plies[::2]) < 80_000


class Rival(FirstMove):
    """Looks at the CPU clock of a frozen program while it thinks itself."""

    def __init__(self, program: PlainProgram) -> None:
        super().__init__()
        self.program = program
        self.used_us: list[int] = []

    def choose(self, turn):
        time.sleep(0.02)  # by now it has stopped
        before = self.program.cpu_us()
        time.sleep(0.06)
        self.used_us.append(self.program.cpu_us() - before)
        return super().choose(turn)


@pytest.mark.parametrize(
    "events",
    [
        {"start": "ponder()"},
        {"go": "honest(); burn(1e9)"},
        # It leaves its process group for that of its parent.
        {"start": "ponder(); os.setpgid(0, os.getpgid(os.getppid()))"},
    ],
    ids=["in a thread", "after its answer", "in another group"],
)
def test_nobody_thinks_on_the_others_time(start: StartBot, events):
    """Between two requests a bot is stopped: its CPU clock stands still."""
    program = scripted_program(**events)
    rival = Rival(program)
    control = TimeControl(move_ms=300)
    play_game(CLOBBER, [start(program=program), rival], time=control)
    assert rival.used_us
    assert max(rival.used_us) < 3000


def test_two_bots_do_not_disturb_each_other(start: StartBot):
    """Each pays for its own work alone, though both would rather ponder."""
    bots = [start(start="ponder()"), start(go="burn(30); honest()")]
    record = play_game(CLOBBER, bots, time=TimeControl(move_ms=2000))
    assert record.faults == ()
    for ply in record.plies[1::2]:
        assert 30_000 <= ply.cpu_us < 60_000


def test_a_process_ends_with_all_it_started(start: StartBot):
    """After quit there is a moment to leave; then the bot is killed, its children with it."""
    bot = start(
        allowances=NO_QUIT,
        newgame="child = os.fork()\nif not child: time.sleep(60)\nhonest()",
        go="say(f'# child {child}\\n'); honest()",
        quit="time.sleep(60)",
    )
    record = play(bot)
    child = psutil.Process(int(record.plies[0].values["child"]))
    before = time.monotonic()
    bot.close()
    assert time.monotonic() - before >= 0.1
    # Nobody but init can reap it, and init may take its time.
    psutil.wait_procs([child], timeout=0.5)
    assert not child.is_running() or child.status() == psutil.STATUS_ZOMBIE


def test_a_closed_bot_never_plays_again(start: StartBot):
    """It may be closed before its start, and twice; to go on with it is our own fault."""
    bot = start()
    bot.close()
    bot.close(kill=True)
    with pytest.raises(VoidGameError):
        play(bot)


MEGABYTE = "legal " + " ".join(f"blue:a{n}" for n in range(90_000)) + "\ngo 0 clocks=1 moves\n"


def ask(program: Program, request: str = MEGABYTE, *, wall_us: int = 5_000_000):
    """One request over a channel of its own; the program is killed after it."""
    try:
        return PipeChannel(program, HeadAndTail(1000)).ask(request, cpu_us=None, wall_us=wall_us)
    finally:
        program.kill()


def test_a_megabyte_of_legal_moves():
    """A request longer than any pipe arrives whole."""
    assert len(MEGABYTE) > 1_000_000
    line, cpu_us, wall_us = ask(scripted_program(go="say(f'{len(legal)} {legal[-1]}\\n')"))
    assert line == "90000 blue:a89999"
    assert cpu_us > 0
    assert wall_us > 0


def test_a_bot_that_never_reads_holds_nobody_up():
    """Writing is under the deadline too."""
    before = time.monotonic()
    with pytest.raises(TimeForfeitError, match="no reply within 100 ms of wall time"):
        ask(scripted_program(start="time.sleep(60)"), wall_us=100_000)
    assert time.monotonic() - before < 5


def test_an_answer_to_half_a_request():
    """Who answers before `go` can have come was not asked."""
    with pytest.raises(ProtocolError, match="said 'move a' before it had read the request"):
        ask(scripted_program(start="os.read(0, 9000); say('move a\\n'); time.sleep(60)"))


def test_a_full_pipe_swallows_no_reply():
    """Bots may fill the pipe with # lines while the referee fills the other."""
    logs = "say(900 * ('# ' + 60 * 'x' + '\\n'))"
    line, _, _ = ask(scripted_program(start=logs, go="say('move a\\n')"))
    assert line == "move a"


@pytest.mark.parametrize("missing", ["no/such/bot", "/", __file__])
def test_a_command_that_cannot_be_started(missing, start: StartBot):
    """A missing program, a folder, a file that is none: the bot's fault, by name."""
    bot = BotProcess(lambda: PlainProgram([missing]))
    record = play(bot)
    assert record.termination == CRASH
    assert f"can't be started: {missing}" in record.faults[0].detail


class Boxed(PlainProgram):
    """A program whose box says that it died at its memory limit."""

    isolation = "good"

    def kill(self) -> str:
        super().kill()
        return "memory: 256 MiB"


def test_the_memory_limit_has_a_name_of_its_own():
    """What the box says of a death, the record says; and in which box the bot sat."""
    bot = BotProcess(
        lambda: Boxed(["sh", "-c", "read hello; echo ready a; read newgame; kill -9 $$"])
    )
    record = play(bot)
    assert record.termination == Termination.MEMORY
    assert record.faults[0].detail == "was killed at its memory limit"
    assert record.isolation == "good"


def test_our_own_shortages_are_nobodys_fault(tmp_path):
    """Where a pipe or a file can't be had, the game is void, and nothing is left behind."""
    before = open_files()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    started = 0
    try:
        for spare in range(16):
            resource.setrlimit(resource.RLIMIT_NOFILE, (highest_file() + 1 + spare, hard))
            try:
                scripted_program().kill()
                started += 1
            except VoidGameError:
                assert not started, "more files made it fail"
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert started
    assert open_files() == before
    # A program that another thread's child still holds open from when it was written.
    bot = tmp_path / "bot"
    with bot.open("w") as file:
        file.write("#!/bin/sh\n")
        file.flush()
        bot.chmod(0o755)
        with pytest.raises(VoidGameError, match="no bot can be started now"):
            PlainProgram([str(bot)])


def test_a_shell_bot():
    """Ten lines of shell are a bot."""
    bots = [BotProcess(lambda: PlainProgram(["sh", str(BOTS / "first.sh")])) for _ in range(2)]
    record = play_game(CLOBBER, bots, time=PLENTY)
    for bot in bots:
        bot.close()
    assert record.faults == ()
    assert record.moves == play_game(CLOBBER, [FirstMove(), FirstMove()], time=PLENTY).moves


def test_nothing_is_left_after_fifty_games():
    """No process and no open file outlives its match, whatever way its games ended."""
    hello = "read line; echo ready a; read line; echo ok; "
    ways = [
        ["sh", str(BOTS / "first.sh")],
        ["sh", "-c", hello + "exit 3"],
        ["sh", "-c", hello + "read line; sleep 60"],
        ["sh", "-c", "echo"],
        ["no/such/bot"],
    ]
    spec = MatchSpec(CLOBBER, ("a", "b"), TimeControl(move_ms=20, charge="wall"))
    before = open_files(), child_processes()
    for pair in product(ways, repeat=2):
        starts = [partial(PlainProgram, command) for command in pair]
        players = [partial(BotProcess, start, allowances=HASTE) for start in starts]
        play_match(spec, lambda entrant, players=players: players[entrant]())
    assert (open_files(), child_processes()) == before
