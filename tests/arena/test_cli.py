"""The command line: what it prints, its exit codes, and one clear line for each mistake."""

from __future__ import annotations

import importlib
import io
import json
import re
import resource
import shlex
import shutil
import sqlite3
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.cli import COMMANDS, prepare, run
from arena.cli.arguments import find_bots
from arena.cli.listing import visible
from arena.db import Database
from arena.models import Bot, BotVersion, Ladder, User
from arena.submissions import SubmissionError, enter, submit
from tests.arena.running import COMMAND, environment

ROOT = Path(__file__).parents[2]
BOTS = ROOT / "tests" / "bots"
DICE = str(BOTS / "dice.py")

Cli = Callable[..., "Said"]


class Said:
    """What a command line came to."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    """Runs a command line in this process."""

    def call(*words: object) -> Said:
        try:
            code = run([str(word) for word in words])
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 1
        return Said(code, *capsys.readouterr())

    return call


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(cli: Cli, name: str) -> None:
    """Its help has an example, which begins with the command itself; so has a group's commands'."""
    command = getattr(importlib.import_module(f"arena.cli.{COMMANDS[name][0]}"), name)
    group = command.commands if isinstance(command, click.Group) else None
    for words in [[name, inner] for inner in group] if group else [[name]]:
        said = cli(*words, "--help")
        assert said.code == 0
        assert re.search(rf"Examples?:\s+arena {' '.join(words)}\b", said.out)
        one = group[words[-1]] if group else command
        options = [option for option in one.params if isinstance(option, click.Option)]
        assert [option.name for option in options if not option.help] == []


def test_the_help_lists_every_command(cli: Cli) -> None:
    """Without a command too, which is wrong usage."""
    helped, bare = cli("--help"), cli()
    assert (helped.code, bare.code) == (0, 2)
    for name, (_, words) in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(words)}$", helped.out, re.MULTILINE)


def test_the_list_of_commands_imports_none_of_them() -> None:
    """It comes at once, although some commands need much."""
    code = "import sys; from arena.cli import run; run(['--help']); print(*sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(said.stdout.splitlines()[-1].split())
    assert "arena.cli" in loaded
    assert not loaded & {"flask", "sqlalchemy", "celery", "arena.cli.play", "rich"}


# One position.


def test_moves_are_listed_in_order(cli: Cli) -> None:
    """The example of the protocol's documentation: 3x2 after White's b1c1."""
    said = cli("moves", "clobber", "size=3x2", "--after", "b1c1")
    assert (said.code, said.out, said.err) == (0, "a1a2\nb2a2\nb2c2\n", "")


def test_moves_as_json(cli: Cli) -> None:
    """Seats are numbered from 1; the position text is that of the rules."""
    said = cli("moves", "clobber", "size=3x2", "--after", "b1c1", "--json").json
    assert said == {
        "variant": "clobber size=3x2",
        "position": "wbw/b1w 2",
        "to_move": 2,
        "moves": ["a1a2", "b2a2", "b2c2"],
        "ending": None,
        "scores": None,
        "ranks": None,
    }


def test_a_finished_game_has_no_moves(cli: Cli) -> None:
    """b2a2 leaves White without a move, so Black wins; this is said apart from the list."""
    words = ("moves", "clobber", "size=3x2", "--after", "b1c1 b2a2")
    said = cli(*words)
    assert (said.code, said.out) == (0, "")
    assert said.err == "the game is over (normal); scores 0, 1\n"
    told = cli(*words, "--json").json
    assert (told["to_move"], told["moves"], told["ranks"]) == (None, [], [2, 1])


def test_a_position_is_read_from_its_text(cli: Cli) -> None:
    """What one command prints another one takes."""
    text = cli("moves", "clobber", "size=3x2", "--after", "b1c1", "--json").json["position"]
    assert cli("moves", "clobber", "size=3x2", "--position", text).out == "a1a2\nb2a2\nb2c2\n"


@pytest.mark.parametrize(("depth", "nodes"), [(0, 1), (1, 24), (2, 448), (3, 6380)])
def test_perft(cli: Cli, depth: int, nodes: int) -> None:
    """The numbers of the rules for 4x4."""
    assert cli("perft", "clobber", "size=4x4", "--depth", depth).out == f"{nodes}\n"
    told = cli("perft", "clobber", "size=4x4", "--depth", depth, "--json").json
    assert (told["depth"], told["nodes"]) == (depth, nodes)


def test_a_drawing_is_svg(cli: Cli, tmp_path: Path) -> None:
    """On standard output or in a file; it differs by theme, and by what is chosen."""
    words = ("draw", "clobber", "--after", "a2a1")
    light, dark = cli(*words), cli(*words, "--theme", "dark")
    chosen = cli(*words, "--chosen", "c3")
    assert ET.fromstring(light.out).tag == "{http://www.w3.org/2000/svg}svg"
    assert len({light.out, dark.out, chosen.out}) == 3
    assert cli(*words, "-o", tmp_path / "a.svg").out == ""
    assert (tmp_path / "a.svg").read_text() == light.out


# Playing and replaying.


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
    assert "in no box" in play(cli, DICE, DICE, "--no-box").err


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


def test_a_folder_and_a_command_play(cli: Cli, tmp_path: Path) -> None:
    """In a box or not; a command, whose arguments may have a "=", never, and that is said."""
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
    traced = cli("play", "--replay", records, "--game", "2", DICE, "--trace", "--log")
    assert "2 dice.py > newgame" in traced.err or "1 dice.py > newgame" in traced.err
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


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two games as `play` wrote them."""
    path = tmp_path_factory.mktemp("records") / "games.jsonl"
    words = ["play", "clobber", "size=4x4", DICE, DICE, "--move", "20000", "--records", str(path)]
    with pytest.raises(SystemExit) as ended:
        run(words)
    assert ended.value.code == 0
    return path


