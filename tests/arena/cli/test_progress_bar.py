"""Long work says how far it is."""

from __future__ import annotations

import pytest

from arena.cli.progress_bar import ProgressBar


@pytest.mark.parametrize(
    ("total", "steps", "lines"),
    [
        (100, [5] * 20, [f"{count} of 100 games" for count in range(10, 101, 10)]),
        (100, [35, 65], ["35 of 100 games", "100 of 100 games"]),
        (4000, [2000, 1, 1999], ["2000 of 4000 games", "4000 of 4000 games"]),
        (19, [10, 9], []),
        (0, [0], []),
    ],
    ids=["tenths", "leaps", "thousands", "few", "none"],
)
def test_lines_tell_of_every_tenth(
    total: int, steps: list[int], lines: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """They go to standard error, where there is no terminal for a bar."""
    with ProgressBar("playing", "game", total=total) as bar:
        for step in steps:
            bar.advance(step)
    assert capsys.readouterr() == ("", "".join(f"{line}\n" for line in lines))
