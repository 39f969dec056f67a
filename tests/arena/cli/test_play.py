"""Games between the bots of this machine, played by a command."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from functools import partialmethod
from pathlib import Path

import pytest

from arena.cli.interrupts import stoppable
from tests.arena.cli.conftest import BOTS, DICE, assert_refused
from tests.arena.conftest import Cli, Said
from workers.sandbox import Sandbox


def play(cli: Cli, *words: object) -> Said:
    return cli("play", "clobber", "size=4x4", *words, "--move", "20000")


def test_a_run_is_summed_up(cli: Cli) -> None:
    """As a table for people, as JSON for programs; every game has one winner."""
    said = play(cli, DICE, DICE, "--games", "4", "--seed", "5", "--json")
    assert said.code == 0
    assert said.err == ""
    told = said.json
    first, second = told["bots"]
    assert told["games"] == first["games"] == second["games"] == 4
    assert first["wins"] == second["losses"]
    assert first["wins"] + second["wins"] == 4
    assert [first["name"], second["name"]] == ["dice.py", "dice.py#2"]
    table = play(cli, DICE, DICE, "--games", "4", "--seed", "5")
    assert f"digest {told['digest']}" in " ".join(table.out.split())
    assert "The bots run in" in table.err
    unboxed = play(cli, DICE, DICE, "--games", "4", "--seed", "5", "--no-box", "--json")
    assert unboxed.json["digest"] == told["digest"]
    assert "in no box" in unboxed.err
    assert "in no box" in play(cli, DICE, DICE, "--no-box").err


def test_a_bridge_of_a_folder_plays_outside_a_box(cli: Cli, tmp_path: Path) -> None:
    """It does on its author's machine, where what its program uses can't be told: that is said."""
    shutil.copy(BOTS / "foreign_engine.py", tmp_path)
    run = "bridge = 'ugi'\nrun = 'python3 foreign_engine.py uci {}'\n"
    (tmp_path / "bot.toml").write_text(run.format(""))
    words = ("play", "clobber", "size=5x6", tmp_path, DICE, "--no-box", "--wall", "--move", "9000")
    said = cli(*words)
    assert said.code == 0
    assert "in no box the CPU time of the first alone is charged: play it with --wall" in said.err
    (tmp_path / "bot.toml").write_text(run.format("dies"))
    assert "ended (exit 5) before it gave bestmove; last on" in cli(*words).out


def test_what_can_not_be_seen_is_written_out(cli: Cli, tmp_path: Path) -> None:
    """What turns a line round, or has no width, reaches no terminal as it is: it is escaped."""
    bot, records = BOTS / "tricky_writer.py", tmp_path / "games.jsonl"
    said = play(cli, bot, "random", "--trace", "--log", "--records", records)
    checked = cli("check", bot, "--game", "clobber")
    again = cli("play", "--replay", records, "--game", 1, bot, "--trace", "--log")
    for one in (said, checked, again):
        text = one.out + one.err
        assert "a\\u202eb\\u2066c\\u200bd\\u200ee\\ufefff" in text
        assert not {letter for letter in text if not letter.isprintable()} - {"\n", "\t"}


NO_BOX_HERE = {
    "nothing to build one with": ("workers.sandbox.Sandbox._boxes", lambda *_: iter(())),
    "every user number taken": ("workers.users.BOT_USERS", ()),
    "claims in a stranger's folder": ("workers.users.CLAIMS", Path("/tmp")),
}
COMMANDS = {
    "play": ["play", "clobber", "size=4x4", DICE, DICE],
    "play --json": ["play", "clobber", "size=4x4", DICE, DICE, "--json"],
    "test": ["test", DICE, "random", "size=4x4", "--game", "clobber", "--games", "2"],
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("why", NO_BOX_HERE)
def test_without_a_box_nothing_is_played(
    why: str, command: str, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever keeps a box from being built; one line says that, and what to do."""
    if os.geteuid() != 0 and why != "nothing to build one with":
        return  # an ordinary user's bots need no numbers
    place, value = NO_BOX_HERE[why]
    monkeypatch.setattr(place, value)
    if why == "every user number taken":
        monkeypatch.setattr("workers.users.BotUser.__init__.__defaults__", (value,))
    for more in ([], ["--minimum", "none"]):
        said = cli(*COMMANDS[command], *more)
        assert_refused(said, "bots run only with --no-box")
        assert "no box can be built here (" in said.err
        assert "`arena doctor` says what helps" in said.err
    assert cli(*COMMANDS[command], "--no-box", "--move", "20000").code in (0, 1)


