"""The pytest plugin: what it asserts of bots, and a project of bots that uses it."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from arena.cli.assertions import Assertions
from engine.game import GameError
from engine.record import parse_record, replay
from workers.sandbox import Sandbox

BOT = """
import sys
legal = []
for line in sys.stdin:
    verb, *words = line.split()
    if verb == "hello": print("ready mine want=legal", flush=True)
    elif verb == "newgame": print("ok", flush=True)
    elif verb == "legal": legal = words
    elif verb == "go": print("move", {move}, flush=True)
    elif verb == "quit": break
"""

GAME = "clobber size=4x4"

TESTS = """
import sys
import pytest

def test_finds(arena):
    arena.assert_finds("first.py", game="clobber size=4x4", moves=["a2a1"])

def test_clean(arena):
    arena.assert_plays_clean("wrong.py", game="clobber size=4x4", games=2)

@pytest.mark.arena
def test_marked():
    pass

def test_that_plays_nothing(pytestconfig):
    loaded = [name for name in sys.modules if name.startswith(("arena.", "engine"))]
    assert pytestconfig.getoption("--arena") or loaded == ["arena.pytest_plugin"]
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two bots, to be in: one plays the first legal move, one an illegal one."""
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    (tmp_path / "test_bots.py").write_text(TESTS)
    (tmp_path / "first.py").write_text(BOT.format(move="legal[0]"))
    (tmp_path / "wrong.py").write_text(BOT.format(move="'z9z9'"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def bots(project: Path) -> Assertions:
    """The assertions in that folder."""
    return Assertions(project / "games", "test_bots.py::test_it[a b]")


def run_pytest(*options: str) -> tuple[int, str]:
    """The exit code and the output of the project's own tests."""
    alone = [f"-pno:{name}" for name in ("cacheprovider", "xdist", "cov", "schemathesis")]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-rs", *alone, *options],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def replayed(message: str) -> int:
    """How many games a message names, all of which the rules confirm."""
    commands = re.findall(r"arena replay (.*) --game (\d+)", message)
    for file, number in commands:
        (path,) = shlex.split(file)
        replay(parse_record(Path(path).read_text().splitlines()[int(number) - 1]))
    return len(commands)


def test_a_stronger_bot_is_not_weaker(bots, project):
    """Greedy against random; nothing is left of the games of a test that passed."""
    bots.assert_not_weaker("greedy", than="random", game=GAME, elo=(-100, 0))
    assert not (project / "games").exists()


def test_a_book_may_have_too_few_openings_to_tell(bots):
    Path("a.book").write_text("a2a1")
    with pytest.raises(AssertionError, match=r"undecided: the book a\.book has no more"):
        bots.assert_not_weaker("random", than="random", game=GAME, book="a.book")


def test_a_weaker_bot_fails_with_the_games_that_it_lost(bots, project):
    """Five of them, in the file of the test's name."""
    with pytest.raises(AssertionError, match=r"failed: weaker \(measured -338 \[") as failure:
        bots.assert_not_weaker("random", than="greedy", game=GAME, elo=(-100, 0))
    assert replayed(str(failure.value)) == 5
    assert [path.name for path in (project / "games").iterdir()] == [
        "test_bots.py-test_it-a-b.jsonl"
    ]


@pytest.mark.parametrize(("bot", "than"), [("wrong.py", "first.py"), ("first.py", "wrong.py")])
def test_a_bot_that_only_fails_proves_nothing(bot, than, bots):
    """Whichever of the two it is, unless it is said that faults count."""
    with pytest.raises(AssertionError, match=r"undecided: \d faults in 6 games") as failure:
        bots.assert_not_weaker(bot, than=than, game=GAME)
    said = str(failure.value)
    assert re.search(r"^wrong\.py: ply \d: illegal, 'z9z9' is not legal here", said, re.MULTILINE)
    assert "mend the bots, or say allow_faults=True" in said
    assert replayed(said.partition("games with faults:")[2]) == 5
    if than == "wrong.py":
        bots.assert_not_weaker(bot, than=than, game=GAME, elo=(0, 150), allow_faults=True)


