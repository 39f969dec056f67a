"""What a box turns out to be, found by starting a probe in it.

A level is never concluded from what the host says it could do. A shell is started in a real
box; from outside the kernel is asked what stands around it, and from inside it tries what a
bot must not do.
"""

from __future__ import annotations

import os
import select
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from engine.translation import gettext
from workers.cgroups import PREFIX
from workers.launches import Launch
from workers.limits import Limits, read_limits
from workers.processes import status_of
from workers.program import BoxError, BoxProgram
from workers.walls import Box, environment

NAMESPACES = ("user", "pid", "net", "ipc", "uts", "mnt", "cgroup")
ANSWER_SECONDS = 5.0
SCRIPT = """\
echo up
read go
for place in / /dev /dev/shm /tmp /var/tmp /usr . "$PYTHONPATH" "$1"; do
    if { echo x > "$place/arena-probe"; } 2>/dev/null; then echo "wrote $place"; fi
done
for file in /etc/passwd /proc/1/environ /proc/self/status "$1/canary"; do
    if { read -r line < "$file"; } 2>/dev/null; then echo "read $file"; fi
done
# The first process of a container has the number that the probe's own namespace gives the probe.
if [ "$2" != $$ ] && { kill -0 "$2"; } 2>/dev/null; then echo "reached $2"; fi
echo tried
read go
(echo forked)
echo after
"""


SEVERAL = """\
(while :; do :; done) &
echo up
wait
"""
"""Two processes of which one is at work."""
STILL_SECONDS = 0.005
LIMITS = Limits(memory_bytes=64 << 20, threads=4, scratch_bytes=1 << 20)


@dataclass(frozen=True, slots=True)
class ProbeFinding:
    """One thing that was looked at, such as a layer of a box."""

    name: str
    holds: bool
    detail: str
    remedy: str = ""
    """What can be done about it; empty if nothing need be."""


def probe(box: Box, scratch: Path) -> tuple[ProbeFinding, ...]:
    """Looks at a box from outside and from inside.

    Args:
        scratch: a folder of ours, closed to bots, that the probe tries to get at.

    Raises:
        BoxError: no box can be built.
    """
    try:
        layers = _one_process(box, scratch)
        if box.level == "full":
            layers.append(_several_processes(box))
    except OSError as error:
        raise BoxError(
            gettext("a probe in the box ended too soon: %(reason)s", reason=error)
        ) from None
    return tuple(layers)


def _one_process(box: Box, scratch: Path) -> list[ProbeFinding]:
    canary = scratch / "canary"
    canary.write_text("not for bots\n")
    launch = Launch(("/bin/sh", "-c", SCRIPT, "probe", str(scratch), str(os.getpid())))
    program = box.start(Path("/usr"), launch, LIMITS)
    try:
        _expect(program, "up")
        layers = [*_seen_from_outside(box, program, LIMITS, launch)]
        os.write(program.stdin, b"go\n")
        layers += _tried_inside(box, _expect(program, "tried"))
        os.write(program.stdin, b"go\n")
        layers.append(_fork(_read(program)))
    finally:
        program.kill()
    return layers


def _several_processes(box: Box) -> ProbeFinding:
    """Whether a box of several is frozen, charged and ended as one."""
    launch = Launch(("/bin/sh", "-c", SEVERAL))
    program = box.start(Path("/usr"), launch, replace(LIMITS, processes=2))
    problems = []
    try:
        _expect(program, "up")
        there = len(program.threads())
        program.freeze()
        deadline = time.monotonic() + ANSWER_SECONDS
        while not program.stands() and time.monotonic() < deadline:
            time.sleep(STILL_SECONDS)
        used_us = program.cpu_us()
        time.sleep(STILL_SECONDS)
        if there != 2:
            problems.append(gettext("of 2 its group knows %(number)s", number=there))
        if not used_us:
            problems.append(gettext("their CPU time is not counted"))
        if not program.stands() or program.cpu_us() - used_us > STILL_SECONDS * 1e6 / 5:
            problems.append(gettext("they are not to be stopped"))
    finally:
        program.kill()
    if program.threads():
        problems.append(gettext("they outlive the first one"))
    words = "; ".join(problems) or gettext("they stand still, are charged and end as one")
    return ProbeFinding(gettext("several processes"), not problems, words)


def _expect(program: BoxProgram, last: str) -> list[str]:
    """The probe's lines up to that one."""
    lines = _read(program, last)
    if not lines or lines[-1] != last:
        said = os.pread(program.stderr, 200, 0).decode(errors="replace").strip()
        raise BoxError(
            gettext(
                "a probe in the box does not run: %(reason)s", reason=said or gettext("it ended")
            )
        )
    return lines[:-1]


