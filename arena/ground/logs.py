"""The log of a process: where its lines go, and in what form."""

from __future__ import annotations

import logging

from arena.ground.config import Settings
from engine.logs import use_json


def begin_log(settings: Settings) -> None:
    """Has what the process tells go to standard error: plain, or by `ARENA_LOG` as JSON."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    if settings.log == "json":
        use_json(logging.getLogger())
