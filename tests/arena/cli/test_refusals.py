"""Bad input of every command: one line that says what is wrong and what to do."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from tests.arena.cli.conftest import DICE, assert_refused
from tests.arena.conftest import Cli
from tests.arena.running import COMMAND, environment


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("ply clobber", "there is no command 'ply'; did you mean play or replay.*see arena --help"),
        ("moves clober", "there is no game 'clober'; did you mean clobber"),
        ("play clobber gredy ranndom --no-box", "no bot gredy: .*; did you mean greedy"),
        ("moves chess", "there is no game 'chess'; there are: blocco"),
        ("moves clobber colour=red", "colour.*size"),
        (f"moves clobber size={'9' * 5000}", "clobber has no size=9999"),
        (f"moves clobber {'x' * 5000}", "is no option; an option is written key=value"),
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
        ("replay http://a.b/matches/17", "http://a.b/matches/17 is no address of a game: give"),
        ("replay {binary}", "this is no text file: give one that"),
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
        ("play clobber {dice} {dice} --seat 1", "--game, --seat and --ply belong to --replay"),
        ("play clobber {dice} {dice} --ply 0", "--game, --seat and --ply belong to --replay"),
        ("play --replay {records} {dice}", "has 2 games: say which with --game N"),
        ("play --replay {records} --game 3 {dice}", "has 2 games, so there is no game 3"),
        ("play --replay {records} --game 1 random", "random did not play .* with --seat S"),
        ("play --replay {records} --game 1 {dice} --seat 3", "has 2 seats, so there is no seat 3"),
        ("play --replay {records} --game 1 {dice} --ply 0", "--ply 0: no bot was asked, of "),
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
        ("play puzzle {dice} --book {plain}", "puzzle is played alone and has no openings: leave"),
        ("play clobber {dice} {dice} --book {plain} --opening 2", "give --opening or --book, not"),
        ("play --replay {records} --game 1 {dice} --book {plain}", "--book does not go with --rep"),
        ("play", "Missing argument 'GAME'.*see arena play --help"),
        ("play --replay {records} --game 1", "name the bot that is to be asked again"),
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
        ("bots --data {folder}", "there is no arena in .*: start one with arena up, or name its"),
        ("up --port 0", "'--port'"),
        ("top --every nan", "'--every': nan is no number of seconds"),
        ("top --every inf", "'--every': inf is not in the range"),
        ("submit {dice} --ladder l --wait-seconds inf", "inf is no number of seconds"),
        ("run", "Missing argument .* Choose from: prepare, web, .* \\(see arena run --help"),
        ("tournament create x", "Missing option '--format'. Choose from: round-robin, gauntlet"),
        ("nonsense", "there is no command 'nonsense'"),
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
    """It would name the current folder, which nobody means to hand in or to write to."""
    assert_refused(cli(*words), "the name is empty")


@pytest.mark.parametrize(
    "words",
    ["play clobber random", "test random --game clobber", "check", "submit --ladder x", "replay"],
)
def test_a_word_can_be_too_long_for_a_name(cli: Cli, words: str) -> None:
    """A number of thousands of digits as well as any other."""
    assert_refused(cli(*words.split(), "9" * 5000), "is too long to be the name of a file")


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
