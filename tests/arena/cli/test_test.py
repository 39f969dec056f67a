"""The command test, with real bots: what it finds, how it ends, how it goes on."""

import contextlib
import hashlib
import json
import os
import pty
import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

from arena.cli import run
from arena.cli.report import NOTHING_KNOWN
from tests.arena.cli.strength_command import PROGRAM, SMALL, arena, saved, write_json
from workers.sandbox import Sandbox


@pytest.mark.long
def test_the_stronger_bot_passes(tmp_path, capsys):
    """Greedy beats random, after the same games with any concurrency."""
    results = []
    for concurrency in ("1", "3"):
        name = tmp_path / concurrency
        pace = ["--elo", "0,100", "--concurrency", concurrency, "--json", str(name)]
        assert arena("greedy", "random", *SMALL, *pace) == 0
        assert "passed" in capsys.readouterr().out
        results.append(saved(name))
        results[-1]["result"].pop("seconds")
    data = results[0]
    assert data == results[1]
    assert data["result"]["passed"]
    assert data["result"]["elo_95"][0] > 0
    assert data["result"]["llr"] >= data["result"]["llr_bounds"][1]
    assert sum(data["counts"]) * 2 == data["wins"] + data["draws"] + data["losses"]


@pytest.mark.parametrize("options", [[], ["--against", "random"]], ids=["pair", "field"])
@pytest.mark.parametrize("no_box", [False, True], ids=["boxed", "plain"])
def test_bots_are_tested_in_the_box_of_this_machine(no_box, options, tmp_path, capsys):
    """If it can build one; the level is told, in the result too."""
    result = tmp_path / "result.json"
    words = [*SMALL, "--games", "4", "--json", str(result), *options, *["--no-box"] * no_box]
    assert arena("random", "random", *words) == 1
    said, data = capsys.readouterr(), saved(result)
    level = "none" if no_box else Sandbox("none").level
    assert f"box      {level}\n" in said.out
    assert data.get("result", data)["isolation"] == level
    assert ("in no box" in said.err) == (level == "none")


@pytest.mark.parametrize(
    ("option", "read"), [("--json", json.loads), ("--junit", ElementTree.fromstring)]
)
def test_a_report_is_printed(option, read, tmp_path, monkeypatch, capsys):
    """It and nothing else; no file is called by the sign for that."""
    monkeypatch.chdir(tmp_path)
    arena("random", "random", *SMALL, "--games", "2", option, "-")
    read(capsys.readouterr().out)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("options", [[], ["--against", "random"]], ids=["pair", "field"])
def test_a_file_that_can_not_be_written_does_not_take_the_result_with_it(options, capsys):
    """What was played is told all the same, and then that the file could not be written."""
    full = ["--json", "/dev/full"]
    assert arena("random", "random", *SMALL, "--games", "2", *full, *options) == 2
    said = capsys.readouterr()
    assert "undecided: " in said.out
    assert "can't write /dev/full: No space left on device" in said.err


def test_wall_time_is_charged_if_asked_for(tmp_path):
    """A move of a quarter of a second may sleep through a whole one, but not on the wall clock."""
    bot, other, result = (tmp_path / name for name in ("sleeper.py", "other.py", "result.json"))
    # Both of them sleep: a busy machine may keep any bot waiting for a quarter of a second.
    for path in (bot, other):
        path.write_text(
            "import sys, time\n"
            "for line in sys.stdin:\n"
            "    if line.startswith('hello'): print('ready sleeper', flush=True)\n"
            "    if line.startswith('newgame'): print('ok', flush=True)\n"
            "    if line.startswith('go'): time.sleep(1), print('move resign', flush=True)\n"
            "    if line.startswith('quit'): break\n"
        )
    # Whoever moves first loses, by resigning or on time, and each does so once.
    for option, faults in (([], {}), (["--wall"], {"timeout": 1})):
        options = ["--games", "2", "--move", "250", "--no-box", "--json", str(result), *option]
        options.append("--allow-faults")
        assert arena(str(bot), str(other), *SMALL, *options) == 1
        assert saved(result)["faults"] == [faults, faults]


