"""The compliance tester: each clause broken by a bot of its own, and told by its name."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from engine import jobs, reporting
from engine.clauses import LINES_SHOWN
from engine.clock import Allowances, TimeControl
from engine.compliance import LONGEST_LOG, Examination
from engine.games import find_variant
from engine.match import MatchSpec, entrants_needed
from engine.program import PlainProgram
from engine.reporting import Finding

BOTS = Path(__file__).parents[1] / "bots"
CLAUSES = [
    "hello",
    "newgame",
    "move",
    "state and legal",
    "end",
    "a second game",
    "time control",
    "log and numbers",
    "one process",
    "quit",
    "unknown keys",
    "CRLF",
    "seed",
    "a game under way",
    "a long request",
    "seats that left",
    "options",
    "a whole game",
]
SHORT = Allowances(start_seconds=1.0, newgame_seconds=0.5, quit_seconds=0.3)
CLOBBER = "clobber size=3x3"


def check(
    command: Sequence[str], game: str = CLOBBER, *, move_ms: int = 200
) -> tuple[dict[str, Finding], str]:
    """What is found, by clause, and the log."""
    name, *options = game.split()
    variant = find_variant(name, options)
    spec = MatchSpec(variant, ("bot",) * entrants_needed(variant), TimeControl(move_ms=move_ms))
    tested = Examination(lambda: PlainProgram(command), spec, allowances=SHORT)
    findings = list(tested.findings())
    assert len({finding.clause for finding in findings}) == len(findings)
    return {finding.clause: finding for finding in findings}, tested.log


def scripted(**events: str) -> list[str]:
    """The bot of tests/bots/scripted.py that does otherwise at some events."""
    code = [f"{event}={code}" for event, code in events.items()]
    return [sys.executable, "-S", str(BOTS / "scripted.py"), *code]


# A bot of its own for each way of breaking the protocol, and the clause and words that tell it.
FLAWS = [
    ("mute", {"hello": "pass"}, "hello", "sent no 'ready' within 1 s; is its line"),
    ("ends at once", {"start": "os._exit(7)"}, "hello", "crash: closed its output: exit 7"),
    ("no name", {"hello": "say('ready\\n')"}, "hello", "protocol: expected 'ready NAME'"),
    ("long name", {"hello": "say('ready ' + 'x' * 81 + '\\n')"}, "hello", "81 characters; 80 are"),
    ("banner", {"hello": "say('Hi!\\n'); honest()"}, "hello", "after its reply 'Hi!'"),
    ("no ok", {"newgame": "pass"}, "newgame", "start: sent no 'ok' within 0.5 s"),
    ("two oks", {"newgame": "say('ok\\nok\\n')"}, "newgame", "said 'ok' without being asked"),
    ("illegal move", {"go": "say('move a1a1\\n')"}, "move", "illegal: 'a1a1' is not legal"),
    ("no move", {"go": "say('a2a1\\n')"}, "move", "protocol: expected 'move MOVE' after 'go'"),
    ("slow", {"go": "burn(300); honest()"}, "move", "timeout: no reply after"),
    ("sleeper", {"go": "time.sleep(9)"}, "move", "timeout: no reply within 1400 ms of wall time"),
    ("two moves", {"go": "honest(); honest()"}, "move", "protocol: said 'move a2a1' without being"),
    ("answers legal", {"legal": "say('ok\\n')"}, "move", "only 'go' needs an answer"),
    ("answers late", {"go": "honest(); time.sleep(.01); say('.\\n')"}, "move", "said '.' without"),
    ("long line", {"go": "say('move ' + 'x' * 5000 + '\\n')"}, "move", "more than 4096 bytes"),
    ("endless line", {"go": "say('x' * 9000); honest()"}, "move", "more than 4096 bytes"),
    ("not UTF-8", {"go": "say(b'move \\xff\\n')"}, "move", "sent a line that is no UTF-8"),
    ("log flood", {"go": "for n in range(99): say('# ' + 'x' * 999 + '\\n')"}, "move",
     "more than 65536 bytes of # lines"),
    ("dies", {"go": "os._exit(3)"}, "move", "crash: closed its output: exit 3"),
    ("answers end", {"end": "say('bye\\n')"}, "end", "protocol: said 'bye' without being asked"),
    ("leaves at end", {"end": "os._exit(0)"}, "end", "crash: closed its output"),
    ("one game only", {"newgame": "honest() if not turn else os._exit(1)"}, "a second game",
     "crash: closed its output: exit 1"),
    ("one kind of clock", {"newgame": "'inc=' in line and os._exit(1); honest()"}, "time control",
     "crash: closed its output: exit 1"),
    ("forks", {"start": "os.posix_spawn('/bin/true', ['true'], {}); os.wait()"}, "one process",
     "protocol: started another process"),
    ("has a child", {"start": "os.posix_spawn('/bin/sleep', ['sleep', '9'], {})"}, "one process",
     "protocol: started another process"),
    ("stays", {"quit": "time.sleep(9)"}, "quit", "protocol: it still ran 0.3 s after 'quit'"),
    ("knows its keys", {"newgame": "assert 'weather' not in line; honest()"}, "unknown keys",
     "crash: closed its output: exit 1"),
    ("minds the order", {"newgame": "assert words[1].startswith('size'); honest()"}, "unknown keys",
     "crash: closed its output: exit 1"),
    ("minds the end", {"quit": "line == 'quit\\n' and os._exit(0)"}, "CRLF",
     r"when that line comes (every line it read ended with \r\n: take the \r off)"),
    ("begins at the beginning", {"newgame": "at = None; honest()",
     "go": "assert at or words[0] in '01'; at = 1; honest()"},
     "a game under way", "crash: closed its output: exit 1"),
    ("answers set", {"hello": "say('# option fast bool true\\n'); honest()",
     "set": "say('ok\\n')"}, "options", "protocol: said 'ok' without being asked"),
    ("minds a value", {"hello": "say('# option depth int 1 20 6\\n'); honest()",
     "set": "words == ['depth', '7'] and os._exit(4)"}, "options", "crash: closed its output"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("events", "clause", "words"), [pytest.param(*flaw[1:], id=flaw[0]) for flaw in FLAWS]
)
def test_a_flaw_is_told(no_leaks: None, events: dict[str, str], clause: str, words: str) -> None:
    """The first clause that is broken is the one, with what was said; those before it are kept."""
    found, _ = check(scripted(**events))
    first = next(finding for finding in found.values() if not finding.kept)
    assert (first.clause, first.applies) == (clause, True)
    assert words in first.words
    assert clause == "one process" or first.lines[0].startswith("> ")
    assert list(found) == CLAUSES


def test_a_bot_that_keeps_all(no_leaks: None, briskly: None) -> None:
    """Every clause has its finding, in the order of the protocol's page, with what was said."""
    found, log = check(scripted(), move_ms=60_000)
    assert list(found) == CLAUSES
    assert all(finding.kept for finding in found.values())
    beside = {name for name, finding in found.items() if not finding.applies}
    assert beside == {"log and numbers", "seats that left", "options"}
    assert found["hello"].lines == ("> hello 1", "< ready scripted want=legal")
    assert found["quit"].lines == ("> quit",)
    assert found["quit"].words.endswith("(exit 0)")
    assert all(len(finding.lines) <= LINES_SHOWN + 1 for finding in found.values())
    assert log == ""


