"""How soon a ladder's board is the truth, beside pairing by the lot."""

from statistics import mean, stdev
from time import perf_counter

from tests.arena.formats.fields import Field, by_the_ladder, by_the_lot, play_field
from tests.benchmarks.table import Table

FEWEST_FIELDS = 20


def run(seconds: float) -> Table:
    """Fields of 40 bots of known strengths, each bot with 30 games; 20 of each at least."""
    rows = []
    for name, pairing in (("as ladders pair", by_the_ladder), ("by the lot", by_the_lot)):
        fields: list[Field] = []
        start = perf_counter()
        while len(fields) < FEWEST_FIELDS or perf_counter() - start < seconds / 2:
            fields.append(play_field(pairing, seed=len(fields)))
        found = [field.correlation for field in fields]
        error = stdev(found) / len(found) ** 0.5
        games = f"{min(f.fewest for f in fields)} to {max(f.most for f in fields)}"
        rows.append(
            (name, len(fields), f"{mean(found):.4f}", f"{error:.4f}", f"{min(found):.3f}", games)
        )
    columns = ("pairing", "fields", "Spearman's rho, mean", "its error", "least", "games a bot")
    return Table("Order of 40 bots after 30 games each", columns, rows)