@pytest.mark.parametrize(
    "field",
    [
        pytest.param([], id="pair"),
        pytest.param(["--against", "random"], id="field", marks=pytest.mark.long),
    ],
)
def test_each_side_has_its_own_time(field, tmp_path, capsys):
    """Told as part of its name; bots that end when they are told another find nothing to fault."""
    bots = [tmp_path / name for name in ("quick.py", "slow.py")]
    for path, words in zip(bots, ("move=70", "time=2000 inc=10"), strict=True):
        path.write_text(
            "import sys\n"
            "for line in sys.stdin:\n"
            "    if line.startswith('hello'): print('ready bot', flush=True)\n"
            f"    if line.startswith('newgame') and {words!r} in line: print('ok', flush=True)\n"
            "    elif line.startswith('newgame'): break\n"
            "    if line.startswith('go'): print('move resign', flush=True)\n"
        )
    own = ["--candidate-move", "70", "--baseline-time", "2+0.01"]
    options = ["--games", "4", "--no-box", *field]
    arena(*map(str, bots), *SMALL, *options, *own)
    said = capsys.readouterr().out
    assert "faults 0" in said if field else "faults   quick.py (move=70) 0, slow.py" in said
    assert "slow.py (time=2000 inc=10)" in said
    assert arena(*map(str, bots), *SMALL, *options) == NOTHING_KNOWN


def test_the_weaker_bot_fails(tmp_path):
    """And the report says so."""
    cases = tmp_path / "result.xml"
    assert arena("random", "greedy", *SMALL, "--games", "24", "--junit", str(cases)) == 1
    suite = ElementTree.parse(cases).getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert "failed" in failure.get("message", "")


@pytest.fixture
def missing(tmp_path):
    """A bot that a library is missing for."""
    path = tmp_path / "missing.py"
    path.write_text("import no_such_library\n")
    return str(path)


@pytest.mark.parametrize(
    ("pair", "elo"),
    [
        (("missing", "missing"), "-50,0"),
        (("greedy", "missing"), "0,10"),
        (("missing", "greedy"), "0,10"),
    ],
    ids=["both", "the baseline", "the candidate"],
)
def test_bots_that_do_not_run_are_not_judged(pair, elo, missing, tmp_path, capsys):
    """Nothing has passed or failed: exit code 3, an error for JUnit, and the reason in words."""
    result, cases = tmp_path / "result.json", tmp_path / "result.xml"
    bots = [missing if bot == "missing" else bot for bot in pair]
    words = [*SMALL, "--elo", elo, "--json", str(result), "--junit", str(cases)]
    assert arena(*bots, *words) == 3
    said = capsys.readouterr()
    (verdict,) = [line for line in said.out.splitlines() if line.startswith("undecided: ")]
    assert "are too many to tell who is stronger" in verdict
    assert "missing.py: ply 4: crash, closed its output: exit 1" in said.err
    assert "--allow-faults" in said.err
    told = saved(result)["result"]
    assert (told["decision"], told["passed"], told["verdict"]) == ("undecided", False, verdict)
    suite = ElementTree.parse(cases).getroot()
    assert (suite.get("failures"), suite.get("errors")) == ("0", "1")
    error = suite.find("testcase/error")
    assert error is not None
    assert error.get("message") == verdict
    assert error.text == "\n".join(told["first_faults"])
    assert told["first_faults"][0] in said.err


def test_faults_can_be_what_is_tested(missing, capsys):
    """Then they are games lost as any others."""
    assert arena("greedy", missing, *SMALL, "--allow-faults", "--games", "12") == 0
    assert arena(missing, "greedy", *SMALL, "--allow-faults", "--games", "12") == 1
    assert "failed: the 95 % interval lies below zero" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("bots", "field", "who"),
    [
        (("greedy", "random"), "missing", "missing.py has 8 faults in 8 games"),
        (("greedy", "random"), "random,missing", "missing.py has 4 faults in 4 games"),
        (("greedy", "missing"), "random", "missing.py has 4 faults in 4 games"),
    ],
)
def test_a_field_that_does_not_run_is_no_field(bots, field, who, missing, tmp_path, capsys):
    """Its faults are shown, and nothing is decided by it."""
    result = tmp_path / "result.json"
    named = [missing if bot == "missing" else bot for bot in bots]
    against = ["--against", field.replace("missing", missing), "--games", "8"]
    assert arena(*named, *SMALL, *against, "--json", str(result)) == 3
    said, told = capsys.readouterr(), saved(result)
    assert f"undecided: {who}: too many to tell who is stronger" in said.out
    assert told["verdict"].startswith(f"undecided: {who}")
    (fault,) = told["first_faults"]
    assert fault.startswith("missing.py: ply 4: crash, closed its output: exit 1")
    assert f"{fault}\nmend the bots" in said.err
    lost = {one["name"]: sum(one["faults"].values()) for one in told["field"]}
    assert [lost[name] > 0 for name in lost] == [name == "missing.py" for name in lost]
    assert "missing" not in field or re.search(r" missing.py, (\d) games, faults \1 ", said.out)
    assert arena(*named, *SMALL, *against, "--allow-faults") in (0, 1)


