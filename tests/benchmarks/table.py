"""What a benchmark returns."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of measurements, with a name for each column that says its unit."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
