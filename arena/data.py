"""Reads dumps of games, as ``arena export --parquet`` writes them: to compute with, or to learn.

    from arena import data
    dump = data.read("dump")
    seats = dump.frame("seats")                               # a DataFrame of pandas
    for batch in dump.batches("clobber size=6x7", seed=1):    # arrays of NumPy
        ...

docs/data.md tells what the columns of the tables are.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from arena.dumps.manifest import MANIFEST, DumpManifest
from arena.dumps.tables import SCHEMAS
from arena.ground.refusals import Refusal
from engine.game import CHANCE, State, Variant
from engine.games import find_variant
from engine.numbering import Numbering, numbering_of

try:
    import numpy
    from pyarrow import dataset
except ImportError as error:
    raise ImportError(f"arena.data needs pip install 'game-bot-arena[data]' ({error})") from error

Array = Any
"""A numpy.ndarray; the types of numpy are there only where it is."""
Frame = Any
"""A pandas.DataFrame."""
Dataset = Any
"""A pyarrow.dataset.Dataset."""


class DumpError(ValueError):
    """A folder that is no dump, or a table or column that it does not have; one sentence."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Positions in which somebody moved, as arrays with a row for each."""

    numbers: Array
    """The numbers of their games, int64."""
    plies: Array
    """The places of the moves in their games, int32."""
    seats: Array
    """Whose turn it was, from 0 as agents are counted, int8."""
    observations: Array
    """The positions, as environments of `arena.zoo` show them to that seat."""
    actions: Array
    """The numbers of the moves, int64."""
    points: Array
    """What came of the game for that seat: the share of opponents beaten, ties half, float32."""
    evals: Array
    """What the bot expected, from 0 to 1, float32; NaN where it did not say."""
    masks: Array | None = None
    """Ones for the numbers of the legal moves, int8, if they were asked for."""


class Dump:
    """The three tables of a dump: ``games``, ``seats`` and ``plies``."""

    def __init__(self, folder: Path, about: DumpManifest) -> None:
        self.folder, self.about = folder, about

    def __repr__(self) -> str:
        whole = "" if self.about.is_finished else ", not finished"
        return f"<dump of {self.about.count} games, {self.about.made[:10]}{whole}>"

    def dataset(self, table: str) -> Dataset:
        """A table as a dataset of Arrow, which is read when it is asked for something.

        Raises:
            DumpError: there is no such table.
        """
        if table not in SCHEMAS:
            raise DumpError(f"there is no table {table!r}; there are: {', '.join(SCHEMAS)}")
        files = [str(self._file(table, part.name)) for part in self.about.parts]
        if not files:
            return dataset.dataset(SCHEMAS[table].empty_table())
        return dataset.dataset(files, schema=SCHEMAS[table], format="parquet")

    def frame(self, table: str, columns: Sequence[str] | None = None, where: Any = None) -> Frame:
        """A table, or some columns of it, as a DataFrame.

        Args:
            where: which rows, as an expression of `pyarrow.dataset.field`.

        Raises:
            DumpError: there is no such table or column.
        """
        found = self.dataset(table)
        if unknown := set(columns or ()) - set(found.schema.names):
            raise DumpError(
                f"{table} has no column {min(unknown)!r}; there are: "
                f"{', '.join(found.schema.names)}"
            )
        return found.to_table(columns=columns, filter=where).to_pandas()

    def batches(
        self,
        variant: str,
        *,
        size: int = 256,
        seed: int | None = None,
        where: Any = None,
        masks: bool = False,
    ) -> Iterator[Batch]:
        """Positions of a variant with the moves that bots played there, once through.

        Moves of openings and of chance are left out, and positions whose text is not known.

        Args:
            variant: as in ``"clobber size=6x7"``; what the rules leave to the lot may be any.
            size: of a batch; the last one may have less.
            seed: mixes the parts of the dump, and what is in each; by default all comes in order.
            where: which rows of plies, as an expression of `pyarrow.dataset.field`.
            masks: also finds the legal moves, which takes most of the time.

        Raises:
            OptionError: an unknown game, option or value.
            UnnumberedError: a game that tells no numbers.
            ValueError: the size is less than 1.
        """
        if size < 1:
            raise ValueError(f"a batch of {size} positions: give at least 1")
        name, *words = variant.split() or [""]
        wanted = find_variant(name, words)
        maker = _Maker(wanted, masks=masks)
        random = None if seed is None else Random(seed)
        parts = list(self.about.parts)
        if random:
            random.shuffle(parts)
        held = list[dict[str, Any]]()
        for part in parts:
            held += self._rows(part.name, wanted, where, random)
            while len(held) >= size:
                yield maker.batch(held[:size])
                del held[:size]
        if held:
            yield maker.batch(held)

    def _rows(
        self, part: str, wanted: Variant, where: Any, random: Random | None
    ) -> list[dict[str, Any]]:
        """The plies of a part that are wanted, with the points of their seats."""
        games = self._part("games", part, None, ["number", "variant"]).to_pylist()
        numbers = {
            game["number"]: game["variant"] for game in games if _is_of(game["variant"], wanted)
        }
        if not numbers:
            return []
        its = dataset.field("number").isin(list(numbers))
        seats = self._part("seats", part, its, ["number", "seat", "points"]).to_pylist()
        points = {(seat["number"], seat["seat"]): seat["points"] for seat in seats}
        of_bots = its & ~dataset.field("is_opening") & (dataset.field("seat") > CHANCE + 1)
        of_bots &= dataset.field("position").is_valid()
        if where is not None:
            of_bots &= where
        columns = ["number", "ply", "seat", "position", "move", "eval"]
        rows: list[dict[str, Any]] = self._part("plies", part, of_bots, columns).to_pylist()
        for row in rows:
            row["variant"] = numbers[row["number"]]
            row["points"] = points[row["number"], row["seat"]]
        if random:
            random.shuffle(rows)
        return rows

    def _part(self, table: str, part: str, where: Any, columns: list[str]) -> Any:
        """Some columns of a part as a Table of Arrow."""
        file = dataset.dataset(self._file(table, part), schema=SCHEMAS[table], format="parquet")
        return file.to_table(columns=columns, filter=where)

    def _file(self, table: str, part: str) -> str:
        return str(self.folder / table / f"{part}.parquet")