def test_a_bot_is_not_called_stronger_than_itself(tmp_path):
    """Random against random, as far as the limit."""
    result = tmp_path / "result.json"
    limit = ["--max-games", "40", "--json", str(result)]
    assert arena("random", "random", *SMALL, *limit) == 1
    assert saved(result)["result"]["decision"] == "undecided"


def test_a_small_board_runs_out_of_openings(capsys):
    """Clobber on 2x3 has few openings; the test ends undecided and says why."""
    assert arena("random", "greedy", "--game", "clobber", "size=2x3") == 1
    assert "no more different openings" in capsys.readouterr().out


def _book(path: Path, *openings: str) -> str:
    path.write_text("\n".join(openings))
    return str(path)


def test_each_opening_of_a_book_is_played_once_from_both_seats(tmp_path, capsys):
    """The book is named in the results; when it is used up the test is over. It goes on with the
    same book alone, whatever that is called.
    """
    book = _book(tmp_path / "a.book", "a2a1", "a2a3", "b1a1 b2b3")
    kept, report = tmp_path / "kept.json", tmp_path / "report.xml"
    words = ["random", "random", *SMALL, "--book", book, "--save", str(kept)]
    assert arena(*words, "--junit", str(report)) == 1
    said, data = capsys.readouterr().out, saved(kept)
    assert "undecided: the book a.book has no more different openings" in said
    assert sum(data["counts"]) == 3
    digest = hashlib.sha256(Path(book).read_bytes()).hexdigest()
    settings = data["settings"]
    assert (settings["book"], settings["book_digest"]) == ("a.book", digest)
    assert f"book: a.book, 3 openings, digest {digest[:12]}" in report.read_text()
    again = [*words[:-2], "--resume", str(kept)]
    renamed = Path(book).rename(tmp_path / "b.book")
    assert arena(*(str(renamed) if word == book else word for word in again)) == 1
    _book(tmp_path / "a.book", "a2a1", "a2a3", "b1a1")
    capsys.readouterr()
    assert arena(*again) == 2
    assert arena(*(word for word in again if word not in ("--book", book))) == 2
    refusals = capsys.readouterr().err
    # It went on by that name.
    assert "the book is b.book there, not a.book" in refusals
    assert "the book is b.book there, not none" in refusals


def test_a_field_is_met_with_a_book(tmp_path, capsys):
    book, result = _book(tmp_path / "a.book", "a2a1", "a2a3"), tmp_path / "result.json"
    field = ["--games", "8", "--against", "random", "--json", str(result)]
    arena("random", "random", *SMALL, "--book", book, *field)
    assert "book     a.book, 2 openings" in capsys.readouterr().out
    data = saved(result)
    assert (data["rounds"], data["book"]) == (2, "a.book")


def test_a_number_of_games_is_rounded_up_to_whole_matches(capsys):
    """A match of two seats has two games."""
    assert arena("random", "random", *SMALL, "--games", "3") == 1
    assert "games    4 of 4, W-D-L" in capsys.readouterr().out


def test_boards_and_games_take_turns(tmp_path, capsys):
    """One test of two boards and another game; each says what it says by itself."""
    path, boards = tmp_path / "x.json", ["clobber size=4x4", "clobber size=3x4", "oxoxo"]
    asked = [word for board in boards for word in ("--game", board)]
    arena("greedy", "random", *asked, "--games", "12", "--json", str(path))
    shown = capsys.readouterr().out
    found = saved(path)
    assert found["result"]["games"] == 12
    assert [sum(one["counts"]) for one in found["boards"]] == [2, 2, 2]
    assert sum(one["wins"] for one in found["boards"]) == found["wins"]
    for board, one in zip(boards, found["boards"], strict=True):
        assert one["game"].startswith(board)
        assert f"on       {one['game']}: " in shown


