"""Pictures of rules pages: what is read of a block, and that nothing untrue is drawn."""

from __future__ import annotations

import pytest

from engine.games import GAMES
from engine.rules_pictures import FENCE, RulesPictureError, pictures_in, read_picture
from engine.svg import render

CLOBBER, OXONO = GAMES["clobber"], GAMES["oxono"]
START = "caption: The start.\n"
# Of Clobber's first position on 2x2 White has b1 and a2, each beside two stones of Black's.
UNTRUE = {
    "board size=2x2": {
        "": "a picture has no caption",
        "caption:": "'caption:' is no line of a picture",
        START + START: "is no line of a picture, or its second one",
        START + "colour: red": "'colour: red' is no line of a picture",
        START + "nonsense": "'nonsense' is no line of a picture",
        START + "position: bb/bb 1": "the picture 'The start.'",
        START + "moves: b1b2 b1b2": "the picture 'The start.'",
        START + "legal: b1a2": "b1a2 is not legal",
        START + "illegal: a1a2 b1b2": "b1b2 is legal",
        START + "count: 5": "there are 4 legal moves, and not 5",
        START + "scores: 1 0": "the scores are not known yet, and not 1 0",
        START + "moves: b1b2\nfrom: a1": "",
        START + "moves: b1b2\nfrom: b1": "no move begins with b1",
        START + "moves: b1b2 a1a2\nfrom: -": "",
        START + "moves: b1b2 a1a2 b2a2\nfrom: -": "no move begins with a click",
        START + "moves: b1b2 a1a2 b2a2\nscores: 0 1": "the scores are 1 0, and not 0 1",
        START + "moves: b1b2 a1a2 b2a2\nscores: 1 0\nlegal: a2b2": "a2b2 is not legal",
    },
    "board size": {START: "'size' is no option; an option is written key=value"},
    "board colour=red": {START: "clobber has no option 'colour'"},
    "board size=99x99": {START: "clobber has no size=99x99"},
}


@pytest.mark.parametrize("info", UNTRUE)
def test_a_picture_claims_what_is_so(info: str) -> None:
    """Or it is refused with the reason; the counts are by hand."""
    for text, reason in UNTRUE[info].items():
        if not reason:
            assert read_picture(CLOBBER, info, text).scene.targets
            continue
        with pytest.raises(RulesPictureError) as refused:
            read_picture(CLOBBER, info, text)
        assert reason in str(refused.value)


def test_what_a_picture_shows() -> None:
    """The last move is marked; a move that is begun is half made, and marked is where it may go."""
    text = "caption: One.\nmoves: Xc6c5\nfrom: d3 > d6\n\nlegal: Od6e6"
    picture = read_picture(OXONO, "board totems=xc4", text)
    assert (picture.moves, picture.legal) == (("Xc6c5",), ("Od6e6",))
    # Beside d6 are c6, where X is, e6, and d5.
    assert set(picture.scene.targets) == {"e6", "d5"}
    (totem,) = [piece for piece in picture.scene.pieces if piece.squares == ("d6",)]
    assert "totem" in totem.words
    plain = read_picture(OXONO, "board totems=xc4", "caption: One.\nmoves: Xc6c5")
    assert "c5" in plain.scene.last
    assert render(picture.scene).count('class="target') == 2


def test_a_page_is_searched_for_its_pictures() -> None:
    """Other blocks are none, nor is what only begins alike."""
    page = "# A\n\n```board size=4x3\ncaption: One.\n```\n\n```\nboard\n```\n\n```boards\nx\n```\n"
    page += "\n~~~board\ncaption: Two.\n~~~\n"
    assert [one.caption for one in pictures_in(CLOBBER, page)] == ["One.", "Two."]


@pytest.mark.parametrize("name", sorted(GAMES.singles))
def test_the_rules_pages_have_pictures(name: str) -> None:
    """They show a game under way, how one moves and an end; each is drawn, and says what is so."""
    found = list(pictures_in(GAMES[name], GAMES[name].rules()))
    assert len(found) == len(FENCE.findall(GAMES[name].rules())) >= 3
    assert found[0].moves or found[0].position or name == "siege"
    assert any(picture.legal for picture in found)
    for picture in found:
        assert render(picture.scene)
