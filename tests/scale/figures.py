"""What was measured: figures of cases, printed beside those that docs/scale.md tells of."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.benchmarks.table import Table

Figures = Mapping[str, float]
"""Numbers by what they are, which names their unit."""
FILE = Path(__file__).with_name("figures.json")
"""Those that were kept last, by part and case."""


def kept() -> dict[str, Any]:
    """The last figures: of each part when they were measured, where, and its cases."""
    return json.loads(FILE.read_text()) if FILE.exists() else {}


def keep(part: str, about: Mapping[str, Any], cases: Mapping[str, Figures]) -> None:
    """Keeps the figures of cases in the place of their last ones; the part's other cases stay."""
    all_kept = kept()
    its = all_kept.setdefault(part, {})
    now = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    for case, figures in cases.items():
        rounded = {name: _number(value) for name, value in figures.items()}
        its[case] = {"measured": now, **about, "figures": rounded}
    FILE.write_text(json.dumps(all_kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(f"{value:.4g}")


def shown(value: float | None) -> str:
    """A number with as many digits as are worth it."""
    if value is None or math.isnan(value):
        return "-"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def table(part: str, cases: Mapping[str, Figures]) -> Table:
    """A part's figures, each with the last one in brackets, where there was one."""
    before = kept().get(part, {})
    columns = list(dict.fromkeys(name for figures in cases.values() for name in figures))
    rows = []
    for case, figures in cases.items():
        last = before.get(case, {}).get("figures", {})
        cells = [shown(figures.get(name)) for name in columns]
        told = [f" ({shown(last[name])})" if name in last else "" for name in columns]
        rows.append([case, *(cell + more for cell, more in zip(cells, told, strict=True))])
    return Table(f"{part} (in brackets: what was measured last)", ["case", *columns], rows)
