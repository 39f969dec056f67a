"""A game with dice: in turn a seat throws a die, and takes what lies or leaves it to the other.

Who has six points or more has won. A one counts as nothing for whoever takes it, so one leaves it.
"""

CODE = """
from dataclasses import dataclass, field
from engine.board import grid
from engine.game import CHANCE, IllegalMoveError, PositionError, State, Termination, Variant
from engine.scene import Scene

FACES = ["one", "three", "two"]
ODDS = {"one": 0.5, "two": 0.25, "three": 0.25}
WORTH = {"one": 0, "two": 2, "three": 3}
GOAL = 6


class Dice(Variant):
    game = "dice"
    seats = 2
    seat_names = ("First", "Second")
    max_plies = 400
    has_chance = True
    opening_plies = 2
    opening_playouts = 0

    def initial(self, seed=0):
        return DiceState(self, 0, 0, 0, "", 0)

    def read(self, text):
        words = text.split(" ")
        try:
            first, second, seat, plies = (int(words[n]) for n in (0, 1, 2, 4))
            state = DiceState(self, first, second, seat - 1, words[3].strip("-"), plies)
        except (ValueError, IndexError):
            raise PositionError("points, points, seat, die, plies") from None
        lying = words[3].strip("-") in ("", *FACES) and min(first, second, plies) >= 0
        if not lying or state.text() != text or seat not in (1, 2) or plies > 400:
            raise PositionError("points, points, seat, die, plies")
        if bool(state.die) != plies % 2 or min(first, second) >= GOAL or max(first, second) > 8:
            raise PositionError("points, points, seat, die, plies")
        return state


@dataclass(frozen=True, slots=True)
class DiceState(State):
    variant: Dice = field(repr=False)
    first: int
    second: int
    mover: int
    die: str
    plies: int

    @property
    def to_move(self):
        if self.ending():
            return None
        return self.mover if self.die else CHANCE

    def ending(self):
        if max(self.first, self.second) >= GOAL:
            return Termination.NORMAL
        return Termination.PLY_LIMIT if self.plies == 400 else None

    def legal_moves(self):
        if self.ending():
            return []
        return ["leave", "take"] if self.die else FACES

    def outcomes(self):
        return {} if self.die or self.ending() else ODDS

    def judge(self, move):
        if self.ending():
            raise IllegalMoveError(move, "the game is over")
        if move not in (("leave", "take") if self.die else FACES):
            raise IllegalMoveError(move, "take or leave the die that lies")

    def play(self, move):
        self.judge(move)
        points = [self.first, self.second]
        if not self.die:
            return DiceState(self.variant, *points, self.mover, move, self.plies + 1)
        if move == "take":
            points[self.mover] += WORTH[self.die]
        return DiceState(self.variant, *points, 1 - self.mover, "", self.plies + 1)

    def scores(self):
        if max(self.first, self.second) < GOAL:
            return (0.5, 0.5)
        return (1.0, 0.0) if self.first >= GOAL else (0.0, 1.0)

    def text(self):
        die = self.die or "-"
        return f"{self.first} {self.second} {self.mover + 1} {die} {self.plies}"

    def scene(self):
        words = "Over" if self.ending() else f"{self.variant.seat_names[self.mover]} to move"
        return Scene(f"Dice: {words}", grid(2, 1), (), captions=(self.text(),))

    def clicks(self, move):
        return (move,)


PAGE = "# Dice\\n\\n" + "Throw a die, and take what lies, or leave it to the other. " * 4
GAME = Game("dice", "Dice", {}, Dice, ({},), rules=lambda: PAGE)
"""
ENTRY = "dice = dice_game:GAME"