def test_records_are_confirmed(cli: Cli, records: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All games in short, one in full, and from standard input as well."""
    said = cli("replay", records)
    assert said.code == 0
    assert said.out.endswith("2 games, 0 refuted by the rules\n")
    one = cli("replay", records, "--game", "2", "--ply", "0")
    assert "confirmed by the rules" in one.out
    assert "position before ply 0: wbwb/bwbw/wbwb/bwbw 1" in one.out
    monkeypatch.setattr("sys.stdin", io.StringIO(records.read_text()))
    assert cli("replay", "-").out == said.out


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_newlines_alone_end_a_record(cli: Cli, records: Path, tmp_path: Path, ending: str) -> None:
    """JSON may have what else ends a line somewhere, as another program's JSON Lines do."""
    path = tmp_path / "games.jsonl"
    games = [json.loads(line) for line in records.read_text().splitlines()]
    for game in games:
        game["players"][0] = "one\u2028two\u2029three\x85"
    lines = [json.dumps(game, ensure_ascii=False) for game in games]
    path.write_bytes(ending.join([*lines, ""]).encode())
    assert cli("replay", path).out.endswith("2 games, 0 refuted by the rules\n")


def test_a_record_commands_no_terminal(cli: Cli, records: Path, tmp_path: Path) -> None:
    """Whoever wrote its names and texts; nor does a word in a listing."""
    game = json.loads(records.read_text().splitlines()[0])
    game["players"][0], game["texts"] = "\x1b[2Jevil", {"0": "\N{RIGHT-TO-LEFT OVERRIDE}\r"}
    (tmp_path / "evil.jsonl").write_text(json.dumps(game) + "\n")
    said = cli("replay", tmp_path / "evil.jsonl").out
    assert r"\x1b[2Jevil" in said
    assert r"\u202e\r" in said
    assert visible("\x1b]0;x\a\x9b") == r"\x1b]0;x\x07\x9b"
    assert visible("two\n\tlines") == "two\n\tlines"


def test_replay_as_json(cli: Cli, records: Path) -> None:
    """A line a game, with the digest of the record and the record itself."""
    lines = [json.loads(line) for line in cli("replay", records, "--json").out.splitlines()]
    assert [(line["game"], line["valid"], line["problem"]) for line in lines] == [
        (1, True, None),
        (2, True, None),
    ]
    assert [line["record"] for line in lines] == [
        json.loads(line) for line in records.read_text().splitlines()
    ]


def test_a_position_of_a_record_is_drawn(cli: Cli, records: Path, tmp_path: Path) -> None:
    """The last one, unless another is asked for."""
    picture = tmp_path / "end.svg"
    assert cli("replay", records, "--game", "1", "--draw", picture).code == 0
    assert ET.fromstring(picture.read_text()).tag.endswith("svg")


@pytest.mark.parametrize("number", ["1", "2"])
def test_a_forged_result_is_refuted(cli: Cli, records: Path, tmp_path: Path, number: str) -> None:
    """Whoever exchanges the scores of a game is told so, with exit code 1."""
    forged = tmp_path / "forged.jsonl"
    games = [json.loads(line) for line in records.read_text().splitlines()]
    game = games[int(number) - 1]
    game["scores"].reverse()
    game["ranks"].reverse()
    forged.write_text("\n".join(json.dumps(one) for one in games))
    said = cli("replay", forged)
    assert said.code == 1
    assert re.search(rf"game {number}: .*REFUTED: the result is", said.out)
    assert said.out.endswith("2 games, 1 refuted by the rules\n")


@pytest.fixture
def unfinished(records: Path, tmp_path: Path) -> Path:
    """A game that goes on, as the API gives it."""
    game = json.loads(records.read_text().splitlines()[0])
    game |= {"moves": game["moves"][:-1], "termination": "void", "scores": [], "ranks": []}
    for key in ("cpu_us", "wall_us"):
        game["run"][key].pop()
    path = tmp_path / "unfinished.json"
    path.write_text(json.dumps(game))
    return path


def test_a_game_that_goes_on_is_shown(cli: Cli, unfinished: Path, tmp_path: Path) -> None:
    """Its moves are proved, and it has no result yet; a move that is not legal refutes it."""
    picture = tmp_path / "now.svg"
    said = cli("replay", unfinished, "--draw", picture)
    assert said.code == 0, said.err
    assert re.match(r"clobber size=4x4: dice\.py, dice\.py#2 \(goes on, \d+ plies\)\n", said.out)
    assert "confirmed by the rules" in said.out
    assert "ranks" not in said.out
    assert ET.fromstring(picture.read_text()).tag.endswith("svg")
    assert cli("replay", unfinished, "--json").json["valid"] is True
    game = json.loads(unfinished.read_text())
    unfinished.write_text(json.dumps(game | {"moves": ["1:a1a1", *game["moves"][1:]]}))
    said = cli("replay", unfinished)
    assert (said.code, "REFUTED by the rules: at ply 0" in said.out) == (1, True)


def test_a_game_that_goes_on_is_not_asked_again(cli: Cli, unfinished: Path) -> None:
    """Its clocks and its end are not known yet."""
    assert_refused(cli("play", "--replay", unfinished, DICE, DICE), "the game goes on")


# What can't be done is said in one line.


def damaged(text: str) -> str:
    return text[: len(text) // 4]


def of_another_format(text: str) -> str:
    return json.dumps(json.loads(text.splitlines()[0]) | {"record": 99})


def without_players(text: str) -> str:
    return json.dumps(json.loads(text.splitlines()[0]) | {"players": []})


def without_a_key(text: str) -> str:
    return json.dumps({k: v for k, v in json.loads(text.splitlines()[0]).items() if k != "seed"})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (damaged, r"games\.jsonl, line 1: this is no JSON: .*"),
        (of_another_format, r"games\.jsonl, line 1: this record has format 99; .*use the release"),
        (without_a_key, r"games\.jsonl, line 1: this record is damaged: .*seed"),
        (without_players, "line 1: this record is damaged: its players are 0, not 2"),
        (lambda _: "[1]\n", r"games\.jsonl, line 1: this is no game record"),
        (lambda _: "\n \n", r"games\.jsonl is empty; give a file that"),
        (lambda text: text + "x", r"games\.jsonl, line 3: this is no JSON"),
    ],
)
def test_what_is_no_record_is_refused(
    cli: Cli, records: Path, tmp_path: Path, change: Callable[[str], str], words: str
) -> None:
    """With the line of the file, and what to do."""
    path = tmp_path / "games.jsonl"
    path.write_text(change(records.read_text()))
    assert_refused(cli("replay", path), words)


