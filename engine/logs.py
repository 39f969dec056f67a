"""Log lines as JSON, one object a line, with what a line is about in fields of their own."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from typing import Any

from engine.jobs import Lease

FIELDS = ("job", "attempt", "worker", "alarm")
"""What a line may be about; ``job`` is e.g. ``match 17``, from its issue to its result."""


def about(lease: Lease) -> dict[str, Any]:
    """The fields of a line about one attempt at a job, for ``extra=``."""
    return {"job": f"{lease.kind} {lease.job}", "attempt": lease.attempt}


class JsonLines(logging.Formatter):
    """Writes each record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= {name: getattr(record, name) for name in FIELDS if hasattr(record, name)}
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


def use_json(*loggers: logging.Logger) -> None:
    """Has every handler of these loggers write JSON."""
    for logger in loggers:
        for handler in logger.handlers:
            handler.setFormatter(JsonLines())
