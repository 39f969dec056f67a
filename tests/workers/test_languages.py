"""Languages: by ending, name and first line."""

from __future__ import annotations

from pathlib import Path

import pytest

from workers.languages import Language, find_language, language_named, shebang_language


def name_of(language: Language | None) -> str | None:
    return language.name if language else None


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("#!/usr/bin/python3", "Python"),
        ("#!/usr/bin/env python", "Python"),
        ("#!/usr/bin/env -S PYTHONPATH=x python3.13 -u", "Python"),
        ("#!/usr/local/bin/node", "JavaScript"),
        ("#!/bin/sh", "shell"),
        ("#!/bin/dash -e", "shell"),
        ("#!/usr/bin/env ruby", "Ruby"),
        ("#!/usr/bin/pythonista", None),
        ("#!", None),
        ("#!/usr/bin/env", None),
        ("print(1)", None),
        ("", None),
    ],
)
def test_first_line(line: str, name: str | None) -> None:
    """The interpreter's name counts, not where its author has it."""
    assert name_of(shebang_language(line)) == name


@pytest.mark.parametrize(
    ("word", "name"),
    [
        *[("python", "Python"), ("PYTHON3", "Python"), ("JavaScript", "JavaScript"), ("c", "C")],
        *[("g++", "C++"), ("cpp", "C++"), ("rs", "Rust"), ("golang", None), ("./bot", None)],
    ],
)
def test_name(word: str, name: str | None) -> None:
    """A language goes by its own name and by its interpreter's, in any case."""
    assert name_of(language_named(word)) == name


@pytest.mark.parametrize(
    ("file", "name"),
    [
        *[("a.py", "Python"), ("a.cjs", "JavaScript"), ("a.b.lua", "Lua"), ("py", None)],
        *[("a.c", "C"), ("a.h", None), ("a.cc", "C++"), ("a.hpp", None), ("a.rs", "Rust")],
        *[("a.go", "Go"), ("A.java", "Java")],
    ],
)
def test_ending(file: str, name: str | None) -> None:
    """The ending decides where there is one."""
    assert name_of(find_language(Path(file))) == name