def test_the_weakest_box_to_accept_can_be_named(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A weaker one is refused, also by the variable that workers heed."""
    monkeypatch.setattr(
        "workers.sandbox.Sandbox.__init__", partialmethod(Sandbox.__init__, maximum="reduced")
    )
    words = ("play", "clobber", "size=4x4", DICE, DICE, "--json")
    refusal = "the best box here is 'reduced' and 'good' is asked for"
    assert_refused(cli(*words, "--minimum", "good"), refusal)
    assert cli(*words, "--minimum", "reduced").json["isolation"] == "reduced"
    assert cli(*words).json["isolation"] == "reduced"
    monkeypatch.setenv("ARENA_MINIMUM_ISOLATION", "good")
    assert_refused(cli(*words), refusal)


def test_a_seed_gives_the_same_games_at_any_concurrency(cli: Cli, tmp_path: Path) -> None:
    """The sample bot draws its moves from the seed that it is given."""
    digests = set()
    for name, concurrency in (("one", 1), ("two", 2), ("again", 2)):
        said = play(
            cli,
            *("random", "random", "--games", "6", "--seed", "3", "--json"),
            *("--concurrency", concurrency, "--records", tmp_path / name),
        )
        digests.add(said.json["digest"])
        assert len((tmp_path / name).read_text().splitlines()) == 6
    other = play(cli, "random", "random", "--games", "6", "--seed", "4", "--json")
    assert len(digests) == 1
    assert other.json["digest"] not in digests


def test_openings_of_a_book_come_again_when_all_were_used(cli: Cli, tmp_path: Path) -> None:
    """Which is said; both bots have every opening from both seats."""
    book, records = tmp_path / "a.book", tmp_path / "records"
    book.write_text("a2a1\na2a3 d4d3\na2a1 # again\n")
    words = ["clobber", "size=4x4", DICE, DICE, "--games", "8", "--json", "--records", records]
    said = cli("play", *words, "--book", book)
    assert "1 opening leads where one before leads, too" in said.err
    assert "after 2 matches the book's openings come again" in said.err
    games = [json.loads(line) for line in records.read_text().splitlines()]
    plies = [game["opening"] for game in games]
    assert [sorted(plies[:4]), sorted(plies[4:])] == [[1, 1, 2, 2]] * 2
    assert plies[::2] == plies[1::2]
    assert said.json["book"] == "a.book"


def test_lines_and_logs_are_shown(cli: Cli) -> None:
    """With the seat and the direction, as they pass; beside the summary."""
    said = play(cli, DICE, "random", "--trace", "--log", "--json")
    lines = said.err.splitlines()
    assert "- dice.py > hello 1" in lines
    assert "- dice.py < ready dice want=legal" in lines
    for seat, line in (("1", "> newgame clobber size=4x4 seats=2 you=1"), ("2", "< # roll ")):
        assert any(text.startswith(f"{seat} dice.py {line}") for text in lines)
    assert "the log of seat 1, random is empty" in lines
    assert said.json["games"] == 2


def test_what_is_chosen_about_a_bot_is_a_part_of_its_name(cli: Cli, tmp_path: Path) -> None:
    """It is learnt from the bot before anything is played; a file of such a name is a file."""
    bot = tmp_path / "bot.py"
    greets = 'print("# option depth int 1 20 6\\nready bot want=legal", flush=True)'
    bot.write_text(f"""legal = []
for line in iter(input, "quit"):
    verb, *words = line.split()
    if verb == "hello":
        {greets}
    elif verb == "legal":
        legal = words
    elif verb == "set":
        depth = words[1]
    elif verb in ("newgame", "go"):
        print("ok" if verb == "newgame" else f"# depth {{depth}}\\nmove {{legal[0]}}", flush=True)
""")
    match = ("play", "clobber", "size=3x3", f"{bot}:depth=+8", f"{bot}:depth=3", "--no-box")
    file = tmp_path / "played.jsonl"
    assert cli(*match, "--records", str(file)).code == 0
    (game,) = [json.loads(line) for line in file.read_text().splitlines()][:1]
    assert game["players"] == ["bot.py:depth=+8", "bot.py:depth=3"]
    assert game["chosen"] == [{"depth": "8"}, {"depth": "3"}]
    assert {its["depth"] for ply, its in game["values"].items() if int(ply) % 2 == 0} == {8.0}
    for word, why in (
        ("dept=3", "bot.py has no option dept: its options are depth"),
        ("depth=21", "depth is a number from 1 to 20, not 21"),
        ("depth=", "'depth=' chooses no option: write NAME=VALUE"),
    ):
        refused = cli("play", "clobber", f"{bot}:{word}", "random", "--no-box")
        assert (refused.code, why in refused.err) == (2, True), refused.err
    named = tmp_path / "bot:depth=9.py"
    named.write_text("print('ready')")
    assert cli(*match[:3], str(named), "random", "--no-box").code == 1


def test_a_folder_and_a_command_play(cli: Cli, tmp_path: Path) -> None:
    """A folder does so in a box or not; a command, whose arguments may have a "=", in none."""
    folder = tmp_path / "mine"
    folder.mkdir()
    shutil.copy(DICE, folder / "bot.py")
    shell = f"sh {BOTS / 'first.sh'} --option Threads=2"
    for more in ([], ["--no-box"]):
        said = play(cli, folder, shell, *more, "--json")
        assert [bot["name"] for bot in said.json["bots"]] == ["mine", "sh"]
        assert said.code == 0
    assert "in no box" in play(cli, folder, shell).err


def test_a_game_is_asked_again(cli: Cli, records: Path, tmp_path: Path) -> None:
    """The same bot answers as then; another one does not, and it is told where."""
    same = cli("play", "--replay", records, "--game", "1", DICE, DICE)
    assert same.code == 0
    assert re.search(r"ply +\d+  seat 1 dice\.py: \w+  as recorded", same.out)
    assert same.out.endswith(" answers, 0 differ from the record\n")
    one = cli("play", "--replay", records, "--game", "1", DICE, "--json")
    assert {answer["seat"] for answer in one.json["answers"]} == {1}
    other = cli("play", "--replay", records, "--game", "1", BOTS / "first.sh", "--seat", "2")
    assert other.code == 1
    assert re.search(r"seat 2 first\.sh: \w+  DIFFERS: recorded \w+", other.out)
    ply = one.json["answers"][1]["ply"]
    words = ("--game", "1", DICE, "--ply", ply, "--trace", "--log")
    traced = cli("play", "--replay", records, *words)
    assert "1 dice.py > newgame" in traced.err
    assert re.findall(r"> go (\d+)", traced.err) == [str(ply)]
    assert "the log of seat " in traced.err


def test_a_puzzle_says_how_far_a_bot_came(cli: Cli) -> None:
    """The score by the rules, which a place in the race doesn't tell."""
    words = ("play", "puzzle", "task=tetrominoes", "random", "--games", "2", "--no-box")
    scores = [sum(game["scores"]) for game in cli(*words, "--json").json["results"]]
    said = cli(*words)
    assert "points a game" in said.out
    assert f" {sum(scores) / 2:.1f} " in said.out
    assert scores[0] > 0


def test_a_bot_that_fails_is_told(cli: Cli, tmp_path: Path) -> None:
    """The exit code is 1, the fault is told with the game and the ply, and where to look on."""
    bot = tmp_path / "mute.py"
    words = "'x' * 5000, *range(98), sep='\\n', file=sys.stderr"
    bot.write_text(f"import sys\nprint({words})\nsys.exit(7)\n")
    said = play(cli, DICE, bot)
    assert said.code == 1
    assert said.out.count(f"\n    {'x' * 300}\n    0\n") == 1
    assert said.out.count("\n    4\n    ...\n    92\n    93\n") == 1
    assert re.search(r"mute\.py: game 1, ply \d+: crash, .*exit 7", said.out)
    assert "--log shows what the bots wrote" in said.err
    assert "--log shows" not in play(cli, DICE, bot, "--log").err
    told = play(cli, DICE, bot, "--json").json
    assert told["bots"][1]["faults"] == {"crash": 2}


def test_to_resign_is_no_fault(cli: Cli, tmp_path: Path) -> None:
    """It is told of no bot, and the exit code is 0."""
    bot = tmp_path / "meek.py"
    bot.write_text(
        "said = {'hello': 'ready meek', 'newgame': 'ok', 'go': 'move resign'}\n"
        "for line in open(0):\n"
        "    word = line.split()[0]\n"
        "    if word in said: print(said[word], flush=True)\n"
        "    if word == 'quit': break\n"
    )
    told = play(cli, DICE, bot, "--json")
    assert (told.code, told.json["bots"][1]["faults"]) == (0, {})
    assert {game["termination"] for game in told.json["results"]} == {"resign"}
    assert "resign" not in play(cli, DICE, bot).out


def test_records_that_find_no_room_are_told(cli: Cli) -> None:
    """As soon as it shows, by the name of the file; and so is what was played."""
    said = play(cli, DICE, DICE, "--json", "--records", "/dev/full")
    assert (said.code, said.json["games"]) == (2, 2)
    assert said.err == "arena: can't write /dev/full: No space left on device\n"


def going_on(*words: object, before: str = "") -> subprocess.Popen[str]:
    """A command to play that is going on, for somebody to stop; with some code run before."""
    program = [sys.executable, "-c", f"{before}from arena.cli import main; main()", "play", *words]
    pipe = subprocess.PIPE
    return subprocess.Popen([str(word) for word in program], stdout=pipe, stderr=pipe, text=True)


def rest_of(process: subprocess.Popen[str]) -> tuple[str, str]:
    """What else a command says of whose lines some were read: `communicate` misses what came with
    those in one piece."""
    assert process.stdout
    assert process.stderr
    with process:
        error = process.stderr.read()
        return process.stdout.read(), error


def test_what_was_played_is_told_when_somebody_stops_it(tmp_path: Path) -> None:
    """Matches under way are played to their end, and are among the records, too."""
    records = tmp_path / "games.jsonl"
    words = ("clobber", "size=4x4", DICE, DICE, "--games", 9999, "--records", records, "--json")
    process = going_on(*words)
    while process.poll() is None and not (records.exists() and records.read_text()):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=30)
    played = json.loads(out)["games"]
    assert process.returncode == 130
    assert f"interrupted after {played} of 9999 games" in error
    assert 0 < played == len(records.read_text().splitlines()) < 9999


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_second_wish_to_stop_breaks_matches_off(number: signal.Signals, tmp_path: Path) -> None:
    """They end at once, although a bot thinks about its move for minutes."""
    bot = tmp_path / "slow.py"
    thinking = 'elif verb == "go":\n        __import__("time").sleep(300)'
    bot.write_text(Path(DICE).read_text().replace('elif verb == "go":', thinking))
    process = going_on("clobber", "size=12x12", bot, bot, "--trace", "--move", 300_000)
    assert process.stderr
    for awaited in ("> go", "again breaks them off"):
        while awaited not in process.stderr.readline():
            assert process.poll() is None
        process.send_signal(number)
    # A second or less, and a busy machine may take a few more.
    out, error = rest_of(process)
    assert (process.returncode, out) == (130, "")
    assert "interrupted after 0 of 2 games" in error


