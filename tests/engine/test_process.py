"""What a bot hears, what its moves cost, and what is kept of what it says."""

import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from engine import bot_logs, protocol
from engine.channel import ErrorFile, HeadAndTail, PipeChannel
from engine.clock import Limit, TimeControl
from engine.exchange import ExchangedLine, whole
from engine.games import GAMES
from engine.player import GameSetup, ProtocolError, TimeForfeitError, VoidGameError
from engine.process import BotProcess
from engine.program import PlainProgram, Program
from engine.record import Ply
from engine.referee import play_game
from engine.seeds import derive
from tests.engine.players import (
    BOTS,
    PLENTY,
    SMALL,
    FirstMove,
    Scripted,
    StartBot,
    play,
    scripted_program,
)

pytestmark = pytest.mark.usefixtures("no_leaks")


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


def test_the_lines_of_a_game_are_kept_to_its_crash():
    """Each with its ply and its time, below the log; what was said without a move is kept, too."""
    crash = "time.sleep(0.03); say('# value 5\\n# seen\\n'); complain('bad'); os._exit(7)"
    program = scripted_program(
        hello="say('ready a\\n')", go=f"say('move a2a1\\n') if turn == 1 else exec({crash!r})"
    )
    bot = BotProcess(lambda: program, keeps_lines=True)
    record = play_game(GAMES["clobber"].variant(size="3x2"), [bot, FirstMove()], time=PLENTY)
    (fault,) = record.faults
    written, lines = bot_logs.apart(bot.take_log())
    assert bot_logs.by_ply(written)[fault.ply] == "value 5\nseen\nbad\n"
    first, second = record.moves
    told = [line._replace(ms=None) for line in lines]
    newgame = protocol.newgame_line(GameSetup(record.variant, 0, PLENTY, derive(0, "seat", 0)))
    clocks = "clocks=5000,5000"
    assert [line.text for line in told if line.direction == ">"] == [
        "hello 1", newgame.strip(), f"go 0 {clocks} moves", f"go 2 {clocks} moves ..."
    ]  # fmt: skip
    assert [line for line in told if line.ply == fault.ply] == [
        ExchangedLine(2, ">", f"go 2 {clocks} moves ..."),
        ExchangedLine(2, "<", "# value 5"),
        ExchangedLine(2, "<", "# seen"),
    ]
    assert whole(lines[-3], record.plies).text.endswith(f"moves 1:{first} 2:{second}")
    assert all(line.ms > 30 for line in lines[-2:])
    assert bot.take_log() == ""


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
        record = play_game(SMALL, [bot, FirstMove()], time=PLENTY)
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


def test_a_log_is_looked_into_while_it_grows(start: StartBot):
    """At a ply it has all that was written until then; it stays, and nothing is told twice."""
    go = "complain(f'turn {turn}\\n')\nsay('# thinks\\n'); honest()"
    bot = start(go=go, keeps_lines=True)
    early, texts = [], []

    def after_ply(_: object, plies: Sequence[Ply]) -> None:
        early.append(bot.log_so_far())
        texts.append((len(plies), early[-1]()))

    record = play_game(SMALL, [bot, FirstMove()], time=PLENTY, watch=after_ply)
    log = bot.take_log()
    assert len(texts) == len(record.plies) > 2
    for by_ply in bot_logs.by_ply, bot_logs.exchanged_by_ply:
        whole = by_ply(log)
        assert {0, 2} <= whole.keys()
        for plies, text in texts:
            assert by_ply(text) == {ply: its for ply, its in whole.items() if ply < plies}
    assert bot.log_so_far()() == ""


def test_where_logs_end(start: StartBot):
    """What is kept of a flood is its beginning and its end, without what steers a terminal."""
    bot = start(
        go="complain('\\x1b[31mfirst\\n'); complain(200_000 * 'e' + '\\n'); complain('last\\n')\n"
        "for i in range(20): say(f'# number{i} {i}\\n'); say(f'# tag word{i}\\n')\n"
        "say('# pv a1a2\\n# pv b1b2 a2b2\\n')\n"
        "say(60 * ('# ' + 999 * 'x' + '\\n')); honest()",
    )
    record = play(bot, variant=GAMES["clobber"].variant(size="5x4"))
    log, _, errors = bot.take_log().partition("--- standard error ---\n")
    assert errors.startswith("--- ply 0 ---\nfirst\neeee")
    assert errors.endswith("eeee\nlast\n")
    assert "bytes left out" in errors
    assert len(errors) < 66_000
    # Sixteen numbers and tags a ply, then text; and no more than 256 KiB of that, of 60 KB a ply.
    assert record.plies[0].values == {f"number{i}": i for i in range(16)}
    assert record.plies[0].tags == tuple(f"word{i}" for i in range(16))
    # Of lines that it expects the last; even one of numbers alone is no number of its own.
    assert record.plies[0].pv == ("b1b2", "a2b2")
    assert log.startswith("ply 0: number16 16\nply 0: tag word16\n")
    assert log.endswith("x\n")
    assert "bytes left out" in log
    assert 262_144 <= len(log) < 262_200


