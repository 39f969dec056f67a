"""The lines between referee and bot, by the protocol's table."""

import contextlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import protocol
from engine.clock import Clock, TimeControl
from engine.game import Termination
from engine.games import GAMES
from engine.player import GameEnd, GameSetup, ProtocolError, Turn

CLOBBER = GAMES["clobber"].variant(size="3x2")
OPENED = CLOBBER.initial().play("b1c1")


@pytest.mark.parametrize(
    ("setup", "line"),
    [
        (
            GameSetup(CLOBBER, 1, TimeControl(move_ms=1000), 7),
            "newgame clobber size=3x2 seats=2 you=2 move=1000 seed=7\n",
        ),
        (
            GameSetup(CLOBBER, 0, TimeControl(time_ms=60_000, inc_ms=500, charge="wall"), 0),
            "newgame clobber size=3x2 seats=2 you=1 time=60000 inc=500 clock=wall seed=0\n",
        ),
        (
            GameSetup(GAMES["blokus"].variant(mode="trio"), 2, TimeControl(move_ms=1), 2**48 - 1),
            "newgame blokus mode=trio corners=free seats=3 you=3 move=1 seed=281474976710655\n",
        ),
    ],
)
def test_newgame(setup, line):
    """The variant with every option, the seat from 1, the time control and the seat's seed."""
    assert protocol.newgame_line(setup) == line


def turn(state, ply, history, clocks, out=()):
    """A turn of whoever has the first clock."""
    return Turn(state, ply, history, clocks, out, clocks[0])


THOUSAND = Clock.start(TimeControl(move_ms=1000))
SPENT = Clock(TimeControl(time_ms=5), -1)
NEARLY = Clock(TimeControl(time_ms=5), 1999)


@pytest.mark.parametrize(
    ("asked", "wants", "lines"),
    [
        (
            turn(CLOBBER.initial(), 0, "", [THOUSAND] * 2),
            (),
            "go 0 clocks=1000,1000 moves\n",
        ),
        # The protocol's own example.
        (
            turn(OPENED, 1, "1:b1c1", [THOUSAND] * 2),
            ("legal",),
            "legal a1a2 b2a2 b2c2\ngo 1 clocks=1000,1000 moves 1:b1c1\n",
        ),
        (
            turn(OPENED, 1, "1:b1c1", [THOUSAND] * 2),
            ("legal", "state"),
            "state wbw/b1w 2\nlegal a1a2 b2a2 b2c2\ngo 1 clocks=1000,1000 moves 1:b1c1\n",
        ),
        (
            turn(OPENED, 31, "1:b1c1", [SPENT, NEARLY, THOUSAND], [(3, 8), (0, 30)]),
            (),
            "go 31 clocks=0,1,1000 out=4@8,1@30 moves 1:b1c1\n",
        ),
    ],
)
def test_the_request_for_a_move(asked, wants, lines):
    """One text: what is wanted, then go with clocks, leavers and the whole game so far."""
    assert protocol.turn_lines(asked, frozenset(wants)) == lines


@pytest.mark.parametrize(
    ("end", "line"),
    [
        (
            GameEnd((2, 1), (0.0, 1.0), Termination.NORMAL),
            "end ranks=2,1 scores=0,1 cause=normal\n",
        ),
        (
            GameEnd((1, 1), (0.5, 0.5), Termination.REPETITION),
            "end ranks=1,1 scores=0.5,0.5 cause=repetition\n",
        ),
        (
            GameEnd((1, 3, 2, 4), (-12.0, -30.0, 15.0, 20.0), Termination.TIMEOUT),
            "end ranks=1,3,2,4 scores=-12,-30,15,20 cause=timeout\n",
        ),
    ],
)
def test_the_end(end, line):
    """Ranks and scores seat by seat, and the cause in one word."""
    assert protocol.end_line(end) == line


@pytest.mark.parametrize(
    ("line", "name", "wants"),
    [
        ("ready first want=legal", "first", {"legal"}),
        ("ready first", "first", set()),
        ("ready a want=state,legal", "a", {"state", "legal"}),
        ("ready a want=legal,state,legal", "a", {"state", "legal"}),
        ("ready a want=", "a", set()),
        ("ready a want=dreams,legal", "a", {"legal"}),
        ("ready a protocol=1", "a", set()),
        ("ready a colour=blue protocol=2 want=state hello", "a", {"state"}),
        ("  ready   a\twant=state ", "a", {"state"}),
        ("ready key=value", "key=value", set()),
        ("ready " + "n" * 200, "n" * 80, set()),
        ("ready Köche", "Köche", set()),
        ("ready a\u00a0b\u2003want=legal", "a\u00a0b\u2003want=legal", set()),
    ],
)
def test_ready(line, name, wants):
    """A name, then keys of which the unknown are ignored."""
    assert protocol.parse_ready(line) == protocol.Ready(name, frozenset(wants))


