"""Values of other programs' statistics, from tests/data/sprt_vectors.json."""

import json
from pathlib import Path
from typing import Any

PATH = Path(__file__).parents[2] / "data" / "sprt_vectors.json"


def vectors(source: str, *functions: str) -> list[dict[str, Any]]:
    """The vectors of a program whose function's name ends with one of these."""
    found = [
        vector
        for vector in json.loads(PATH.read_text())["vectors"]
        if vector["source"] == source and vector["function"].endswith(functions)
    ]
    assert found, f"no vectors of {source} for {functions}"
    return found


def name(vector: dict[str, Any]) -> str:
    """An id for a test."""
    counts = "-".join(map(str, vector["results"]))
    return f"{vector['source']} {vector.get('model', 'elo')} {counts}"
