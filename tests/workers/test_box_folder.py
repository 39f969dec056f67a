"""The box folder and the users of bots, and where memory groups are looked for."""

from __future__ import annotations

import os
import stat
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.requirements import need
from workers import cgroups
from workers.box_folder import (
    UNFINISHED_SECONDS,
    BoxFolder,
    closed_to_others,
)
from workers.cgroups import PREFIX, GroupError, find_places
from workers.launches import box_python
from workers.sandbox import Sandbox
from workers.users import BOT_USERS


@pytest.fixture
def folder(open_folder: Path) -> Iterator[Path]:
    """A new place for a box folder."""
    return open_folder / f"box_folder-{os.getpid()}-{len(list(open_folder.iterdir()))}"


def test_a_library_is_made_once_and_compiled(folder: Path) -> None:
    """It is readable by all, importable, and named by its content."""
    files = {"pieces/__init__.py": b"", "pieces/deep/own.py": b"GAME = 7"}
    mask = os.umask(0o077)
    try:
        copy = BoxFolder(folder).library("pieces", files, box_python())
    finally:
        os.umask(mask)
    assert closed_to_others(copy / "pieces" / "deep") is None
    assert stat.S_IMODE((copy / "pieces" / "deep" / "own.py").stat().st_mode) == 0o644
    code = "import pieces.deep.own as own; print(own.GAME, own.__cached__)"
    out = subprocess.check_output(
        [box_python(), "-B", "-c", code], env={"PYTHONPATH": str(copy)}, text=True
    )
    game, cached = out.split()
    assert game == "7"
    assert Path(cached).exists()
    assert BoxFolder(folder).library("pieces", files, box_python()) == copy
    files["pieces/deep/own.py"] = b"GAME = 8"
    assert BoxFolder(folder).library("pieces", files, box_python()) != copy
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize("place", ["", "bundles", "builds"])
def test_what_killed_workers_left_is_swept(folder: Path, place: str) -> None:
    """Builds, and what was being unpacked or thrown away; not what another is just making."""
    caches = [folder / "bundles", folder / "builds"]
    box_folder = BoxFolder(folder)
    for cache in caches:
        cache.mkdir()
    made = [folder / place / name for name in (".work-a", ".new-b", ".old-c", ".work-d", "engine")]
    for path in made:
        (path / "deep").mkdir(parents=True)
    old = time.time() - UNFINISHED_SECONDS - 1
    for path in (*made[:3], made[4]):
        os.utime(path, (old, old))
    assert box_folder.sweep(*caches) == 3
    assert [path.exists() for path in made] == [False, False, False, True, True]


def test_runtime_folder_is_shut_to_writers_and_lookers(folder: Path) -> None:
    """The bots' users of a root worker pass through it, and no more; nobody else does even that."""
    through = 0o711 if os.geteuid() == 0 else 0o700
    assert stat.S_IMODE(BoxFolder(folder).folder.stat().st_mode) == through


@pytest.mark.parametrize("name", ["bundles", "builds"])
def test_what_strangers_handed_in_is_closed(folder: Path, name: str) -> None:
    """Also where an earlier release left it open to all."""
    (folder / name).mkdir(parents=True)
    Sandbox("none", folder, maximum="none")
    assert stat.S_IMODE((folder / name).stat().st_mode) == 0o700


def test_runtime_folder_that_others_may_replace_is_refused(folder: Path) -> None:
    """Above it, too, nobody else may change names: not in /tmp, say, where a stranger was first."""
    above = folder / "above"
    above.mkdir(parents=True)
    above.chmod(0o777)
    with pytest.raises(PermissionError, match="above is theirs to change: give another"):
        BoxFolder(above / "box_folder")
    above.chmod(0o1777)
    BoxFolder(above / "box_folder")
    if os.geteuid() == 0:
        above.chmod(0o755)
        os.chown(above, 60791, 60791)
        with pytest.raises(PermissionError, match="above is theirs to change: give another"):
            BoxFolder(above / "box_folder")


def test_unreachable_runtime_folder_is_refused(tmp_path: Path) -> None:
    """It must be open all the way for a root worker; the closed folder is named."""
    need(os.geteuid() == 0, "only a root worker's bots are other users")
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    with pytest.raises(PermissionError, match="is closed to others: give a box folder outside"):
        BoxFolder(closed / "box_folder")