def test_options_are_tried_with_other_values(no_leaks: None, briskly: None) -> None:
    """Each with one that is not its default; what declares none is a remark and no fault."""
    declares = (
        "say('# option style choice fast|solid fast\\n# option n int 2 9 2\\n# option m x\\n')"
    )
    command = scripted(hello=f"{declares}; honest()", set="complain(line)")
    spec = MatchSpec(find_variant("clobber", ["size=3x3"]), ("bot",) * 2, TimeControl(move_ms=200))
    declared = ["depth int 1 20 6"]
    tested = Examination(lambda: PlainProgram(command), spec, allowances=SHORT, declared=declared)
    assert tested.options is None
    found = {finding.clause: finding for finding in tested.findings()}
    assert tested.options == (*declared, "style choice fast|solid fast", "n int 2 9 2")
    assert all(finding.kept for finding in found.values())
    words = found["options"].words
    assert words.startswith("told of depth=7,n=3,style=solid, it played ")
    assert words.endswith(
        "note: the option m is of no kind 'x'; int, float, bool, choice, text are"
    )
    assert "> set style solid" in found["options"].lines


def test_a_bot_may_resign(no_leaks: None, briskly: None) -> None:
    """It is no fault, against itself neither."""
    found, _ = check(scripted(go="say('move resign\\n') if turn > 2 else honest()"))
    assert all(finding.kept for finding in found.values())
    assert "(4 plies, resign; the slowest move" in found["a whole game"].words


