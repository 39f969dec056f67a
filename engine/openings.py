"""Balanced random openings from a seed, all different, the same on every machine.

An opening is a few random plies after which the game is open: nobody can end it at once, and
random play from it gives every side a fair share, where random play tells anything. What the rules
leave to the lot (Oxono's totems) is drawn with it. Puzzles have the empty opening alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from statistics import fmean

from engine.game import CHANCE, Move, OptionError, PositionError, State, Variant
from engine.games import GAMES
from engine.seeds import derive
from engine.translation import gettext

LEAST_SHARE = 0.5
"""The least share of the points that a side takes in random games, relative to an equal share."""
FRUITLESS = 500
"""Tries without a new opening after which there are no more."""


@dataclass(frozen=True, slots=True)
class Opening:
    """Where a match begins: a variant with its lots drawn, and the moves played beforehand."""

    variant: Variant
    moves: tuple[Move, ...]


def start_at(variant: Variant, own: Mapping[str, str]) -> Variant:
    """A variant with the start that some options choose: a lot that was drawn, or a position.

    Raises:
        OptionError: an option says something else than where the game begins.
    """
    chosen = GAMES[variant.game].variant(**{**variant.options, **own})
    changed = {key for key, its in chosen.options.items() if variant.options.get(key) != its}
    if not changed:
        return variant
    drawn = variant.drawn(0)
    lots = {key for key, its in drawn.options.items() if variant.options.get(key) != its}
    if changed <= lots and chosen.drawn(0) == chosen:
        return chosen
    with suppress(PositionError):
        if variant.beginning_at(chosen.initial().text()) == chosen:
            return chosen
    words = " ".join(f"{key}={chosen.options[key]}" for key in sorted(changed))
    raise OptionError(
        gettext("%(words)s is no start of %(variant)s", words=words[:200], variant=variant)
    )


def played(variant: Variant, moves: Sequence[str]) -> tuple[Opening, list[State]]:
    """Some moves from the start, in their canonical spelling, and the positions from it on.

    Args:
        variant: with its lots drawn.

    Raises:
        IllegalMoveError: the rules do not allow one of them.
    """
    states, words = [variant.initial()], list[Move]()
    for move in moves:
        words.append(states[-1].canonical(move))
        states.append(states[-1].play(words[-1]))
    return Opening(variant, tuple(words)), states


def openings(
    variant: Variant, seed: int, *, plies: int | None = None, known: Sequence[Opening] = ()
) -> Iterator[Opening]:
    """Every opening of a series in its order, none twice; ends when the board has no more.

    Args:
        known: those that it is known to begin with; they are not judged again, which takes long.
        plies: how many moves an opening has; the variant's own number by default. Where the
            board is too small for so many, openings get shorter.
    """
    if variant.seats == 1:
        yield Opening(variant.drawn(seed), ())
        return
    seen: set[tuple[Variant, str]] = set()
    number = fruitless = 0
    rest = iter(known)
    due = next(rest, None)
    length = variant.opening_plies if plies is None else plies
    while True:
        draw = derive(seed, "opening", number)
        number += 1
        opening, state = _random_opening(variant, draw, length)
        key = (opening.variant, state.text())
        playouts = variant.opening_playouts if length > variant.harmless_plies else 0
        fits = (
            opening == due
            if due
            else key not in seen and (length == 0 or is_open(state, draw, playouts))
        )
        if fits:
            seen.add(key)
            fruitless = 0
            due = next(rest, None)
            yield opening
            continue
        fruitless += 1
        if fruitless >= FRUITLESS:
            # A small board has no more of this length; shorter ones still differ from these.
            if length == 0:
                return
            length -= 1
            fruitless = 0


def opening(variant: Variant, seed: int, index: int = 0, *, plies: int | None = None) -> Opening:
    """The opening at one place of the series of `openings`.

    Raises:
        LookupError: the series is shorter; the board is too small for so many.
    """
    for number, found in enumerate(openings(variant, seed, plies=plies)):
        if number == index:
            return found
    raise LookupError(
        gettext(
            "%(variant)s has no more than %(number)s different openings",
            variant=variant,
            number=number + 1,
        )
    )


def _random_opening(variant: Variant, seed: int, length: int) -> tuple[Opening, State]:
    random = Random(derive(seed, "moves"))
    # Seeds below choose the lot by their parity in some games, so they take any value.
    drawn = variant.drawn(random.getrandbits(32))
    state = drawn.initial()
    moves: list[Move] = []
    while len(moves) < length and state.to_move is not None:
        legal, number = state.legal_moves(), random.random()
        is_drawn = state.to_move == CHANCE
        moves.append(state.roll(number) if is_drawn else legal[int(number * len(legal))])
        state = state.play(moves[-1])
    return Opening(drawn, tuple(moves)), state


def is_open(state: State, seed: int, playouts: int) -> bool:
    """Whether nobody can end the game at once, and random play gives each side its share.

    Args:
        playouts: how many random games tell that.
    """
    codes = state.codes()
    if len(codes) < 2:
        return False
    if len(codes) <= 200 and any(state.play_code(code).to_move is None for code in codes):
        return False
    sides = state.variant.side_of
    points = dict.fromkeys(sides, 0.0)
    least, enough = 0.0, LEAST_SHARE * playouts / len(points)
    random = Random(derive(seed, "playouts"))
    for left in reversed(range(playouts)):
        scores = _scores_of_sides(sides, state.playout(random))
        best = max(scores.values())
        top = [side for side in points if scores[side] == best]
        for side in top:
            points[side] += 1 / len(top)
        least = min(points.values())
        # Mostly it is decided long before the last game.
        if least >= enough or least + left < enough:
            break
    return least >= enough


def _scores_of_sides(sides: Sequence[int], scores: Sequence[float]) -> dict[int, float]:
    """The mean over the seats of each side, be it that they share a score or add theirs up."""
    if len(set(sides)) == len(sides):
        return dict(zip(sides, scores, strict=True))
    return {
        side: fmean(
            score for score, its_side in zip(scores, sides, strict=True) if its_side == side
        )
        for side in sides
    }
