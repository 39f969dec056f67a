"""Moves found by clicking: what may be clicked next, and which moves go on so.

It knows no game's rules, only what each legal move is made of (`State.clicks`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from engine.declaring import in_a_line
from engine.drawable import LONGEST_LINE, fault_of_hand, undrawable
from engine.faulty_rules import HangingRulesError
from engine.game import GameError, Move, Seat, State
from engine.options import fault_of_line
from engine.protocol import visible
from engine.scene import Held, Look, Scene
from engine.translation import gettext

Clicks = tuple[str, ...]

Ways = Mapping[Move, Clicks]
"""What is clicked for each legal move of a position, the moves in their order."""


def ways(state: State) -> Ways:
    """What is clicked for each legal move; to be kept, as a puzzle has tens of thousands."""
    return {move: state.clicks(move) for move in state.legal_moves()}


def beginning(known: Ways, clicked: Clicks) -> list[Move]:
    """The moves that begin with these clicks."""
    many = len(clicked)
    return [move for move, way in known.items() if way[:many] == clicked]


def following(known: Ways, clicked: Clicks) -> dict[str, Move | None]:
    """What may be clicked next, and the move that is complete with it; None if it goes on."""
    many = len(clicked)
    return {
        way[many]: move if len(way) == many + 1 else None
        for move, way in known.items()
        if way[:many] == clicked and len(way) > many
    }


def asked(state: State, known: Ways, clicked: Clicks) -> str:
    """What a person is asked to click next, in a sentence: the game's own, if it has one."""
    words = _told(state.prompt, clicked)
    if words:
        return words
    names = {square.name for square in _scene_or_text(state).squares}
    due = following(known, clicked)
    if clicked:
        if due.keys() <= names:
            return gettext("Choose one of the marked squares.")
        return gettext("Choose how it goes on.")
    if not due.keys() & names:
        return gettext("Choose a move.")
    if None not in due.values():
        return gettext("Choose a square.")
    return gettext("Choose where a move begins.")


def caution(state: State, move: Move) -> str:
    """What the game says that should be known before a move is played; mostly nothing."""
    return _told(state.caution, move)


def _told(ask: Callable[[Any], str], about: object) -> str:
    """What a game says to a person. If it fails at that nothing is said: it is to spoil no page."""
    try:
        words = ask(about)
        return "" if not words or fault_of_line(words, LONGEST_LINE) else words
    except HangingRulesError:
        raise
    except Exception:
        return ""


def held(state: State, seat: Seat) -> Sequence[Held]:
    """What a seat holds beside the board; nothing if it can't be drawn."""
    try:
        found = state.hand(seat)
        return () if fault_of_hand(found) else found
    except HangingRulesError:
        raise
    except Exception:
        return ()


def half_made(state: State, known: Ways, clicked: Clicks) -> Scene:
    """The scene with as much of a move done as the clicks say, and what may be clicked next.

    What is written beneath the board is that of the position before the move.

    Args:
        clicked: the beginning of the clicks of some move, or all of them.
    """
    before, move = _scene_or_text(state), beginning(known, clicked)[0]
    if known[move] == clicked:
        scene = illustrate(state.play(move), last=move, before=state)
    else:
        scene = _begun(state, clicked, before)
        scene = replace(scene, arrows=arrows(before, scene))
    names = {square.name for square in scene.squares}
    targets = tuple(click for click in following(known, clicked) if click in names)
    scene = replace(scene, title=before.title, captions=before.captions, goals=before.goals)
    return replace(scene, targets=targets)


def _begun(state: State, clicked: Clicks, before: Scene) -> Scene:
    """The scene with a part of a move done; that of the position if it can't be drawn."""
    try:
        scene = state.half_made(clicked)
        return before if undrawable(scene) else scene
    except HangingRulesError:
        raise
    except Exception:
        return before


def illustrate(
    state: State,
    *,
    last: str | None = None,
    before: State | None = None,
    clicked: Sequence[str] = (),
) -> Scene:
    """The scene of ``state`` with the last move, and what may be clicked after these clicks.

    A game whose picture can't be drawn is shown by its position's text, with the reason: its
    mistake is to spoil no page.

    Args:
        before: what stood before the last move; from it follows what went where.
        clicked: the beginning of a move, as `State.clicks` has it; nothing is marked without one.
    """
    scene = _scene_or_text(state)
    known = {square.name for square in scene.squares}

    def on_board(names: Iterable[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for name in names if name in known))

    if last is not None:
        went = arrows(_scene_or_text(before), scene) if before else ()
        scene = replace(scene, last=on_board(state.marks(last)), arrows=went)
    if clicked:
        scene = replace(scene, targets=on_board(following(ways(state), tuple(clicked))))
    return scene


def arrows(before: Scene, after: Scene) -> tuple[tuple[str, str], ...]:
    """The squares from which and to which pieces went between two scenes, where that is certain.

    A piece went if one like it is gone from a square and another one has come to a square, and
    there is but one of either: first of its very look, then of its body and colour, as it may have
    been promoted or marked.
    """
    lay, lies = _lying(before), _lying(after)
    # What is marked or promoted where it lies has not gone.
    gone, come = (
        {name: look for name, look in one.items() if other.get(name, ())[:2] != look[:2]}
        for one, other in ((lay, lies), (lies, lay))
    )
    known = {square.name for square in after.squares}
    found: list[tuple[str, str]] = []
    for parts in (3, 2):
        for kind in dict.fromkeys(look[:parts] for look in gone.values()):
            starts, ends = (
                [name for name, look in one.items() if look[:parts] == kind] for one in (gone, come)
            )
            if len(starts) == len(ends) == 1 and starts != ends and known.issuperset(starts):
                found.append((starts[0], ends[0]))
                del gone[starts[0]], come[ends[0]]
    return tuple(found)


def _lying(scene: Scene) -> dict[str, Look]:
    """The looks of the pieces that lie on one square, by its name."""
    return {piece.squares[0]: piece.look for piece in scene.pieces if len(piece.squares) == 1}


def _scene_or_text(state: State) -> Scene:
    try:
        scene = state.scene()
        reason = undrawable(scene)
    except (GameError, HangingRulesError):
        raise
    except Exception as error:
        reason = in_a_line(error)
    if not reason:
        return scene
    words = gettext("No picture: %(reason)s", reason=reason)
    text = visible(state.text(), but="")[:LONGEST_LINE]
    return Scene(f"{state.variant}: {words}", (), (), captions=(words,), text=(text,))
