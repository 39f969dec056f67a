"""What the villain of the drills does is a matter of the seed alone, and leaves nothing out."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from tests.drills.cluster import Cutter, Network
from tests.drills.villain import Killer, plan

KILLER = sorted(Killer(None, None, fillable=True).kinds)  # type: ignore[arg-type]  # nothing is done
CUTTER = sorted(Cutter(Network("test", "10.0.0")).kinds)


@pytest.mark.parametrize("kinds", [KILLER, CUTTER], ids=["killer", "cutter"])
def test_a_plan(kinds: list[str]) -> None:
    """The same seed has the same plan, another has another; each deck holds every kind once."""
    first, again, other = (
        list(islice(plan(seed, kinds, lease_seconds=5), 3 * len(kinds))) for seed in (1, 1, 2)
    )
    assert first == again != other
    for deck in range(3):
        dealt = first[deck * len(kinds) : (deck + 1) * len(kinds)]
        assert sorted(blow.kind for blow in dealt) == kinds
    assert min(blow.seconds for blow in first) > 5, "a stop must outlast a lease"


def test_only_a_disk_of_its_own_is_filled() -> None:
    """Without one the villain leaves the machine's alone."""
    kinds = Killer(None, None, fillable=False).kinds  # type: ignore[arg-type]
    assert set(KILLER) - set(kinds) == {"fill the disk"}


def test_hosts_have_addresses_and_names_of_their_own() -> None:
    """A link's name is at most 15 characters, or the kernel refuses it."""
    made = Network("ar99999-", "10.213.7")
    hosts = ("data", "web", "one", "two", "three")
    assert [made.address(host) for host in hosts] == [f"10.213.7.{n}" for n in range(2, 7)]
    assert len({made.link(host) for host in hosts}) == 5
    assert all(len(f"{made.link(host)}i") <= 15 for host in hosts)
    assert Path("/run/netns", made.namespace("web")).name == "ar99999--web"
