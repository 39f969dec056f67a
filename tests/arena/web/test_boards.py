"""What can be clicked on a board; that moves are found by clicks is in `tests/engine`."""

from __future__ import annotations

from collections import Counter

import pytest

from arena.web.boards import Reached, clickable
from engine.games import find_variant
from tests.requirements import need_openspiel


@pytest.mark.parametrize(
    ("game", "clicked", "complete", "moves", "prompt"),
    [
        # What is played by a click is only so where the person does not want to be asked.
        ("openspiel:connect_four", (), None, 7, "Choose where your disc falls."),
        ("openspiel:connect_four", ("a1",), "x0", 0, ""),
        ("openspiel:nim", (), None, 0, "Choose a move."),
        ("clobber", (), None, 0, "Choose the stone that moves."),
        ("clobber", ("a2",), None, 3, "Choose the neighbour that it takes."),
        ("clobber", ("a2", "a1"), "a2a1", 0, ""),
        ("clobber", ("zz",), None, 0, "Choose the stone that moves."),
    ],
)
@pytest.mark.parametrize("at_once", [False, True])
def test_the_last_click_is_confirmed_unless_moves_are_played_at_once(
    game: str,
    clicked: tuple[str, ...],
    complete: str | None,
    moves: int,
    prompt: str,
    at_once: bool,
) -> None:
    """A link plays a move by itself only then; without a script it leads to Confirm too."""
    if game.startswith("openspiel:"):
        need_openspiel()
    state = find_variant(game).initial()
    found = clickable(Reached(state), clicked, address, seen=state.scene(), at_once=at_once)
    assert (found.complete, found.prompt) == (complete, prompt)
    assert found.board.count("data-move=") == (moves if at_once else 0)
    assert found.before == (address(found.clicked[:-1]) if found.clicked else "")


def address(way: tuple[str, ...]) -> str:
    return f"/?at={','.join(way)}"


def test_what_ends_a_puzzle_is_always_asked_about() -> None:
    """Stopping keeps what is covered, which is said before; it is no piece and not in the tray."""
    state = find_variant("puzzle", ["task=tetrominoes"]).initial().play("red:a1,a2,a3,b1")
    found = clickable(Reached(state), (), address, seen=state.scene(), at_once=True)
    (stop,) = found.words
    assert (stop.words, stop.move, stop.needs_caution) == ("stop", None, True)
    assert "stop" not in {slot.held.name for slot in found.tray}
    asked = clickable(Reached(state), ("stop",), address, seen=state.scene(), at_once=True)
    assert (asked.complete, "4 covered squares" in asked.caution) == ("stop", True)


@pytest.mark.parametrize(
    ("game", "options", "before", "clicked", "counts"),
    [
        # A piece is there to be chosen, chosen, for later, placed, or fits nowhere.
        ("mijnlieff", {}, "", "", {"later": 4}),
        ("mijnlieff", {}, "", "b2", {"open": 4}),
        ("mijnlieff", {}, "", "b2|push <>", {"open": 3, "chosen": 1}),
        ("mijnlieff", {}, "b2<> d4<> a1<> c4<>", "a2", {"open": 3, "used": 1}),
        ("puzzle", {"task": "tetrominoes"}, "red:a1,a2,a3,b1", "", {"open": 19, "used": 1}),
        ("puzzle", {"task": "tetrominoes"}, "", "red L4", {"open": 19, "chosen": 1}),
        ("oxono", {}, "", "", {}),
        ("clobber", {}, "", "", {}),
    ],
    ids=lambda value: str(value),
)
def test_how_pieces_in_a_tray_stand(
    game: str, options: dict[str, str], before: str, clicked: str, counts: dict[str, int]
) -> None:
    """The places stay; only how they stand changes."""
    state = find_variant(game, [f"{key}={its}" for key, its in options.items()]).initial()
    for move in before.split():
        state = state.play(move)
    way = tuple(clicked.split("|") if clicked else ())
    found = clickable(Reached(state), way, address, seen=state.scene())
    assert found.clicked == way
    assert Counter(slot.availability for slot in found.tray) == counts
    assert all(
        bool(slot.address) == (slot.availability in ("open", "chosen")) for slot in found.tray
    )


def test_a_piece_that_fits_nowhere_is_told_from_one_that_is_used() -> None:
    """Blue has room for few of its pieces only; in an order that is that of the start."""
    state = find_variant("blokus", ["mode=duel"]).initial()
    names = [
        slot.held.name for slot in clickable(Reached(state), (), address, seen=state.scene()).tray
    ]
    while state.legal_moves():
        found = clickable(Reached(state), (), address, seen=state.scene())
        assert [slot.held.name.split()[1] for slot in found.tray] == [
            one.split()[1] for one in names
        ]
        stuck = {slot.held.name for slot in found.tray if slot.availability == "stuck"}
        if stuck:
            break
        state = state.play(state.legal_moves()[-1])
    left = {slot.held.name for slot in found.tray if slot.held.left}
    starts = {state.clicks(move)[0] for move in state.legal_moves()}
    assert stuck == left - starts
