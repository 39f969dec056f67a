"""The kits for authors: one conversation, and the same answers in every language.

The probes report all that the protocol tells a bot, by way of their kit; what they must say is
written down here from the protocol's page.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.games import GAMES
from tests.requirements import need
from tests.sample_bots.play import KIT, Command, command, play, sample, talk

HERE = Path(__file__).parent
DOCS = Path(__file__).parents[2] / "docs"
LANGUAGES = {"python": ".py", "javascript": ".mjs", "c++": ".cpp"}
FENCES = {"python": "python", "javascript": "js", "c++": "cpp"}


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Command]:
    """Makes a bot of a text in a language, with the kit beside it, and gives its command."""

    def build(language: str, text: str) -> Command:
        folder = tmp_path_factory.mktemp("bot")
        for file in KIT.glob("arena_bot.*"):
            shutil.copy(file, folder)
        source = folder / f"mybot{LANGUAGES[language]}"
        source.write_text(text, encoding="utf-8")
        if language != "c++":
            return command(source)
        need(shutil.which("g++"), "g++ is not installed")
        warnings = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
        program = folder / "mybot"
        subprocess.run(["g++", "-std=c++17", *warnings, source, "-o", program], check=True)
        return [str(program)]

    return build


CONVERSATION = """\
hello 1
set depth 8
set style fast
set book false
newgame siege seats=2 setup=free seats=2 you=1 move=1000 seed=7
newgame blokus seats=4 you=3 mode=classic corners=free \
time=60000 inc=500 clock=wall seed=281474976710655
legal red:a1 red:t20
state (text) 1
go 5 clocks=50000,40000,30000,20000 out=4@3,2@4 weather=fine moves 1:blue:a1 2:yellow:t1 3:red:t20
end ranks=1,3,2,4 scores=-3,-88.5,-4,0 cause=plylimit weather=bad
newgame clobber size=3x2 seats=2 you=1 move=1000 seed=7
legal a2a1 a2b2
state wbw/bwb 1
go 0 clocks=1000,1000 moves
end ranks=2,1 scores=0,1 cause=normal
quit
"""
ANSWERS = """\
# option depth int 1 20 6
# option width float 0 2.5 0.5
# option book bool true
# option style choice fast|solid solid
ready probe want=legal,state
# game siege seats:2,setup:free
# options 9 0.25 no
# style fast
# seat 1 of 2, seed 7
# times -1 0 1000 cpu
ok
# game blokus corners:free,mode:classic
# options 9 0.25 no
# style fast
# seat 3 of 4, seed 281474976710655
# times 60000 500 -1 wall
ok
# ply 5
# moves 1-blue:a1 2-yellow:t1 3-red:t20.
# out 4-3 2-4.
# clocks 50000 40000 30000 20000
# legal red:a1+red:t20
# position (text) 1
# budget 1.4
# eval 0.25
# depth 3
# pv red:a1 red:t20
# tag told
# times are right
move red:t20 a remark of two lines é
# end 1,3,2,4 -3,-88.5,-4,0 plylimit
# game clobber size:3x2
# options 9 0.25 no
# style fast
# seat 1 of 2, seed 7
# times -1 0 1000 cpu
ok
# ply 0
# moves .
# out .
# clocks 1000 1000
# legal a2a1+a2b2
# position wbw/bwb 1
# budget 0.93
# eval 0.25
# depth 3
# pv a2a1 a2b2
# tag told
# times are right
"""


@pytest.mark.long
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_kits_hear_and_say_the_same(
    language: str, end: str, probe: Callable[[str], Command]
) -> None:
    """What a line tells arrives, what a bot prints never gets between, too much is cut off."""
    lines, errors = talk(probe(language), CONVERSATION.replace("\n", end))
    expected = ANSWERS.splitlines()
    assert lines[: len(expected)] == expected
    *logged, move, last = lines[len(expected) :]
    assert set(logged) == {"# " + "x" * 3000}
    assert sum(len(line) + 1 for line in logged) < 64 * 1024
    assert re.fullmatch("move a2a1 é+", move)
    assert 4090 <= len(move.encode()) <= 4096
    assert last == "# end 2,1 0,1 normal"
    assert errors.splitlines() == ["new game"] * 3


@pytest.fixture(scope="session")
def probe(build: Callable[[str, str], Command]) -> Callable[[str], Command]:
    """The command of the probe in a language, built once."""
    built: dict[str, Command] = {}

    def probe(language: str) -> Command:
        if language not in built:
            text = (HERE / f"probe{LANGUAGES[language]}").read_text(encoding="utf-8")
            built[language] = build(language, text)
        return built[language]

    return probe


def printed_bots() -> list[tuple[str, str]]:
    """Every bot that the page for authors prints, with its language."""
    page = (DOCS / "writing-a-bot.md").read_text(encoding="utf-8")
    return [
        (language, text)
        for language, fence in FENCES.items()
        for text in re.findall(rf"^```{fence}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    ]


EXAMPLES = [
    (language, (KIT / f"example_bot{ending}").read_text(encoding="utf-8"))
    for language, ending in LANGUAGES.items()
]


@pytest.mark.long
@pytest.mark.parametrize(
    ("language", "text"),
    [
        *(pytest.param(*bot, id=f"page, {bot[0]} {n}") for n, bot in enumerate(printed_bots())),
        *(pytest.param(*bot, id=f"kit, {bot[0]}") for bot in EXAMPLES),
    ],
)
def test_printed_bots_play(language: str, text: str, build: Callable[[str, str], Command]) -> None:
    """The bots of the page for authors, and the kits' examples, play as they stand."""
    bots = [build(language, text), sample("random")]
    for record in play(GAMES["clobber"].variant(size="3x3"), bots, move_ms=100):
        assert record.faults == ()


def test_the_page_prints_bots_in_every_language() -> None:
    """The tests above would pass on an empty page too."""
    languages = [language for language, _ in printed_bots()]
    assert languages.count("python") == 3
    assert languages.count("javascript") == languages.count("c++") == 1
