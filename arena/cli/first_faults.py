"""The first fault of each bot in a test, so that whoever reads of many knows what to mend."""

from __future__ import annotations

from collections.abc import Iterable

from engine.protocol import visible
from engine.record import GameRecord
from engine.translation import N_

ADVICE = N_("mend the bots, or count faults as games lost with --allow-faults")


def has_failed(record: GameRecord) -> bool:
    """Whether a bot failed in a game; to resign is no failure."""
    return any(fault.termination.is_failure for fault in record.faults)


class FirstFaults:
    """The first fault of each bot, as games are played."""

    def __init__(self) -> None:
        self._words: dict[str, str] = {}

    def note(self, records: Iterable[GameRecord]) -> None:
        """Takes in games, in their order."""
        for record in records:
            for fault in record.faults:
                name = record.players[fault.seat]
                if fault.termination.is_failure and name not in self._words:
                    what = visible(f"{fault.termination}, {fault.detail}", but="")
                    self._words[name] = f"{name}: ply {fault.ply}: {what}"

    @property
    def lines(self) -> list[str]:
        """One for each bot that had a fault, in English as its detail is."""
        return list(self._words.values())
