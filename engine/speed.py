"""Two ways to do faster what is done at every move: to make a value, and to judge a move."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, ParamSpec, TypeVar

from engine.game import State

Given = ParamSpec("Given")
Value = TypeVar("Value")
Judged = TypeVar("Judged", bound=State)
Answer = TypeVar("Answer")


def maker(cls: Callable[Given, Value]) -> Callable[Given, Value]:
    """Makes values of a frozen dataclass with slots as its class does, only faster.

    The class goes through ``object.__setattr__`` for every field, since its own refuses all:
    that is a third of what a move costs in a small game. This fills an object of a twin class
    that refuses nothing, and then makes it one of the class.
    """
    assert isinstance(cls, type)
    names = [field.name for field in fields(cls)]
    lines = [f"def __init__(self, {', '.join(names)}):"]
    lines += [f"    self.{name} = {name}" for name in names]
    lines += ["    self.__class__ = made"]
    scope: dict[str, Any] = {"made": cls}
    # As dataclasses do it: only code that names every field is fast.
    exec("\n".join(lines), scope)  # noqa: S102
    scope["__init__"].__defaults__ = cls.__init__.__defaults__  # type: ignore[misc]
    scope["__init__"].__qualname__ = cls.__init__.__qualname__  # type: ignore[misc]
    kept = {name: vars(cls)[name] for name in ("__slots__", "__orig_bases__") if name in vars(cls)}
    twin = type(cls)(cls.__name__, cls.__bases__, kept | {"__init__": scope["__init__"]})
    twin.__abstractmethods__ = frozenset()  # type: ignore[attr-defined]  # it calls none
    return twin


def judged_once(judge: Callable[[Judged, str], Answer]) -> Callable[[Judged, str], Answer]:
    """Wraps a method of a State that takes a move, to remember its last answer.

    Whoever asks whether a move is legal plays it next, and need not have it judged twice.
    """
    last: tuple[Judged, str, Answer] | None = None

    def judged(state: Judged, move: str) -> Answer:
        nonlocal last
        # A copy, as other threads judge other moves meanwhile.
        known = last
        if known is None or known[0] is not state or known[1] != move:
            known = last = (state, move, judge(state, move))
        return known[2]

    return judged
