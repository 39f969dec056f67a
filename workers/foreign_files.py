"""Files that were made for another system or in another form, and what their author does then."""

from __future__ import annotations

from pathlib import PurePosixPath

from engine.translation import N_, gettext, translated
from workers.archives import OTHER_ARCHIVES, is_archive
from workers.files import File
from workers.languages import Language, find_language, shebang_language

ELF = b"\x7fELF"
PROGRAM = (b"#!", ELF)
"""How a file begins that Linux runs by itself: a script, or a program."""
UTF8_MARK, UTF16_MARKS = b"\xef\xbb\xbf", (b"\xff\xfe", b"\xfe\xff")
"""The byte order marks with which programs of Windows begin a text (Unicode 15, 23.8)."""
ON_LINUX = N_("bots run on Linux: hand in its source, or a program that was built for Linux")
MACH_O = tuple(
    bytes.fromhex(magic) for magic in ("feedface", "feedfacf", "cefaedfe", "cffaedfe", "cafebabe")
)
"""How programs of macOS begin (mach-o/loader.h), the last one those for several processors."""
FIRST_JAVA = 45
"""The first version of Java's classes, whose files begin as the last of those do: where they have
their version, those have how many processors there are (The Java Virtual Machine, 4.1)."""
ELF_MACHINES = {3: "i386", 40: "arm", 62: "x86_64", 183: "aarch64", 243: "riscv64"}
"""Processors by their number in an ELF file (its specification, and elf.h)."""
NOTEBOOK, SCRIPTS = ".ipynb", (".bat", ".cmd", ".ps1")


def is_utf16(content: bytes) -> bool:
    """Whether a text begins as in UTF-16: with its mark, or with two letters of Latin."""
    zeros = [byte == 0 for byte in content[:4]]
    return content.startswith(UTF16_MARKS) or zeros in ([False, True] * 2, [True, False] * 2)


def kind_of(name: str, content: bytes) -> str | None:
    """What a file is that no bot can be started by, and what to do; None if that isn't known."""
    path = PurePosixPath(name)
    suffix = path.suffix.lower()
    if content.startswith(b"MZ"):
        return gettext("a program of Windows, and %(advice)s", advice=translated(ON_LINUX))
    if content.startswith(MACH_O):
        if content.startswith(MACH_O[-1]) and int.from_bytes(content[4:8]) >= FIRST_JAVA:
            return gettext("a class of Java that was compiled already: hand in its source")
        return gettext("a program of macOS, and %(advice)s", advice=translated(ON_LINUX))
    if content.startswith(b"PK\x03\x04") and suffix == ".jar":
        return gettext('an archive of Java: say run = "java -jar %(name)s" in bot.toml', name=name)
    if is_archive(path) or suffix in OTHER_ARCHIVES or content.startswith(b"PK\x03\x04"):
        return gettext("an archive itself: hand in the files that are in it")
    if suffix in SCRIPTS:
        return gettext("a script of Windows, and %(advice)s", advice=translated(ON_LINUX))
    if suffix == NOTEBOOK:
        return gettext("a notebook: hand in its code as a file of its language, like bot.py")
    if is_utf16(content):
        return gettext("text in UTF-16, as Windows writes it: save it as UTF-8")
    if content.startswith(tuple(UTF8_MARK + first for first in PROGRAM)):
        return gettext("a script that begins with a byte order mark: save it as UTF-8 without one")
    return None


def other_processor(content: bytes, machine: str) -> str | None:
    """The processor that a program is for, if it isn't that of a machine.

    Args:
        machine: its name as os.uname() tells it.
    """
    if not content.startswith(ELF) or len(content) < 20:
        return None
    number = int.from_bytes(content[18:20], "big" if content[5] == 2 else "little")
    found = ELF_MACHINES.get(
        number, gettext("another processor (number %(number)s of ELF's)", number=number)
    )
    return None if found == machine else found


def wrong_text(name: str, file: File, language: Language | None) -> str | None:
    """What is wrong with a source of a language as a text; None if it is read all the same.

    Args:
        language: None for a program by itself, such as a script that names its interpreter.
    """
    if is_utf16(file.content):
        return gettext(
            "%(name)s is text in UTF-16, as Windows writes it: save it as UTF-8", name=name
        )
    if language and not language.takes_mark and file.content.startswith(UTF8_MARK):
        return gettext(
            "%(name)s begins with a byte order mark: save it as UTF-8 without one", name=name
        )
    return None


def windows_lines(name: str, file: File, language: Language | None = None) -> str | None:
    """What is wrong with a script whose lines end as on Windows; None if it runs all the same.

    Args:
        language: its language, if its name and first line need not tell.
    """
    first = file.content[:200].partition(b"\n")[0]
    by_kernel = first.startswith(b"#!") and first.endswith(b"\r")
    known = language or find_language(PurePosixPath(name))
    known = known or shebang_language(first.decode("utf-8", "replace"))
    if by_kernel or (known and known.unix_lines and b"\r\n" in file.content):
        return gettext(
            "%(name)s has line ends of Windows, which count as a part of the last word: save it "
            "with those of Unix",
            name=name,
        )
    return None
