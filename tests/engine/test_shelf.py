"""The shelf of games: what is found, what is told of the rest, and that neither stops the other.

Packages are folders on the module search path, as pip leaves them.
"""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Callable
from pathlib import Path

import pytest

from engine import shelf
from engine.games import GAMES
from engine.shelf import GROUP, OWN, Edition, Shelf, UnknownGameError, installed, normal
from engine.svg import render
from tests.packages import Installer

Package = Callable[..., Shelf]


def said(words: str) -> str:
    """A package whose game says something else of itself."""
    return (
        "import dataclasses\nfrom engine.options import choice\n"
        f"ONE = dataclasses.replace(game('one'), {words})"
    )


@pytest.fixture
def package(packages: Installer) -> Package:
    """Installs a package, and gives a shelf with it."""

    def install(*words: str, **more: str) -> Shelf:
        packages.install(*words, **more)
        return Shelf()

    return install


def test_the_games_of_this_program_come_by_the_same_door() -> None:
    """Their entry points are of the kind that other programs find; and nothing is amiss with
    them."""
    known = importlib.metadata.entry_points(group=GROUP)
    own = [entry for entry in known if entry.dist and normal(entry.dist.name) == OWN]
    found = {one.name: f"{one.module}:{one.attribute}" for one in installed() if one.package == OWN}
    assert found == {entry.name: entry.value.partition(" [")[0] for entry in own}
    assert len(GAMES) >= 8
    assert {name: str(GAMES.edition(name)) for name in GAMES if ":" not in name} == {
        name: f"{OWN} 1" for name in GAMES if ":" not in name
    }
    assert GAMES.default.name == "clobber"


def test_a_package_puts_games_on_the_shelf(package: Package) -> None:
    """One game by its name, or a family of them, after those of this program."""
    shelf = package(
        "other-games",
        "ONE = game('one')\nMANY = {word: game(f'many:{word}', version='7') for word in 'ab'}\n",
        "one = other_games:ONE",
        "many = other_games:MANY",
    )
    assert list(shelf)[-3:] == ["many:a", "many:b", "one"]
    assert shelf["one"].variant(size="4x4").game == "one"
    assert shelf["many:b"].name == "many:b"
    assert shelf.edition("one") == Edition("other-games", "1.5")
    assert str(shelf.edition("many:a")) == "other-games 7"
    assert shelf.faults == {}
    with pytest.raises(UnknownGameError, match="many is a family of games: name one"):
        shelf["many"]
    with pytest.raises(UnknownGameError, match="many has no game 'c'"):
        shelf["many:c"]
    with pytest.raises(UnknownGameError, match="one is one game"):
        shelf["one:a"]


@pytest.mark.parametrize(
    ("entry", "code", "words"),
    [
        ("one = games_x:ONE", "import nothing_such", "ModuleNotFoundError: No module named"),
        ("one = games_x:ONE", "raise SystemExit(3)", "SystemExit: 3"),
        ("one = games_x:ONE", "1 / 0", "ZeroDivisionError: division by zero"),
        ("one = games_x:ONE", "ONE = (", "SyntaxError"),
        ("one = games_x:ONE", "", "has no attribute 'ONE'"),
        ("one = games_x:ONE", "ONE = 7", "is int, and neither a Game nor a mapping"),
        ("one = games_x:ONE", "ONE = game('two')", "is called 'two', and declared as 'one'"),
        ("one = games_x:game", "", "is function, and neither"),
        ("one = games_x:ONE [fast]", "import nothing_such", "it needs pip install 'games-x[fast]'"),
        ("clobber = games_x:ONE", "ONE = game('clobber')", f"the name clobber is taken by {OWN}"),
        ("One = games_x:ONE", "ONE = game('One')", "a game's name is up to 40 small letters"),
        ("a:b = games_x:ONE", "ONE = game('a:b')", "a game's name is up to 40 small letters"),
        ("one = games_x:ONE", "raise KeyboardInterrupt", "RuntimeError: it raises KeyboardInterr"),
        ("one = games_x:ONE", r"raise OSError('a\0b\x1b[2J\u202e')", "OSError: a?b?[2J?"),
        ("one = games_x:ONE", "ONE = {'a b': game('one:a b')}", "games whose names are no words"),
        ("one = games_x:ONE", said("title=None"), "its title is NoneType, and no text"),
        ("one = games_x:ONE", said(r"title='a\0b'"), "its title has letters that can't be seen"),
        ("one = games_x:ONE", said(r"title='two\nlines'"), "its title has letters that can't be"),
        ("one = games_x:ONE", said("title='x' * 81"), "its title has 81 letters, and not 1 to 80"),
        ("one = games_x:ONE", said("offers=None"), "its offers are no sequence of mappings"),
        ("one = games_x:ONE", said("options=3"), "its options are int, and no mapping"),
        ("one = games_x:ONE", said("options={'a b': board_size('4x3', 2, 9)}"), "can't be called"),
        ("one = games_x:ONE", said("options={'move': board_size('4x3', 2, 9)}"), "none of clock, "),
        (
            "one = games_x:ONE",
            said("options={'size': '4x3'}"),
            "its option size is str, and no Opt",
        ),
        ("one = games_x:ONE", said("options={'size': choice('4 3')}"), "does not take its own def"),
        ("one = games_x:ONE", said("rules='# One'"), "its build, rules and check are not all fun"),
    ],
)
def test_what_can_not_be_loaded_is_told_and_stops_nothing(
    package: Package, entry: str, code: str, words: str
) -> None:
    """The other games are there all the same, and the reason is a line."""
    shelf = package("games-x", code, entry)
    found = shelf.absent if "[" in entry else shelf.faults
    # Of this program's own games some need what may not be installed.
    (reason,) = (why for name, why in found.items() if name != "openspiel")
    assert words in reason
    assert "\n" not in reason
    assert list(shelf) == list(Shelf()) == [name for name in Shelf() if name in GAMES]
    name = entry.partition(" =")[0]
    assert (name in shelf) == (name == "clobber")
    if name == "one":
        with pytest.raises(
            KeyError, match=r"the game one of games-x 1\.5 can't be loaded"
        ) as caught:
            shelf[name]
        assert words in str(caught.value)


