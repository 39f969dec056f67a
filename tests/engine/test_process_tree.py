"""What a program started is ended with it, also where it left the program's group."""

from __future__ import annotations

import os
import time
from pathlib import Path

import psutil
import pytest

from engine.channel import HeadAndTail
from engine.process_tree import MARK, descendants, end_all, marked, members
from engine.program import PlainProgram

STARTED = {
    "a child": "sleep 60 &",
    "in a session of its own": "setsid sleep 60 &",
    "with children there": "setsid sh -c 'sleep 60 & sleep 60 & wait' &",
    # Whoever started it ends at once, so that it is somebody else's child.
    "as a service": "(setsid sleep 60 &);",
}
OWN_END = pytest.mark.parametrize("end", ["exit", "kill -9 $$"])


def alive(mark: str) -> list[int]:
    """Those of a family that have not ended."""
    found = []
    for pid in members(mark):
        try:
            if psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
                found.append(pid)
        except psutil.NoSuchProcess:
            pass
    return found


def all_end(mark: str) -> bool:
    """Whether soon none of a family is left."""
    deadline = time.monotonic() + 60
    while alive(mark):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def started(script: str) -> tuple[PlainProgram, str]:
    """A program that says when it has started its own, and its family's mark."""
    program = PlainProgram(["/bin/sh", "-c", script])
    assert os.read(program.stdout, 100) == b"done\n"
    environment = Path(f"/proc/{program.pid}/environ").read_bytes().split(b"\0")
    (mark,) = [one.partition(b"=")[2] for one in environment if one.startswith(MARK.encode())]
    return program, mark.decode()


@pytest.mark.parametrize("kind", ["a child", "in a session of its own", "with children there"])
def test_a_program_that_lives_is_ended_with_its_family(kind: str) -> None:
    program, mark = started(f"{STARTED[kind]} sleep 0.1; echo done; sleep 60")
    program.freeze()
    assert len(alive(mark)) >= 2
    assert program.kill() == "still running"
    assert all_end(mark)


@OWN_END
@pytest.mark.parametrize("kind", STARTED)
def test_of_a_program_that_has_ended_the_family_is_found(kind: str, end: str) -> None:
    """Its mark tells, whoever has taken it in, be it that the program left or was killed."""
    program, mark = started(f"{STARTED[kind]} sleep 0.1; echo done; read line; {end}")
    os.write(program.stdin, b"\n")
    assert program.wait(60)
    assert alive(mark)
    assert program.kill() == ("exit 0" if end == "exit" else "killed by SIGKILL")
    assert all_end(mark)


def test_a_family_that_grows_is_ended() -> None:
    """Stopped first, none of them can start another while they are ended."""
    grow = "grow() { while :; do setsid sleep 60 & sleep 0.01; done; }; grow"
    program, mark = started(f"setsid sh -c '{grow}' & echo done; sleep 60")
    time.sleep(0.1)
    program.kill()
    assert all_end(mark)


def test_nobody_else_is_ended() -> None:
    """Another program of this user has another mark, also one that was started by the same."""
    first, mark = started("setsid sleep 60 & echo done; sleep 60")
    second, other = started("setsid sleep 60 & echo done; sleep 60")
    assert mark != other != os.environ.get(MARK)
    first.kill()
    assert all_end(mark)
    assert len(alive(other)) >= 2
    end_all(lambda: descendants(second.pid))
    second.kill()
    assert all_end(other)


def test_a_family_of_nobody() -> None:
    """Those that have ended meanwhile are no error."""
    assert members(marked({})[MARK]) == []
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    end_all(lambda: [child])
    os.waitpid(child, 0)
    end_all(lambda: [child])
    assert descendants(child) == []


@pytest.mark.parametrize(
    ("said", "last"),
    [
        ([], ""),
        ([b"\n \n"], ""),
        ([b"one\ntwo\n\n"], "two"),
        ([b"half a li", b"ne"], "half a line"),
        ([b"x" * 90, b"\nlast \xff\r\n"], "last �"),
    ],
)
def test_the_last_line_that_was_said(said: list[bytes], last: str) -> None:
    """Where it is kept in two parts, too."""
    kept = HeadAndTail(40)
    for data in said:
        kept.add(data)
    assert kept.last_line() == last
