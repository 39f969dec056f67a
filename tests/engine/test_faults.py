"""Every way to break the bot protocol, and every liberty that it leaves, by real processes."""

import pytest

from engine.clock import ALLOWANCES, Allowances, TimeControl
from engine.game import Termination
from engine.record import replay
from engine.referee import play_game
from tests.engine.players import PLENTY, SMALL, FirstMove, StartBot, play, scripted_program

WALL = TimeControl(move_ms=150, charge="wall")
NO_READY = Allowances(start_seconds=0.15)
NO_OK = Allowances(newgame_seconds=0.15)

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
        fault("hides a letter", PROTOCOL, r"got 'move\x00 a", go="say(f'move\\0 {legal[0]}\\n')"),
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
            "xx' and no end of that line; its clock had 50 ms",
            time=TimeControl(move_ms=50),
            go="while True: say('x'); burn(1)",
        ),
        fault("never flushes", TIMEOUT, "no reply", time=WALL, go="print('move', legal[0])"),
        fault(
            "writes half a line",
            TIMEOUT,
            "ms of wall time, only 'move a' and no end of that line; its clock had",
            time=WALL,
            go="say('move a')",
        ),
        fault(
            "writes half a ready",
            START,
            "no 'ready' within 0.15 s, only 'ready a' and no end of that line",
            allowances=NO_READY,
            hello="say('ready a')",
        ),
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
            "is frozen before it answers again",
            PROTOCOL,
            "without being asked",
            ply=2,
            go="honest(); time.sleep(0.02); say(f'move {legal[0]}\\n')",
        ),
        fault(
            "moves illegally and exits",
            ILLEGAL,
            "'a1a3' is not legal here",
            go="say('move a1a3\\n'); os._exit(3)",
        ),
        fault(
            "moves illegally and keeps on logging",
            ILLEGAL,
            "'a1a3' is not legal here",
            go="say('move a1a3\\n'); [(time.sleep(0.05), say('# a\\n')) for _ in iter(int, 1)]",
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
        pytest.param({"go": "say(f'move {legal[0]} \\x1b[1ma\\x00\\x07\\n')"}, id="control"),
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
    records = [play_game(SMALL, [bot, FirstMove()], time=PLENTY) for _ in range(2)]
    bot.close()
    honest = play_game(SMALL, [FirstMove(), FirstMove()], time=PLENTY)
    for record in records:
        assert record.faults == ()
        assert record.moves == honest.moves
    assert program.kill() == "exit 0"
