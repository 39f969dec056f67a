"""The kinds of competition that there are."""

from __future__ import annotations

from collections.abc import Mapping

from arena.competitions.kind import AnyKind
from arena.competitions.ladders import Ladders
from arena.competitions.strength_tests import StrengthTests
from arena.competitions.tournaments import Tournaments
from arena.models import Competition

ALL: tuple[AnyKind, ...] = (
    Ladders(),
    Tournaments(),
    StrengthTests(),
)
KINDS: Mapping[str, AnyKind] = {kind.name: kind for kind in ALL}
"""By the names that the database knows them by."""


def checked_kinds() -> list[str]:
    """The names of those whose counters are made anew to see that they are right."""
    return [name for name, kind in KINDS.items() if kind.checked]


def kind_of(competition: Competition) -> AnyKind:
    """How a competition is played."""
    return KINDS[competition.kind]
