"""Ticks: what is urgent at each, what may wait at some, and at the next if there is more of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sqlalchemy as sa

from arena.ground.db import Database
from arena.models import Ladder
from arena.recorder.process import WHOLE_TICKS, Recorder
from tests.arena.simulator import CALM, Simulation

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


@pytest.mark.parametrize(
    ("more", "whole"),
    [((), (0, 5, 10)), ((0, 1), (0, 1, 2, 5, 10)), ((6,), (0, 5, 7, 10))],
    ids=["nothing", "at once", "later"],
)
def test_what_may_wait_is_seen_to_at_some_ticks(
    database: Database, recorder: Recorder, more: tuple[int, ...], whole: tuple[int, ...]
) -> None:
    """The first and each fifth, and at the one after a tick that left something."""
    ticks: list[bool] = []

    class Counting(Recorder):
        """Ends after some ticks, of which some leave something to do."""

        def tick(self, *, whole: bool = True) -> None:
            ticks.append(whole)
            self._has_more = len(ticks) - 1 in more
            self.writer.is_to_end = len(ticks) > 2 * WHOLE_TICKS

    counting = Counting(replace(recorder.writer.own_settings, tick_seconds=0.01))
    try:
        counting.take_over()
        counting.record_on()
    finally:
        counting.close()
    assert [number for number, is_whole in enumerate(ticks) if is_whole] == list(whole)


def test_what_goes_on_part_by_part_asks_for_the_next_tick(
    database: Database, recorder: Recorder
) -> None:
    """Ladders that are made anew do not wait for each other longer than for a tick."""
    variants = [("clobber", {"size": "4x4"})] * 3
    Simulation(database, 0, CALM).furnish(variants, bots=2)
    with database.begin() as session:
        session.execute(sa.update(Ladder).values(rebuild_due=True))

    def due() -> int:
        with database.read() as session:
            those = sa.select(sa.func.count()).select_from(Ladder).where(Ladder.rebuild_due)
            return session.scalar(those) or 0

    recorder.tick(whole=False)
    assert due() == 3
    for _ in range(20):
        recorder.tick()
        if not due():
            break
        assert recorder._has_more
    assert due() == 0