@pytest.mark.parametrize("game", [GAME, "puzzle task=tetrominoes"])
def test_a_clean_bot_passes(game, bots):
    """So it does in puzzles."""
    bots.assert_plays_clean("first.py", game=game, games=2)


def test_no_games_assert_nothing(bots):
    """Or a test could pass that asked nothing."""
    with pytest.raises(ValueError, match="ask for one game or more"):
        bots.assert_plays_clean("first.py", game=GAME, games=0)


def test_faults_are_told(bots):
    """How many, which, and the games."""
    with pytest.raises(AssertionError, match=r"wrong\.py has 3 faults in 3 games") as failure:
        bots.assert_plays_clean("wrong.py", game=GAME, games=3)
    assert "illegal, 'z9z9' is not legal here" in str(failure.value)
    assert replayed(str(failure.value)) == 3


def test_a_move_is_found(bots):
    """After a2a1 it is Black's turn; of its moves, sorted as text, a3a4 is the first."""
    bots.assert_finds("first.py", game=GAME, after="a2a1", moves=["d4d3", "a3a4"])


@pytest.mark.parametrize(
    ("bot", "message"),
    [
        (
            "first.py",
            "plays a3a4, not d4d3; the position: arena draw clobber size=4x4 --after a2a1 --seed 0",
        ),
        ("wrong.py", "'z9z9' is not legal here"),
        ("silent.sh", "crash"),
    ],
)
def test_another_move_or_a_fault_is_told(bot, message, bots, project):
    """With the command that draws the position."""
    (project / "silent.sh").write_text("exit 0\n")
    with pytest.raises(AssertionError, match=re.escape(message)) as failure:
        bots.assert_finds(bot, game=GAME, after="a2a1", moves=["d4d3"])
    assert "arena draw" in str(failure.value)


@pytest.mark.parametrize("no_box", [False, True], ids=["boxed", "plain"])
def test_bots_run_in_the_box_of_this_machine(no_box, project, capsys):
    """There they see nothing of it; which box it is, is printed."""
    bots = Assertions(project / "games", "test_it", no_box=no_box)
    sees = f"__import__('os').path.exists({str(project)!r})"
    (project / "looks.py").write_text(BOT.format(move=f"legal[-1 if {sees} else 0]"))
    level = "none" if no_box else Sandbox("none").level
    # Of White's moves, sorted as text, a2a1 is the first and d3d4 the last.
    answer = "d3d4" if level == "none" else "a2a1"
    bots.assert_finds("looks.py", game=GAME, moves=[answer])
    told = f"in boxes of level {level!r}" if level != "none" else "in no box"
    assert told in capsys.readouterr().out


@pytest.mark.parametrize(
    ("after", "moves", "message"),
    [
        ("a2a1", ["a1a1"], "not legal here"),
        ("a1a2", ["a1b1"], "move 1 of --after"),
    ],
)
def test_a_wrong_position_is_no_failure_of_the_bot(after, moves, message, bots):
    """It is an error of the test."""
    with pytest.raises(GameError, match=message):
        bots.assert_finds("first.py", game=GAME, after=after, moves=moves)


def test_without_the_option_nothing_is_played(project):
    """What would play is skipped with the reason, and the arena is not even imported."""
    code, output = run_pytest()
    assert code == 0, output
    assert "1 passed, 3 skipped" in output
    assert "run pytest with --arena" in output


def test_with_the_option_everything_runs(project):
    """And a failure ends with the commands that replay its games."""
    code, output = run_pytest("--arena", "--arena-games", "kept")
    assert code == 1
    assert "1 failed, 3 passed" in output, output
    assert replayed(output) == 2
