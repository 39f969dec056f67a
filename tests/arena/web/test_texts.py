"""Texts can be translated: none stands in a template as it is, and each translation fits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po
from jinja2 import Environment, nodes

from arena.ground.catalogues import FOLDER, languages

TEMPLATES = Path(__file__).parents[3] / "arena/web/templates"
SAID = frozenset(
    ["alt", "aria-description", "aria-label", "content", "label", "placeholder", "title"]
)
"""Attributes that are read out or shown."""
NOT_SAID = frozenset(["code", "kbd", "pre", "samp", "script", "style", "var"])
FOR_PROGRAMS = frozenset(
    ["viewport", "color-scheme", "htmx-config", "twitter:card", "og:type", "robots", "refresh"]
)
"""Elements of the head that no person reads."""
NAMES = frozenset(
    [
        "Arena",
        "API",
        "Atom",
        "CodeMirror",
        "CPU",
        "CSS",
        "CSV",
        "dump",
        "Elo",
        "EPD",
        "GIF",
        "htmx",
        "json",
        "JSON",
        "LLR",
        "MiB",
        "MIT",
        "mu",
        "Parquet",
        "PGN",
        "Pico",
        "PNG",
        "SGF",
        "SHA",
        "sigma",
        "SPRT",
        "SVG",
        "TrueSkill",
        "URL",
        "UTC",
        "ms",
    ]
)
"""What is called so in every language."""
PLACE = re.compile(r"%(?:\((\w+)\)([a-z])|%)|\{(\w*)\}")


class _Reader(HTMLParser):
    """Collects what a page says."""

    def __init__(self) -> None:
        super().__init__()
        self.inside: list[str] = []
        self.said: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        its = dict(attrs)
        if not {its.get(key) for key in ("name", "property", "http-equiv")} & FOR_PROGRAMS:
            self.said += [value for name, value in attrs if name in SAID and value]
        if tag in NOT_SAID:
            self.inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self.inside and self.inside[-1] == tag:
            self.inside.pop()

    def handle_data(self, data: str) -> None:
        if not self.inside:
            self.said.append(data)


def _plain(node: nodes.Node) -> Iterator[str]:
    """The template's own letters, all branches one after the other; nothing of what is put in."""
    if isinstance(node, nodes.TemplateData):
        yield node.data
    elif isinstance(node, nodes.Expr):
        yield "\0"
    else:
        for child in node.iter_child_nodes(exclude=("test", "iter", "target", "call", "args")):
            yield from _plain(child)


def test_templates_say_nothing_but_by_translation() -> None:
    """Each word in a template is in a message, a name, or no word of a language."""
    environment = Environment(extensions=["jinja2.ext.i18n"])
    environment.policies["ext.i18n.trimmed"] = True
    found = []
    for file in sorted(TEMPLATES.glob("*.html")):
        reader = _Reader()
        reader.feed("".join(_plain(environment.parse(file.read_text()))))
        for said in reader.said:
            if set(re.findall("[A-Za-z]{2,}", said)) - NAMES:
                found.append(f"{file.name}: {said.strip()[:80]}")
    assert found == []


def test_templates_look_up_what_stands_in_them() -> None:
    """Jinja takes a message for HTML: whatever is not the template's own goes by `translated`."""
    environment = Environment(extensions=["jinja2.ext.i18n"])
    found = []
    for file in sorted(TEMPLATES.iterdir()):
        for call in environment.parse(file.read_text()).find_all(nodes.Call):
            messages = {"gettext": 1, "pgettext": 2, "ngettext": 2}
            given = call.args[: messages.get(getattr(call.node, "name", ""), 0)]
            if not all(isinstance(one, nodes.Const) for one in given):
                found.append(f"{file.name}:{call.lineno}")
    assert found == []


@pytest.fixture(scope="module", params=languages()[1:])
def catalogue(request: pytest.FixtureRequest) -> Catalog:
    """A language's catalogue."""
    with (FOLDER / f"{request.param}.po").open("rb") as file:
        return read_po(file, locale=request.param.replace("-", "_"), abort_invalid=True)


def _texts(text: object) -> tuple[str, ...]:
    return tuple(map(str, text)) if isinstance(text, list | tuple) else (str(text or ""),)


def _is_wrong(message: Message) -> str:
    """What is wrong with a translation; empty if nothing is."""
    english, theirs = _texts(message.id), _texts(message.string)
    if message.fuzzy or not all(theirs):
        return "not translated"
    places = {found.groups() for text in english for found in PLACE.finditer(text)}
    for text in theirs:
        its = {found.groups() for found in PLACE.finditer(text)}
        if not its <= places or (len(english) == 1 and its != places):
            return f"other places: {sorted(map(str, its ^ places))}"
        ends = (text[:1].isspace(), text[-1:].isspace())
        if ends != (english[0][:1].isspace(), english[0][-1:].isspace()):
            return "other spaces at its ends"
    return ""


def test_translations_fit_their_messages(catalogue: Catalog) -> None:
    """Whatever is put into the English text is put into each translation: else nothing is said."""
    found = [f"{_texts(one.id)[0][:60]!r}: {_is_wrong(one)}" for one in catalogue if _is_wrong(one)]
    assert len(catalogue) > 2000
    assert [one for one in found if not one.startswith("''")] == []


def test_a_wrong_translation_is_found() -> None:
    """The checks above can fail."""
    for english, theirs, wrong in [
        ("a %(x)s", "un %(x)s", False),
        ("a %(x)s", "un %(y)s", True),
        ("a %(x)s", "un x", True),
        ("a %(x)r", "un %(x)s", True),
        ("{name} is wrong", "{nome} è sbagliato", True),
        (("1 of %(n)s", "%(m)s of %(n)s"), ("una di %(n)s", "%(m)s di %(n)s"), False),
        ("a ", "un", True),
        ("a", "", True),
    ]:
        assert bool(_is_wrong(Message(english, theirs))) is wrong, english
