"""What is written and drawn of the Siege of Paris: moves, position texts, pictures."""

from __future__ import annotations

from random import Random

import pytest

from engine.clicks import illustrate
from engine.game import IllegalMoveError, PositionError
from engine.games.siege.game import GAME
from engine.scene import Paint, Sign
from tests.engine.games.positions_siege import FAR, IN, LAST, ROUND_TRIP, START, at, play, text_of

# Texts.


@pytest.mark.parametrize(
    "move",
    [
        *("", "b4", "b4b4", "b4b5!!", "B4B5", "b4-b5", "b04b5", "b4b5 ", "b4b17", "b4m4"),
        *("b4b²", "é4b5", "b4" * 5000, "=GSSSSSSC", "resign"),  # no words of the notation
        *("e3e4", "c9c10", "d7d8", "b4b6"),  # no moves here
    ],
)
def test_what_is_no_move_is_refused(move):
    """Malformed words, other armies' pieces, and moves that the piece does not have."""
    state = at("Yb4 Ke3" + FAR, "y1")
    assert not state.is_legal(move)
    for ask in (state.play, state.canonical):
        with pytest.raises(IllegalMoveError):
            ask(move)


@pytest.mark.parametrize("move", ["=GSSSSSS", "=GGSSSSSC", "GSSSSSSC", "=gssssssc", "d9c9", ""])
def test_what_is_no_placing_is_refused(move):
    """One G, one C and six S behind a '='."""
    assert not GAME.variant().initial().is_legal(move)


GOOD = text_of("Yb4 Ke3" + FAR, "y1")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "fields"),
        (GOOD + " 1", "fields"),
        (GOOD.replace("12/", "", 1), "ranks"),
        (GOOD.replace("12/", "11/", 1), "squares"),
        (GOOD.replace("12/", "11x/", 1), "takes"),
        (GOOD.replace("12/", "11١/", 1), "takes"),
        (text_of("Yb4 Ke6" + FAR, "y1"), "no square"),
        (text_of("Yb4 Kd9" + FAR, "y1"), "no square"),
        (GOOD.replace(".yyyyyyZ", ".yyyyyyZ."), "fortress"),
        (GOOD.replace(".yyyyyyZ", ".yyy1yyZ"), "fortress"),
        (GOOD.replace(".yyyyyyZ", "Yyyyyyy."), "2 pieces Y"),
        (GOOD.replace(".yyyyyyZ", ".yyyyy.Z"), "misses y"),
        (text_of("Yb4 Ga1 Ga2" + FAR, "y1"), "2 pieces G"),
        (text_of("Yb4 kb8 kb7 kb6" + FAR, "y1"), "3 pieces k"),
        (text_of(" ".join(f"S{file}1" for file in "abcdefghijkl") + " Yb4 Sa3", "y1"), "13 pieces"),
        (text_of("Yb4 Ke3" + FAR, "y3"), "turn"),
        (text_of("Yb4 Ke3" + FAR, "1"), "turn"),
        (text_of("Yb4 Ke3" + FAR, "y1", rest="? 7 50"), "demand"),
        (text_of("Yb4 Ke3" + FAR, "y1", rest="! 7 50"), "demanded"),  # there is no capture
        (text_of("Yb4 Ka4" + FAR, "w", rest="! 7 50"), "demanded"),
        (text_of("Yb4 Ka4" + FAR, "y1", rest="! 100 150"), "demanded"),
        (text_of("Yb4 Ke3" + FAR, "y1", rest="- 07 50"), "progress"),
        (text_of("Yb4 Ke3" + FAR, "y1", rest="- -7 50"), "progress"),
        (text_of("Yb4 Ke3" + FAR, "y1", rest="- ٧ 50"), "progress"),
        (text_of("Yb4 Ke3" + FAR, "y1", rest="- 101 150"), "progress"),
        (text_of("Yb4 Ke3" + FAR, "y1", rest="- 51 50"), "too few"),
        (text_of("Yb4 Ke3" + FAR, "y1", rest="- 0 2001"), "plies"),
        (text_of("Yb4 Ke3" + FAR, "y1", rest="- 0 " + "9" * 5000), "plies"),
        (f"{START} YyyyyyyZ y1 - 0 0", "too few"),  # the placing counts as a ply
        (f"{START} YyyyyyyZ y2 - 0 2", "too few"),
        (text_of("Yb4 Ke3" + FAR, "y1", rest="- 50 50"), "too few"),  # the placing is no turn
        (text_of("Yb4 Ke3" + FAR, "y1", rest="- 0 1"), "first turn"),
        (f"{START.replace('1K1G', '3G')} YyyyyyyZ y1 - 0 1", "first turn"),
        (f"{START} YyyyyyyZ setup - 0 0", "during setup"),
        (f"{START} ........ setup - 0 1", "during setup"),
        (f"{START} ........ setup ! 0 0", "during setup"),
        (f"{START.replace('1K1G', '3G')} ........ setup - 0 0", "during setup"),
        (f"{START} ........ y1 - 0 1", "misses"),
        (text_of("Yb4 Sl16 sk15", "w"), "White has no legal move"),
        (text_of("Yb4 Sk1 sl1", "b"), "Black has no legal move"),
    ],
)
def test_texts_that_are_no_position(text, reason):
    """Wrong sizes, letters and numbers, too many pieces, counts that deny the turn."""
    with pytest.raises(PositionError, match=reason):
        GAME.variant().read(text)