def _read(program: BoxProgram, last: str | None = None) -> list[str]:
    poll = select.poll()
    poll.register(program.stdout, select.POLLIN)
    words = b""
    while last is None or not words.endswith(f"{last}\n".encode()):
        if not poll.poll(ANSWER_SECONDS * 1000):
            break
        data = os.read(program.stdout, 4096)
        if not data:
            break
        words += data
    return words.decode(errors="replace").splitlines()


def _seen_from_outside(
    box: Box, program: BoxProgram, limits: Limits, launch: Launch
) -> Iterator[ProbeFinding]:
    status = status_of(program.pid)
    namespaces = box.level != "reduced"
    if namespaces:
        yield _namespaces(program.pid, status)
    # A service manager may have given the worker filters, which the bot has, too.
    already = int(status_of(os.getpid()).get("Seccomp_filters", "0"))
    loaded = status.get("Seccomp") == "2" and int(status.get("Seccomp_filters", "1")) > already
    words = gettext("the kernel filters its system calls") if loaded else gettext("none is loaded")
    yield ProbeFinding(gettext("call filter"), loaded, words)
    user = int(status.get("Uid", "0").split()[0])
    rights = [name for name in ("CapPrm", "CapEff") if int(status.get(name, "1"), 16)]
    if namespaces and int(status.get("CapBnd", "1"), 16):
        rights.append("CapBnd")
    problems = [gettext("has %(rights)s", rights=", ".join(rights))] if rights else []
    if status.get("NoNewPrivs") != "1":
        problems.append(gettext("could gain privileges"))
    if user == 0:
        problems.append(gettext("runs as root"))
    yield ProbeFinding(
        gettext("privileges"),
        not problems,
        ", ".join(problems) or gettext("none, as user %(number)s", number=user),
    )
    metered, counted = box.level == "full", namespaces or os.geteuid() == 0
    wanted = limits.for_process(metered=metered, counted=counted)
    found = read_limits(program.pid)
    loose = sorted(name for name in wanted if found.get(name) != wanted[name])
    yield ProbeFinding(
        gettext("resource limits"),
        not loose,
        gettext("not set: %(names)s", names=", ".join(loose))
        if loose
        else gettext("read back as they were set"),
    )
    if metered:
        yield _memory_group(program.pid)
    with suppress(OSError):  # not to be seen by root without CAP_SYS_PTRACE
        content = Path(f"/proc/{program.pid}/environ").read_text().split("\0")
        keys = {word.partition("=")[0] for word in content} - {"", "PWD"}
        extra = sorted(keys - environment(launch, "").keys())
        detail = gettext("only what the box sets")
        if extra:
            detail = gettext("it sees %(names)s", names=", ".join(extra))
        yield ProbeFinding(gettext("environment"), not extra, detail)


def _namespaces(pid: int, status: Mapping[str, str]) -> ProbeFinding:
    """All of them must be new; where root may not look, process 1 of its own must do."""
    try:
        shared = [
            kind
            for kind in NAMESPACES
            if os.readlink(f"/proc/{pid}/ns/{kind}") == os.readlink(f"/proc/self/ns/{kind}")
        ]
    except PermissionError:
        first = status.get("NSpid", "").split()[1:] == ["1"]
        return ProbeFinding(
            gettext("namespaces"), first, gettext("only that of processes could be looked at")
        )
    detail = gettext("all seven are its own")
    if shared:
        detail = gettext("shared with the host: %(names)s", names=", ".join(shared))
    return ProbeFinding(gettext("namespaces"), not shared, detail)


def _memory_group(pid: int) -> ProbeFinding:
    """Whether it is in its group; that the group has its limits was seen when it was made."""
    lines = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
    inside = any(
        PREFIX in path and (controllers == "" or "memory" in controllers.split(","))
        for _, controllers, path in (line.split(":", 2) for line in lines)
    )
    return ProbeFinding(
        gettext("memory group"),
        inside,
        gettext("it is in its own") if inside else gettext("it is outside"),
    )


def _tried_inside(box: Box, lines: list[str]) -> Iterator[ProbeFinding]:
    allowed = {"wrote /tmp"} if box.level == "full" else set()
    reached = [line for line in lines if line.startswith("reached")]
    files = [line for line in lines if line not in allowed and line not in reached]
    yield ProbeFinding(
        gettext("files"),
        not files,
        "; ".join(files) or gettext("nothing of the host read or written"),
    )
    yield ProbeFinding(
        gettext("signals"),
        not reached,
        "; ".join(reached) or gettext("the worker can't be signalled"),
    )


def _fork(lines: list[str]) -> ProbeFinding:
    forked = "forked" in lines
    return ProbeFinding(
        gettext("one process"),
        not forked,
        gettext("it could fork") if forked else gettext("it can't fork"),
    )
