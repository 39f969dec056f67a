"""What a benchmark returns."""

from collections.abc import Sequence
from dataclasses import dataclass


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
