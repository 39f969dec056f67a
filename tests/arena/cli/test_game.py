"""The commands game new, game check and games, on packages begun by them and then broken."""

from __future__ import annotations

import json
import re
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from arena.cli import run
from engine.games import GAMES
from engine.shelf import GROUP
from tests.packages import Installer
from tests.requirements import need

MODULE = "last_stone"


def code(*words: str) -> int:
    """The exit code of a command."""
    try:
        return run(list(words))
    except SystemExit as end:
        return int(end.code or 0)


@pytest.fixture
def begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packages: Installer) -> Path:
    """The module of a package that was just begun and is on the path; it is put there by hand."""
    monkeypatch.chdir(tmp_path)
    assert code("game", "new", "last-stone") == 0
    metadata = tmp_path / "last-stone" / f"{MODULE}-0.1.0.dist-info"
    metadata.mkdir()
    project = (tmp_path / "last-stone/pyproject.toml").read_text()
    (entry,) = re.findall(r"^last-stone = .*$", project, re.M)
    (metadata / "METADATA").write_text("Name: last-stone\nVersion: 0.1.0\n")
    (metadata / "entry_points.txt").write_text(f"[{GROUP}]\n{entry}\n".replace('"', ""))
    packages.put_on_path(tmp_path / "last-stone", MODULE)
    return tmp_path / "last-stone" / MODULE / "__init__.py"


@pytest.mark.long
def test_a_package_that_was_begun_is_a_game(
    begun: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It has its own words, passes every check, and is measured; its own tests pass, too."""
    capsys.readouterr()
    texts = [file.read_text() for file in begun.parents[1].rglob("*") if file.is_file()]
    assert not re.search("three[-_]in[-_]a[-_]row|Three in a Row|ThreeInARow", " ".join(texts))
    assert code("game", "check", "last-stone", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert {one["problem"] for one in found["checks"]} == {""}
    assert found["measured"].keys() == {"last-stone size=3x3", "last-stone size=4x4"}
    for measured in found["measured"].values():
        assert min(measured.values()) > 0
    assert code("games", "--json") == 0
    rows = {one["game"]: one for one in json.loads(capsys.readouterr().out)}
    assert rows["last-stone"]["rules"] == "last-stone 0.1.0"
    assert [name for name in rows if rows[name]["rules"]] == list(GAMES)


@pytest.mark.filterwarnings("ignore:Observation")
def test_a_package_that_was_begun_can_be_learned(begun: Path) -> None:
    """PettingZoo finds nothing wrong with it as an environment."""
    need(find_spec("pettingzoo"), "PettingZoo is not installed: pip install -e '.[pettingzoo]'")
    from pettingzoo.test import api_test, seed_test

    from arena import zoo

    api_test(zoo.env("last-stone"), num_cycles=20)
    seed_test(lambda: zoo.env("last-stone"), num_cycles=20)


BROKEN = [
    ("sorted(self.variant.names[bit] for bit in self.codes())",
     "[self.variant.names[bit] for bit in reversed(self.codes())]",
     "moves", "legal_moves are not sorted"),
    ("return self.play_code(self.judge(move))", "return self.play_code(1 // 0)",
     "endings", "it raises ZeroDivisionError"),
    ("(self.white | self.black).bit_count() % 2", "0", "texts", "a text of its own is refused"),
    ("squares=grid(variant.width, variant.height, chequered=False)", "squares=()",
     "pictures", "its scene has no squares"),
    ("return (0.5, 0.5)", "return (1, 1)", "endings", "are no floats"),
    ("self.max_plies = len(self.names)", "self.max_plies = 4", "endings", "more than 4 plies"),
    ("return bit\n", "return self.variant.bit_of[self.legal_moves()[0]]\n",
     "judging alone", "lists all moves"),
    ("@dataclass(frozen=True, slots=True)", "@dataclass(unsafe_hash=True)",
     "values", "can be changed"),
    ("rules=page_beside(__file__)", "rules=lambda: 'Three'",
     "options, offers and page", "does not begin with a heading"),
    ("        if bit is None or not self.free >> bit & 1:",
     "        if bit is None:\n            return 0\n        if not self.free >> bit & 1:",
     "nonsense", "stands for|is not what the list says|takes the move"),
    ("return self.names\n", "return self.names[1:]\n", "numbering", r"all_moves misses \['a1'\]"),
    ("for paint in (Paint.WHITE, Paint.BLACK)]", "for paint in (Paint.WHITE, Paint.RED)]",
     "numbering", r"all_looks misses \['disc black '\]"),
]  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize(("old", "new", "check", "words"), BROKEN, ids=[one[3] for one in BROKEN])
def test_what_a_game_does_not_keep_to_is_told(
    begun: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, check: str, words: str
) -> None:
    """The check that it is about says so in words, with the line of the game where it raised."""
    text = begun.read_text()
    assert old in text
    begun.write_text(text.replace(old, new))
    sys.modules.pop(MODULE, None)
    GAMES.look_again()
    capsys.readouterr()
    assert code("game", "check", "last-stone size=3x3", "--json") == 1
    found = json.loads(capsys.readouterr().out)["checks"]
    problems = {one["check"]: one for one in found if one["problem"]}
    assert re.search(words, problems[check]["problem"])
    if "raises" in words:
        assert f"{begun}:" in problems[check]["lines"][-1]


@pytest.mark.long
def test_a_game_that_hangs_is_ended(begun: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the line where it was; the other checks are made all the same."""
    text = begun.read_text()
    hangs = "        while move == 'b2' and self.free == 511:\n            pass\n"
    begun.write_text(
        text.replace(
            "        if self.ending():\n            raise",
            hangs + "        if self.ending():\n            raise",
        )
    )
    sys.modules.pop(MODULE, None)
    GAMES.look_again()
    capsys.readouterr()
    assert code("game", "check", "last-stone size=3x3", "--seconds", "0.5") == 1
    said = capsys.readouterr().out
    assert (
        "BROKEN last-stone size=3x3: moves\n         it takes longer than 0.5 s, and was at" in said
    )
    assert re.search(rf'File "{begun}", line \d+', said)
    assert "ok     last-stone size=3x3: variant" in said


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Chess", "is no name for a game"),
        ("a b", "is no name for a game"),
        ("x" * 41, "is no name for a game"),
        ("clobber", "clobber is a game of game-bot-arena already"),
        ("there", "there is there already"),
    ],
)
def test_names_that_no_game_can_have(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    words: str,
) -> None:
    """Nothing is written."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").mkdir()
    assert code("game", "new", name) == 2
    assert words in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["there"]
