"""What bots say that are asked by a command: in a position, and in all of a recorded game."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from tests.arena.cli.conftest import BOTS, DICE, assert_refused
from tests.arena.conftest import Cli
from tests.engine.players import SCRIPTED
from tests.requirements import need_openspiel

FIRST = str(BOTS / "first.sh")
TALKER = "\\n".join(
    ["# eval 0.75", "# depth 3", "# nodes 12", "# tag book", "# pv c2c3 a1a2", "move c2c3 well"]
)


def scripted(**events: str) -> str:
    """A bot with this code at these events, as a whole command."""
    return shlex.join([*SCRIPTED, *(f"{event}={code}" for event, code in events.items())])


def test_several_in_a_position(cli: Cli) -> None:
    """Each says its move with all that it says else; the position is that after the moves."""
    talker = scripted(go=f"say('{TALKER}\\n')")
    words = ["ask", "clobber", "size=4x3", talker, FIRST, "--no-box", "--after", "a2a1 a3b3"]
    said = cli(*words)
    legal = cli("moves", "clobber", "size=4x3", "--after", "a2a1 a3b3").out.split()
    assert said.code == 0
    head, position, mover, its, first = said.out.splitlines()
    assert (head, mover) == ("clobber size=4x3", "White is to move")
    assert position == "position: 1bbw/1bwb/wwbw 1"
    told = "c2c3, expects 75%, depth 3, nodes 12, line c2c3 a1a2, tag book, "
    assert its.partition(": ")[2].startswith(told)
    assert its.endswith(" ms; well")
    assert first.strip().startswith(f"first.sh: {legal[0]}, ")
    (place,) = cli(*words, "--json").json["positions"]
    assert (place["ply"], place["to_move"], place["played"], place["agreed"]) == (2, 1, None, None)
    answer = place["answers"][0]
    assert answer["cpu_us"] > 0
    del answer["cpu_us"], answer["bot"]
    assert answer == {
        "move": "c2c3",
        "text": "well",
        "share": 0.75,
        "depth": 3.0,
        "pv": ["c2c3", "a1a2"],
        "numbers": {"eval": 0.75, "depth": 3.0, "nodes": 12.0},
        "tags": ["book"],
    }


def test_a_whole_game(cli: Cli, records: Path) -> None:
    """Every position of it is asked; what was given away, and where all agree, is told at the end.

    Of two sides what one expects the other does not: after 0.9 for White 0.8 for Black is 0.2 for
    White, who gave 0.7 away.
    """
    game = json.loads(records.read_text().splitlines()[1])
    moves = [move[2:] for move in game["moves"]]
    expecting = "say(f'# eval {0.9 if turn == 1 else 0.8}\\nmove {legal[0]}\\n')"
    words = ["ask", scripted(go=expecting), FIRST, "--record", records, "--game", "2", "--no-box"]
    told = cli(*words, "--json").json
    assert [place["played"] for place in told["positions"]] == moves
    places = {place["ply"]: place for place in told["positions"]}
    for ply, place in places.items():
        at = ("moves", "clobber", "size=4x4", "--after", " ".join(moves[:ply]))
        assert place["agreed"] == cli(*at).out.split()[0]
        assert [one["move"] for one in place["answers"]] == [place["agreed"]] * 2
    first, *others = told["swings"]
    assert (first["ply"], first["seat"], first["move"]) == (0, 1, moves[0])
    assert (first["before"], first["better"]) == (0.9, places[0]["agreed"])
    assert first["after"] == pytest.approx(0.2)
    # Of each other move 0.8 became 0.2.
    assert [one["ply"] for one in others] == list(range(1, len(moves) - 1))
    said = cli(*words).out
    same = sum(place["agreed"] == place["played"] for place in told["positions"])
    positions = f"{len(moves)} positions, and {same} of these moves were played"
    assert f"all agree in {positions}\n" in said
    assert f"ply 0: White dice.py#2 gave away 70% by {moves[0]}, says python" in said
    assert said.count(" played ") == len(moves)
    one = cli(*words, "--ply", "3", "--json").json
    assert [place["ply"] for place in one["positions"]] == [3]


def test_who_fails_is_asked_no_more(cli: Cli, records: Path) -> None:
    """The others are, and the exit code says it."""
    falls = scripted(go="os._exit(3) if turn == 2 else honest()")
    said = cli("ask", falls, FIRST, "--record", records, "--game", "1", "--no-box", "--json")
    failed, *_ = found = [place["answers"] for place in said.json["positions"]][1:]
    assert said.code == 1
    assert [one.get("fault") for one in failed] == ["crash", None]
    assert {len(its) for its in found[1:]} == {1}


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        ("clobber", "name the bot that is to be asked"),
        ("clobber size=4x3 {bot} --after zz", "move 1: 'zz' is not legal here"),
        ("clobber size=4x3 {bot} --after 0:a2a1,0:b1b2", "moves of one line"),
        ("clobber size=2x2 {bot} --after a2a1,b2b1,a1b1", "the game is over there"),
        ("clobber {bot} --position x", "a position has 2 fields"),
        ("{bot} --record {records}", "has 2 games: say which with --game N"),
        ("{bot} --record {records} --game 3", "so there is no game 3"),
        ("{bot} --record {records} --game 1 --ply 99", "so there is no ply 99"),
        ("{bot} --record {records} --game 1 --after a2a1", "do not go with --record"),
        ("clobber {bot} --ply 3", "--game and --ply belong to --record"),
        ("nobody --record {records} --game 1", "there is no bot nobody"),
    ],
)
def test_what_can_not_be_asked(cli: Cli, records: Path, words: str, refusal: str) -> None:
    """It is refused in one line, and no bot is started."""
    given = words.format(bot=DICE, records=records).split()
    said = cli("ask", *(word.replace(",", " ") for word in given))
    assert_refused(said, refusal)


@pytest.mark.extras
def test_lots_are_drawn_by_who_asks(cli: Cli) -> None:
    """Nobody plays for chance: what may follow is named."""
    need_openspiel()
    said = cli("ask", "openspiel:pig", DICE, "--after", "roll")
    assert_refused(said, "drawn by lot what follows there: add it to --after")