def test_three_seats_are_shared(tmp_path):
    """A match of the Siege is six games, and one match alone decides nothing."""
    result = tmp_path / "result.json"
    game = ["--game", "siege", "setup=fixed"]
    code = arena("random", "random", *game, "--games", "6", "--json", str(result))
    data = saved(result)
    assert code == 1
    assert (data["result"]["matches"], data["result"]["games"]) == (1, 6)
    assert data["faults"] == [{}, {}]


def fresh(path: Path) -> None:
    """Nothing is there yet."""


def old(path: Path) -> None:
    path.write_text("old")


def linked(path: Path) -> None:
    old(path.with_name("target"))
    path.symlink_to("target")


def dangling(path: Path) -> None:
    path.symlink_to("target")


@pytest.mark.parametrize("make", [fresh, old, linked, dangling])
def test_a_file_is_replaced_and_nothing_else(make, tmp_path):
    """A link stays a link, and files of similar names are left alone."""
    path, other = tmp_path / "result", tmp_path / "result.new"
    other.write_text("mine")
    make(path)
    link = path.is_symlink()
    write_json(path, {"passed": True})
    assert saved(path) == {"passed": True}
    assert path.is_symlink() == link
    assert other.read_text() == "mine"
    assert {file.name for file in tmp_path.iterdir()} - {"target"} == {"result", "result.new"}


