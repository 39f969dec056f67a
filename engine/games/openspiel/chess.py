"""Chess, from any position: FEN as text, SAN as moves, and UCI's long notation as another spelling.

OpenSpiel takes nearly any FEN for a position and may fail in it later, so one is proven first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import pyspiel

from engine.board import grid, square_bits, square_names
from engine.game import Dialect, IllegalMoveError, Move, PositionError, State, Termination
from engine.games.openspiel.spiel import SpielState, SpielVariant
from engine.options import Option
from engine.scene import Body, Paint, Piece, Scene
from engine.translation import N_, gettext, translated

START = "startpos"
WHITE = 1
"""OpenSpiel's number of the player who begins."""
FIGURES = {
    "p": N_("pawn"),
    "n": N_("knight"),
    "b": N_("bishop"),
    "r": N_("rook"),
    "q": N_("queen"),
    "k": N_("king"),
}
PIECES = {
    "P": N_("white pawn"),
    "N": N_("white knight"),
    "B": N_("white bishop"),
    "R": N_("white rook"),
    "Q": N_("white queen"),
    "K": N_("white king"),
    "p": N_("black pawn"),
    "n": N_("black knight"),
    "b": N_("black bishop"),
    "r": N_("black rook"),
    "q": N_("black queen"),
    "k": N_("black king"),
}
"""What the pieces are called, by their letters in a FEN."""
MOST_PLIES, MOST_MOVES = 100, 9999
"""How many plies without capture or pawn's move a game is over after, by the fifty-move rule."""
STRAIGHT, DIAGONAL = ((0, 1), (1, 0), (0, -1), (-1, 0)), ((1, 1), (1, -1), (-1, 1), (-1, -1))
LEAPS = ((1, 2), (2, 1), (-1, 2), (-2, 1), (1, -2), (2, -1), (-1, -2), (-2, -1))
Board = Mapping[str, str]
"""The letter of the piece on each square that has one."""


class Chess(SpielVariant):
    """Chess from the usual start or another position."""

    def __init__(self, options: Mapping[str, str]) -> None:
        super().__init__("chess", options)
        self.seat_names = (N_("White"), N_("Black"))
        # White has the first seat, also where Black begins.
        self.first = WHITE
        fen = options["fen"]
        self.start = None if fen == START else fen.replace("_", " ")

    def load(self, name: str) -> Any:
        return pyspiel.load_game(name)

    def state(self, spiel: Any) -> ChessState:
        return ChessState(self, spiel)

    def initial(self, seed: int = 0) -> ChessState:
        if self.start is None:
            return self.state(self.rules.new_initial_state())
        return self.state(self.rules.new_initial_state(self.start))

    def read(self, text: str) -> ChessState:
        if wrong := fault(text):
            raise PositionError(wrong)
        state = self.state(self.rules.new_initial_state(text))
        if state.text() != text:
            passed = text.split(" ")[3]
            raise PositionError(
                gettext(
                    "no pawn can take en passant on %(passed)s: that is written '-'", passed=passed
                )
            )
        return state

    def dialect(self, protocol: str) -> Dialect | None:
        """The game in UCI, of which every engine knows the start that is not named, or in PGN."""
        if protocol == "pgn":
            return Dialect("", lambda _, move: move, _from_pgn, start=self.start or "")
        if protocol != "uci":
            return None
        start = f"fen {self.start}" if self.start else "startpos"
        return Dialect("", _to_uci, lambda _, word: word, start=start)

    def beginning_at(self, text: str) -> Chess:
        """Chess from a FEN, or from the four fields of EPD and two of its operations."""
        fields, operations = text.split()[:4], text.split(maxsplit=4)[4:]
        counts = re.match(r"([0-9]+)\s+([0-9]+)$", operations[0].strip()) if operations else None
        if counts:
            plies, number = counts.groups()
        else:
            named = dict(re.findall(r"(hmvc|fmvn)\s+([0-9]+)\s*;", "".join(operations)))
            plies, number = named.get("hmvc", "0"), named.get("fmvn", "1")
        fen = " ".join([*fields, plies, number])
        if wrong := fault(fen):
            raise PositionError(wrong)
        is_usual = fen == str(self.rules.new_initial_state())
        return Chess({"fen": START if is_usual else fen.replace(" ", "_")})


