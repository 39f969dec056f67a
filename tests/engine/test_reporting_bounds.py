"""What a worker may say of itself and its leases: in bounds, of its kind, and printable."""

from __future__ import annotations

from typing import Any

import pytest

from engine.jobs import JobError, Lease
from engine.measure import Measure
from engine.reporting import SignOfLife, Started

SIGN: dict[str, Any] = SignOfLife("box1", 4, "full", ("python", "c++"), clock=1.8e9).to_json()
MEASURE = Measure(1.0, 0.5, spread=0.1, share=0.9, ply_us=40, slow_ply_us=90).to_json()
LEASE: dict[str, Any] = Lease("match", 7, 1, "ticket").to_json()


def test_a_sign_of_life_is_what_was_said() -> None:
    assert SignOfLife.from_json(SIGN).to_json() == SIGN
    # As one of a release before says it.
    old = {key: value for key, value in SIGN.items() if key != "clock"}
    assert SignOfLife.from_json(old).clock is None
    measured = SIGN | {"measure": MEASURE, "cores": 4}
    assert SignOfLife.from_json(measured).to_json() == measured


TOO_MUCH: list[dict[str, Any]] = [
    {"worker": ""},
    {"worker": None},
    {"worker": ["box1"]},
    {"worker": "box\n1"},
    {"worker": " "},
    {"worker": " box1"},
    {"worker": "box1 "},
    {"worker": "\u202ebox"},
    {"slots": -1},
    {"slots": 10_001},
    {"slots": True},
    {"slots": 2.0},
    {"slots": "2"},
    {"isolation": "full" * 6},
    {"isolation": None},
    {"languages": "python"},
    {"languages": ["\ud800"]},
    {"languages": ["x" * 21]},
    {"languages": [["python"]]},
    {"languages": ["python"] * 31},
    {"languages": {"python": 3}},
    {"format": 10**9},
    {"format": None},
    {"clock": "now"},
    {"clock": True},
    {"clock": -1.0},
    {"clock": float("nan")},
    {"clock": 1e300},
    {"measure": {}},
    {"measure": "fast"},
    {"measure": MEASURE | {"compiled": 1e9}},
    {"measure": MEASURE | {"share": "all"}},
    {"cores": -1},
    {"cores": 10_001},
    {"cores": "2"},
]


@pytest.mark.parametrize("said", TOO_MUCH, ids=ascii)
def test_a_worker_says_no_more_of_itself(said: dict[str, Any]) -> None:
    with pytest.raises(JobError):
        SignOfLife.from_json(SIGN | said)


@pytest.mark.parametrize("data", [None, [], "x", 7, {}])
def test_what_is_no_sign_of_life(data: Any) -> None:
    with pytest.raises(JobError):
        SignOfLife.from_json(data)


@pytest.mark.parametrize(
    "said",
    [
        {"kind": None},
        {"kind": "match" * 100},
        {"kind": "a\nb"},
        {"job": "7"},
        {"job": 7.0},
        {"job": True},
        {"job": -1},
        {"job": 10**30},
        {"attempt": None},
        {"attempt": 2**63},
        {"ticket": 7},
        {"ticket": "x" * 101},
        {"ticket": "\ud800"},
    ],
    ids=lambda said: ascii(said)[:40],
)
def test_a_lease_is_four_plain_words(said: dict[str, Any]) -> None:
    with pytest.raises(JobError):
        Started.from_json({"lease": LEASE | said, "worker": "box1"})