def test_runtime_folder_of_others_is_refused(folder: Path) -> None:
    """A folder that others can write to is neither used nor changed."""
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(PermissionError, match=r"others can write to .*: give another"):
        BoxFolder(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o777


def test_link_as_runtime_folder_is_refused(folder: Path, tmp_path: Path) -> None:
    """A link that somebody else may turn round is not taken."""
    folder.symlink_to(tmp_path)
    with pytest.raises(PermissionError, match="is not a folder of this user"):
        BoxFolder(folder)


def test_program_in_a_closed_home_is_copied(folder: Path, tmp_path: Path) -> None:
    """Another user runs the copy, with the libraries that lie beside the package."""
    need(os.geteuid() == 0, "only a root worker's bots are other users")
    home = tmp_path / "home"
    (home / "tool" / "_bin").mkdir(parents=True)
    (home / "tool.libs").mkdir()
    home.chmod(0o700)
    program = home / "tool" / "_bin" / "tool"
    program.write_text('#!/bin/sh\ncat "${0%/*}/../../tool.libs/library"\n')
    program.chmod(0o755)
    (home / "tool.libs" / "library").write_text("loaded")
    copy = BoxFolder(folder).program(program)
    assert BoxFolder(folder).program(program) == copy != program
    assert subprocess.check_output([copy], user=BOT_USERS.start, group=BOT_USERS.start) == b"loaded"
    assert BoxFolder(folder).program(Path("/bin/sh")) == Path("/bin/sh")


# /proc/self/mountinfo and /proc/self/cgroup of hosts, after proc(5) and cgroups(7)
SYSTEMD = (
    "35 24 0:30 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n",
    "0::/user.slice/user-1000.slice/user@1000.service/app.slice/arena.service\n",
    {"": "/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice/arena.service"},
)
HYBRID = (
    "30 24 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
    "31 24 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
    "32 24 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
    "4:memory:/jobs/a b\n3:cpu,cpuacct:/\n0::/init.scope\n",
    {
        "memory": "/sys/fs/cgroup/memory/jobs/a b",
        "cpu": "/sys/fs/cgroup/cpu,cpuacct",
        "cpuacct": "/sys/fs/cgroup/cpu,cpuacct",
        "": "/sys/fs/cgroup/unified/init.scope",
    },
)
CONTAINER = (
    "99 98 0:30 /docker/abc /sys/fs/cgroup\\040here ro - cgroup2 cgroup rw\n",
    "0::/docker/abc/inner\n",
    {"": "/sys/fs/cgroup here/inner"},
)


@pytest.mark.parametrize(
    ("mounts", "own", "expected"),
    [SYSTEMD, HYBRID, CONTAINER],
    ids=["systemd", "hybrid", "container"],
)
def test_own_group_is_found(mounts: str, own: str, expected: dict[str, str]) -> None:
    """Where the worker's own group of each hierarchy lies in the file system."""
    groups, mounted = cgroups.parse_groups(own), cgroups.parse_mounts(mounts)
    found = {name: str(cgroups.folder_of(mounted[name], groups[name])) for name in groups}
    assert found == expected


@pytest.mark.parametrize("freezable", [True, False])
def test_group_limits_and_leftovers(freezable: bool) -> None:
    """A group has its limits, is empty at first, and goes; what dead workers left is swept."""
    try:
        places = find_places()
    except GroupError as error:
        need(False, f"no memory groups here: {error}")
        raise
    group = places.make(memory_bytes=32 << 20, tasks=5, freezable=freezable)
    name = f"{PREFIX}{os.getpid()}-"
    made = [path for place in places.folders for path in place.glob(f"{name}*")]
    limiting = {places.memory, places.pids}
    assert len(made) == len(places.folders if freezable else limiting)
    assert group.memory_kills() == 0
    assert (next(places.pids.glob(f"{name}*")) / "pids.max").read_text() == "5\n"
    group.remove()
    gone = subprocess.Popen(["/bin/true"])
    gone.wait()
    left = f"{PREFIX}{gone.pid}-1"
    for place in places.folders:
        (place / left).mkdir()
    find_places()
    for place in places.folders:
        assert [*place.glob(left), *place.glob(f"{name}*")] == []


# cgroups(7), "Cgroups delegation", and systemd.resource-control(5), Delegate=
@pytest.mark.parametrize(
    ("name", "controllers", "marked", "outcome"),
    [
        ("arena.service", "cpu memory pids", False, "arena.service"),
        ("arena-worker", "", False, "the one above"),
        ("terminal.scope", "", False, "terminal.scope is not delegated to the worker"),
        ("arena.service", "cpu", True, "arena.service has no memory controller"),
    ],
    ids=["ready", "moved before", "not ours", "marked, but the kernel does nothing"],
)
def test_delegated_group(
    name: str, controllers: str, marked: bool, outcome: str, tmp_path: Path
) -> None:
    """A group is divided only if it was given to the worker, and if that takes effect."""
    own = tmp_path / "above" / name
    own.mkdir(parents=True)
    (own / "cgroup.procs").write_text("")
    (own / "cgroup.subtree_control").write_text(controllers)
    (own.parent / "cgroup.subtree_control").write_text("memory pids")
    if marked:
        try:
            os.setxattr(own, "user.delegate", b"1")
        except OSError as error:
            need(False, f"{tmp_path} takes no extended attributes: {error}")
    if outcome == "the one above":
        assert cgroups.delegated_group(own) == own.parent
    elif outcome == name:
        assert cgroups.delegated_group(own) == own
    else:
        with pytest.raises(GroupError, match=outcome):
            cgroups.delegated_group(own)
    assert (own / cgroups.MAIN).exists() == marked
