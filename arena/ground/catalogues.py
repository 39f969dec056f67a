"""The languages that the arena speaks: English, and each that has a catalogue in this package.

A catalogue is one file, ``arena/catalogues/it.po``, as translators' tools write it. What was read
of it is kept in the user's cache, by the digest of the file, in the form of the standard library's
`gettext`: commands then start as fast as in English, and click finds its own texts there.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import shutil
import struct
import tempfile
from collections.abc import Iterable, Mapping
from functools import cache
from gettext import GNUTranslations
from pathlib import Path

import arena
from engine.translation import ENGLISH, Translation

FOLDER = Path(arena.__file__).parent / "catalogues"
DOMAIN = "messages"
"""The name of the files in the cache, which is the one that click's own texts are looked for by."""


@cache
def languages() -> tuple[str, ...]:
    """The tags of all that are spoken, English first."""
    return (ENGLISH.language, *sorted(file.stem for file in FOLDER.glob("*.po")))


@cache
def _by_tag() -> Mapping[str, str]:
    """Those in small letters: a tag means the same in any case (RFC 5646, 2.1.1)."""
    return {language.lower(): language for language in languages()}


@cache
def name_of(language: str) -> str:
    """What a language calls itself: ``italiano``."""
    from babel import Locale  # which a command in English need not wait for

    return Locale.parse(language, sep="-").get_display_name() or language


@cache
def territory(language: str) -> str:
    """A language with the country where most speak it, ``it_IT``, as libraries name their texts."""
    from babel.core import Locale, get_global

    tag = language.replace("-", "_")
    locale = Locale.parse(get_global("likely_subtags").get(tag, tag))
    return f"{locale.language}_{locale.territory}" if locale.territory else locale.language


@cache
def translation(language: str) -> Translation:
    """What is spoken to whoever reads a language; English where it has no catalogue."""
    if language == ENGLISH.language or language not in languages():
        return ENGLISH
    folder = compiled_folder(language)
    if folder is None:
        return Translation(language, GNUTranslations(io.BytesIO(_compile(language))))
    compiled = folder / language / "LC_MESSAGES" / f"{DOMAIN}.mo"
    # What can't be read any more is written again.
    with contextlib.suppress(OSError, ValueError, struct.error), compiled.open("rb") as file:
        return Translation(language, GNUTranslations(file))
    packed = _compile(language)
    with contextlib.suppress(OSError):  # where nothing can be kept it is read each time
        _keep(compiled, packed)
        _forget_others(compiled)
    return Translation(language, GNUTranslations(io.BytesIO(packed)))


def compiled_folder(language: str) -> Path | None:
    """Where a language's texts are kept once they were read, as `gettext.bindtextdomain` wants;
    None for a user who has no folder of their own.
    """
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if not os.path.isabs(base):
        return None
    digest = hashlib.sha256((FOLDER / f"{language}.po").read_bytes()).hexdigest()[:16]
    return Path(base) / "game-bot-arena" / digest


def _keep(file: Path, content: bytes) -> None:
    """Writes a file, for whoever reads it meanwhile as a whole."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=file.parent) as folder:
        part = Path(folder) / file.name
        part.write_bytes(content)
        part.replace(file)


def _forget_others(kept: Path) -> None:
    """Removes what is kept of the same language by other releases; they would read it anew."""
    folder = kept.parents[2]
    for other in folder.parent.iterdir():
        if other != folder and (other / kept.relative_to(folder)).is_file():
            shutil.rmtree(other, ignore_errors=True)


def _compile(language: str) -> bytes:
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    packed = io.BytesIO()
    with (FOLDER / f"{language}.po").open("rb") as file:
        write_mo(packed, read_po(file, locale=language.replace("-", "_")))
    return packed.getvalue()


def of_environment(environment: Mapping[str, str]) -> str:
    """The language that a process's environment asks for, as `gettext` looks for it.

    Args:
        environment: its variables; ``LANGUAGE`` counts unless the locale is ``C``.
    """
    names = ("LC_ALL", "LC_MESSAGES", "LANG")
    locale = next((environment[name] for name in names if environment.get(name)), "C")
    if locale.partition(".")[0] in ("C", "POSIX"):
        return ENGLISH.language
    wanted = (*environment.get("LANGUAGE", "").split(":"), locale)
    return first_spoken(one.partition(".")[0].partition("@")[0] for one in wanted)


def first_spoken(wanted: Iterable[str]) -> str:
    """The first of some languages that is spoken here; English if none is.

    Args:
        wanted: their tags, in any case; ``it-CH`` is served by ``it``.
    """
    for one in wanted:
        tag = one.replace("_", "-").lower()
        for tried in (tag, tag.partition("-")[0]):
            if tried in _by_tag():
                return _by_tag()[tried]
    return ENGLISH.language