def test_an_import_that_does_not_end_is_left(
    package: Package, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And is not tried again."""
    monkeypatch.setattr(shelf, "IMPORT_SECONDS", 0.1)
    hangs = package("games-x", "import time\ntime.sleep(1)", "one = games_x:ONE")
    for _ in range(2):
        with pytest.raises(UnknownGameError, match=r"its import takes longer than 0\.1 s"):
            hangs["one"]


def test_an_import_leaves_output_and_the_end_to_the_program(
    package: Package, capsys: pytest.CaptureFixture[str]
) -> None:
    """What it prints is none of the caller's JSON; no thread of it keeps a process from ending."""
    code = (
        "import threading\nprint('hello')\nONE = game('one')\n"
        "THREAD = threading.Thread(target=threading.Event().wait, args=(1,))\nTHREAD.start()"
    )
    assert package("games-x", code, "one = games_x:ONE")["one"].name == "one"
    assert capsys.readouterr() == ("", "hello\n")
    assert importlib.import_module("games_x").THREAD.daemon


def test_a_game_that_is_not_here_can_be_named(package: Package) -> None:
    """Who only looks names it; it is played by nobody."""
    variant = GAMES.find("chess", {"size": "9x9"}, seats=3)
    assert str(variant) == "chess size=9x9"
    assert variant.seat_names == ("Seat 1", "Seat 2", "Seat 3")
    with pytest.raises(UnknownGameError, match="there is no game 'chess'; there are: blocco"):
        variant.initial().play("e4")
    assert "there is no game &#x27;chess&#x27;" in render(variant.initial().scene())
    with pytest.raises(UnknownGameError, match="there is no game 'chess'"):
        variant.read("8/8")
    lost = GAMES.find("clobber", {"size": "1x1"})
    assert "clobber has no size=1x1" in render(lost.initial().scene())
    assert GAMES.find("clobber", {"size": "4x4"}) == GAMES["clobber"].variant(size="4x4")


def test_the_first_of_two_on_the_path_counts(package: Package) -> None:
    """As with what is imported; and damaged metadata are passed over."""
    package("games-x", "ONE = game('one')", "one = games_x:ONE", version="1.0")
    shelf = package("Games_X", "ONE = game('one')", "one = games_x:ONE", version="2.0")
    assert str(shelf.edition("one")) == "games-x 2.0"


def test_anybodys_file_beside_the_engine_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Installed, the engine lies among the packages of others, and their files beside it."""
    monkeypatch.setattr(shelf, "__file__", str(tmp_path / "engine/shelf.py"))
    own = [one.name for one in installed()]
    for text in ("[tool.x]", "[project]\nname = 'x'", "no = toml =", f"[project]\nname = '{OWN}x'"):
        (tmp_path / "pyproject.toml").write_text(text)
        assert [one.name for one in installed()] == own
