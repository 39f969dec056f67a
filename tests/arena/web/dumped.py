"""A dump as the arena of a site keeps it; its files hold letters, since no page reads them."""

from __future__ import annotations

from pathlib import Path

from arena.dumps.manifest import FORMAT, TABLES, DumpManifest, DumpPart

DAY = "2026-05-04"
LETTERS = b"abcdefghijklmnopqrstuvwxyz" * 1000


def lay_down(folder: Path, day: str = DAY, *, is_finished: bool = True) -> None:
    """Puts a dump of 3 games in two parts into a folder of dumps."""
    for table in TABLES:
        (folder / day / table).mkdir(parents=True)
        for number in (1, 2):
            (folder / day / table / f"part-0000{number}.parquet").write_bytes(LETTERS)
    parts = [DumpPart("part-00001", 1, 2, 2, 30, ""), DumpPart("part-00002", 3, 3, 1, 12, "")]
    manifest = DumpManifest(
        FORMAT, "", {}, "CC0-1.0", {}, f"{day}T00:00:05+00:00", 3, is_finished, parts
    )
    manifest.write(folder / day)
