"""The pictures of a rules page: positions that stand on it as text, drawn by the rules themselves.

A picture is a fenced block of the page whose first line begins with ``board``, and after that may
have options of the game; each line in it is a word, a colon, and what the word says::

    ```board size=4x4
    caption: White takes the stone on b2.
    position: 1w1b/4/wb2/4 1
    moves: a2b2
    ```

All but the caption may be left out. ``position`` is a position text, else it is the first position
of a game; ``moves`` are played from there; ``from`` are clicks that begin a move, as `State.clicks`
has them, with ``>`` between them, or ``-`` for none yet: so much of the move is done, and where it
may go on is marked. The rest is claimed of the position before that, and has to be true: ``legal``
and ``illegal`` are moves, ``count`` is how many legal ones there are, ``scores`` is what came of a
game that is over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from engine.clicks import Clicks, beginning, following, half_made, illustrate, ways
from engine.game import Game, GameError, Move, State, Variant
from engine.games import find_variant
from engine.scene import Scene

INFO = "board"
"""What the first line of a block says that is a picture."""
WORDS = frozenset(
    ["caption", "position", "moves", "from", "legal", "illegal", "count", "scores"],
)
MOST = 60
"""Pictures of a page."""
FENCE = re.compile(r"^(```|~~~)(board\b[^\n`]*)\n(.*?)^\1\s*$", re.MULTILINE | re.DOTALL)


class RulesPictureError(ValueError):
    """A block that is no picture, or claims what is not so; one sentence."""


@dataclass(frozen=True)
class RulesPicture:
    """A position of a rules page, and what is said of it."""

    caption: str
    variant: Variant
    position: str
    """The position text that it begins with; empty for the first position of a game."""
    moves: tuple[Move, ...]
    """What was played since, in canonical notation."""
    state: State
    """What is drawn."""
    before: State | None = None
    """What stood before the last move, if there is one."""
    clicked: Clicks | None = None
    """What begins a move, where it is marked how that may go on."""
    legal: tuple[Move, ...] = ()
    illegal: tuple[str, ...] = ()

    @property
    def scene(self) -> Scene:
        """The drawing of its position."""
        if self.clicked:
            return half_made(self.state, ways(self.state), self.clicked)
        last = self.moves[-1] if self.moves else None
        scene = illustrate(self.state, last=last, before=self.before)
        if self.clicked is None:
            return scene
        known = {square.name for square in scene.squares}
        on = following(ways(self.state), ())
        return replace(scene, targets=tuple(name for name in on if name in known))


def pictures_in(game: Game, page: str) -> Iterator[RulesPicture]:
    """The pictures of a rules page, one after the other.

    Raises:
        RulesPictureError: one of them is none.
    """
    blocks = list(FENCE.finditer(page))
    if len(blocks) > MOST:
        raise RulesPictureError(f"it has {len(blocks)} pictures, and not {MOST} at most")
    for block in blocks:
        yield read_picture(game, block[2], block[3])


def read_picture(game: Game, info: str, text: str) -> RulesPicture:
    """A picture from its block.

    Args:
        info: the block's first line, from ``board`` on.
        text: the lines in it.

    Raises:
        RulesPictureError: it is none, or claims what is not so.
    """
    said: dict[str, str] = {}
    for line in filter(str.strip, text.splitlines()):
        word, colon, rest = line.partition(":")
        if not colon or word not in WORDS or word in said or not rest.strip():
            raise RulesPictureError(f"{line[:60]!r} is no line of a picture, or its second one")
        said[word] = rest.strip()
    if "caption" not in said:
        raise RulesPictureError("a picture has no caption")
    try:
        return _read(game, info.split()[1:], said)
    except GameError as error:
        raise RulesPictureError(f"the picture {said['caption'][:60]!r}: {error}") from None


def _read(game: Game, options: Sequence[str], said: dict[str, str]) -> RulesPicture:
    variant = find_variant(game.name, options).drawn(0)
    position = said.get("position", "")
    state = variant.read(position) if position else variant.initial()
    moves, before = list[Move](), None
    for move in said.get("moves", "").split():
        moves.append(state.canonical(move))
        before, state = state, state.play(move)
    picture = RulesPicture(
        said["caption"],
        variant,
        position,
        tuple(moves),
        state,
        before,
        _clicked(said["from"]) if "from" in said else None,
        tuple(said.get("legal", "").split()),
        tuple(said.get("illegal", "").split()),
    )
    for wrong in _untrue(picture, said):
        raise RulesPictureError(f"the picture {picture.caption[:60]!r}: {wrong}")
    return picture


def _clicked(text: str) -> Clicks:
    return () if text == "-" else tuple(map(str.strip, text.split(">")))


def _untrue(picture: RulesPicture, said: dict[str, str]) -> Iterator[str]:
    """What is claimed and is not so."""
    state = picture.state
    yield from (f"{move} is not legal" for move in picture.legal if not state.is_legal(move))
    yield from (f"{move} is legal" for move in picture.illegal if state.is_legal(move))
    if picture.clicked is not None and not beginning(ways(state), picture.clicked):
        yield f"no move begins with {' > '.join(picture.clicked) or 'a click'}"
    if "count" in said and said["count"] != str(found := len(state.legal_moves())):
        yield f"there are {found} legal moves, and not {said['count']}"
    if "scores" in said:
        scores = "" if state.to_move is not None else " ".join(f"{one:g}" for one in state.scores())
        if scores != said["scores"]:
            yield f"the scores are {scores or 'not known yet'}, and not {said['scores']}"
