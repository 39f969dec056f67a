"""One position on the command line: its moves, how many lead where, its picture."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.arena.conftest import Cli


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
    """It goes to standard output or to a file; it differs by theme, and by what is chosen."""
    words = ("draw", "clobber", "--after", "a2a1")
    light, dark = cli(*words), cli(*words, "--theme", "dark")
    chosen = cli(*words, "--chosen", "c3")
    assert ET.fromstring(light.out).tag == "{http://www.w3.org/2000/svg}svg"
    assert len({light.out, dark.out, chosen.out}) == 3
    assert cli(*words, "-o", tmp_path / "a.svg").out == ""
    assert (tmp_path / "a.svg").read_text() == light.out