def test_what_may_be_ignored_is_ignored_still() -> None:
    """As nohup wants it of the end of a terminal."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with stoppable() as stopped:
            os.kill(os.getpid(), signal.SIGHUP)
            assert not stopped()
            os.kill(os.getpid(), signal.SIGTERM)
            assert stopped()
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.long
@pytest.mark.parametrize("lasting", [False, True], ids=["a moment", "for good"])
def test_a_machine_that_fails_costs_no_game_that_was_played(lasting: bool, tmp_path: Path) -> None:
    """No file can be opened any more: it is tried again, and at last told what was played."""
    records = tmp_path / "games.jsonl"
    words = ("clobber", "size=4x4", DICE, DICE, "--games", 40, "--json", "--records", records)
    impatient = "from arena.cli import interrupts; interrupts.PAUSES = (0.01,) * 2; " * lasting
    process = going_on(*words, "--concurrency", 1, "--log", before=impatient)
    assert process.stderr
    while "the log of seat" not in process.stderr.readline():
        assert process.poll() is None
    resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (12, 4096))
    while "is tried again: " not in process.stderr.readline():
        assert process.poll() is None
    if not lasting:
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (1024, 4096))
    out, error = rest_of(process)
    played = json.loads(out)["games"]
    assert len(records.read_text().splitlines()) == played
    if lasting:
        assert process.returncode == 3
        assert 0 < played < 40
        assert f"broken off after {played} of 40 games" in error
        assert "a game could not be played, through no bot's fault: " in error
    else:
        assert (process.returncode, played) == (0, 40)


@pytest.mark.parametrize("bot", ["broken.c", "bot.py.bak", "b\tot.py"])
def test_old_records_stay_until_there_are_new_ones(bot: str, cli: Cli, tmp_path: Path) -> None:
    """Whatever it is that keeps a game from being played."""
    records, path = tmp_path / "games.jsonl", tmp_path / bot
    assert play(cli, DICE, DICE, "--records", records).code == 0
    before = records.read_text()
    path.write_text("int main( {")
    said = play(cli, path, DICE, "--records", records)
    assert said.code == 2
    assert records.read_text() == before
    assert play(cli, DICE, DICE, "--seed", 5, "--records", records).code == 0
    assert len(records.read_text().splitlines()) == 2
    assert records.read_text() != before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root's bots have users of their own")
def test_more_matches_than_there_is_room_for_are_refused(cli: Cli) -> None:
    """384 users for bots (see `workers.box_folder`) are enough for 192 matches of two."""
    said = play(cli, DICE, DICE, "--concurrency", 193)
    assert said.code == 2
    assert "arena: --concurrency 193 is too much: the users for bots of this" in said.err
    assert "are enough for 192 matches at once" in said.err


def test_open_files_are_allowed_as_far_as_is_needed() -> None:
    """The soft limit is raised for it; beyond the hard one so many matches are refused."""
    limits = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (24, 400)); "
    program = f"{limits}from arena.cli import main; main()"
    words = ["play", "clobber", "size=4x4", "--no-box", DICE, DICE, "--json"]
    said = [
        subprocess.run(
            [sys.executable, "-c", program, *words, "--concurrency", many, "--games", "40"],
            capture_output=True,
            text=True,
            check=False,
        )
        for many in ("12", "13")
    ]
    assert (said[0].returncode, json.loads(said[0].stdout)["games"]) == (0, 40)
    assert said[1].returncode == 2
    assert "the open files of this machine are enough for 12 matches at once" in said[1].stderr


@pytest.mark.long
def test_two_commands_do_not_write_into_one_file(cli: Cli, tmp_path: Path) -> None:
    """The second is refused, and what the first has written stays."""
    records = tmp_path / "games.jsonl"
    process = going_on("clobber", DICE, DICE, "--games", 9999, "--records", records)
    while process.poll() is None and not (records.exists() and records.read_text()):
        time.sleep(0.01)
    said = play(cli, DICE, DICE, "--records", records)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert_refused(said, "another command writes .*games.jsonl: name another file")
    assert all(json.loads(line)["moves"] for line in records.read_text().splitlines())