def assert_refused(said: Said, words: str) -> None:
    """One line on standard error, nothing on standard output, exit code 2."""
    assert (said.code, said.out) == (2, ""), said.err
    (line,) = said.err.splitlines()
    assert re.match(f"arena: .*{words}", line), line


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("moves chess", "there is no game 'chess'; there are: clobber"),
        ("moves clobber colour=red", "colour.*size"),
        ("moves clobber size=1x1", "size.*WxH, files by ranks, each 2 to 26"),
        ("moves clobber size=5x6 size=6x7", "the option size is given twice"),
        ("moves clobber 6x7", "'6x7' is no option; an option is written key=value"),
        ("moves clobber --position nonsense", "a position has 2 fields"),
        ("moves clobber --position ''", "a position has 2 fields"),
        ("moves clobber --after a1a1", "move 1 of --after: .*a1a1"),
        ("moves", "Missing argument 'GAME'.*see arena moves --help"),
        ("perft clobber", "Missing option '--depth'"),
        ("perft clobber --depth -1", "'--depth'.*-1"),
        ("draw clobber --chosen z9", "there is no square 'z9' on this board"),
        ("draw clobber --theme pink", "'--theme'.*'pink'"),
        ("draw clobber -o /proc/nowhere/a.svg", "can't write /proc/nowhere/a.svg"),
        ("replay /nowhere/games", "can't read /nowhere/games: No such file"),
        ("replay {binary}", "is no text file; give a file that"),
        ("replay {records} --game 3", "has 2 games, so there is no game 3"),
        ("replay {records} --ply 1", "has 2 games: say which with --game N"),
        ("replay {records} --game 1 --ply 99", "so there is no position 99"),
        ("replay {records} --game 1 --draw /proc/nowhere/a.svg", "can't write /proc/nowhere/a.svg"),
        ("play clobber {dice}", "clobber size=6x7 takes 2 bots; 1 is given"),
        (
            "play blokus mode=teams {dice} {dice} {dice} {dice}",
            "takes 2 bots, each for all seats of a side; 4 are given",
        ),
        ("play clobber {dice} nobody", "there is no bot nobody: give the path of a program, or"),
        ("play clobber {dice} {plain}", "how is 'plain' run\\? Give it the ending of a language"),
        ("play clobber {dice} {folder}", "folder holds no files"),
        ("play clobber {dice} {plain} --no-box", "plain is not executable: chmod"),
        ("play clobber {dice} {folder} --no-box", "folder holds no files"),
        ("replay {records} --game 1 --draw ''", "'--draw': the name is empty"),
        ("play clobber {dice} ''", "an empty word names no bot: give the path of a program"),
        ("play clobber {dice} ' '", "an empty word names no bot"),
        ("play clobber {dice} {dice} --time ''", "'' is no time control"),
        ("play clobber {dice} {dice} --seat 1", "--game and --seat belong to --replay"),
        ("play --replay {records} {dice}", "has 2 games: say which with --game N"),
        ("play --replay {records} --game 3 {dice}", "has 2 games, so there is no game 3"),
        ("play --replay {records} --game 1 random", "random did not play .* with --seat S"),
        ("play --replay {records} --game 1 {dice} --seat 3", "has 2 seats, so there is no seat 3"),
        ("play --replay {records} --game 1 {dice} --games 9", "--games does not go with --replay"),
        ("play --replay {records} --game 1 {dice} --seed 0", "--seed does not go with --replay"),
        ("play --replay {records} --game 1 {dice} --time 1", "--time does not go with --replay"),
        ("play --replay {records} --game 1 {dice} --move 3", "--move does not go with --replay"),
        ("play --replay {records} --game 1 {dice} --wall", "--wall does not go with --replay"),
        (
            "play --replay {records} --game 1 {dice} --opening 2",
            "--opening does not go with --replay",
        ),
        (
            "play --replay {records} --game 1 {dice} --concurrency 2",
            "--concurrency does not go with --replay",
        ),
        (
            "play --replay {records} --game 1 {dice} --records x",
            "--records does not go with --replay",
        ),
        (
            "play --replay {records} --game 1 {dice} {dice} --seat 1 --seat 1",
            "--seat 1 is given tw",
        ),
        ("play puzzle {dice} --opening 3", "puzzle has no openings: leave out --opening"),
        ("play --replay {plain} {dice}", "this is no JSON"),
        ("play --replay {records} --game 1 a b c", "there is no bot a"),
        ("play clobber {dice} {dice} --time 1 --move 1", "give --time or --move, not both"),
        ("play clobber {dice} {dice} --time soon", "soon"),
        ("play clobber {dice} {dice} --move 0", "0"),
        ("play clobber {dice} {dice} --games 0", "'--games'"),
        ("play clobber {dice} {dice} --records /proc/nowhere/a", "can't write /proc/nowhere/a"),
        ("play chess {dice} {dice}", "there is no game 'chess'"),
        ("check {dice} --game chess", "there is no game 'chess'"),
        ("check {dice} --game ''", "there is no game ''"),
        ("check ''", "an empty word names no bot"),
        ("check {folder}/nothing.py --game clobber", "there is no bot .*nothing.py: give the path"),
        ("leaderboard --data {folder} clobber-6x7", "there is no arena in .*: start one with"),
        ("bots --data {folder}", "there is no arena in .*: start one with arena up"),
        ("up --port 0", "'--port'"),
        ("top --every nan", "'--every': nan is no number of seconds"),
        ("top --every inf", "'--every': inf is not in the range"),
        ("submit {dice} --ladder l --wait-seconds inf", "inf is no number of seconds"),
        ("run", "Missing argument .* Choose from: prepare, web, .* \\(see arena run --help"),
        ("tournament create x", "Missing option '--format'. Choose from: round-robin, gauntlet"),
        ("nonsense", "No such command 'nonsense'"),
    ],
)
def test_bad_input_is_refused(
    cli: Cli, records: Path, tmp_path: Path, line: str, words: str
) -> None:
    """One line that says what is wrong and what to do."""
    (tmp_path / "plain").write_text("no program\n")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "folder").mkdir()
    places = {name: tmp_path / name for name in ("plain", "binary", "folder")}
    filled = [word.format(records=records, dice=DICE, **places) for word in shlex.split(line)]
    said = cli(*filled)
    if "position 99" in words or "--draw" in line:
        said.out = ""  # the game was shown before
    assert_refused(said, words)


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["moves", "clobber", "size=6\nx7"], r"size=6\nx7"),
        (["moves", "clobber", "size=6\u2028x7"], r"size=6\u2028x7"),
        (["play", "clobber", "a\x1b[2J", "b"], r"there is no bot a\x1b[2J"),
        (["replay", "no\nbody"], r"no\nbody"),
        (["bots", "--data", "no\nbody"], r"there is no arena in no\nbody"),
    ],
)
def test_what_is_refused_stays_on_its_line(cli: Cli, words: list[str], shown: str) -> None:
    """What would end a line, or speak to the terminal, is shown as Python writes it."""
    said = cli(*words)
    assert_refused(said, ".*")
    assert shown in said.err