@pytest.mark.parametrize(
    "line",
    [
        "",
        "ready",
        "Ready a",
        "readya",
        "ok",
        "ready a protocol=one",
        "ready a protocol=",
        "a ready",
        "ready\u00a0a",
        "ready want=legal",  # its author forgot the name, and would wonder where "legal" is
        "ready protocol=1 a",
    ],
)
def test_what_is_no_ready(line):
    """Anything else after hello is a protocol fault that says what was expected."""
    with pytest.raises(ProtocolError, match=r"ready NAME|version number"):
        protocol.parse_ready(line)


@pytest.mark.parametrize("line", ["ok", " ok ", "ok then", "ok\tkey=value"])
def test_ok(line):
    """The word alone, or with more behind it for a later version."""
    protocol.parse_ok(line)


@pytest.mark.parametrize("line", ["", "okay", "OK", "not ok", "move a1", "ok\u00a0then"])
def test_what_is_no_ok(line):
    """Anything else after newgame is a protocol fault."""
    with pytest.raises(ProtocolError, match="expected 'ok'"):
        protocol.parse_ok(line)


@pytest.mark.parametrize(
    ("line", "move", "text"),
    [
        ("move b2a2", "b2a2", ""),
        ("move b2a2 and that is all", "b2a2", "and that is all"),
        ("  move   b2a2   two  spaces ", "b2a2", "two  spaces"),
        ("move\tb2a2\ttabs\tkept", "b2a2", "tabs\tkept"),
        ("move blue:a1,a2,b2", "blue:a1,a2,b2", ""),
        ("move resign", "resign", ""),
        ("move a1 Größe, 好", "a1", "Größe, 好"),
        ("move move", "move", ""),
        ("move a1\u00a0b1 c1\u2003d1", "a1\u00a0b1", "c1\u2003d1"),
    ],
)
def test_a_reply(line, move, text):
    """The move is the second word, the free text whatever follows."""
    assert protocol.parse_reply(line) == protocol.Reply(move, text)


@pytest.mark.parametrize(
    "line",
    [
        "",
        " ",
        "move",
        "move ",
        "Move a1",
        "a1b1",
        "ok",
        "moves a1",
        "move\u00a0a1",
        "move\u3000a1 x",
    ],
)
def test_what_is_no_reply(line):
    """Anything else after go is a protocol fault."""
    with pytest.raises(ProtocolError, match="expected 'move MOVE'"):
        protocol.parse_reply(line)


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("# eval 0.31", ("eval", 0.31)),
        ("#nodes 12000", ("nodes", 12000)),
        ("# eval -1e3", ("eval", -1000)),
        ("# a.b-c_9 .5", ("a.b-c_9", 0.5)),
        ("# " + "k" * 32 + " 1", ("k" * 32, 1)),
        ("# " + "k" * 33 + " 1", None),
        ("# depth", None),
        ("# eval nan", None),
        ("# eval inf", None),
        ("# eval 1e999", None),
        ("# eval -9e299", ("eval", -9e299)),
        # No record takes it, and so none would be kept of the game.
        ("# eval -1e300", None),
        ("# eval 1_000", None),
        ("# eval \u0661", None),
        ("# 9 9", None),
        ("# eval 0.31 good", None),
        ("# naïve 1", None),
        ("# eval\u00a01", None),
        ("#", None),
    ],
)
def test_a_number_for_a_ply(line, value):
    """A key and a number in ASCII that a record takes; all else is text for the log."""
    assert protocol.parse_value(line) == value


@pytest.mark.parametrize(
    ("line", "tag"),
    [
        ("# tag book", "book"),
        ("#tag\tmate-found.2 ", "mate-found.2"),
        ("# tag", None),
        ("# tag two words", None),
        # A number, of which the key is "tag".
        ("# tag 5", None),
        ("# Tag book", None),
        ("# tag naïve", None),
        (f"# tag {'x' * 33}", None),
    ],
)
def test_a_tag(line, tag):
    """The word behind ``tag``, which is as a key; all else is no tag."""
    assert protocol.parse_tag(line) == tag


@pytest.mark.parametrize(
    ("line", "moves"),
    [
        ("# pv b1c1 a1a2", ("b1c1", "a1a2")),
        ("#pv\tb1c1 ", ("b1c1",)),
        # In some games a move is a number.
        ("# pv 12", ("12",)),
        (f"# pv {'7 ' * 99}", ("7",) * 60),
        ("# pv", ()),
        ("# pvs b1c1", ()),
        ("# pv größer", ()),
        ("# pv a1 \x07", ()),
    ],
)
def test_an_expected_line(line, moves):
    """The moves behind ``pv``, as many as are kept; all else is none."""
    assert protocol.parse_pv(line) == moves