def test_texts_that_an_option_rules_out():
    """No set-up or other placing where it is fixed, and no demand where there are none."""
    for options, text in (
        ({"setup": "fixed"}, f"{START} ........ setup - 0 0"),
        ({"setup": "fixed"}, f"{START} yYyyyyyZ y1 - 0 0"),
        ({"demand": "no"}, text_of("Yb4 Ka4" + FAR, "y1", rest="! 7 50")),
    ):
        with pytest.raises(PositionError):
            GAME.variant(**options).read(text)


def test_broken_texts_are_refused_or_print_back():
    """Whatever is changed in a text, it is refused with a reason or it is what is printed."""
    rng = Random(871)
    letters = "0123456789/ .-!GCKLSgcklsYZywb12setup\n²é"
    accepted = 0
    for _ in range(1500):
        text = rng.choice((GOOD, f"{START} YyyyyyyZ y1 - 0 1", f"{START} ........ setup - 0 0"))
        for _ in range(rng.randint(1, 3)):
            cut = rng.randrange(len(text))
            text = (
                text[:cut] + rng.choice(("", rng.choice(letters))) + text[cut + rng.randint(0, 2) :]
            )
        try:
            state = GAME.variant().read(text)
        except PositionError:
            continue
        assert state.text() == text
        accepted += 1
    assert accepted


def test_the_picture_shows_board_fortress_and_armies():
    """156 squares, 8 cells, 10 segments, 4 gates drawn otherwise, and each piece in words."""
    scene = illustrate(at("Yb4 Kd4" + FAR, "w", cells="syyyyyyZ"), last="b5b4", clicked=("d4",))
    assert len(scene.squares) == 156 + 8
    assert [line.broken for line in scene.lines].count(False) == 10
    assert [line.broken for line in scene.lines].count(True) == 4
    found = {piece.squares[0]: (piece.paint, piece.words, piece.sign) for piece in scene.pieces}
    assert found["b4"] == (Paint.YELLOW, "yellow general", Sign.CROWN)
    assert found["d4"] == (Paint.WHITE, "white captain", Sign.BAR)
    assert found["d9"] == (Paint.BLACK, "black soldier", "")
    assert len(found) == 8 + 4
    assert scene.captions == ("White to move",)
    assert (scene.last, scene.targets) == (("b5", "b4"), ("c4", "d5", "e4"))


@pytest.mark.parametrize(
    ("state", "taken", "inside"),
    [
        (GAME.variant().initial(), ((0, 24), (0, 6)), ((0, 2), (0, 1))),
        # Of the twelve officers six have to be taken, and more of them do no harm.
        (at("Yb4 Kd4" + FAR, "w", cells="syyyyyyZ"), ((21, 24), (11, 6)), ((1, 2), (0, 1))),
        (
            at(f"{IN} Kc8 Ga4", "w", "SSyy.yyZ", soldiers="3"),
            ((20, 24), (10, 6)),
            ((2, 3), (0, 1)),
        ),
    ],
)
def test_the_picture_shows_how_near_either_side_is(state, taken, inside):
    """Counted by hand: what is taken of 24 soldiers and 6 officers, and who is inside of those that
    the rules ask for.
    """
    first, second = state.scene().goals
    assert (first.parts, second.parts) == (taken, inside)
    (soldiers, all_soldiers), (officers, all_officers) = taken
    said = f"Taken: soldiers {soldiers} of {all_soldiers}, officers {officers} of {all_officers}"
    assert first.words == said
    assert second.words.startswith(f"Inside: soldiers {inside[0][0]} of {inside[0][1]}")


def test_the_city_covers_no_place():
    """The ground, houses and walls of the city stay within its 36 missing squares, but for walls
    that are no thicker than what a piece leaves free of its square, and off the cells' middles.
    """
    scene = GAME.variant().initial().scene()
    places = [(square.x, square.y) for square in scene.squares]
    for area in scene.areas:
        for corner in area.corners:
            nearest = min(max(abs(x - corner[0]), abs(y - corner[1])) for x, y in places)
            assert nearest >= 0.3, (area, corner)
            assert 2.3 <= corner[0] <= 8.7
            assert 4.3 <= corner[1] <= 10.7


@pytest.mark.parametrize(
    ("state", "news"),
    [
        (GAME.variant().initial(), "Yellow to place its army in the fortress"),
        (GAME.variant(setup="fixed").initial(), "Yellow to move, then White"),
        (at("Yb4 Ka4" + FAR, "y2", rest="! 0 50"), "Yellow must capture, then Black"),
        (at("Yb4 Ka4" + FAR, "b"), "Black to move"),
        (at(f"{LAST} kl10", "y1").play("b3c4"), "Yellow wins: the siege is broken"),
        (
            at(LAST, "y1", "kyyyyyyZ").play("b3c4"),
            "A draw: the siege is broken, an attacker inside",
        ),
        (
            at(f"{IN} Kc8", "w", "SSyy.yyZ").play("c8d8"),
            "The attackers win: they hold the fortress",
        ),
        (
            at("Kc9 Kc8 Sj9 sk9" + FAR, "b").play("k9j8"),
            "The attackers win: Yellow has no legal move",
        ),
        (at("Yb4 Ka4" + FAR, "b", rest="- 100 150"), "A draw: 100 plies without progress"),
        (at("Yb4 Ka4" + FAR, "b", rest="- 0 2000"), "A draw: 2000 plies"),
        (
            play(at("Yb4 Kb6 kk12" + FAR, "y1"), f"{ROUND_TRIP} {ROUND_TRIP}"),
            "A draw: the third time that this stands on the board",
        ),
    ],
)
def test_the_picture_says_whose_turn_it_is_or_how_it_ended(state, news):
    """Its title and its first caption say it."""
    scene = state.scene()
    assert (scene.title, scene.captions[0]) == (f"The Siege of Paris: {news}", news)
