"""The docs/ folder and the rules pages of games, and the page that says what this site is.

The files are the operator's, so their Markdown is trusted as far as its words go; HTML in it is
shown, not obeyed. Links from one file to another lead to its page. What is no such file, like the
sources beside the folder, is not on this site, and is named without a link.
"""

from __future__ import annotations

import logging
import posixpath
import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path

from flask import Blueprint, abort, redirect, render_template, url_for
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup, escape
from werkzeug.wrappers import Response

from arena.web import rules_pictures
from engine.declaring import LONGEST_PAGE, LONGEST_TITLE
from engine.games import GAMES
from engine.translation import ENGLISH, Translation, gettext, speaking, spoken

docs = Blueprint("docs", __name__)
log = logging.getLogger("arena.web")

FOLDER = Path(__file__).parents[2] / "docs"
FIRST = (
    "writing-a-bot",
    "protocol",
    "git",
    "ci",
    "home",
    "runtimes",
    "ladders",
    "lists",
    "playing",
    "replays",
    "data",
    "analysis",
    "truth",
    "tournaments",
    "competitions",
    "notifications",
    "strength-tests",
    "accounts",
    "languages",
    "api",
    "adding-a-game",
    "sandbox",
    "operating",
    "performance",
    "scale",
)
"""The order in which people need them; others follow by name."""
GAME_PAGES = "games/"
HERE = re.compile(r"(?!\w+:)")
"""How an address within these files begins: without a scheme."""
Tokens = Sequence[Token]
LONGEST_SUMMARY = 400
SENTENCE = re.compile(r".+?(?<!\b[A-Z])[.?!](?=\s|$)", re.DOTALL)
"""A capital alone is of a name, as in J. P. Grossman."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a guide."""

    anchor: str
    title: str


@dataclass(frozen=True, slots=True)
class Guide:
    """A file of the folder."""

    name: str
    """Its path without the ending, or ``games/`` and the name of a game."""
    title: str
    summary: str
    """Its first sentence."""
    sections: tuple[Section, ...]
    tokens: tuple[Token, ...]
    language: str = ENGLISH.language
    """The language that it is in."""

    @property
    def game(self) -> str:
        """Whose rules page it is; empty for the others."""
        return self.name.removeprefix(GAME_PAGES) if self.name.startswith(GAME_PAGES) else ""

    def address(self, anchor: str | None = None) -> str:
        """Where it is shown: the rules on their game's page."""
        if self.game:
            return url_for("rules.game", game=self.game, _anchor=anchor)
        return url_for("docs.guide", name=self.name, _anchor=anchor)


def guides() -> dict[str, Guide]:
    """All guides by their names, in the order to read them; those of the games come last, and are
    in the language that is spoken where they can be had in it.
    """
    return guides_in(spoken())


@cache
def guides_in(_spoken: Translation) -> dict[str, Guide]:
    found = {
        file.relative_to(FOLDER).with_suffix("").as_posix(): file.read_text
        for file in FOLDER.rglob("*.md")
    }
    known = {name: number for number, name in enumerate(FIRST)}
    order = sorted(found, key=lambda name: (known.get(name, len(known)), name))
    games = {GAME_PAGES + name: GAMES[name].rules for name in sorted(GAMES)}
    pages = {name: found[name] for name in order} | games
    return {name: guide for name, page in pages.items() if (guide := _guide(name, page))}


def _guide(name: str, page: Callable[[], str]) -> Guide | None:
    """A page's guide; none if a game's can't be read, which is no reason to show no other."""
    try:
        text = page()
        if not text.strip() or len(text) > LONGEST_PAGE:
            raise ValueError(f"it has {len(text):,} letters, and not 1 to {LONGEST_PAGE:,}")
        return replace(read(name, text), language=language_of(page, text))
    except Exception as error:  # a stranger's function
        log.warning("the page %s is not shown: %s: %s", name, type(error).__name__, error)
        return None


def language_of(page: Callable[[], str], text: str) -> str:
    """The language of what a page says to who reads it now: English if that is what all read."""
    with speaking(ENGLISH):
        is_english = page() == text
    return ENGLISH.language if is_english else spoken().language


