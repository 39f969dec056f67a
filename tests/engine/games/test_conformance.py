"""What every game must keep to, tried on random games of many variants.

A game is tested by being registered. There is no list of exceptions.
"""

from __future__ import annotations

import re
from dataclasses import FrozenInstanceError
from itertools import pairwise
from random import Random
from xml.etree import ElementTree

import pytest

from engine.clicks import illustrate
from engine.game import Game, OptionError, State, Termination, Variant
from engine.games import GAMES, find_variant
from engine.svg import render
from tests.engine.games.contract import check_finished, check_position, check_text, check_word
from tests.engine.games.random_games import (
    each_variant,
    paths,
    pick,
    positions,
    random_path,
    some_moves,
)


@each_variant
def test_random_games_end_within_the_limit(variant: Variant) -> None:
    """A game goes on until it is over, for no more plies than the variant says."""
    for path in paths(variant):
        assert len(path) - 1 <= variant.max_plies
        for state in path[:-1]:
            assert state.to_move in range(variant.seats)
            assert state.ending() is None
        check_finished(path[-1])
        assert path[-1].ending() in {
            Termination.NORMAL,
            Termination.REPETITION,
            Termination.PLY_LIMIT,
        }


@each_variant
def test_moves_are_sorted_words_and_the_fast_path_agrees(variant: Variant) -> None:
    """Every list of moves is in order, and the int codes say the same moves."""
    for state in positions(variant):
        codes = check_position(state)
        for move in some_moves(state):
            after = state.play(move)
            assert state.play_code(codes[move]) == after
            assert after.variant == state.variant


@each_variant
def test_playing_changes_nothing(variant: Variant) -> None:
    """A position is a frozen value: it stays as it was, and the same move gives the same."""
    for state in positions(variant):
        text, digest = state.text(), hash(state)
        for move in some_moves(state):
            assert state.play(move) == state.play(move)
        state.playout(Random(1))
        assert (state.text(), hash(state)) == (text, digest)
        with pytest.raises((FrozenInstanceError, AttributeError, TypeError)):
            state.variant = variant


@each_variant
def test_an_outlook_is_what_may_be_scored(variant: Variant) -> None:
    """From 0 to 1 for each seat, the same for those of a side; or the game offers none at all."""
    found = [state.outlook() for state in positions(variant) if state.to_move is not None]
    if found and found[0] is None:
        assert set(found) == {None}
        return
    for outlook in found:
        assert outlook is not None
        assert len(outlook) == variant.seats
        assert all(0 <= hope <= 1 for hope in outlook)
        assert len(set(zip(variant.side_of, outlook, strict=True))) == len(set(variant.side_of))


@each_variant
def test_every_position_judges_for_itself(variant: Variant) -> None:
    """What another position was last asked, even of the same move, makes no difference."""
    for other, state in pairwise(positions(variant)):
        legal = set(other.legal_moves())
        codes = check_position(state)
        for move in some_moves(state):
            assert other.is_legal(move) == (move in legal)
            assert state.is_legal(move)
            if move in legal:
                other.play(move)
            assert state.play(move) == state.play_code(codes[move])


@each_variant
def test_position_texts_stand_for_positions(variant: Variant) -> None:
    """A text is read back to an equal position; two positions are equal when their texts are."""
    for state in positions(variant):
        check_text(state)
    for path in paths(variant):
        by_text: dict[str, State] = {}
        for state in path:
            first = by_text.setdefault(state.text(), state)
            assert state == first
            assert hash(state) == hash(first)
        assert len(set(path)) == len(by_text)