def test_standard_error_is_told_by_plies(start: StartBot):
    """Under a heading for each that has any; what was said before a game and after it has none."""
    bot = start(
        hello="complain('up\\n'); honest()",
        newgame="complain('new\\n'); honest()",
        go="if turn != 2: complain(f'turn {turn}')\nhonest()",
    )
    record = play(bot, variant=GAMES["clobber"].variant(size="4x3"))
    headings = [
        f"--- ply {ply} ---\nturn {turn}"
        for turn, ply in enumerate((n for n, one in enumerate(record.plies) if one.seat == 0), 1)
        if turn != 2
    ]
    assert len(headings) > 1
    assert bot.take_log() == "\n".join(["--- standard error ---\nup\nnew", *headings])


def test_standard_error_never_grows_for_long(start: StartBot):
    """The file of a bot that floods it, and never falls silent meanwhile, is kept small."""
    program = scripted_program(
        go="for i in range(40): complain(200_000 * 'e'); say('# tick\\n'); time.sleep(0.005)\n"
        "say(f'# size {os.fstat(2).st_size}\\n'); honest()"
    )
    record = play(start(program=program), variant=GAMES["clobber"].variant(size="2x2"))
    assert record.faults == ()
    assert record.plies[0].values["size"] < 4_000_000


@pytest.mark.long
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
    play_game(SMALL, [start(program=program), rival], time=control)
    assert rival.used_us
    assert max(rival.used_us) < 3000


def test_nobody_thinks_before_its_first_turn(start: StartBot):
    """Whoever said that it is ready stands still while the one before it thinks."""
    program = scripted_program(newgame="honest(); ponder()")
    rival = Rival(program)
    play_game(SMALL, [rival, start(program=program)], time=TimeControl(move_ms=300))
    assert rival.used_us[0] < 3000


def test_nobody_thinks_between_games(start: StartBot):
    """After its game a bot stands still until it is spoken to: another may be preparing itself."""
    program = scripted_program(end="ponder()")
    play(start(program=program))
    time.sleep(0.02)
    before = program.cpu_us()
    time.sleep(0.06)
    assert program.cpu_us() - before < 3000


def test_two_bots_do_not_disturb_each_other(start: StartBot):
    """Each pays for its own work alone, though both would rather ponder."""
    bots = [start(start="ponder()"), start(go="burn(30); honest()")]
    record = play_game(SMALL, bots, time=TimeControl(move_ms=2000))
    assert record.faults == ()
    for ply in record.plies[1::2]:
        assert 30_000 <= ply.cpu_us < 60_000


def test_a_closed_bot_never_plays_again(start: StartBot):
    """It may be closed before its start, and twice; to go on with it is our own fault."""
    bot = start()
    bot.close()
    bot.close(kill=True)
    with pytest.raises(VoidGameError):
        play(bot)


@pytest.mark.parametrize(
    ("limit", "kept"),
    [
        (0, "\n[... 12 bytes left out ...]\n"),
        (1, "\n[... 12 bytes left out ...]\n"),
        (2, "a\n[... 10 bytes left out ...]\nf"),
        (12, "abcdefabcdef"),
    ],
)
def test_no_more_is_kept_than_was_asked_for(limit: int, kept: str):
    """Not even where nothing is to be kept."""
    errors = HeadAndTail(limit)
    for _ in range(2):
        errors.add(b"abcdef")
    assert errors.take() == kept


def test_what_a_program_says_while_it_is_read(tmp_path: Path):
    """No byte is lost between two looks, the last least of all."""
    words, size = "".join(f"{n}\n" for n in range(1, 100_001)), 588_895
    kept = HeadAndTail(1000)
    path = tmp_path / "stderr"
    with path.open("ab") as output:
        file = os.open(path, os.O_RDWR)
        errors = ErrorFile(file, kept)
        with subprocess.Popen(["seq", "100000"], stdout=output) as program:
            while program.poll() is None:
                errors.drain()
        errors.collect()
        os.close(file)
    left_out = f"\n[... {size - 1000} bytes left out ...]\n"
    assert kept.take() == words[:500] + left_out + words[-500:]


MEGABYTE = "legal " + " ".join(f"blue:a{n}" for n in range(90_000)) + "\ngo 0 clocks=1 moves\n"


def ask(program: Program, request: str = MEGABYTE, *, wall_us: int = 5_000_000):
    """One request over a channel of its own; the program is killed after it."""
    try:
        return PipeChannel(program, HeadAndTail(1000)).ask(request, Limit(wall_us))
    finally:
        program.kill()


def test_a_megabyte_of_legal_moves():
    """A request longer than any pipe arrives whole."""
    assert len(MEGABYTE) > 1_000_000
    answer = ask(scripted_program(go="say(f'{len(legal)} {legal[-1]}\\n')"))
    assert answer.line == "90000 blue:a89999"
    assert answer.cpu_us > 0
    assert answer.wall_us > 0


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
    answer = ask(scripted_program(start=logs, go="say('move a\\n')"))
    assert answer.line == "move a"


def test_a_shell_bot():
    """Ten lines of shell are a bot."""
    bots = [BotProcess(lambda: PlainProgram(["sh", str(BOTS / "first.sh")])) for _ in range(2)]
    record = play_game(SMALL, bots, time=PLENTY)
    for bot in bots:
        bot.close()
    assert record.faults == ()
    assert record.moves == play_game(SMALL, [FirstMove(), FirstMove()], time=PLENTY).moves
