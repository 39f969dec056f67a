"""How a version is named, as greedy or greedy:2: alike at every door, whatever somebody writes."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import sqlalchemy as sa

from arena.audit import ARENA
from arena.cli import run
from arena.ground import bot_names
from arena.ground.config import Settings
from arena.models import Entrant, Ladder, Role, Scope, User
from arena.people.accounts import add_token
from arena.web.app import create_app
from tests.arena.web.conftest import Site
from tests.arena.web.signing_in import Browser, now, person, signed_in

NINES = "9" * 5000
"""More digits than Python makes a number of, unless told to (sys.get_int_max_str_digits)."""


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("greedy", ("greedy", None)),
        ("greedy:2", ("greedy", 2)),
        ("Greedy:10", ("Greedy", 10)),
        ("greedy:01", ("greedy", 1)),
        (" greedy:2\t", ("greedy", 2)),
        ("my.bot_7-a:999999999", ("my.bot_7-a", 999_999_999)),
        ("", None),
        (" ", None),
        (":", None),
        (":2", None),
        ("greedy:", None),
        ("greedy:0", None),
        ("greedy:-1", None),
        ("greedy:+1", None),
        ("greedy:00", None),
        ("greedy:1_0", None),
        ("greedy: 1", None),
        ("greedy:1:2", None),
        ("greedy:2.0", None),
        ("greedy:two", None),
        ("greedy:\N{ARABIC-INDIC DIGIT TWO}", None),
        ("greedy:\N{SUPERSCRIPT TWO}", None),
        ("greedy:1000000000", None),
        (f"greedy:{NINES}", None),
        ("g" * 5000, None),
    ],
)
def test_what_names_a_version(text: str, named: tuple[str, int | None] | None) -> None:
    """One reading, and one refusal in words."""
    if named is not None:
        assert bot_names.read(text, ValueError) == (*named, "")
    else:
        with pytest.raises(ValueError, match=r"^'.{0,300}' names no bot: write greedy, or"):
            bot_names.read(text, ValueError)


@pytest.fixture(scope="module")
def office(site: Site) -> Iterator[SimpleNamespace]:
    """An organiser at a browser and with a token; ladders, a tournament, and a bot's name."""
    app = create_app(Settings(database=site.database.url))
    app.testing = True
    user = person(site.database, "clerk", Role.ORGANISER)
    with site.database.begin() as session:
        clerk = session.get_one(User, user.id)
        token = add_token(session, ARENA, clerk, "x", [Scope.SUBMIT, Scope.ORGANISE], now())
        clobber = session.scalars(sa.select(Ladder).where(Ladder.game == "clobber")).one()
        active = sa.select(Entrant).where(
            Entrant.competition_id == clobber.id, Entrant.state == "active"
        )
        bot = session.scalars(active.limit(1)).one().version.bot.name
        ladder = clobber.name
    yield SimpleNamespace(
        app=app,
        browser=signed_in(app, "clerk"),
        token={"Authorization": f"Bearer {token}"},
        url=site.database.url,
        ladder=ladder,
        bot=bot,
    )
    app.extensions["arena.database"].close()


FORMS = {
    "/ladders/{ladder}/unrated": {"bot": ["{name}", "{bot}"]},
    "/tournaments/cup/enter": {"bots": "{bot} {name}"},
    "/tournaments/cup/withdraw": {"bot": "{name}"},
    "/new-tournament": {
        "name": "new", "ladder": "{ladder}", "bots": "{name}", "format": "swiss", "seed": "1",
    },
}  # fmt: skip
OPERATIONS = {
    "/matches": {"ladder": "{ladder}", "bots": ["{name}", "{bot}"]},
    "/sittings": {"ladder": "{ladder}", "seat": 1, "bots": ["{name}"]},
    "/tournaments": {"name": "new", "ladder": "{ladder}", "format": "swiss", "bots": ["{name}"]},
    "/tournaments/cup/enter": {"bots": ["{name}"]},
    "/tournaments/cup/withdraw": {"bot": "{name}"},
    "/tests": {"ladder": "{ladder}", "candidate": "{name}", "baseline": "{bot}"},
}
COMMANDS = [
    "match request {ladder} {name} {bot} --user clerk",
    "bot activate {name} --ladder {ladder}",
    "bot recheck {name}",
    "bot retire {name} --ladder {ladder}",
    "tournament create new --ladder {ladder} --bots {name}",
    "tournament enter cup {name}",
    "tournament withdraw cup {name}",
    "strength create {name} {bot} --ladder {ladder}",
]


def _filled(fields: Any, names: dict[str, str]) -> Any:
    if isinstance(fields, dict):
        return {key: _filled(value, names) for key, value in fields.items()}
    if isinstance(fields, list):
        return [_filled(value, names) for value in fields]
    return fields.format(**names) if isinstance(fields, str) else fields


@pytest.mark.parametrize("number", ["", "07", "0", "\N{SUPERSCRIPT TWO}", NINES, "99999999"])
def test_every_door_refuses_a_number_that_is_none(
    office: SimpleNamespace,
    number: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They do so in words, as with what can't be done as things stand."""
    names = {"ladder": office.ladder, "bot": office.bot, "name": f"{office.bot}:{number}"}
    browser: Browser = office.browser
    for path, fields in FORMS.items():
        address = path.format(**names)
        answer = browser.post(address, _filled(fields, names), page="/account")
        assert answer.status_code == 422, address
        words = "names no bot", "here is no", "is not in the tournament", "at most 2,000 characters"
        assert any(one in answer.text for one in words), address
    for path, fields in OPERATIONS.items():
        answer = browser.client.post(
            f"/api/v1{path}", json=_filled(fields, names), headers=office.token
        )
        assert answer.status_code in (409, 422), (path, answer.text)
    answer = browser.get(f"/bots/{names['name']}/against/{office.bot}x")
    assert answer.status_code == 404
    monkeypatch.setenv("ARENA_DATABASE", office.url)
    for command in COMMANDS:
        with pytest.raises(SystemExit) as ended:
            raise SystemExit(run(command.format(**names).split()))
        said = capsys.readouterr()
        assert (ended.value.code, said.out) == (2, ""), (command, said.err)
        (line,) = said.err.splitlines()
        assert len(line) < 300