def read(folder: str | os.PathLike[str]) -> Dump:
    """The dump in a folder; of one that is not finished what is there so far.

    Raises:
        DumpError: there is none, or of another release.
    """
    path = Path(folder)
    try:
        about = DumpManifest.read(path)
    except Refusal as error:
        raise DumpError(str(error)) from None
    if about is None:
        raise DumpError(f"{path} is no dump: it has no {MANIFEST}")
    return Dump(path, about)


def _is_of(variant: str, wanted: Variant) -> bool:
    """Whether a variant is the one that is wanted, whatever its lots."""
    name, *words = variant.split()
    if name != wanted.game:
        return False
    options = dict(word.split("=", 1) for word in words)
    drawn = wanted.drawn(0).options
    return all(
        options.get(key) == value
        for key, value in wanted.options.items()
        if drawn[key] == value  # what a seed changes is a lot
    )


class _Maker:
    """Makes batches of rows."""

    def __init__(self, variant: Variant, *, masks: bool) -> None:
        self._numbering = numbering_of(variant)
        self._masks = masks
        self._variants: dict[str, Variant] = {}

    def batch(self, rows: Sequence[Mapping[str, Any]]) -> Batch:
        """The batch of some plies."""
        numbering, count = self._numbering, len(rows)
        in_planes = isinstance(numbering, Numbering)
        seen: Array = numpy.zeros(
            (count, *numbering.shape), numpy.int8 if in_planes else numpy.float32
        )
        masks: Array = numpy.zeros((count, numbering.count), numpy.int8) if self._masks else None
        actions: Array = numpy.zeros(count, numpy.int64)
        for place, row in enumerate(rows):
            state = self._state(row["variant"], row["position"])
            flat = seen[place].reshape(-1)
            if isinstance(numbering, Numbering):
                flat[numbering.ones(state)] = 1
                actions[place] = numbering.number_of[row["move"]]
            else:
                flat[:] = state.observation(row["seat"] - 1)
                actions[place] = state.judge(row["move"])
            if masks is not None:
                masks[place, numbering.legal(state)] = 1

        def column(name: str, kind: Any) -> Array:
            return numpy.array([row[name] for row in rows], kind)

        return Batch(
            numbers=column("number", numpy.int64),
            plies=column("ply", numpy.int32),
            seats=column("seat", numpy.int8) - 1,
            observations=seen,
            actions=actions,
            points=column("points", numpy.float32),
            evals=column("eval", numpy.float32),
            masks=masks,
        )

    def _state(self, variant: str, position: str) -> State:
        found = self._variants.get(variant)
        if found is None:
            name, *words = variant.split()
            found = self._variants[variant] = find_variant(name, words)
        return found.read(position)
