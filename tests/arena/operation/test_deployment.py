"""The units and container files of docs/: what they start, and by which settings."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import yaml

from arena.cli.home_link import PATH
from arena.ground.config import Settings
from arena.operation import processes
from tests.requirements import need

DOCS = Path(__file__).parents[3] / "docs"
UNITS = sorted((DOCS / "systemd").glob("*.service"))
KNOWN = {f"ARENA_{known.name.upper()}" for known in fields(Settings)}
KNOWN |= {"ARENA_WORKER_NAME", "ARENA_BOX_FOLDER"}
"""The settings, and what a worker alone is told."""
OF_A_TEMPLATE = ("web", "recorder", "live", "sender")
"""What arena@.service is started as."""
OF_COMPOSE = {"ARENA_PASSWORD"}
EXPOSURE = {"arena": 50, "arena-home": 50, "arena-worker": 50, "arena@": 20}
"""Tenths by systemd's count; what a box needs (namespaces, control groups) is most of it."""
WORKERS = {"worker": "WORKER_PASSWORD", "home": "HOME_PASSWORD"}
"""The services that run bots, and the one secret of each."""
STARTED = {"up", *(f"run {name}" for name in (*processes.OF_THE_ARENA, *WORKERS))}
PROGRAM = "/opt/arena/.venv/bin/arena"


def compose() -> dict[str, Any]:
    """The services of the compose file."""
    services: dict[str, Any] = yaml.safe_load((DOCS / "containers/compose.yaml").read_text())[
        "services"
    ]
    return services