def test_a_pipe_is_written_to(tmp_path):
    """It stays a pipe, and its reader gets the result; so it is with devices."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_json(path, {"passed": True})
        assert json.loads(os.read(reader, 65536)) == {"passed": True}
    finally:
        os.close(reader)
    assert path.is_fifo()


BOTH_TIMES = ["--candidate-time", "1", "--candidate-move", "9"]
TWO = ["--game", "clobber", "--game", "oxono"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["random", "greedy", "--game", "puzzle"], "a game of one seat is played alone"),
        (["random", "greedy", "--game", "chess"], "there is no game"),
        (["random", "greedy", "--game", "clobber", "size=99x99"], "clobber has no size"),
        (["random", "nobody", "--game", "clobber"], "there is no bot nobody"),
        (["random", "greedy"], "--game"),
        (["random", "greedy", *SMALL, "--elo", "5"], "two numbers"),
        (["random", "greedy", *SMALL, "--elo", "10,0"], "elo0 must be less than elo1"),
        (["random", "greedy", *SMALL, "--max-games", "10"], "needs 32 games or more"),
        (["random", "greedy", *SMALL, "--games", "9", "--elo", "0,5"], "leave out --elo"),
        (["random", "greedy", *SMALL, "--games", "9", "--alpha", "0.01"], "leave out --alpha"),
        (["random", "greedy", *SMALL, "--games", "9", "--model", "logistic"], "leave out --model"),
        (["random", "greedy", *SMALL, "--time", "1", "--move", "9"], "not both"),
        (["random", "greedy", *SMALL, "--baseline-time", ""], "'' is no time control"),
        (["random", "greedy", *SMALL, *BOTH_TIMES], "a clock or a time a move, not both"),
        (["random", "greedy", *SMALL, "--resume", "/nowhere"], "can't read /nowhere"),
        (["random", "greedy", *SMALL, "--json", "/nowhere/x"], "there is no such folder"),
        (["random", "greedy", *SMALL, "--json", "/"], "can't write /: it is a folder"),
        (["random", "greedy", *SMALL, "--junit", "/"], "can't write /: it is a folder"),
        (["random", "greedy", *SMALL, "--save", "x" * 300], "x: File name too long"),
        (["random", "greedy", *SMALL, "--json", "x" * 300], "x: File name too long"),
        (["random", "greedy", *SMALL, "--save", "/proc/x"], "can't write /proc/x: "),
        (["random", "greedy", *SMALL, "--json", "-", "--junit", "-"], "can't both be printed"),
        (["random", "", *SMALL], "an empty word names no bot"),
        (["random", "greedy", *SMALL, "--games", "4", "--against", ","], "names no bot"),
        (["random", "greedy", *SMALL, "--elo", ""], "two numbers"),
        (["random", "greedy", *SMALL, "--json", ""], "an empty word names no file"),
        (["random", "greedy", *SMALL, "--save", ""], "an empty word names no file"),
        (["random", "greedy", *SMALL, "--resume", "deep.json"], "is no saved test"),
        (["random", "greedy", *SMALL, "--book", "deep.json"], "deep.json, line 1: "),
        (["random", "greedy", *SMALL, "--book", "none.epd"], "'none.epd' does not exist"),
        (["random", "greedy", *SMALL, "--game", "oxono"], "several games go without options"),
        (["random", "greedy", *TWO, "--games", "8", "--against", "greedy"], "without --against"),
        (["random", "greedy", *TWO, "--game", "oxono"], "is named twice: each board has"),
        (["random", "greedy", *TWO, "--game", "siege"], "of the other 6 games with 17 scores"),
        (["random", "greedy", *TWO, "--game", "puzzle"], "hard=no can't be one test"),
        (["random", "greedy", *TWO, "--book", "deep.json"], "deep.json, line 1: "),
    ],
)
def test_wrong_usage_is_refused(arguments, message, tmp_path, monkeypatch, capsys):
    """It is one line with exit code 2, before a game is played."""
    monkeypatch.chdir(tmp_path)
    Path("deep.json").write_text("[" * 100_000)
    assert arena(*arguments) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_the_progress_renews_in_place_on_a_terminal():
    """With the LLR, the faults and the pace, and it is gone when the result is printed."""
    ours, theirs = pty.openpty()
    command = ["random", "greedy", *SMALL, "--elo", "0,100", "--max-games", "32"]
    process = subprocess.Popen(
        [*PROGRAM, "test", *command],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "120"},
    )
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # a terminal whose other end is closed
        while data := os.read(ours, 65536):
            shown += data
    os.close(ours)
    output, _ = process.communicate(timeout=30)
    assert process.returncode == 1
    for word in (b"LLR", b"between -2.94 and 2.94", b"W-D-L", b"faults", b"games a second"):
        assert word in shown
    assert b"\x1b[2K" in shown  # erases a line
    assert output.count(b"LLR") == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["submit", "x.py", "--ladder", "y", "--elo", "0,5"], "add --test-first"),
        (["submit", "x.py", "--ladder", "y", "--test-first", "--elo", "5"], "two numbers"),
        (["strength", "create", "a", "b"], "--ladder NAME, or --game GAME"),
        (["strength", "create", "a", "b", "--game", "clobber", "--elo", "x"], "two numbers"),
        (["strength", "estimate"], "--ladder NAME, or --game GAME"),
        (["strength", "estimate", "--ladder", "c", "--draws", "1"], "--draws"),
        (["strength", "create", "a", "b", "--ladder", "c", "--time", ""], "no time control"),
        (["strength", "extend", "1"], "so many games (max_games), or hours"),
        (["strength", "show", "1", "--data", "/nowhere"], "there is no arena in /nowhere"),
        (["strength", "stop", "test-1", "--data", "/nowhere"], "there is no arena in /nowhere"),
        (["strength", "clone", "test-"], "'test-' is no strength test: give its number, as in 17"),
        (["strength", "show", "tset-1"], "'tset-1' is no strength test"),
        (["strength", "show", "1" * 5000], "is no strength test"),
        (["strength", "show", "\N{ARABIC-INDIC DIGIT ONE}"], "is no strength test"),
    ],
)
def test_tests_of_the_arena_refuse_wrong_usage(words, message, capsys):
    """They do so in one line, before anything is asked of a database."""
    assert run(words) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_an_estimate_plays_nothing(capsys):
    """The bots need not be able to play; as JSON it has more points, and it writes no file."""
    asked = ["random", "greedy", *SMALL, "--no-box", "--estimate"]
    assert arena(*asked, "--elo", "0,50") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["if", "truly", "passes", "fails", "games"]
    # Midway between the hypotheses either answer is as likely.
    assert lines[4].split()[:3] == ["+25.0", "50.0%", "50.0%"]
    assert arena(*asked, "--games", "100", "--json", "-") == 0
    found = json.loads(capsys.readouterr().out)["expected"]
    assert (len(found), {point["games"] for point in found}) == (25, {100})
    assert arena(*asked, "--save", "x.test") == 2
    assert "--estimate plays nothing" in capsys.readouterr().err
