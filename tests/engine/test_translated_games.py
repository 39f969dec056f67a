"""What games say to people is translated; what is kept, sent or clicked is the same for all."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from random import Random

import pytest

from engine import sitting
from engine.clicks import asked, ways
from engine.clock import TimeControl
from engine.conformance import checks_of, pick
from engine.game import GameError, IllegalMoveError, State, Variant
from engine.games import GAMES
from engine.openings import Opening
from engine.player import Choice
from engine.record import Ply, RecordError, parse_record
from engine.referee import play_game
from engine.translation import gettext, speaking
from tests.engine.players import FirstMove, Scripted
from tests.marked import END, MARK, MARKED

VARIANTS = [variant for game in GAMES.singles.values() for variant in game.offered]
SMALL = GAMES["clobber"].variant(size="3x2")
SECOND = TimeControl(move_ms=1000)
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def positions(variant: Variant) -> list[State]:
    """The first of a random game, one in its midst, and the last."""
    state, path, random = variant.initial(), [], Random(1)
    while moves := state.legal_moves():
        path.append(state)
        state = state.play(pick(random, moves))
    return [path[0], path[len(path) // 2], state]


def said(state: State) -> list[str]:
    """What the game says of a position."""
    scene = state.scene()
    kinds = {piece.words for piece in scene.pieces}
    hands = [held.called for seat in range(state.variant.seats) for held in state.hand(seat)]
    return [scene.title, *scene.captions, *(goal.words for goal in scene.goals), *kinds, *hands]


def prompts(state: State) -> list[str]:
    """What it asks for in the order of the clicks of a move."""
    known = ways(state)
    way = known[state.legal_moves()[-1]]
    return [asked(state, known, way[:many]) for many in range(len(way))]


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_a_game_says_nothing_past_the_translation(variant: Variant) -> None:
    for state in positions(variant):
        english = said(state)
        with speaking(MARKED):
            marked = said(state)
            assert len(marked) == len(english)
            if state.to_move is not None:
                marked += prompts(state)
        title, *others = marked
        assert title.endswith(END)
        assert [text for text in others if not (text.startswith(MARK) and text.endswith(END))] == []


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_what_is_kept_or_clicked_is_the_same_in_all_languages(variant: Variant) -> None:
    for state in positions(variant):
        moves = list(state.legal_moves())
        plain = state.text(), moves, [state.clicks(move) for move in moves[:50]]
        with speaking(MARKED):
            again = variant.read(state.text())
            assert again == state
            assert (again.text(), list(again.legal_moves())) == plain[:2]
            assert [again.clicks(move) for move in moves[:50]] == plain[2]
            names = [[held.name for held in state.hand(seat)] for seat in range(variant.seats)]
        assert names == [[held.name for held in state.hand(seat)] for seat in range(variant.seats)]


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_what_is_refused_is_refused_in_the_language(variant: Variant) -> None:
    state = variant.initial()
    with speaking(MARKED):
        with pytest.raises(IllegalMoveError, match=r"^〚'nonsense' is not legal here: 〚.+〛〛$"):
            state.judge("nonsense")
        for text in ("nonsense", f"{state.text()} 1"):
            with pytest.raises(GameError, match=r"^〚.+〛$"):
                variant.read(text)
        with pytest.raises(RecordError, match=r"^〚this is no JSON"):
            parse_record("nonsense")


def test_what_is_held_is_called_in_the_language_of_who_asks_whenever_it_was_found() -> None:
    """Pages keep what a seat holds, for whoever asks next."""
    (held, *_) = GAMES["blokus"].variant().initial().hand(0)
    with speaking(MARKED):
        (marked, *_) = GAMES["blokus"].variant().initial().hand(0)
        assert held.called == f"{MARK}{MARK}blue{END} 1{END}"
    assert (marked, marked.called) == (held, "blue 1")


def test_the_record_of_a_game_is_english_whoever_has_it_played() -> None:
    told: list[str] = []

    def watch(_state: State, _plies: Sequence[Ply]) -> None:
        told.append(gettext("a move"))

    with speaking(MARKED):
        players = [FirstMove(), Scripted(Choice("nonsense"))]
        record = play_game(SMALL, players, time=SECOND, watch=watch)
        begun = sitting.begin(
            Opening(SMALL, ()), seed=7, players=["a", "b"], time=SECOND, started=NOW
        )
        asked_alone = sitting.ask(begun, Scripted(Choice("nonsense")))
    assert told == [f"{MARK}a move{END}"]
    for game in (record, asked_alone):
        assert game.faults[0].detail.startswith("'nonsense' is not legal here: a move takes")


def test_a_variant_that_is_not_here_keeps_its_reason_in_english() -> None:
    with speaking(MARKED):
        missing = GAMES.find("clobber", {"size": "1x1"})
    assert missing.reason.startswith("clobber has no size=1x1")  # type: ignore[attr-defined]


def test_an_author_is_told_in_english() -> None:
    """That a seat left is looked for in English, in the title of the position."""
    with speaking(MARKED):
        checks = checks_of("clobber")
        checks[next(name for name in checks if name.startswith("leaving"))]()