@each_variant
def test_a_move_is_judged_without_listing_all(
    variant: Variant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The referee can ask about a move, legal or not, where a list would cost too much."""
    known = [(state, some_moves(state)) for state in positions(variant)]

    def listed(_: State) -> None:
        raise AssertionError("the moves were listed")

    for kind in {type(state) for state, _ in known}:
        monkeypatch.setattr(kind, "legal_moves", listed)
        monkeypatch.setattr(kind, "codes", listed)
    for state, moves in known:
        for move in moves:
            assert state.is_legal(move)
            assert state.canonical(move) == move
        assert not state.is_legal("pass")


@each_variant
def test_what_is_no_legal_move_is_refused(variant: Variant) -> None:
    """Moves of other positions, slips of the pen and nonsense are refused, or mean a legal move."""
    random = Random(2)
    pool = sorted({move for state in positions(variant) for move in some_moves(state)})
    for state in positions(variant):
        legal = set(state.legal_moves())
        for move in random.sample(pool, min(20, len(pool))):
            assert state.is_legal(move) == (move in legal)
            check_word(state, legal, move)
        move = pick(random, some_moves(state) or pool)
        for word in (
            *(move[:cut] for cut in range(len(move))),
            *(move[cut:] for cut in range(1, len(move))),
            move.upper(),
            move.swapcase(),
            move[::-1],
            move * 2,
            move + "!",
            move + "@a1",
        ):
            check_word(state, legal, word)
        for word in (
            "",
            " ",
            "\0",
            f" {move}",
            f"{move} ",
            f"{move}\n",
            move.replace("1", "\u0661").replace("a", "\u0430") + "\u00e9",
            "\ud800",
            "a1" * 100_000,
            "9" * 10_000,
            move + "," * 10_000,
        ):
            assert not state.is_legal(word)
            check_word(state, legal, word)


@each_variant
def test_random_playouts_reach_a_result(variant: Variant) -> None:
    """A playout gives scores for every seat, the same for the same seed."""
    for state in positions(variant):
        scores = state.playout(Random(3))
        assert len(scores) == variant.seats
        assert scores == state.playout(Random(3))
        if state.to_move is None:
            assert scores == state.scores()


@each_variant
def test_any_seat_may_leave_at_any_moment(variant: Variant) -> None:
    """The sides that stay rank before those that left, a later leaver before an earlier one."""
    random = Random(4)
    sides = variant.side_of
    for state in positions(variant)[:: variant.seats]:
        for seat in range(variant.seats):
            after = state.retire(seat)
            if state.to_move is None:
                assert after == state, "who leaves a finished game changes nothing"
                continue
            left = [sides[seat]]
            if len(set(sides)) <= 2:
                check_finished(after)
                scene = after.scene()
                assert "to move" not in " ".join([scene.title, *scene.captions])
                assert f"{variant.seat_names[seat]} left the game" in scene.title
            for other in random.sample(range(variant.seats), variant.seats):
                if after.to_move is None:
                    break
                assert after == after.retire(seat), "nobody leaves twice"
                assert sides[after.to_move] not in left
                check_position(after)
                check_text(after)
                after = pick(random, random_path(after, random))
                if after.to_move is not None and sides[other] not in left:
                    after = after.retire(other)
                    left.append(sides[other])
            end = random_path(after, random)[-1]
            check_finished(end)
            ranks = dict(zip(sides, end.ranks(), strict=True))
            behind = [ranks[side] for side in reversed(left)]
            assert behind == sorted(set(behind))
            assert all(ranks[side] < behind[0] for side in set(sides) - set(left))


@each_variant
def test_positions_can_be_drawn(variant: Variant) -> None:
    """Pieces have names and lie on squares that there are, and the picture is well-formed."""
    for path in paths(variant)[:2]:
        for before, state in ((path[0], path[1]), (path[-2], path[-1])):
            move = next(move for move in before.legal_moves() if before.play(move) == state)
            chosen = re.findall("[a-z][0-9]+", move)[:1]
            scene = illustrate(state, last=move, clicked=chosen)
            assert scene.title
            assert scene.captions
            names = [square.name for square in scene.squares]
            assert len(names) == len(set(names))
            for piece in scene.pieces:
                assert piece.words
                assert set(piece.squares) <= set(names)
            assert set(scene.last) <= set(names)
            for theme in ("light", "dark"):
                ElementTree.fromstring(render(scene, theme=theme, size=300))


@each_variant
def test_a_variant_is_its_game_and_options(variant: Variant) -> None:
    """It is found again by its name, and the lots drawn from a seed are the seed's."""
    name, *options = str(variant).split()
    again = find_variant(name, options)
    assert again == variant
    assert hash(again) == hash(variant)
    assert variant != name
    assert len(variant.seat_names) == len(variant.side_of) == len(variant.entrant_of)
    assert len(variant.seat_names) == variant.seats
    for entrant in set(variant.entrant_of):
        seats = [seat for seat in range(variant.seats) if variant.entrant_of[seat] == entrant]
        assert len({variant.side_of[seat] for seat in seats}) == 1, "nobody plays against himself"
    for seed in (0, 1, 2, 2**63):
        assert variant.drawn(seed).initial(seed).text() == variant.initial(seed).text()
        assert variant.drawn(seed).drawn(seed + 1) == variant.drawn(seed)


@pytest.mark.parametrize("game", GAMES.values(), ids=list(GAMES))
def test_unknown_options_and_values_are_refused(game: Game) -> None:
    """The message names the game and what it has; defaults make the first offered variant."""
    assert GAMES[game.name] is game
    with pytest.raises(OptionError, match=game.name):
        game.variant(colour="blue")
    for key in game.options:
        for value in ("", " ", "none", "0x0", "1e1x6", "\u0666x7", "6x7\n", "99999999999x2"):
            with pytest.raises(OptionError, match=key):
                game.variant(**{key: value})
    assert {variant.game for variant in game.offered} == {game.name}
    assert len(set(game.offered)) == len(game.offered) > 0
