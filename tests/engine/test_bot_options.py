"""The options of bots: how they are declared, what they take, and how values are chosen.

The words are those of docs/protocol.md.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.bot_options import (
    MOST_OPTIONS,
    BotOption,
    BotOptionError,
    check_chosen,
    chosen_words,
    read_chosen,
    read_options,
)
from engine.clock import TimeControl
from engine.games import GAMES
from engine.player import GameSetup, StartError
from engine.process import BotProcess
from engine.program import PlainProgram

SCRIPTED = str(Path(__file__).parents[1] / "bots" / "scripted.py")
CLOBBER = GameSetup(GAMES["clobber"].variant(size="3x3"), 0, TimeControl(move_ms=1000), 1)
DEPTH, STYLE = "depth int 1 20 6", "style choice fast|solid solid"


@pytest.mark.parametrize(
    ("declared", "told", "taken", "refused"),
    [
        (DEPTH, DEPTH, {"1": "1", "020": "20", "+7": "7"}, ["0", "21", "6.0", "1e1", "", "six"]),
        ("n int -5 +5 -0", "n int -5 5 0", {"-5": "-5", "-0": "0"}, ["-6"]),
        (
            "w float 0 2.50 .8",
            "w float 0 2.5 0.8",
            {"2.5": "2.5", "1e-1": "0.1", "2.": "2", "0.30000000000000004": "0.30000000000000004"},
            ["2.51", "-0.1", "nan", "inf", "1e999", "0x1", "1_0", "\N{ARABIC-INDIC DIGIT ONE}"],
        ),
        ("w float -1 1 -0.0", "w float -1 1 0", {"-0": "0", "-0.5": "-0.5"}, ["--0"]),
        ("fast bool true", "fast bool true", {"false": "false"}, ["True", "1", "yes"]),
        (STYLE, STYLE, {"fast": "fast"}, ["Fast", "fast|solid", "slow"]),
        (
            "net text small.bin",
            "net text small.bin",
            {"a=b": "a=b", "~!": "~!"},
            ["", "a b", "a,b", "ü"],
        ),
        ("net text x", "net text x", {"y" * 200: "y" * 200}, ["y" * 201, "a\x1b[1m", "a\nb"]),
    ],
)
def test_an_option(declared: str, told: str, taken: dict[str, str], refused: list[str]) -> None:
    """Each value has one text, whatever it is written like."""
    option = BotOption.read(declared)
    assert (option.declaration, BotOption.read(option.declaration)) == (told, option)
    assert {text: option.value(text) for text in taken} == taken
    for text in refused:
        with pytest.raises(BotOptionError):
            option.value(text)


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        ("", "'' is no name of an option"),
        ("9lives int 1 9 9", "'9lives' is no name of an option"),
        ("depth", "the option depth is of no kind ''; int, float, bool, choice, text are"),
        ("depth integer 1 20 6", "of no kind 'integer'"),
        ("depth int 1 20", "is not declared as 'int LEAST MOST DEFAULT'"),
        ("depth int 1 20 6 7", "is not declared as 'int LEAST MOST DEFAULT'"),
        ("depth int 1 20 21", "depth is a number from 1 to 20, not 21"),
        ("depth int 20 1 6", "has its least value above its most"),
        ("depth int 1 1e3 6", "depth takes a whole number, not '1e3'"),
        ("depth int 0 9007199254740993 0", "no whole number beyond 2^53"),
        ("w float 0 inf 1", "w takes a number, not 'inf'"),
        ("fast bool yes", "fast is true or false, not 'yes'"),
        ("style choice fast| fast", "is a choice of 1 to 32 words"),
        (f"style choice {'|'.join(map(str, range(33)))} 1", "is a choice of 1 to 32 words"),
        ("style choice fast|solid slow", "style is one of fast, solid, not 'slow'"),
        ("net text", "is not declared as 'text DEFAULT'"),
        ("net text ü", "letters, digits and signs of ASCII"),
        ("style choice a,b|c c", "is a choice of 1 to 32 words"),
        ("depth int 1 \N{ARABIC-INDIC DIGIT TWO} 1", "depth takes a whole number"),
    ],
)
def test_what_declares_no_option(declared: str, words: str) -> None:
    """It is said what is wrong."""
    with pytest.raises(BotOptionError) as caught:
        BotOption.read(declared)
    assert words in str(caught.value)


def test_options_together() -> None:
    """Twice the same is once; and there are not too many."""
    assert [*read_options([DEPTH, STYLE, DEPTH])] == ["depth", "style"]
    with pytest.raises(BotOptionError, match="the option depth is declared twice"):
        read_options([DEPTH, "depth int 1 20 7"])
    with pytest.raises(BotOptionError, match="at most 64 options"):
        read_options(f"o{number} bool true" for number in range(MOST_OPTIONS + 1))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("depth", "'depth' chooses no option: write NAME=VALUE"),
        ("depth=", "'depth=' chooses no option"),
        ("depth=1,", "'' chooses no option"),
        ("depth=1,depth=2", "the option depth is chosen twice"),
        (",".join(f"o{n}={'x' * 199}" for n in range(10)), "at most 2000 characters of options"),
        ("dept=1", "mybot has no option dept: its options are depth, style"),
        ("depth=0", "depth is a number from 1 to 20, not 0"),
    ],
)
def test_what_can_not_be_chosen(text: str, words: str) -> None:
    """It is said what could be."""
    with pytest.raises(BotOptionError) as caught:
        check_chosen(read_options([DEPTH, STYLE]), read_chosen(text), "mybot")
    assert words in str(caught.value)


def test_what_is_chosen_is_told_in_one_way() -> None:
    """It is in the order of the names, whichever it was written in."""
    chosen = check_chosen(read_options([STYLE, DEPTH]), read_chosen("style=fast,depth=08"), "mybot")
    assert chosen_words(chosen) == "depth=8,style=fast"


@pytest.fixture
def bot() -> Callable[..., BotProcess]:
    """Starts the scripted bot, which declares an option and repeats what it is told."""

    def start(declared: tuple[str, ...] = (), chosen: str = "", hello: str = "") -> BotProcess:
        events = [f"hello={hello}; honest()"] if hello else []
        command = [sys.executable, "-S", SCRIPTED, *events, "set=complain(line)"]
        return BotProcess(
            lambda: PlainProgram(command),
            declared=read_options(declared),
            chosen=read_chosen(chosen) if chosen else {},
        )

    return start


@pytest.mark.parametrize(
    ("declared", "hello"), [((DEPTH,), ""), ((), f"say('# option {DEPTH}\\n# hi\\n')")]
)
def test_a_bot_is_told(
    no_leaks: None, bot: Callable[..., BotProcess], declared: tuple[str, ...], hello: str
) -> None:
    """Once, before its first game; what declares an option is no part of the log."""
    player = bot(declared, "depth=08", hello)
    player.new_game(CLOBBER)
    player.new_game(CLOBBER)
    player.close()
    log = player.take_log()
    assert (log.count("set depth 8\n"), "option" in log, "hi" in log) == (1, False, bool(hello))


def test_a_bot_without_the_option_does_not_play(
    no_leaks: None, bot: Callable[..., BotProcess]
) -> None:
    """What it was to be given it has declared before, somewhere."""
    player = bot(hello="say('# option depth int 5\\n')", chosen="depth=8")
    with pytest.raises(StartError) as caught:
        player.start()
    assert "scripted has no option depth: it has none; the option depth is not" in str(caught.value)