def read(name: str, text: str) -> Guide:
    """A guide from its Markdown, which begins with a heading."""
    tokens = RENDERER.parse(text)
    sections, title, summary, label = list[Section](), "", "", ""
    for token, inline in zip(tokens, [*tokens[1:], tokens[-1]], strict=True):
        words = _words(inline)
        if token.type == "heading_open":
            label = words
            section = Section(_anchor(words, {one.anchor for one in sections}), words)
            token.attrSet("id", section.anchor)
            if token.tag == "h1":
                title = title or words
            elif token.tag == "h2":
                sections.append(section)
        elif token.type == "paragraph_open" and not summary:
            sentence = SENTENCE.match(words)
            summary = sentence[0] if sentence else words
        elif token.type == "table_open":
            token.meta["label"] = label
        elif token.type in ("th_open", "td_open") and "right" in str(token.attrs.pop("style", "")):
            # A style would be refused by the policy of the site's pages.
            token.attrSet("class", "number")
    title = textwrap.shorten(title or name, LONGEST_TITLE)
    summary = textwrap.shorten(summary, LONGEST_SUMMARY)
    return Guide(name, title, summary, tuple(sections), tuple(tokens))


def _words(inline: Token) -> str:
    """What a heading or paragraph says, without its marks."""
    return "".join(
        " " if part.type == "softbreak" else part.content for part in inline.children or []
    )


def _anchor(words: str, taken: set[str]) -> str:
    plain = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
    return plain if plain not in taken else f"{plain}-{len(taken)}"


def render(guide: Guide, *, titled: bool = True) -> Markup:
    """A guide as HTML for its page.

    Args:
        titled: with the heading that it begins with.
    """
    env = {"name": guide.name, "game": guide.game}
    begins = [token.type for token in guide.tokens[:1]] == ["heading_open"]
    tokens = guide.tokens if titled or not begins else guide.tokens[3:]  # it opens, says, closes
    html = RENDERER.renderer.render(tokens, RENDERER.options, env)
    return Markup(html)  # noqa: S704 - our files, and the HTML in them is escaped


def first_code(name: str, language: str) -> str:
    """The first piece of code in a language that a guide has; empty if it has none."""
    found = guides().get(name)
    fences = [token for token in (found.tokens if found else ()) if token.type == "fence"]
    return next((token.content for token in fences if token.info.strip() == language), "")


def _address(name: str, written: str) -> str:
    """Where a link in a guide leads on this site; the list of guides, if the site has no such."""
    if not HERE.match(written) or written.startswith("#"):
        return written
    path, _, anchor = written.partition("#")
    there = posixpath.normpath(posixpath.join(posixpath.dirname(name), path))
    wanted = there.removesuffix(".md")
    if name.startswith(GAME_PAGES) and path.endswith("/rules.md"):
        # From one game's folder to another's, as the files lie.
        wanted = GAME_PAGES + posixpath.basename(posixpath.dirname(path))
    if found := guides().get(wanted):
        return found.address(anchor or None)
    return url_for("docs.index")


def _open_link(
    renderer: RendererHTML, tokens: Tokens, index: int, options: OptionsDict, env: EnvType
) -> str:
    link = tokens[index].copy()
    link.attrs = {**link.attrs, "href": _address(env["name"], str(link.attrs["href"]))}
    return renderer.renderToken([link], 0, options, env)


def _open_table(_renderer: object, tokens: Tokens, index: int, *_: object) -> str:
    label = escape(tokens[index].meta["label"])
    return f'<div class="scroll" role="region" aria-label="{label}" tabindex="0"><table>\n'


def _code(_renderer: object, tokens: Tokens, index: int, *_: object) -> str:
    return f'<pre tabindex="0"><code>{escape(tokens[index].content)}</code></pre>\n'


def _fence(
    renderer: RendererHTML, tokens: Tokens, index: int, _options: object, env: EnvType
) -> str:
    drawn = ""
    if env["game"] and rules_pictures.is_picture(tokens[index]):
        drawn = rules_pictures.figure(env["game"], tokens, index)
    return drawn or _code(renderer, tokens, index)


def _renderer() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    markdown.add_render_rule("link_open", _open_link)
    markdown.add_render_rule("table_open", _open_table)
    markdown.add_render_rule("table_close", lambda *_: "</table></div>\n")
    markdown.add_render_rule("fence", _fence)
    markdown.add_render_rule("code_block", _code)
    return markdown


RENDERER = _renderer()


@docs.get("/docs/")
def index() -> str:
    """What there is to read."""
    return render_template("docs.html", guides=guides().values())


@docs.get("/docs/<path:name>")
def guide(name: str) -> str | Response:
    """A file of the folder, with the list of all beside it; a game's rules stand on its page."""
    found = guides().get(name)
    if found is None:
        abort(404, gettext("There is no guide %(name)s.", name=name))
    if found.game:
        return redirect(found.address())
    return render_template("guide.html", guide=found, guides=guides().values(), text=render(found))


@docs.get("/about")
def about() -> str:
    """What this site is, and by which rules it plays."""
    return render_template("about.html", version=version("game-bot-arena"))
