"""The kinds of competition that there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from arena.competitions.gauntlets import Gauntlets
from arena.competitions.kind import AnyKind
from arena.competitions.ladders import Ladders
from arena.competitions.strength_tests import StrengthTests
from arena.competitions.tournaments import Tournaments
from arena.competitions.tunings import Tunings
from arena.models import Competition

ALL: tuple[AnyKind, ...] = (
    Ladders(),
    Tournaments(),
    StrengthTests(),
    Tunings(),
    Gauntlets(),
)
KINDS: Mapping[str, AnyKind] = {kind.name: kind for kind in ALL}
"""The kinds, by the names that the database knows them by."""


def names_of(which: Callable[[AnyKind], bool]) -> list[str]:
    """The names of those kinds of which something holds, for a condition on their competitions."""
    return [name for name, kind in KINDS.items() if which(kind)]


def kind_of(competition: Competition) -> AnyKind:
    """How a competition is played."""
    return KINDS[competition.kind]