class ChessState(SpielState):
    """A position; how often it has stood belongs to its past, and is no part of its equality."""

    variant: Chess

    @cached_property
    def _key(self) -> object:
        return self.text()

    @cached_property
    def long(self) -> Mapping[str, Move]:
        """The legal moves by their long notation."""
        board, read = self.spiel.board(), pyspiel.chess.action_to_move
        return {read(code, board).to_lan(): word for code, word in self.words.items()}

    def judge(self, move: str) -> int:
        code = self.actions.get(move)
        if code is None and re.fullmatch(r"([a-h][1-8]){2}[nbrq]?", move, re.ASCII):
            code = self.actions.get(self.long.get(move, ""))
        if code is None:
            raise IllegalMoveError(
                move,
                gettext("the game is over")
                if self.is_over
                else gettext("a move is written as in Nf3, or as in g1f3"),
            )
        return code

    def canonical(self, move: str) -> Move:
        return self.words[self.judge(move)]

    def ending(self) -> Termination | None:
        if self.spiel.is_terminal() and self.spiel.is_repetition_draw():
            return Termination.REPETITION
        return super().ending()

    def text(self) -> str:
        return f"{self.spiel}"

    def clicks(self, move: Move) -> tuple[str, ...]:
        played = pyspiel.chess.action_to_move(self.actions[move], self.spiel.board())
        ends = (_name(played.from_square), _name(played.to_square))
        long = played.to_lan()
        return (*ends, FIGURES[long[4]]) if len(long) == 5 else ends

    def prompt(self, clicked: Sequence[str]) -> str:
        if len(clicked) == 1:
            letter = _board(self.text().partition(" ")[0])[clicked[0]]
            return gettext(
                "Choose where the %(piece)s goes.", piece=translated(FIGURES[letter.lower()])
            )
        if clicked:
            return gettext("Choose what the pawn becomes.")
        return gettext("Choose the piece that moves.")

    def marks(self, move: Move) -> tuple[str, ...]:
        history = self.spiel.moves_history()
        return (
            tuple(map(_name, (history[-1].from_square, history[-1].to_square))) if history else ()
        )

    def scene(self) -> Scene:
        turn, words = self._turn(), {letter: translated(one) for letter, one in PIECES.items()}
        board = _board(self.text().partition(" ")[0])
        return Scene(
            title=f"Chess: {turn}",
            squares=grid(8, 8),
            pieces=tuple(
                Piece((name,), Body.FIGURE, paint, words[letter], figure)
                for name, letter in board.items()
                for paint in (Paint.WHITE if letter.isupper() else Paint.BLACK,)
                for figure in (FIGURES[letter.lower()],)
            ),
            captions=(turn,),
        )

    def _turn(self) -> str:
        if self.ending() is Termination.REPETITION:
            return gettext("Drawn by repetition")
        return self.turn()


def _to_uci(state: State, move: Move) -> str:
    assert isinstance(state, ChessState)
    board = state.spiel.board()
    word: str = pyspiel.chess.action_to_move(state.judge(move), board).to_lan()
    return word


def _from_pgn(state: State, word: str) -> Move:
    """A move as people write it: with or without its check, castling with zeros, and with more of
    the square that it comes from than is needed."""
    assert isinstance(state, ChessState)
    plain = re.sub(r"^0-0(-0)?$", lambda it: it[0].replace("0", "O"), word.rstrip("+#"))
    by_plain = {move.rstrip("+#"): move for move in state.actions}
    if plain in by_plain:
        return by_plain[plain]
    found = re.fullmatch(r"([KQRBN]?)([a-h]?[1-8]?)x?([a-h][1-8])(?:=?([QRBN]))?", plain, re.ASCII)
    if found is None:
        return word
    piece, origin, target, promotion = found.groups(default="")
    meant = [
        move
        for long, move in state.long.items()
        if long[2:] == target + promotion.lower()
        and all(one in long[:2] for one in origin)
        and (re.match("[KQRBN]", move) or [""])[0] == piece
    ]
    return meant[0] if len(meant) == 1 else word


def _name(square: Any) -> str:
    return square_names(8, 8)[8 * int(square.y) + int(square.x)]


def _board(ranks: str) -> Board:
    """The pieces of the first field of a FEN, which is proven."""
    cells = re.sub(r"\d", lambda run: "." * int(run[0]), ranks).split("/")
    return {
        name: letter
        for name, letter in zip(square_names(8, 8), "".join(reversed(cells)), strict=True)
        if letter != "."
    }


