"""/metrics for Prometheus, and /readyz for whoever sends requests here."""

from __future__ import annotations

import hmac
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from ipaddress import ip_address

from flask import Blueprint, Flask, Response, abort, current_app, g, request
from prometheus_client import CollectorRegistry, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector
from sqlalchemy.exc import SQLAlchemyError

from arena.ground.config import Settings
from arena.operation import alarms, queues
from arena.operation.alarms import Alarm
from arena.operation.health import Health, Jobs, look, why_not_recording
from arena.schedule.occurrences import CAME_BACK
from arena.web.identity import bearer, settings
from arena.web.lookup import reading
from engine.translation import gettext

metrics = Blueprint("metrics", __name__)

OWN_NAME = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:[0-9]+)?")
"""The names by which a machine asks itself."""
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)


@metrics.get("/metrics")
def scrape() -> Response:
    """How the arena is, for this machine or whoever shows the token."""
    if not _may_scrape(settings()):
        abort(403, gettext("Metrics are for this machine, or for whoever shows the token."))
    now = datetime.now(UTC)
    with reading() as session:
        health = look(session, settings(), now)
        found = alarms.find(session, settings(), now, health)
    registry = CollectorRegistry()
    registry.register(_OfArena(health, found, settings().broker))
    registry.register(current_app.extensions["arena.page_times"])
    return Response(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


def _may_scrape(known: Settings) -> bool:
    token = bearer()
    if known.metrics_token:
        shown = (token or "").encode()
        return hmac.compare_digest(shown, known.metrics_token.encode())
    is_here = ip_address(request.remote_addr or "0.0.0.0").is_loopback  # noqa: S104
    return is_here and not _is_proxied()


def _is_proxied() -> bool:
    """Whether a proxy on this machine asks for others, counted in the settings or not.

    Most say so in a header, or pass on by which name they were asked; nginx, unless told
    otherwise, does neither, but speaks HTTP/1.0.
    """
    if request.environ.get("SERVER_PROTOCOL") == "HTTP/1.0":
        return True
    return not OWN_NAME.fullmatch(request.host) or any(
        key in ("Forwarded", "Via", "X-Real-Ip") or key.startswith("X-Forwarded-")
        for key in request.headers.keys()  # noqa: SIM118
    )


@metrics.get("/readyz")
def readyz() -> tuple[str, int, dict[str, str]]:
    """Whether pages can be served, and what is played is written down: the database answers, the
    recorder writes to it and is in time, and the broker has room if there is one.
    """
    problems = []
    try:
        with reading() as session:
            if problem := why_not_recording(session, datetime.now(UTC)):
                problems.append(problem)
    except SQLAlchemyError:
        problems.append("the database does not answer")
    if settings().broker and (problem := queues.look(settings().broker).problem):
        problems.append(problem)
    words = "\n".join(problems) or "ready"
    return f"{words}\n", 503 if problems else 200, {"Content-Type": "text/plain"}


class _OfArena(Collector):
    """What was looked at, in the form of the library."""

    def __init__(self, health: Health, found: Sequence[Alarm], broker: str) -> None:
        self._health, self._alarms = health, found
        self._queues = queues.look(broker)

    def collect(self) -> Iterator[Metric]:
        health = self._health
        words = "Messages that nobody has taken yet."
        yield _gauge("arena_queue_length", words, "queue", self._queues.waiting or {})
        if self._queues.memory_used is not None:
            sizes = {"used": self._queues.memory_used, "most": self._queues.memory_most}
            words = "Memory of the broker; most is 0 without a bound."
            yield _gauge("arena_broker_memory_bytes", words, "kind", sizes)
        for kind, jobs in (("matches", health.matches), ("checks", health.checks)):
            yield _gauge(f"arena_{kind}", f"The {kind} by where they stand.", "status", _by(jobs))
        words = "Games a minute in the last five, by competition."
        yield _gauge("arena_games_per_minute", words, "competition", health.games_a_minute)
        words = "Bots' faults in the last five minutes, by kind."
        yield _gauge("arena_faults", words, "kind", health.faults)
        if health.tick_seconds is not None:
            words = "Seconds since the recorder's last tick."
            yield GaugeMetricFamily("arena_recorder_lag_seconds", words, health.tick_seconds)
        if health.behind_seconds is not None:
            words = "Seconds for which the oldest message waits that is not handled."
            age = max(0.0, health.behind_seconds)
            yield GaugeMetricFamily("arena_oldest_message_seconds", words, age)
        if health.backup_seconds is not None:
            words = "Seconds since the last backup by arena backup."
            yield GaugeMetricFamily("arena_backup_age_seconds", words, health.backup_seconds)
        happened = health.occurrences.ever
        words = "What became of messages of workers."
        told = {kind: count for kind, count in happened.items() if kind not in CAME_BACK}
        yield _counter("arena_messages", words, "outcome", told)
        words = "Jobs that were issued and came back, by why."
        back = {kind: happened.get(kind, 0) for kind in CAME_BACK}
        yield _counter("arena_jobs_came_back", words, "why", back)
        words = "Whether the arena is under maintenance."
        yield GaugeMetricFamily("arena_maintenance", words, float(health.maintenance is not None))
        states = Counter(worker.state for worker in health.workers)
        yield _gauge("arena_workers", "Workers, by whether they are given jobs.", "state", states)
        silent = {
            worker.name: worker.silent_seconds
            for worker in health.workers
            if worker.state != "stopped"
        }
        words = "Seconds since a worker's last sign of life, unless it was stopped."
        yield _gauge("arena_worker_silent_seconds", words, "worker", silent)
        kinds = Counter(alarm.kind for alarm in self._alarms)
        yield _gauge("arena_alarms", "What somebody should look at, by kind.", "kind", kinds)


def _by(jobs: Jobs) -> dict[str, int]:
    return {
        "open": jobs.open,
        "issued": jobs.issued,
        "overdue": jobs.overdue,
        "set aside": jobs.set_aside,
    }


def _told(
    family: type[GaugeMetricFamily | CounterMetricFamily],
    name: str,
    words: str,
    label: str,
    values: Mapping[str, float],
) -> Metric:
    """A number for each value of a label."""
    found = family(name, words, labels=[label])
    for key, value in values.items():
        found.add_metric([key], value)
    return found


_gauge, _counter = partial(_told, GaugeMetricFamily), partial(_told, CounterMetricFamily)


def install(app: Flask) -> None:
    """Measures how long pages take, in this process, by endpoint and status."""
    times = Histogram(
        "arena_page_seconds",
        "How long a page took, in this process.",
        ["endpoint", "status"],
        buckets=BUCKETS,
        registry=None,
    )
    app.extensions["arena.page_times"] = times

    @app.before_request
    def begin() -> None:
        g.began = time.perf_counter()

    @app.after_request
    def end(response: Response) -> Response:
        if "began" in g:
            where = request.endpoint or "none"
            took = time.perf_counter() - g.began
            times.labels(where, str(response.status_code)).observe(took)
        return response


def observe(app: Flask, endpoint: str, status: str, began: float) -> None:
    """Counts an answer that is given before the application is asked.

    Args:
        began: by `time.perf_counter`.
    """
    times = app.extensions["arena.page_times"].labels(endpoint, status)
    times.observe(time.perf_counter() - began)