def test_what_follows_a_fault_is_not_tried(no_leaks: None) -> None:
    """The other conversations are held, with processes of their own."""
    found, log = check(scripted(end="complain('why?'); os._exit(2)"))
    assert found["quit"].words == "not tried: the bot failed before, at: end"
    assert not found["quit"].applies
    assert not found["CRLF"].kept
    assert log.count("why?") >= 3


def test_a_bot_that_does_not_start_plays_no_game(no_leaks: None) -> None:
    found, log = check(scripted(start="complain('no way'); os._exit(1)"))
    assert found["a whole game"].words == "not tried: the bot failed before, at: hello"
    assert "no way" in log


def test_what_a_bot_logs_is_counted(no_leaks: None, briskly: None) -> None:
    found, log = check(scripted(go="say('# eval 0.5\\n# thinking hard\\n'); honest()"))
    assert found["log and numbers"].applies
    # Three moves, one in the second game, one with the other clock; two lines each.
    assert found["log and numbers"].words.startswith("10 # lines")
    assert "ply 0: thinking hard" in log


@pytest.mark.parametrize(
    ("said", "note"),
    [
        ("# eval 0.5\\n# pv {legal[0]}", ""),
        ("# eval 3.2", "; note: its eval 3.2 is no share from 0 to 1"),
        ("# pv {legal[0]} z9", "; note: move 2 of its pv is shown to nobody: 'z9' is not legal"),
        ("# pv {legal[-1]}", "; note: its pv begins with"),
    ],
)
def test_what_can_not_be_shown_is_noted(
    no_leaks: None, briskly: None, said: str, note: str
) -> None:
    """It is no fault: bots of before the words had a meaning are not to be harmed."""
    found, _ = check(scripted(go=f"say(f'{said}\\nmove {{legal[0]}}\\n')"))
    assert found["log and numbers"].kept
    assert ("note:" in found["log and numbers"].words) == bool(note)
    assert note in found["log and numbers"].words


def test_a_long_log_is_cut(no_leaks: None, briskly: None) -> None:
    """A bot that writes without end fills up nothing."""
    found, log = check(scripted(go="complain('x' * 60_000); honest()"), "clobber size=4x4")
    assert found["a whole game"].kept
    assert 200_000 < len(log) <= LONGEST_LOG


def test_other_dice_are_told_but_no_fault(no_leaks: None, briskly: None) -> None:
    """A bot may take its chances elsewhere."""
    found, _ = check(scripted(go="say(f'move {legal[os.getpid() % len(legal)]}\\n')"))
    assert found["seed"].kept
    assert found["seed"].applies == found["seed"].words.startswith("the same position")


@pytest.mark.long
def test_a_list_of_a_megabyte_is_sent(no_leaks: None, briskly: None) -> None:
    """Pentominoes begin with the longest list of moves there is."""
    found, _ = check(scripted(), "puzzle task=pentominoes", move_ms=60_000)
    words = found["a long request"].words
    assert found["a long request"].kept
    assert int(words.split()[4]) > 1_000_000
    assert all(len(line) < 200 for finding in found.values() for line in finding.lines)


def test_a_seat_leaves_where_others_play_on(no_leaks: None, briskly: None) -> None:
    """Four play Blokus; a bot that stumbles over out= is told."""
    honest, _ = check(scripted(), "blokus", move_ms=60_000)
    assert honest["seats that left"].applies
    assert any(" out=4@" in line for line in honest["seats that left"].lines)
    flawed, _ = check(scripted(go="assert 'out=' not in line; honest()"), "blokus", move_ms=60_000)
    assert [name for name, finding in flawed.items() if not finding.kept] == ["seats that left"]


def test_a_fault_in_the_whole_game_is_told(no_leaks: None) -> None:
    """A bot that fails only in its fifth turn passes the clauses, and not the game."""
    found, _ = check(scripted(go="turn > 5 and os._exit(1); honest()"), "clobber size=5x5")
    assert found["a game under way"].kept
    assert not found["a whole game"].kept
    assert "crash, closed its output: exit 1" in found["a whole game"].words


def test_findings_travel_as_json(no_leaks: None, briskly: None) -> None:
    """A report comes back as it went; one of before, with words alone, is read too."""
    found, log = check(scripted())
    lease = jobs.Lease("check", 1, 1, "ticket")
    report = reporting.CheckReport(lease, "worker", tuple(found.values()), log)
    assert reporting.CheckReport.from_json(report.to_json()) == report
    assert report.passed
    assert Finding.from_json({"kept": True, "words": "fine"}) == Finding(True, "fine")
