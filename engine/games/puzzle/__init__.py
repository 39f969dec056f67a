"""The solitaire puzzles of Blokus: fill a board, alone.

Rules: rules.md beside this file. Raced, not played against each other: each bot solves the same
task by itself. A move's code is the mask of the squares it covers and, in its two lowest bits,
the colour; the code of ``stop`` is 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING

from engine.board import bits_of, grid, read_fields
from engine.game import (
    Game,
    IllegalMoveError,
    Move,
    PositionError,
    Seat,
    State,
    Termination,
    Variant,
    page_beside,
)
from engine.games.blokus.board import board, count, masks, nth, shape_of
from engine.games.blokus.polyominoes import ALL, SIZES, of_size, squares_in
from engine.games.blokus.position import (
    COLOURS,
    COVER,
    LOOKS,
    NO_SEATS,
    OVER,
    Position,
    Room,
    all_placements,
    check_move,
    choose_a_piece,
    contradiction,
    read_move,
    read_position,
    read_turn,
    write_turn,
)
from engine.options import choice
from engine.plurals import counted
from engine.scene import Held, Look, Scene
from engine.speed import judged_once, maker
from engine.translation import N_, gettext, translated

if TYPE_CHECKING:
    from engine.truth import Truth

STOP = N_("stop")
STOP_CODE = 0
ANY = "*"
EVERY_COLOUR = (0, 1, 2, 3)
NAMES = (N_("Blue"), N_("Yellow"), N_("Red"), N_("Green"))
"""The colours where a sentence begins."""

TASKS: Mapping[str, tuple[int, int, int]] = {
    "full": (20, 20, ALL),
    "tetrominoes": (8, 10, of_size(4)),
    "pentominoes": (15, 16, of_size(5)),
}
"""The files and ranks of each task's board, and the pieces of each colour."""


class Puzzle(Variant):
    """One task, hard or not."""

    game = "puzzle"
    seats = 1
    seat_names = (N_("Solver"),)
    opening_plies = 0

    def __init__(self, options: Mapping[str, str]) -> None:
        super().__init__(options)
        width, height, pieces = TASKS[options["task"]]
        self.board = board(width, height)
        self.start = Position(self.board, (0,) * 4, (pieces,) * 4)
        self.in_turn = options["task"] == "full"
        """Whether the colours place in turn, corner to corner, as in Blokus."""
        self.hard = options["hard"] == "yes"
        self.goal = 4 * squares_in(pieces)
        self.solved_score = float(self.goal)
        # The last piece ends the game by itself, so `stop` never comes on top of all pieces.
        self.max_plies = 4 * pieces.bit_count()

    def initial(self, seed: int = 0) -> PuzzleState:
        return new_state(self, self.start, (0,) if self.in_turn else EVERY_COLOUR)

    def read(self, text: str) -> PuzzleState:
        ranks, turn, left, last, seats = read_fields(
            text,
            N_("ranks"),
            N_("colour to move"),
            N_("remaining pieces"),
            N_("pieces placed last"),
            N_("seats out"),
        )
        if seats != NO_SEATS:
            raise PositionError(
                gettext(
                    "the seats out are %(seats)r; in a puzzle they are always %(none)r",
                    seats=seats[:20],
                    none=NO_SEATS,
                )
            )
        position = read_position(self.start, ranks, left, last, apart=self.in_turn or self.hard)
        return new_state(self, position, self._read_turn(turn, position))

    def all_moves(self) -> Sequence[Move]:
        return [STOP, *all_placements(self.board, self.start.left[0])]

    def all_looks(self) -> Sequence[Look]:
        return LOOKS

    def _read_turn(self, text: str, position: Position) -> tuple[int, ...]:
        over = new_state(self, position, ())
        going = [colour for colour in EVERY_COLOUR if over.may_go_on(colour)]
        if not self.in_turn:
            if text not in (ANY, OVER):
                raise PositionError(
                    gettext(
                        "the colour to move is %(text)r, not %(any)s or %(over)s",
                        text=text[:20],
                        any=ANY,
                        over=OVER,
                    )
                )
            if text == ANY and not going:
                raise PositionError(
                    gettext("nothing can be placed, so the colour to move is %(over)r", over=OVER)
                )
            return () if text == OVER else EVERY_COLOUR
        if self.hard:
            _check_sizes(position)
        out = [colour for colour in EVERY_COLOUR if colour not in going]
        mover = read_turn(text, position, self.start, out)
        if mover is not None:
            return (mover,)
        # When `stop` came it was the turn of one of those who could still place.
        wrong = [contradiction(position, self.start, colour, out) for colour in going]
        if wrong and all(wrong):
            raise PositionError(gettext("%(wrong)s, nor anyone's", wrong=wrong[0]))
        return ()

    def truth(self) -> Truth:
        from engine.games.puzzle.truth import PuzzleTruth

        return PuzzleTruth(self)


