"""The likelihood ratio against one computed by another method, for random series."""

from random import Random

import pytest

from arena.ratings.sprt import Model, Sprt
from tests.arena.ratings.oracle_sprt import llr
from tests.arena.ratings.vectors import name, vectors


@pytest.mark.parametrize(
    "vector", vectors("fishtest", "LLR_logistic", "LLR_normalized")[:12], ids=name
)
def test_the_other_method_is_right_too(vector) -> None:
    """It agrees with fishtest's own values."""
    want = vector["output"].get("llr", vector["output"].get("LLR"))
    normalized = vector["model"] == "normalized"
    found = llr(vector["results"], vector["elo0"], vector["elo1"], normalized=normalized)
    assert found == pytest.approx(want, abs=1e-6)


@pytest.mark.parametrize("cells", [3, 5, 7])
@pytest.mark.parametrize("model", ["normalized", "logistic"])
def test_both_methods_agree(model: Model, cells: int) -> None:
    """They do for drawish and decided, even and uneven, short and long series."""
    random = Random(f"{model} {cells}")
    for _ in range(4):
        weights = [random.random() ** 2 + 0.02 for _ in range(cells)]
        drawn = random.choices(range(cells), weights, k=random.choice([40, 400, 9000]))
        counts = [drawn.count(cell) for cell in range(cells)]
        elo0 = random.uniform(-20, 10)
        elo1 = elo0 + random.choice([0.5, 3, 10, 40])
        want = llr(counts, elo0, elo1, normalized=model == "normalized")
        assert Sprt(elo0, elo1, model=model).llr(counts) == pytest.approx(want, rel=1e-6, abs=1e-6)
