"""What people say of themselves and their bots, as HTML that harms nobody.

It is Markdown. HTML in it is shown, not obeyed; pictures are links, since the pages load none from
elsewhere; links lead to addresses of `arena.people.profiles` alone, and say that they are
somebody's (``ugc``); its headings stand below those of the page.
"""

from __future__ import annotations

from collections.abc import Sequence

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup, escape

from arena.people.profiles import is_link

REL = "nofollow ugc noopener"
BELOW = 2
"""Levels of the page's own headings above."""


def described(text: str) -> Markup:
    """A description as HTML."""
    return Markup(_MARKDOWN.render(text))  # noqa: S704 - nothing in it is taken for HTML


def _open_link(
    renderer: RendererHTML,
    tokens: Sequence[Token],
    at: int,
    options: OptionsDict,
    _env: EnvType,
) -> str:
    tokens[at].attrSet("rel", REL)
    return renderer.renderToken(tokens, at, options, _env)


def _heading(
    renderer: RendererHTML,
    tokens: Sequence[Token],
    at: int,
    options: OptionsDict,
    _env: EnvType,
) -> str:
    token = tokens[at]
    token.tag = f"h{min(6, int(token.tag[1:]) + BELOW)}"
    return renderer.renderToken(tokens, at, options, _env)


def _image(_: RendererHTML, tokens: Sequence[Token], at: int, *__: object) -> str:
    token = tokens[at]
    address, words = str(token.attrGet("src") or ""), token.content or token.attrGet("src")
    if not is_link(address):
        return str(escape(words))
    return str(Markup('<a href="{}" rel="{}">{}</a>').format(address, REL, words))


def _markdown() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": False, "maxNesting": 20})
    markdown.validateLink = is_link  # type: ignore[assignment,method-assign]
    markdown.add_render_rule("link_open", _open_link)
    markdown.add_render_rule("heading_open", _heading)
    markdown.add_render_rule("heading_close", _heading)
    markdown.add_render_rule("image", _image)
    return markdown


_MARKDOWN = _markdown()


FILTERS = {"described": described}