@pytest.mark.parametrize("command", ["up", "fake", "backup", "bots"])
def test_the_current_folder_is_named_by_its_dot(cli: Cli, command: str) -> None:
    """An empty name is mostly a variable that was never set; nothing is made in that folder."""
    assert_refused(cli(command, "--data", ""), "'--data': the name is empty")


@pytest.mark.parametrize(
    "words",
    [
        ["play", "clobber", "random", "greedy", "--records", ""],
        ["draw", "clobber", "-o", ""],
        ["replay", ""],
        ["acl", "", "box1"],
        ["backup", ""],
        ["restore", ""],
        ["submit", "", "--ladder", "x"],
        ["export", "x", "-o", ""],
    ],
    ids=lambda words: words[0],
)
def test_an_empty_word_names_no_file(cli: Cli, words: list[str]) -> None:
    """Of a folder it would be the current one, which nobody means to hand in or to write to."""
    assert_refused(cli(*words), "the name is empty")


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("command", ["moves", "draw"])
def test_full_output_is_told(command: str, unbuffered: str) -> None:
    """What could not be written, and why, in one line, with no complaint at exit."""
    with Path("/dev/full").open("w") as full:
        said = subprocess.run(
            [*COMMAND, command, "blokus"],
            env=environment(PYTHONUNBUFFERED=unbuffered),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert said.returncode == 2
    assert said.stderr == "arena: can't write the output: No space left on device\n"


def test_records_that_find_no_room_are_told(cli: Cli) -> None:
    """After the games, as soon as it shows; by the name of the file."""
    said = play(cli, DICE, DICE, "--json", "--records", "/dev/full")
    assert_refused(said, "can't write /dev/full: No space left on device")


# The arena of a data folder.


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh arena's folder, as a start of `arena up` prepares it."""
    folder = tmp_path_factory.mktemp("arena")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ARENA_DATA", str(folder))
        patch.setenv("ARENA_GAMES", "clobber")
        assert prepare.main() == 0
    return folder


def test_who_wants_one_competition_gets_no_ladders(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As `arena tournament run` starts an arena, whichever games it had; it must be there."""
    monkeypatch.setenv("ARENA_DATA", str(tmp_path))
    monkeypatch.setenv("ARENA_ONLY", "cup")
    assert prepare.main() == 2
    assert "ARENA_ONLY: there is no ladder or tournament 'cup'" in capsys.readouterr().err
    assert cli("ladder", "create", "cup", "--game", "oxono", "--data", tmp_path).code == 0
    assert prepare.main() == 0
    capsys.readouterr()
    ladders = cli("ladders", "--data", tmp_path, "--json").json
    assert [row["ladder"] for row in ladders] == ["cup"]


def test_a_fresh_arena_is_listed(cli: Cli, data: Path) -> None:
    """Ladders and bots for people and for programs; nobody is rated yet."""
    ladders = cli("ladders", "--data", data, "--json").json
    assert {"clobber-6x7", "clobber-5x6"} <= {row["ladder"] for row in ladders}
    assert "clobber-6x7" in cli("ladders", "--data", data).out
    bots = cli("bots", "--data", data, "--json").json
    assert {"random", "greedy"} <= {row["bot"] for row in bots}
    assert {row["status"] for row in bots} == {"checking"}
    board = cli("leaderboard", "clobber-6x7", "--data", data, "--json").json
    assert board["bots"] == []
    rebuilt = cli("ratings", "rebuild", "--check", "--data", data, "--json")
    assert rebuilt.code == 0
    assert {row["equal"] for row in rebuilt.json} == {True}


def test_a_bot_is_taken_in(cli: Cli, data: Path, tmp_path: Path) -> None:
    """A file becomes version 1, the same file no new version, another one version 2."""
    bot = tmp_path / "mine.py"
    labels = []
    for text in ("one", "one", "two"):
        bot.write_text(f"# {text}\n")
        said = cli("submit", bot, "--ladder", "clobber-6x7", "--owner", "ada", "--data", data)
        assert said.code == 0, said.err
        labels.append(said.out.partition(" was taken in")[0])
    assert labels == ["mine v1", "mine v1", "mine v2"]
    rows = cli("bots", "--data", data, "--json").json
    mine = [row for row in rows if row["bot"] == "mine"]
    assert [(row["version"], row["owner"], row["language"]) for row in mine] == [
        (1, "ada", "Python"),
        (2, "ada", "Python"),
    ]


def test_what_becomes_of_a_submission_is_told(cli: Cli, data: Path, tmp_path: Path) -> None:
    """By what plays there at that moment: only an older version is one to be tested against."""
    bot = tmp_path / "hopeful.py"

    def hand_in(text: str, *options: str) -> str:
        bot.write_text(f"# {text}\n")
        where = ("--ladder", "clobber-6x7", "--owner", "ada", "--data", data)
        out = cli("submit", bot, *options, *where).out
        return out.partition("); ")[2].partition(". See")[0]

    checked = "it is checked, and enters clobber-6x7 when it has passed"
    nobody = f"{checked}, since no version is there to test it against"
    assert [hand_in("one"), hand_in("one", "--test-first")] == [checked, nobody]
    with closing(Database(f"sqlite:///{data}/arena.db")) as database, database.begin() as session:
        version = session.scalars(sa.select(BotVersion).join(Bot).filter_by(name="hopeful")).one()
        ladder = session.scalars(sa.select(Ladder).filter_by(name="clobber-6x7")).one()
        enter(session, ladder, version, datetime.now(UTC))
    again = "it plays on clobber-6x7 already, and is checked once more"
    assert [hand_in("one"), hand_in("one", "--test-first")] == [again, again]
    tested = f"{checked} that and a strength test against hopeful v1"
    assert [hand_in("two"), hand_in("two", "--test-first")] == [checked, tested]


def empty(folder: Path) -> Path:
    (folder / "empty").mkdir()
    return folder / "empty"


def missing(folder: Path) -> Path:
    return folder / "missing.py"


def too_large(folder: Path) -> Path:
    path = folder / "large.py"
    with path.open("wb") as file:
        file.truncate(16 * 1024 * 1024 + 1)
    return path


def linked(folder: Path) -> Path:
    (folder / "linked").mkdir()
    (folder / "linked" / "bot.py").write_text("print()\n")
    (folder / "linked" / "secret").symlink_to("/etc/passwd")
    return folder / "linked"


def pipe(folder: Path) -> Path:
    return Path("/dev/null")


def plain(folder: Path) -> Path:
    (folder / "bot.py").write_text("print()\n")
    return folder / "bot.py"


@pytest.mark.parametrize(
    ("make", "options", "words"),
    [
        (empty, [], "empty holds no files"),
        (missing, [], "missing.py can't be read: No such file"),
        (too_large, [], "large.py has more than 16 MiB"),
        (linked, [], "'secret' is a link: put the file itself there"),
        (pipe, [], "null is no plain file"),
        (plain, ["--ladder", "chess"], "there is no ladder 'chess'; there are: .*clobber-6x7"),
        (plain, ["--name", "a bot"], "'a bot' is no name for a bot: 1 to 40 letters"),
        (plain, ["--name", "a.json"], "'a.json' is no name for a bot: .*no .json at the end"),
        (plain, ["--name", "random"], "there is a bot random already, of another owner"),
        (plain, ["--owner", " "], "the owner's name is empty: give one with --owner"),
    ],
)
def test_what_is_no_bot_is_not_taken_in(
    cli: Cli,
    data: Path,
    tmp_path: Path,
    make: Callable[[Path], Path],
    options: list[str],
    words: str,
) -> None:
    """One line says why, and nothing is kept."""
    before = cli("bots", "--data", data, "--json").out
    ladder = [] if "--ladder" in options else ["--ladder", "clobber-6x7"]
    said = cli("submit", make(tmp_path), "--owner", "ada", *ladder, *options, "--data", data)
    assert_refused(said, words)
    assert cli("bots", "--data", data, "--json").out == before


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ("0002", "the database is not prepared .* schema is 0002.*: first arena up"),
        ("9999", "the database is of another release .schema 9999.; use that release, or another"),
    ],
)
def test_a_database_of_another_release_is_left_alone(
    cli: Cli, data: Path, tmp_path: Path, schema: str, words: str
) -> None:
    """By every command that opens one: that release may be at work on it."""
    shutil.copytree(data, tmp_path / "var")
    with closing(sqlite3.connect(tmp_path / "var" / "arena.db")) as connection:
        connection.execute("UPDATE alembic_version SET version_num = ?", (schema,))
        connection.commit()
        said = cli("ladders", "--data", tmp_path / "var")
        assert_refused(said, words)
        left = connection.execute("SELECT version_num FROM alembic_version").fetchall()
    assert left == [(schema,)]
    still_open = [str(fd.readlink()) for fd in Path("/proc/self/fd").iterdir() if fd.is_symlink()]
    assert str(tmp_path / "var" / "arena.db") not in still_open


def test_a_full_disk_is_told_in_one_line(cli: Cli, data: Path, tmp_path: Path) -> None:
    """Here the largest file that may be written is full, just when the command writes its row."""
    shutil.copytree(data, tmp_path / "var")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (32_768, before[1]))
    try:
        said = cli("user", "add", "grace", "--data", tmp_path / "var")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert_refused(said, r"can't use the database: .*(I/O error|disk is full)")
    listed = cli("user", "list", "--json", "--data", tmp_path / "var").out
    assert "grace" not in [one["name"] for one in json.loads(listed)]


# Boxes.


def test_a_check_tells_what_a_bot_does(cli: Cli, tmp_path: Path) -> None:
    """One that plays passes, one that does not fails; in the weakest box that is accepted."""
    words = ("--game", "clobber size=4x4", "--minimum", "reduced")
    good = cli("check", DICE, *words, "--json")
    assert good.code == 0, good.err
    assert good.json["passed"] is True
    assert good.json["findings"][-1]["clause"] == "a whole game"
    for finding in good.json["findings"]:
        assert finding["kept"]
        assert finding["words"]
    bad = tmp_path / "bad.py"
    bad.write_text("print('hello?')\n")
    said = cli("check", bad, *words)
    assert said.code == 1
    assert "BROKEN hello: protocol: expected 'ready NAME' after 'hello', got 'hello?'" in said.out
    assert "         > hello 1\n         < hello?\n" in said.out
    assert said.out.endswith("failed: 1 broken\n")


def test_a_bot_is_checked_in_its_own_game(cli: Cli, tmp_path: Path) -> None:
    """The first of its bot.toml; a folder and a sample's name do as well as a file."""
    folder = tmp_path / "mine"
    folder.mkdir()
    shutil.copy(DICE, folder / "bot.py")
    (folder / "bot.toml").write_text('games = ["oxoxo", "clobber"]\n')
    words = ("--minimum", "reduced", "--json")
    assert cli("check", folder, *words).json["variant"] == "oxoxo"
    assert cli("check", "random", *words).json["variant"] == "clobber size=6x7"
    (folder / "bot.toml").write_text('games = ["Oxoxo"]\n')
    assert_refused(cli("check", folder, *words), r"bot\.toml: there is no game 'Oxoxo'")


def test_a_check_and_a_submission_refuse_the_same_names(cli: Cli, tmp_path: Path) -> None:
    """A name that a bot's author can mend is told by both, in the same words."""
    folder = tmp_path / "mine"
    folder.mkdir()
    shutil.copy(DICE, folder / "bot.py")
    (folder / "bot.toml").write_text('name = "My Bot"\n')
    words = ("--game", "clobber size=4x4", "--minimum", "reduced", "--json")
    said = cli("check", folder, *words)
    broken = [finding for finding in said.json["findings"] if not finding["kept"]]
    assert (said.code, [finding["clause"] for finding in broken]) == (1, ["name"])
    with pytest.raises(SubmissionError) as refused:
        submit(
            Session(),
            User(name="ada"),
            "My Bot",
            digest="",
            size=0,
            language="",
            ladder=Ladder(),
            now=datetime.now(UTC),
        )
    assert broken[0]["words"].startswith(f"{refused.value}; ")
    assert cli("check", folder, "--name", "gus", *words).code == 0


def test_the_folder_one_is_in_has_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of bots has no blank in the place of one."""
    (tmp_path / "gus" / "src").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "gus" / "src")
    assert [bot.name for bot in find_bots([".", "..", "./", "random"])] == [
        "src", "gus", "src#2", "random",
    ]  # fmt: skip


def test_a_check_refuses_what_no_ladder_grants(cli: Cli, tmp_path: Path) -> None:
    """A bot that needs more than the usual limits is not started, which is no fault of ours."""
    shutil.copy(DICE, tmp_path / "bot.py")
    (tmp_path / "bot.toml").write_text("threads = 17\n")
    said = cli("check", tmp_path, "--minimum", "reduced", "--json")
    (finding,) = said.json["findings"]
    assert (said.code, finding["kept"], finding["words"]) == (
        1,
        False,
        "it can't be run here: it needs 17 threads, and the limit is 16",
    )


def test_the_kit_goes_with_a_single_file(cli: Cli, tmp_path: Path) -> None:
    """A bot that imports the kit is checked as it lies there, beside others."""
    for name in ("arena_bot.py", "example_bot.py"):
        shutil.copy(ROOT / "bots" / "kit" / name, tmp_path)
    (tmp_path / "arena_bot.mjs").touch()
    (tmp_path / "other.py").touch()
    words = ("--game", "clobber size=4x4", "--minimum", "reduced", "--json")
    said = cli("check", tmp_path / "example_bot.py", *words)
    assert (said.code, said.json["bot"]) == (0, "example_bot")


def test_the_doctor_reports(cli: Cli) -> None:
    """Its verdict is its exit code, for people and for programs."""
    told = cli("doctor", "--json", "--minimum", "none")
    assert told.code == 0
    assert told.json["suffices"] is True
    assert "bots can be run here" in cli("doctor", "--minimum", "none").out