def fault(fen: str) -> str | None:
    """What is wrong with a FEN; None if a game may be in that position."""
    fields = fen.split(" ")
    if len(fields) != 6:
        return gettext("a FEN has 6 fields: ranks, turn, castling, en passant and two counts")
    ranks, turn, castling, passed, plies, number = fields
    if (
        any(
            re.fullmatch(r"([pnbrqkPNBRQK]|[1-8](?![1-8]))+", rank, re.ASCII) is None
            or sum(int(cell) if cell.isdigit() else 1 for cell in rank) != 8
            for rank in ranks.split("/")
        )
        or ranks.count("/") != 7
    ):
        return gettext("the ranks of a FEN are 8, joined by '/', each of 8 squares")
    if turn not in ("w", "b"):
        return gettext("the turn is %(turn)r, not w or b", turn=turn[:20])
    for count, most in ((plies, MOST_PLIES), (number, MOST_MOVES)):
        if re.fullmatch(r"0|[1-9][0-9]{0,3}", count, re.ASCII) is None or int(count) > most:
            return gettext("%(count)r is no count from 0 to %(most)s", count=count[:20], most=most)
    board = _board(ranks)
    letters = "".join(board.values())
    for side, pieces in (("White", "KQRBNP"), ("Black", "kqrbnp")):
        counts = [letters.count(piece) for piece in pieces]
        if counts[0] != 1:
            return gettext("%(seat)s has %(kings)s kings", seat=translated(side), kings=counts[0])
        # A pawn is promoted to what exceeds the pieces of the start.
        promoted = sum(
            max(0, have - at_first)
            for have, at_first in zip(counts[1:5], (1, 2, 2, 2), strict=True)
        )
        if counts[5] + promoted > 8:
            return gettext(
                "%(seat)s has more pieces than 8 pawns and promotions make", seat=translated(side)
            )
    if any(board.get(file + rank, "").lower() == "p" for file in "abcdefgh" for rank in "18"):
        return gettext("a pawn stands on the first or the last rank")
    if re.fullmatch(r"-|(?=.)K?Q?k?q?", castling) is None:
        return gettext(
            "castling is %(castling)r, not - or letters of KQkq in that order",
            castling=castling[:20],
        )
    homes = {"K": ("e1", "h1"), "Q": ("e1", "a1"), "k": ("e8", "h8"), "q": ("e8", "a8")}
    for right in castling.strip("-"):
        king, rook = homes[right]
        wanted = ("K", "R") if right.isupper() else ("k", "r")
        if (board.get(king), board.get(rook)) != wanted:
            return gettext(
                "castling %(right)s needs a king on %(king)s and a rook on %(rook)s",
                right=right,
                king=king,
                rook=rook,
            )
    return _fault_of_turn(board, turn, passed)


def _fault_of_turn(board: Board, turn: str, passed: str) -> str | None:
    king = next(name for name, piece in board.items() if piece == ("k" if turn == "w" else "K"))
    if _attacks(board, king, turn == "w"):
        if turn == "w":
            return gettext("it is white's turn, and the black king is in check")
        return gettext("it is black's turn, and the white king is in check")
    if passed == "-":
        return None
    rank, beyond, start, pawn = ("6", "5", "7", "p") if turn == "w" else ("3", "4", "2", "P")
    if re.fullmatch(rf"[a-h]{rank}", passed, re.ASCII) is None:
        return gettext(
            "en passant is %(passed)r, not - or a square of rank %(rank)s",
            passed=passed[:20],
            rank=rank,
        )
    file = passed[0]
    if board.get(file + beyond) != pawn or file + start in board or passed in board:
        return gettext("no pawn has passed %(passed)s", passed=passed)
    return None


def _attacks(board: Board, square: str, by_white: bool) -> bool:
    """Whether a piece of one side attacks a square."""
    bit = square_bits(8, 8)[square]
    file, rank = bit % 8, bit // 8

    def at(dx: int, dy: int) -> str:
        if not (0 <= file + dx < 8 and 0 <= rank + dy < 8):
            return "edge"
        piece = board.get(square_names(8, 8)[8 * (rank + dy) + file + dx], "")
        return piece.lower() if piece.isupper() == by_white else piece and "other"

    down = -1 if by_white else 1
    if any(at(dx, down) == "p" for dx in (-1, 1)) or any(at(*leap) == "n" for leap in LEAPS):
        return True
    for rays, letters in ((STRAIGHT, "rq"), (DIAGONAL, "bq")):
        for dx, dy in rays:
            if at(dx, dy) == "k":
                return True
            reach = next(piece for step in range(1, 9) if (piece := at(dx * step, dy * step)))
            if len(reach) == 1 and reach in letters:
                return True
    return False


POSITIONS = N_("%(start)s, or a FEN with '_' for its spaces")
FEN = Option(
    START,
    POSITIONS % {"start": START},
    lambda value: value == START or (" " not in value and fault(value.replace("_", " ")) is None),
    lambda: gettext(POSITIONS, start=START),
)
