"""Memory that an interpreter asks for and hardly uses: it is none of what a bot may use."""

from __future__ import annotations

import os
import re
import select
import time
from dataclasses import replace
from pathlib import Path

import pytest

from engine.program import Program
from tests.workers.conftest import python_launch
from tests.workers.test_building import need_language
from workers import building
from workers.building import BuildError, build
from workers.languages import language_named
from workers.launches import launch_build, launch_file, launch_words
from workers.limits import Limits
from workers.sandbox import Sandbox

MIB = 1 << 20
NODE = 512
"""What `VmData` of /proc/PID/status is above 60 MiB for Node 24.21 and 25.9 that run nothing, and
not for Node 20.20 and 22.23, in MiB: a private map that is writable and executable. Each worker
thread that Node 24.21 starts takes the same again, beside 14 MiB that Node 20.20 takes, too."""

RESERVES = """\
import mmap, sys
from time import sleep
reserved, used = (int(word) << 20 for word in sys.argv[1:])
kind = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
try:
    room = mmap.mmap(-1, reserved, kind, mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    for at in range(0, used, 4096):
        room[at] = 1
    print("has it", flush=True)
except OSError:
    print("refused", flush=True)
sleep(60)
"""


def answer(program: Program, seconds: float = 60.0) -> str:
    """What it says while it is looked after; nothing if it is ended before."""
    deadline, said = time.monotonic() + seconds, b""
    while not said.endswith(b"\n") and time.monotonic() < deadline and not program.wait(0.01):
        if select.select([program.stdout], [], [], 0)[0]:
            said += os.read(program.stdout, 100)
    return said.decode().strip()


@pytest.mark.parametrize(
    ("granted", "used", "words", "end"),
    [
        (0, 0, "refused", "still running"),
        (NODE, 32, "has it", "still running"),
        (NODE, 400, "", "memory limit reached"),
    ],
    ids=["not granted", "hardly used", "used"],
)
@pytest.mark.parametrize("level", ["good", "reduced", "full"])
def test_what_is_reserved(
    level: str, granted: int, used: int, words: str, end: str, sandbox_at, bot_folder: Path
) -> None:
    """The limit on data leaves room for it, and whoever uses it is ended all the same."""
    sandbox: Sandbox = sandbox_at(level)
    (bot_folder / "bot.py").write_text(RESERVES)
    (bot_folder / "bot.py").chmod(0o644)
    launch = replace(python_launch(str(NODE), str(used)), reserved_bytes=granted * MIB)
    program = sandbox.start(bot_folder, launch, Limits(memory_bytes=96 * MIB))
    said = answer(program)
    # A memory group counts what is used, and nothing that is only reserved.
    expected = "has it" if level == "full" and not granted else words
    assert (said, program.kill()) == (expected, end)


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_node_is_granted_it(threads: int) -> None:
    """As every bot of its language, once for each thread that the bot says it uses."""
    need_language("JavaScript")
    language = language_named("JavaScript")
    assert language is not None
    for launch in (
        launch_file("bot.js", language, threads=threads),
        launch_words(language, ["--no-warnings", "./bot.js"], threads=threads),
    ):
        assert launch.reserved_bytes == threads * NODE * MIB


@pytest.mark.long
@pytest.mark.parametrize(
    ("used", "words"),
    [(32, "has it"), (400, "memory limit|more than 96 MiB of memory")],
    ids=["hardly used", "used"],
)
@pytest.mark.parametrize("language", [None, "C"], ids=["by itself", "for the compiler"])
def test_a_build_script_is_granted_it(
    language: str | None, used: int, words: str, sandbox: Sandbox, bot_folder: Path
) -> None:
    """It may run any interpreter, in whatever the bot is written; what it uses counts as ever."""
    (bot_folder / "reserve.py").write_text(RESERVES.replace("sleep(60)", "sleep(1)"))
    script = f"python3 reserve.py {NODE} {used}"
    command = launch_build(language and language_named(language), "bot.c", ["bot.c"], script=script)
    limits = replace(building.LIMITS, memory_bytes=96 * MIB)
    try:
        said = build(sandbox, bot_folder, command, limits=limits)[1]
    except BuildError as error:
        said = str(error)
    assert re.search(words, said), said


@pytest.mark.parametrize("name", ["C", "Go", "Java"])
def test_a_compiler_is_not(name: str) -> None:
    """It is what it was, and no other interpreter."""
    need_language(name)
    assert launch_build(language_named(name), "Bot", ["Bot"]).reserved_bytes == 0
