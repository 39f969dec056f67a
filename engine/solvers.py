"""Programs in C++ that find values more quickly, where there is a compiler: for tables.

A game that has one keeps its source in its folder. It reads questions as lines of numbers, and
answers each by a line; it shares nothing with the search in Python, and each is a check of the
other.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.truth import Truth

COMPILERS = ("c++", "g++", "clang++")


def compiler() -> str | None:
    """The compiler of this machine; None if there is none."""
    return next(filter(None, map(shutil.which, COMPILERS)), None)


class Solver:
    """Such a program as it runs."""

    def __init__(self, program: subprocess.Popen[str]) -> None:
        self._program = program

    def tell(self, *numbers: int) -> None:
        """Writes a line to it."""
        assert self._program.stdin is not None
        self._program.stdin.write(" ".join(map(str, numbers)) + "\n")
        self._program.stdin.flush()

    def ask(self, *numbers: int) -> list[int]:
        """What it answers to a line.

        Raises:
            RuntimeError: it has ended.
        """
        self.tell(*numbers)
        assert self._program.stdout is not None
        answer = self._program.stdout.readline()
        if not answer:
            raise RuntimeError(f"the compiled solver ended at {numbers}")
        return list(map(int, answer.split()))


@contextmanager
def compiled(source: Path, with_: str) -> Iterator[Solver]:
    """Compiles a program, and runs it meanwhile.

    Raises:
        CalledProcessError: it can't be compiled; why is on standard error.
    """
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "solver"
        words = [with_, "-O2", "-std=c++17", "-o", str(program), str(source)]
        subprocess.run(words, check=True, stdin=subprocess.DEVNULL)
        with subprocess.Popen(
            [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as running:
            try:
                yield Solver(running)
            finally:
                running.kill()


@contextmanager
def quickest(
    plain: Truth, source: Path, made: Callable[[Solver], Truth], *, fits: bool = True
) -> Iterator[Truth]:
    """The quickest search there is here: by a program, or the plain one where it can't be compiled.

    Args:
        made: makes the search that asks the program.
        fits: whether the program answers for the variant, and is worth compiling.
    """
    its = compiler() if fits else None
    if its is None:
        yield plain
        return
    with compiled(source, its) as solver:
        yield made(solver)