@pytest.mark.parametrize(
    ("values", "share"),
    [
        ({"eval": 0.25}, 0.25),
        ({"eval": 0.0}, 0.0),
        ({"eval": 1.0, "nodes": 5.0}, 1.0),
        ({"eval": 1.01}, None),
        ({"eval": -20.0}, None),
        ({"nodes": 0.5}, None),
        ({}, None),
    ],
)
def test_a_share(values, share):
    """An ``eval`` from 0 to 1, and no other number."""
    assert protocol.share(values) == share


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"move a1", "move a1"),
        (b"move a1\x00\x07", "move a1"),
        (b"\x1b[31mmove\x1b[0m a1\x1b[2J", "move a1"),
        (b"a\tb", "a\tb"),
        ("größer \u0085\u009f好".encode(), "größer 好"),
        (b"a\rb\x0b\x0cc\x7f", "abc"),
    ],
)
def test_control_characters_are_dropped(raw, text):
    """So are escape sequences of terminals; tabs stay."""
    assert protocol.without_control(protocol.decode(raw)) == text


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"move\x00 a4a3", "got 'move\\x00 a4a3'"),
        (b"move\x0ca4a3", "got 'move\\x0ca4a3'"),
        (b"move a4a3\rmove x", "got 'move a4a3\\rmove x'"),
        (b"move \x1b[31ma4a3", "got 'move \\x1b[31ma4a3'"),
        (b"a4a3\x85move".decode("latin-1").encode(), "got 'a4a3\\x85move'"),
    ],
)
def test_a_wrong_character_is_told(raw, words):
    """In a verb or a move it is a fault, of which the author sees the very character."""
    with pytest.raises(ProtocolError, match=re.escape(words)):
        protocol.parse_reply(protocol.decode(raw))


@pytest.mark.parametrize(
    "line", ["ready\x00 a", "ready a want=legal\x00", "ready a protocol=1\x0b", "ready \x07"]
)
def test_no_ready_hides_a_character(line):
    """But in the name, from which it is dropped."""
    with pytest.raises(ProtocolError):
        protocol.parse_ready(line)
    assert protocol.parse_ready("ready a\x00b").name == "ab"
    with pytest.raises(ProtocolError, match="expected 'ok'"):
        protocol.parse_ok("ok\x00")


def test_what_cannot_be_seen_is_written_out():
    """It is so in a conversation as it is shown to an author; a tab is a blank."""
    assert protocol.visible("move\x00 a\tb größer \u202e") == "move\\x00 a\tb größer \\u202e"


@pytest.mark.parametrize(
    "raw",
    [b"\xff", b"move \xc3", b"\xed\xa0\x80", b"\xc0\xaf", "größer".encode("latin-1")],
)
def test_what_is_no_utf8(raw):
    """Half a character, a surrogate or another encoding is a protocol fault."""
    with pytest.raises(ProtocolError, match="no UTF-8"):
        protocol.decode(raw)


def test_many_lines_are_cleaned_too():
    """Standard error keeps its lines and tabs and loses what could speak to a terminal."""
    assert protocol.clean("a\tb\r\n\x1b[31mred\x1b[0m\x07\nend\n") == "a\tb\nred\nend\n"


@given(st.binary(max_size=80))
def test_no_line_of_a_bot_brings_the_parsers_down(raw):
    """Every line is read, or is a ProtocolError; what is read is fit to be kept and shown."""
    try:
        line = protocol.decode(raw)
    except ProtocolError:
        return
    for parse in (protocol.parse_ready, protocol.parse_ok, protocol.parse_reply):
        with contextlib.suppress(ProtocolError):
            kept = parse(line)
            words = kept.name if isinstance(kept, protocol.Ready) else " ".join(kept or ())
            assert not re.search(r"[\x00-\x08\x0a-\x1f\x7f-\x9f]", words)
    value = protocol.parse_value(protocol.without_control("#" + line))
    assert value is None or abs(value[1]) < 1e300


WORD = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=20)
TEXT = st.text(st.characters(exclude_categories=["C", "Z"]), max_size=30)


@given(WORD, TEXT)
def test_a_move_comes_back_as_it_was_written(move, text):
    """Whatever move and text a bot writes down, they are what the referee reads."""
    line = protocol.decode(f"move {move} {text}".encode())
    assert protocol.parse_reply(line) == protocol.Reply(move, text)