@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.stem)
def test_systemd_understands_a_unit(unit: Path, tmp_path: Path) -> None:
    """Without a warning; the program is only there where an arena is installed."""
    need(shutil.which("systemd-analyze"), "systemd is not installed")
    copy = tmp_path / unit.name
    copy.write_text(unit.read_text().replace(PROGRAM, "/bin/true"))
    # Without pages of a manual, which are none of its business.
    command = ["systemd-analyze", "verify", "--man=no", str(copy)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_systemd_analyze_finds_what_is_wrong(tmp_path: Path) -> None:
    """Or the test above would prove nothing."""
    need(shutil.which("systemd-analyze"), "systemd is not installed")
    unit = tmp_path / "wrong.service"
    unit.write_text("[Service]\nExecStart=/bin/true\nRestrat=always\n")
    command = ["systemd-analyze", "verify", "--man=no", str(unit)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "Restrat" in done.stderr


@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.stem)
def test_a_unit_may_do_little_else(unit: Path) -> None:
    """Whatever a hole in the program would let somebody do."""
    need(shutil.which("systemd-analyze"), "systemd is not installed")
    words = ["security", "--offline=true", f"--threshold={EXPOSURE[unit.stem]}", str(unit)]
    done = subprocess.run(["systemd-analyze", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.stem)
def test_a_unit_starts_what_there_is_and_starts_it_again(unit: Path) -> None:
    """Whatever its exit code was: a broker that is full ends whoever talks to it."""
    text = unit.read_text()
    (started,) = re.findall(rf"^ExecStart={re.escape(PROGRAM)} (.*)$", text, re.MULTILINE)
    names = OF_A_TEMPLATE if "%i" in started else [""]
    assert {re.sub(r" --.*", "", started).replace("%i", name) for name in names} <= STARTED
    assert "\nRestart=always\n" in text
    assert set(re.findall(r"ARENA_\w+", text)) <= KNOWN
    runs_bots = started.removeprefix("run ") in WORKERS or started.startswith("up")
    assert ("\nDelegate=yes\n" in text) is runs_bots
    # Both would take the box away.
    assert not (runs_bots and re.search("^(RestrictNamespaces|ProtectKernelTunables)=", text, re.M))


def test_the_containers_start_what_there_is() -> None:
    """Each process of an arena once, the workers as many as there are hosts."""
    services = compose()
    commands = {one.get("command", "") for one in services.values() if "build" in one}
    assert commands == STARTED - {"up"}
    for name, service in services.items():
        assert service["restart"] == ("no" if name == "prepare" else "always"), name
    text = (DOCS / "containers/compose.yaml").read_text()
    assert set(re.findall(r"ARENA_\w+", text)) <= KNOWN | OF_COMPOSE
    assert (
        'ENTRYPOINT ["/opt/arena/.venv/bin/arena"]' in (DOCS / "containers/Dockerfile").read_text()
    )


def test_an_image_holds_nothing_of_the_host() -> None:
    """Beside the sources: `make` may have left its environment there, and an arena its secrets."""
    kept_out = (DOCS.parent / ".dockerignore").read_text().splitlines()
    assert {".venv*", "var", ".git", "**/.env", "**/users.acl"} <= set(kept_out)


def words_of(value: Any) -> Iterator[str]:
    """All the text in a part of the file."""
    if isinstance(value, dict):
        for one in value.values():
            yield from words_of(one)
    elif isinstance(value, list):
        for one in value:
            yield from words_of(one)
    else:
        yield str(value)


@pytest.mark.parametrize("name", WORKERS)
def test_a_worker_in_a_container_holds_one_login(name: str) -> None:
    """No database, no folder but one for a socket, no other secret."""
    worker = compose()[name]
    socket_folder = {"home": ["home:/var/lib/arena/home"]}
    assert worker.get("volumes") == socket_folder.get(name)
    secrets = re.findall(r"\$\{(\w+):\?\}", " ".join(words_of(worker)))
    assert secrets == [WORKERS[name]]
    assert set(worker["environment"]) & {"ARENA_DATABASE", "ARENA_DATA"} == set()


def test_matches_are_given_to_a_worker_in_a_container() -> None:
    """The recorder gives none to one whose box is weaker than it asks for itself."""
    services = compose()
    asked = {
        services[name]["environment"]["ARENA_MINIMUM_ISOLATION"]
        for name in ("web", "recorder", *WORKERS)
    }
    assert len(asked) == 1


def test_the_pages_and_the_home_worker_share_a_socket() -> None:
    """It is in a folder that is in both; a unit says to the pages' settings where it is."""
    services = compose()
    (place,) = {services[name]["environment"]["ARENA_HOME"] for name in ("web", "home")}
    folder = f"home:{Path(place).parent}"
    assert all(folder in services[name]["volumes"] for name in ("web", "home"))
    unit = (DOCS / "systemd/arena-home.service").read_text()
    (told,) = re.findall(r"^Environment=(ARENA_HOME=.*)$", unit, re.MULTILINE)
    assert f"`{told}`" in (DOCS / "home.md").read_text()


def test_the_proxy_leads_bots_at_home_nowhere_else() -> None:
    """nginx redirects what is asked for without the slash in which the prefix of a proxy ends."""
    text = (DOCS / "operating.md").read_text()
    places = re.findall(r"^ *location (= )?(\S+) {.*\n *proxy_pass", text, re.MULTILINE)
    assert ("= ", f"/api/v1{PATH}") in places
    assert [place for exact, place in places if not exact and place.endswith("/")] == ["/"]


def test_no_password_is_forgotten_in_silence() -> None:
    """Compose takes an unset one for an empty one, unless it is told that it must be set."""
    text = (DOCS / "containers/compose.yaml").read_text()
    assert len(re.findall(r"\$\{", text)) == len(re.findall(r"\$\{\w+_PASSWORD:\?\}", text)) > 0


def test_a_container_may_do_what_a_box_takes_and_little_else() -> None:
    """All privileges are dropped; the worker's profile leaves the calls of bubblewrap.c."""
    for name, service in compose().items():
        if "build" in service:
            assert service["cap_drop"] == ["ALL"], name
            assert "no-new-privileges:true" in service["security_opt"], name
    profile = json.loads((DOCS / "containers/seccomp.json").read_text())
    for name in WORKERS:
        assert "seccomp=seccomp.json" in compose()[name]["security_opt"]
    rule, to_the_host = profile["syscalls"]
    building = {"clone", "clone3", "unshare", "mount", "umount2", "pivot_root", "sethostname"}
    building |= {"prctl", "seccomp", "capset", "setresuid", "setresgid", "setsid", "chroot"}
    assert building & set(rule["names"]) == set()
    # Docker's page "Seccomp security profiles" lists these among what its own profile refuses.
    refused = {"add_key", "bpf", "keyctl", "kexec_load", "init_module", "mbind", "ptrace", "reboot"}
    refused |= {"perf_event_open", "process_vm_readv", "setns", "swapon", "userfaultfd"}
    # And these its profile (profiles/seccomp/default.json of moby) allows with a capability only,
    # or not at all; and sockets to a virtual machine's host (AF_VSOCK of linux/socket.h).
    refused |= {"clock_settime64", "migrate_pages", "process_madvise", "quotactl_fd"}
    refused |= {"set_mempolicy_home_node", "pidfd_getfd", "kcmp", "open_by_handle_at", "fsopen"}
    assert refused <= set(rule["names"])
    assert to_the_host["names"] == ["socket"]
    assert to_the_host["args"] == [{"index": 0, "value": socket.AF_VSOCK, "op": "SCMP_CMP_EQ"}]
    assert {one["action"] for one in profile["syscalls"]} == {"SCMP_ACT_ERRNO"}
