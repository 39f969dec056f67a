"""What makes States cheap changes nothing else about them."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, replace

import pytest

from engine.game import IllegalMoveError
from engine.speed import judged_once, maker


@dataclass(frozen=True, slots=True)
class Pile:
    """Some stones; a move says how many to take. What was asked is counted."""

    name: str = field(repr=False)
    stones: int = 7
    asked: list[str] = field(default=None, compare=False, repr=False)  # type: ignore[assignment]

    @judged_once
    def play(self, move: str) -> Pile:
        self.asked.append(move)
        if not 0 < int(move) <= self.stones:
            raise IllegalMoveError(move)
        return replace(self, stones=self.stones - int(move))


new_pile = maker(Pile)


def test_what_is_made_is_a_frozen_dataclass():
    """Class, fields, defaults, equality, copies and refusals are those of any other."""
    pile = new_pile("left")
    assert type(pile) is Pile
    assert (pile.name, pile.stones, pile.asked) == ("left", 7, None)
    assert repr(pile) == "Pile(stones=7)"
    assert pile == Pile("left") == new_pile(name="left", stones=7, asked=["1"]) != Pile("left", 6)
    assert hash(pile) == hash(Pile("left"))
    assert replace(pile, stones=3) == new_pile("left", 3)
    assert copy.deepcopy(pile) == pickle.loads(pickle.dumps(pile)) == pile
    with pytest.raises(FrozenInstanceError):
        pile.stones = 3
    with pytest.raises(TypeError, match=r"Pile.__init__\(\) missing 1 required .* 'name'"):
        new_pile()
    with pytest.raises(TypeError, match="unexpected keyword argument 'stone'"):
        new_pile("left", stone=3)


def test_a_move_is_judged_once():
    """Until another move is asked of, or another position; an equal one is another."""
    first, second = Pile("left", 7, []), Pile("left", 7, [])
    assert first.play("3") is first.play("3")
    assert first.asked == ["3"]
    assert second.play("3") == first.play("3")
    assert (first.asked, second.asked) == (["3", "3"], ["3"])
    assert [first.play("2").stones, first.play("3").stones] == [5, 4]
    assert first.asked == ["3", "3", "2", "3"]


def test_a_refusal_is_judged_anew():
    """It is raised each time, with its reason."""
    pile = Pile("left", 2, [])
    for _ in range(2):
        with pytest.raises(IllegalMoveError, match="'3' is not legal here"):
            pile.play("3")
    assert pile.asked == ["3", "3"]