def _check_sizes(position: Position) -> None:
    """Refuses a colour that placed a piece while it had a larger one.

    Raises:
        PositionError: with the reason.
    """
    for colour, left in zip(COLOURS, position.left, strict=True):
        placed = ALL & ~left
        if placed and left and SIZES[bits_of(placed)[0]] < SIZES[bits_of(left)[-1]]:
            raise PositionError(
                gettext(
                    "%(colour)s has larger pieces left than one it placed",
                    colour=translated(colour),
                )
            )


@dataclass(frozen=True, slots=True)
class PuzzleState(State):
    """A position, and the colours of which one may place now: none when the game is over."""

    variant: Puzzle = field(repr=False)
    position: Position
    turn: tuple[int, ...]

    @property
    def to_move(self) -> Seat | None:
        return 0 if self.turn else None

    def _room(self, colour: int) -> Room:
        if self.variant.in_turn:
            return self.position.room(colour, self.position.board.corners)
        room = self.position.free
        if self.variant.hard:
            room &= ~self.position.board.edges(self.position.covered[colour])
        return room, room

    def _pieces(self, colour: int) -> int:
        """The pieces of which the colour may place one."""
        left = self.position.left[colour]
        if left and self.variant.in_turn and self.variant.hard:
            # Pieces are numbered by size.
            return left & of_size(SIZES[left.bit_length() - 1])
        return left

    def _placements(self, colour: int) -> Iterator[tuple[int, int]]:
        return self.position.board.placements(*self._room(colour), self._pieces(colour))

    def may_go_on(self, colour: int) -> bool:
        """Whether the colour has a piece that it may place somewhere."""
        return next(self._placements(colour), None) is not None

    def legal_moves(self) -> Sequence[Move]:
        if not self.turn:
            return []
        words = [STOP]
        for colour in self.turn:
            words += self.position.board.spell(f"{COLOURS[colour]}:", self._placements(colour))
        return sorted(words)

    def canonical(self, move: str) -> Move:
        return self.word(self.judge(move))

    def play(self, move: Move) -> PuzzleState:
        return self.play_code(self.judge(move))

    def clicks(self, move: Move) -> tuple[str, ...]:
        return (STOP,) if move == STOP else self.position.clicks(move)

    def prompt(self, clicked: Sequence[str]) -> str:
        if clicked:
            return translated(COVER)
        if self.variant.in_turn:
            return choose_a_piece(self.turn[0])
        return gettext("Choose a piece of any colour.")

    def caution(self, move: Move) -> str:
        if move != STOP:
            return ""
        (covered,) = self.scores()
        squares = counted(covered, "covered square")
        return gettext(
            "To stop ends the game. You keep what you have: %(squares)s.", squares=squares
        )

    def half_made(self, clicked: Sequence[str]) -> Scene:
        return self.position.half_made(self.scene(), clicked)

    def hand(self, seat: Seat) -> Sequence[Held]:
        """The pieces of the colours that may place now; in the end those of all."""
        return [
            held
            for colour in self.turn or EVERY_COLOUR
            for held in self.position.hand(colour, self.variant.start.left[colour])
        ]

    @judged_once
    def judge(self, move: str) -> int:
        if not self.turn:
            raise IllegalMoveError(move, gettext("the game is over"))
        if move == STOP:
            return STOP_CODE
        colour, mask = read_move(self.position.board, move)
        if colour not in self.turn:
            raise IllegalMoveError(
                move, gettext("it is %(colour)s's turn", colour=translated(COLOURS[self.turn[0]]))
            )
        check_move(move, self.position, colour, mask, self._room(colour))
        if not self._pieces(colour) >> self.position.board.piece_of[shape_of(mask)] & 1:
            raise IllegalMoveError(
                move,
                gettext("%(colour)s has a larger piece left", colour=translated(COLOURS[colour])),
            )
        return mask << 2 | colour

    def ending(self) -> Termination | None:
        return None if self.turn else Termination.NORMAL

    def scores(self) -> tuple[float, ...]:
        return (float(sum(covered.bit_count() for covered in self.position.covered)),)

    points_so_far = scores

    def text(self) -> str:
        turn = write_turn(self.turn[0] if self.turn else None)
        shown = ANY if self.turn == EVERY_COLOUR else turn
        return f"{self.position.fields(shown)} {NO_SEATS}"

    def scene(self) -> Scene:
        board, task = self.position.board, self.variant.options["task"]
        status = self._status()
        return Scene(
            title=gettext("Blokus puzzle, %(task)s: %(status)s", task=task, status=status),
            squares=grid(board.width, board.height, chequered=False),
            pieces=tuple(self.position.drawing()),
            captions=(status, self.position.caption()),
            rims=tuple(
                rim
                for colour in self.turn
                if self.variant.in_turn
                for rim in self.position.beginnings(colour, board.corners)
            ),
        )

    def _status(self) -> str:
        """How much is covered, and whose turn it is, in words."""
        covered, goal = int(self.scores()[0]), self.variant.goal
        if covered == goal:
            return gettext("Solved: all %(goal)s squares covered", goal=goal)
        if not self.turn:
            return gettext(
                "Over: %(covered)s of %(goal)s squares covered", covered=covered, goal=goal
            )
        if self.variant.in_turn:
            return gettext(
                "%(colour)s to move; %(covered)s of %(goal)s squares covered",
                colour=translated(NAMES[self.turn[0]]),
                covered=covered,
                goal=goal,
            )
        return gettext("%(covered)s of %(goal)s squares covered", covered=covered, goal=goal)

    def codes(self) -> Sequence[int]:
        if not self.turn:
            return []
        return [STOP_CODE] + [
            mask << 2 | colour for colour in self.turn for mask in masks(self._placements(colour))
        ]

    def word(self, code: int) -> Move:
        if code == STOP_CODE:
            return STOP
        return f"{COLOURS[code & 3]}:{self.position.board.write(code >> 2)}"

    def play_code(self, code: int) -> PuzzleState:
        if code == STOP_CODE:
            return new_state(self.variant, self.position, ())
        position = self.position.place(code & 3, code >> 2)
        after = new_state(self.variant, position, self.turn)
        turn: tuple[int, ...]
        if self.variant.in_turn:
            later = ((code + 1 & 3,), (code + 2 & 3,), (code + 3 & 3,), (code & 3,))
            turn = next((turn for turn in later if after.may_go_on(*turn)), ())
        else:
            turn = EVERY_COLOUR if any(map(after.may_go_on, EVERY_COLOUR)) else ()
        return new_state(self.variant, position, turn)

    def playout(self, random: Random) -> tuple[float, ...]:
        state = self
        while state.turn:
            state = state.play_code(state._any_code(random))
        return state.scores()

    def _any_code(self, random: Random) -> int:
        """One of `codes`, each as likely as the others."""
        found = {colour: list(self._placements(colour)) for colour in self.turn}
        index = int(random.random() * (1 + sum(map(count, found.values()))))
        for colour, placements in found.items():
            here = count(placements)
            if index < here:
                return nth(placements, index) << 2 | colour
            index -= here
        return STOP_CODE


new_state = maker(PuzzleState)


GAME = Game(
    name="puzzle",
    title=N_("Blokus puzzles"),
    options={"task": choice(*TASKS), "hard": choice("no", "yes")},
    build=Puzzle,
    offers=(
        {"task": "full"},
        {"task": "tetrominoes"},
        {"task": "pentominoes"},
        {"task": "tetrominoes", "hard": "yes"},
    ),
    rules=page_beside(__file__),
    version="1",
)
