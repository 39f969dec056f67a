"""The process that makes records cold, and looks whether all files of the cold store are there.

The recorder starts it. It gives way to all others, and goes on where one before it broke off.
"""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime

from arena.ground.config import load
from arena.ground.db import FAILED, Database, SchemaError, unusable
from arena.ground.logs import begin_log
from arena.keeping.moving import MoveError, Mover, begins_cold, out_of_place
from arena.keeping.stores import StoreError, store_at
from arena.present import present_settings

FAILED_CODE = 1
"""The exit code of one that found something wrong; standard output says what in a line."""
MOST_TOLD = 3
"""Files of which it is said what is wrong with each."""


def main() -> int:
    """Moves what is old enough, by the settings of the environment, and looks for the files."""
    os.nice(19)
    settings = load()
    begin_log(settings)
    now, store = datetime.now(UTC), store_at(settings.cold_store)
    try:
        database = Database(settings.database_url)
        database.demand_schema()
        with database.read() as session:
            days = present_settings(session, settings).cold_days
        if days:
            Mover(database, store).move(begins_cold(days, now), now)
        with database.read() as session:
            wrong = out_of_place(session, store)
    except (MoveError, StoreError, SchemaError) as error:
        return _fail(str(error))
    except FAILED as error:
        return _fail(unusable(error))
    except OSError as error:
        return _fail(f"can't write {error.filename or 'temporary files'}: {error.strerror}")
    if wrong:
        more = f"; and {len(wrong) - MOST_TOLD} more" if len(wrong) > MOST_TOLD else ""
        return _fail("; ".join(wrong[:MOST_TOLD]) + more)
    return 0


def _fail(problem: str) -> int:
    print(problem, flush=True)
    return FAILED_CODE


if __name__ == "__main__":
    sys.exit(main())
