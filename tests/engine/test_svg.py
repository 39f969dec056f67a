"""Pictures of positions: well-formed, complete, and safe to put on a page."""

from dataclasses import replace
from random import Random
from xml.etree import ElementTree

import pytest

from engine.board import grid
from engine.clicks import illustrate
from engine.colours import FILL, GROUND, LAST
from engine.game import State
from engine.games import GAMES
from engine.glyphs import FIGURES
from engine.scene import (
    Body,
    Goal,
    Line,
    Paint,
    Piece,
    PieceRow,
    Rim,
    Scene,
    Shade,
    Sign,
    Square,
)
from engine.svg import render, width_of
from engine.svg_pieces import UNIT
from tests.engine.games.random_games import spiel_variants

SVG = "{http://www.w3.org/2000/svg}"
VARIANTS = [
    *(variant for game in GAMES.singles.values() for variant in game.offered),
    *spiel_variants(),
]


def drawn(scene: Scene, **options) -> ElementTree.Element:
    """The picture, read by a parser of XML."""
    return ElementTree.fromstring(render(scene, **options))


def named(picture: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    """The elements with this class."""
    return [item for item in picture.iter() if name in item.get("class", "").split()]


def some_positions(variant, plies: int = 12) -> list[tuple[State, str | None]]:
    """The start, and a position some random plies later with the move that led to it."""
    state, move, random = variant.initial(1), None, Random(1)
    for _ in range(plies):
        if state.to_move is None:
            break
        move = random.choice(state.legal_moves())
        state = state.play(move)
    return [(variant.initial(1), None), (state, move)]


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_game_is_drawn(variant, theme):
    """Each square and each piece of a scene is in its picture, whatever the ground."""
    for state, last in some_positions(variant):
        scene = illustrate(state, last=last)
        picture = drawn(scene, theme=theme)
        assert picture.tag == SVG + "svg"
        assert picture.find(SVG + "title").text == scene.title
        assert [item.get("data-square") for item in named(picture, "square")] == [
            square.name for square in scene.squares
        ]
        assert [item.get("data-square") for item in named(picture, "piece")] == [
            " ".join(piece.squares) if piece.body is Body.POLYOMINO else piece.squares[0]
            for piece in scene.pieces
        ]
        words = [*scene.captions, *(goal.words for goal in scene.goals)]
        written = " ".join(item.text for item in named(picture, "caption"))
        assert written.split() == " ".join(words).split()
        for name in ("last", "dead"):
            assert len(named(picture, name)) == len(getattr(scene, name))
        assert len(named(picture, "row")) == len(scene.rows)
        assert named(picture, "page")[0].get("fill") == GROUND[theme]["page"]
        told = [item.text for item in picture.iter(SVG + "title")][1:]
        assert told == [piece.words for piece in scene.pieces if piece.sign]
        spoken = picture.find(SVG + "desc").text or ""
        assert all(piece.words in spoken for piece in scene.pieces)
        # Strict pages refuse these, and nothing of a picture may reach out of it.
        assert not {SVG + "script", SVG + "style", SVG + "image", SVG + "a"} & {
            item.tag for item in picture.iter()
        }


def _luminance(colour: str) -> float:
    """The relative luminance of a colour, as WCAG 2.2 has it."""
    shares = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in shares]
    return sum(weight * one for weight, one in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def _contrast(one: str, other: str) -> float:
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_last_move_is_seen_on_everything(theme):
    """Contrast of 3 at least to whatever it lies on, by the line or by its edge (WCAG 1.4.11)."""
    on = [*FILL.values(), *(GROUND[theme][shade] for shade in Shade)]
    least = {colour: max(_contrast(colour, line) for line, _ in LAST) for colour in on}
    assert {colour: best for colour, best in least.items() if best < 3} == {}


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_everything_is_inside_the_picture(variant):
    """No square lies outside of the picture's frame."""
    picture = drawn(some_positions(variant)[1][0].scene())
    left, top, width, height = map(float, picture.get("viewBox").split())
    assert (left, top) == (0, 0)
    for item in named(picture, "square"):
        if corners := item.get("points"):
            for corner in corners.split():
                x, y = map(float, corner.split(","))
                assert 0 <= x <= width
                assert 0 <= y <= height
            continue
        x, y = float(item.get("x")), float(item.get("y"))
        assert 0 <= x <= width - float(item.get("width"))
        assert 0 <= y <= height - float(item.get("height"))


@pytest.mark.parametrize(("right", "up"), [(0, 0), (5, 2), (-5, -2)])
def test_the_place_of_a_square(right, up):
    """Files run to the right, ranks upwards: by hand for three by two squares and no margin.

    From where a scene counts them is the same.
    """
    squares = (replace(one, x=one.x + right, y=one.y + up) for one in grid(3, 2))
    scene = Scene("empty", tuple(squares), ())
    picture = drawn(scene, coordinates=False)
    places = {s.get("data-square"): (s.get("x"), s.get("y")) for s in named(picture, "square")}
    # Squares of 40 units, a tenth of a square around them.
    assert places == {
        "a1": ("4", "44"),
        "b1": ("44", "44"),
        "c1": ("84", "44"),
        "a2": ("4", "4"),
        "b2": ("44", "4"),
        "c2": ("84", "4"),
    }
    assert picture.get("viewBox") == "0 0 128 88"
    assert [s.get("class") for s in named(picture, "square")][:2] == ["square dark", "square light"]


TEXTS = ["<script>alert(1)</script>", "a & b", "\"quoted\" 'text'", "</title>", "]]>", "größer 好"]


@pytest.mark.parametrize("text", TEXTS)
def test_text_is_only_text(text):
    """Titles, captions, signs and names of pieces come out as they went in."""
    piece = Piece(("a1",), Body.TILE, Paint.RED, text, sign=text)
    picture = drawn(Scene(text, grid(2, 2), (piece,), captions=(text,)))
    assert picture.find(SVG + "title").text == text
    assert picture.find(SVG + "desc").text == f"{text}: a1"
    assert [item.text for item in named(picture, "caption")] == [text]
    assert [item.text for item in named(picture, "sign")] == [text]


def test_the_size_of_a_picture():
    """It keeps its proportions at any width; without one it fills what holds it."""
    scene = Scene("empty", grid(4, 2), ())
    assert drawn(scene).get("width") is None
    picture = drawn(scene, size=500, coordinates=False)
    width, height = map(float, picture.get("viewBox").split()[2:])
    assert (picture.get("width"), picture.get("height")) == (
        "500",
        str(round(500 * height / width)),
    )


def test_coordinates():
    """Files and ranks stand on both sides, or nowhere."""
    scene = Scene("empty", grid(3, 2), ())
    texts = [item.text for item in named(drawn(scene), "coordinate")]
    assert sorted(texts) == sorted("aabbcc1122")
    assert named(drawn(scene, coordinates=False), "coordinate") == []


@pytest.mark.parametrize("paint", Paint)
@pytest.mark.parametrize("body", Body)
def test_every_kind_of_piece(body, paint):
    """It is drawn in all its colours, with every sign, on one square or on several."""
    for sign in ("", "7", *Sign, *FIGURES):
        squares = ("a1", "a2", "b2") if body is Body.POLYOMINO else ("b1",)
        piece = Piece(squares, body, paint, "piece", sign)
        (item,) = named(drawn(Scene("one piece", grid(2, 2), (piece,))), "piece")
        assert paint in item.get("class").split()


@pytest.mark.parametrize(
    ("files", "ranks", "share"),
    # By hand: 12x16 with its margins are 13.5 by 17.5, of which 17.5 / 34 is the larger; 2x26 is
    # 3.5 wide, and has letters a quarter larger at most.
    [
        (4, 4, 28),
        (8, 8, 28),
        (20, 20, 28),
        (26, 2, 28),
        (12, 16, 13.5 / (17.5 / 34)),
        (2, 26, 22.4),
    ],
)
def test_letters_are_as_high_on_small_boards_as_on_large_ones(files, ranks, share):
    """A 28th of the width; what is too long for a line goes on in the next, and nothing is lost."""
    long = "soldiers and officers " * 5
    scene = Scene("words", grid(files, ranks), (), captions=("short", long))
    picture = drawn(scene)
    *_, width, height = map(float, picture.get("viewBox").split())
    lines = named(picture, "caption")
    (high,) = {float(line.get("font-size")) for line in lines}
    assert high == pytest.approx(width / share, abs=0.01)
    assert all(len(line.text) * 0.56 * width / share < width for line in lines)
    assert " ".join(line.text for line in lines).split() == ["short", *long.split()]
    assert all(float(line.get("y")) < height for line in lines)


def test_goals_are_bars():
    """Parts are as wide as what they take, and filled as far as it is there: 13 of 24, 8 of 6."""
    goals = (
        Goal("Taken", ((13, 24), (8, 6)), Paint.YELLOW),
        Goal("Inside", ((0, 3),), Paint.BLACK),
    )
    picture = drawn(Scene("goals", grid(8, 8), (), goals=goals))
    assert [item.text for item in named(picture, "caption")] == ["Taken", "Inside"]
    fills = [float(item.get("width")) for item in named(picture, "goal")]
    edges = [float(item.get("width")) for item in named(picture, "goal-edge")]
    assert fills[0] / edges[0] == pytest.approx(13 / 24, abs=0.001)
    assert (fills[1], fills[2]) == (edges[1], 0)
    assert edges[0] / edges[1] == pytest.approx(24 / 6, abs=0.001)
    assert [item.get("fill") for item in named(picture, "goal")][1:] == [
        FILL[Paint.YELLOW],
        FILL[Paint.BLACK],
    ]


def test_rows_go_around_or_between_pieces():
    """Around four that won; and from each of three to the next with what they are worth, so that
    no sign is crossed out.
    """
    rows = (PieceRow("a1", "d1"), PieceRow("a2", "c4", Paint.BLACK, "12"))
    scene = Scene("rows", grid(4, 4), (), rows=rows)
    picture = drawn(scene, coordinates=False)
    around, between = (item.get("d") for item in named(picture, "row"))
    assert around.endswith("z")
    # Squares of 40 units from 4 on: a2 lies around (24, 104), and c4 around (104, 24).
    assert between == "M36 92L52 76M76 52L92 36"
    assert [item.text for item in named(picture, "points")] == ["12"]
    spoken = picture.find(SVG + "desc").text
    assert spoken == "row: a1 to d1; black row worth 12: a2 to c4"


def test_an_arrow_ends_before_the_piece_it_leads_to():
    """And begins beside one that stands where it comes from."""
    stone = Piece(("a1",), Body.DISC, Paint.RED, "red stone")
    scene = Scene("arrows", grid(4, 1), (stone,), arrows=(("a1", "c1"), ("d1", "c1")))
    first, second = (item.get("d") for item in named(drawn(scene, coordinates=False), "arrow"))
    # Centres at 24, 104 and 144; a disc reaches 16 far.
    assert first.startswith("M40.8 24L87.2 24M")
    assert second.startswith("M144 24L120.8 24M")


def test_lines_shades_and_marks():
    """Whatever else a scene may hold."""
    squares = tuple(Square(f"a{n}", 0.5 * n, n, shade) for n, shade in enumerate(Shade, start=1))
    lines = (Line("a1", "a2"), Line("a2", "a3", broken=True))
    scene = Scene("marks", squares, (), lines, last=("a1",), targets=("a2", "a3"))
    picture = drawn(scene)
    assert len(named(picture, "line")) == 2
    assert len(named(picture, "last")) == 1
    assert len(named(picture, "target")) == 2
    assert {item.get("class") for item in named(picture, "square")} == {
        f"square {shade}" for shade in Shade
    }


def test_hexagons_and_their_rims():
    """Six corners each; a coloured line along the edge, over a darker one."""
    squares = (Square("a1", 0, 0), Square("b1", 1, 0), Square("a2", 0.5, -0.87))
    rim = Rim(((-0.5, 0.3), (0, 0.6), (0.5, 0.3)), Paint.RED)
    picture = drawn(Scene("hexagons", squares, (), rims=(rim,), hexagonal=True))
    assert [len(item.get("points").split()) for item in named(picture, "square")] == [6, 6, 6]
    (line,) = named(picture, "rim")
    assert line.get("stroke") == FILL[Paint.RED]
    assert sorted(item.text for item in named(picture, "coordinate")) == ["1", "2", "a", "b"]


def test_a_board_of_letters():
    """Where there are no squares: line by line, each space kept, in a frame that holds them."""
    scene = Scene("letters", (), (), captions=("White to move",), text=("a  b", "", " <c> "))
    picture = drawn(scene, coordinates=True)
    assert [item.text for item in named(picture, "typed")] == ["a  b", " <c> "]
    assert named(picture, "coordinate") == []
    assert width_of(scene) == pytest.approx(float(picture.get("viewBox").split()[2]) / UNIT)
    wide = replace(scene, text=("x" * 100,))
    assert width_of(wide) == pytest.approx(100 * 0.602 * 0.5 + 1.5)


def test_where_a_chosen_piece_may_go():
    """Clobber's start on 3x2: b1 may take a1, b2 and c1."""
    scene = illustrate(GAMES["clobber"].variant(size="3x2").initial(), last="a2a1", clicked=("b1",))
    assert scene.targets == ("a1", "b2", "c1")
    assert scene.last == ("a2", "a1")
    assert (
        replace(scene, targets=(), last=())
        == GAMES["clobber"].variant(size="3x2").initial().scene()
    )


def test_the_same_position_is_the_same_picture():
    """Byte for byte, so that pages may be cached."""
    variant = GAMES["blokus"].variant()
    one, other = (some_positions(variant)[1][0] for _ in range(2))
    assert render(one.scene()) == render(other.scene())
