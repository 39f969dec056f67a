"""The doctor: what it says of this machine is what a sandbox finds there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.referee import ISOLATION_LEVELS
from tests.requirements import need
from workers.bubblewrap import NO_NAMESPACES
from workers.doctor import core_dumps, examine, remedy_for
from workers.sandbox import Sandbox

ROOT = Path(__file__).parents[2]


def test_report_agrees_with_the_sandbox(open_folder: Path) -> None:
    """Level and layers are those of the best box, in JSON too, and it takes no second.

    Of CPU time, which a busy machine changes less.
    """
    box_folder = open_folder / "box_folder"
    sandbox = Sandbox("none", box_folder)
    start = sum(os.times()[:4])
    report = examine("reduced", box_folder)
    assert sum(os.times()[:4]) - start < 1
    assert report.level == sandbox.level
    assert {layer.name for layer in report.layers} == {layer.name for layer in sandbox.layers}
    data = json.loads(json.dumps(report.to_json()))
    assert data["suffices"] == (ISOLATION_LEVELS.index(report.level) >= 1)
    assert data["languages"][0]["name"] == "Python"


def test_useless_runtime_folder(tmp_path: Path) -> None:
    """Without it there is no box, and the doctor says so instead of failing."""
    (tmp_path / "file").write_text("")
    report = examine("good", tmp_path / "file")
    assert (report.level, report.suffices, report.layers) == ("none", False, ())
    assert report.host[0].name == "box folder"
    assert report.host[0].remedy


def test_first_process_of_a_container_builds_boxes(
    sandbox_at: Callable[[str], Sandbox], open_folder: Path
) -> None:
    """It has the number 1, as the probe has in its box: that is no worker that was reached."""
    need(os.geteuid() == 0, "a namespace of processes for this user alone takes root")
    sandbox_at("good")
    code = "import sys; from pathlib import Path; from workers.sandbox import Sandbox\n"
    code += "Sandbox('good', Path(sys.argv[1]), maximum='good')"
    command = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", sys.executable]
    subprocess.run([*command, "-c", code, str(open_folder / "box_folder")], cwd=ROOT, check=True)


@pytest.mark.parametrize(
    ("failure", "systemd", "helps", "does_not"),
    [
        # cgroups(7); in Docker /sys/fs/cgroup is mounted read-only, and no unit is about.
        ("full: /a.scope is not delegated to the worker", True, "Delegate=yes", "container"),
        ("full: no memory group: [Errno 30] Read-only file system", False, "good", "Delegate"),
        ("full: /sys/fs/cgroup belongs to the system", False, "as root", "Delegate"),
        ("bubblewrap is not installed", False, "install the package", "Delegate"),
        # docker run(1), --security-opt
        (
            f"good: no permissions ({NO_NAMESPACES})",
            False,
            "seccomp=docs/containers/seccomp.json",
            "unit",
        ),
        ("good: does not hold", True, "see docs/sandbox.md", "unit"),
    ],
)
def test_remedies(failure: str, systemd: bool, helps: str, does_not: str) -> None:
    """No container is told of a unit that it has no systemd for."""
    found = remedy_for(failure, systemd=systemd)
    assert helps in found
    assert does_not not in found
    assert (ROOT / "docs/containers/seccomp.json").is_file()


def test_control_groups_of_a_container(sandbox_at: Callable[[str], Sandbox]) -> None:
    """They are read-only: what it takes to have a memory group is asked of no systemd there."""
    need(os.geteuid() == 0, "mounts for this process alone take root")
    sandbox_at("full")
    script = (
        "for place in $(cut -d' ' -f2 /proc/mounts | grep ^/sys/fs/cgroup); do\n"
        '  mount -o remount,bind,ro "$place"; done\n'
        'mount -t tmpfs none /run && exec "$@"\n'
    )
    code = "import json, workers.doctor as d; print(json.dumps(d.examine().to_json()))"
    command = ["unshare", "--mount", "/bin/sh", "-c", script, "sh", sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    report = json.loads(done.stdout)
    assert report["level"] == "good"
    (better,) = (one for one in report["host"] if one["name"] == "better box")
    assert "Read-only file system" in better["detail"]
    assert "Delegate" not in better["remedy"]


@pytest.mark.parametrize(
    ("pattern", "holds"),
    [("core", True), ("|/usr/lib/systemd/systemd-coredump %P", False), ("", True)],
)
def test_piped_core_dumps(pattern: str, holds: bool) -> None:
    """A program that gets crashes through a pipe gets bots' too, whatever their limit."""
    finding = core_dumps(pattern)
    assert finding.holds == holds
    assert bool(finding.remedy) == (not holds)
