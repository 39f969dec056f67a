"""Wakes the recorder from the pages, which are no worker of Celery's."""

from __future__ import annotations

import logging
from functools import cache
from typing import TYPE_CHECKING

from arena.config import Settings
from engine import jobs

if TYPE_CHECKING:
    from celery import Celery

log = logging.getLogger("arena.recorder.waking")


def wake(settings: Settings) -> None:
    """Asks the recorder to issue at once what is due; if that fails, its next tick does."""
    if not settings.broker:
        return
    # Imported when somebody plays: it would cost every start of the pages a tenth of a second.
    from kombu.exceptions import OperationalError

    from arena.recorder.dispatch import WAKE

    try:
        _sender(settings).send_task(WAKE, queue=jobs.RESULTS_QUEUE, retry=False)
    except OperationalError as error:
        log.warning("the recorder was not woken: %s", error)


@cache
def _sender(settings: Settings) -> Celery:
    from celery import Celery

    from arena.recorder.dispatch import configure

    app = Celery("arena.pages", set_as_current=False)
    configure(app, settings)
    return app
