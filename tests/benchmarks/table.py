"""What a benchmark returns."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of measurements, with a name for each column that says its unit."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]

    def __str__(self) -> str:
        """Lines of text: the first column set to the left, the others to the right."""
        lines = [[str(cell) for cell in row] for row in (self.columns, *self.rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        set_out = [
            "  ".join([first.ljust(widths[0]), *map(str.rjust, rest, widths[1:])])
            for first, *rest in lines
        ]
        return "\n".join([self.title, "-" * len(self.title), *set_out])

    def to_json(self) -> dict[str, Any]:
        """The table as JSON's types: its cells as they are printed, by columns."""
        return {
            "title": self.title,
            "rows": [dict(zip(self.columns, map(str, row), strict=True)) for row in self.rows],
        }
