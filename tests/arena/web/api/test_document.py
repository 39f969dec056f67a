"""The API keeps what its document says: schemathesis sends it what fits, and what doesn't."""

from __future__ import annotations

import hashlib
import json
import re
import time
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum
from functools import cache
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from pydantic import create_model

from arena.present import note_maintenance
from arena.web.api import specification
from arena.web.api.blueprint import VIEWS
from arena.web.api.shapes import Shape
from arena.web.api.specification import Shapes
from tests.arena.web.dumped import DAY

DOCS = Path(__file__).parents[4] / "docs" / "api.md"
OPERATIONS = [
    (method, re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule))
    for method, rule in (view.address.split() for view in VIEWS)
]
EXAMPLES = 6
"""How many requests an operation is sent."""
ELSEWHERE = {
    "/bots/{name}/versions/{number}/files",  # nobody keeps the files of a simulated bot
    "/bots/{name}/enter",  # the body names a ladder
    "/bots/{name}/give",  # the body names a team
    "/bots/{name}/retire",
    "/tournaments/{name}/sign-up",  # the body names a bot
    "/tournaments/{name}/sign-off",
    "/tournaments/{name}/check-in",
    "/bots/{name}/repository",  # no bot here follows one
    "/bots/{name}/repository/push",
    "/bots/{name}/repository/fetch",
    "/bots/{name}/repository/leave",
    "/competitions/{name}/members",  # the body names a user
    "/competitions/{name}/members/remove",
    "/selections/{number}/remove",  # another request may have removed it
    "/hooks/{number}/remove",
    "/hooks/{number}/test",
    "/hooks/{number}/deliveries",
    "/hooks/{number}/deliveries/{delivery}/again",
    "/competitions/{name}/dates/remove",
    "/ladders/{name}/course",  # no ladder of this arena is one
    "/ladders/{name}/course/mark",
    "/ladders/{name}/course/publish",
    "/ladders/{name}/course/choose",
    "/ladders/{name}/course/alike",
    "/ladders/{name}/final-table",
    "/ladders/{name}/bar",
    "/ladders/{name}/unbar",
    "/ladders/{name}/bosses",  # the body names a bot
    "/analyses/{code}/remove",
    "/games/{number}/pgn",  # the games of this arena have none
    "/tests/{number}/without",  # what is asked besides names a worker
    "/tests/{number}/exclude",
    "/tests/{number}/include",
    "/teams/{name}/captain",
    "/teams/{name}/remove",
}
"""Those that say that something is not there even where what is in the path is."""


@pytest.fixture(scope="module")
def document(arena: SimpleNamespace) -> Any:
    """The document as schemathesis reads it, and the words of the code, which it tries too.

    No text may have the character NUL, which no document can say of all of them; test_writing
    sends it.
    """
    import schemathesis  # takes a second, and every process of tests imports this file

    told = json.loads(arena.client.get("/api/v1/openapi.json").text, object_hook=shortened)
    found = schemathesis.openapi.from_dict(told)
    found.app = arena.app
    found.config.generation.update(allow_x00=False)
    return found


def shortened(told: dict[str, Any]) -> dict[str, Any]:
    """What a document says of a text, which is to be no longer than any that is sent.

    Schemathesis writes the most into the pattern: compiled, a text of 200,000 letters takes a
    second, and a gigabyte all together.
    """
    if isinstance(told.get("maxLength"), int):
        told["maxLength"] = min(told["maxLength"], 300)
    return told


def attempt(operation: Any, arena: SimpleNamespace, **named: Any) -> set[int]:
    """Sends an operation some requests, looks at each answer, and gives their statuses."""
    statuses = set()

    @seed(1)
    @settings(
        max_examples=EXAMPLES,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(**named))
    def run(case: Any) -> None:
        # Of an application it does not unpack what is compressed.
        plain = {"Authorization": f"Bearer {arena.token}", "Accept-Encoding": "identity"}
        answer = case.call_and_validate(headers=plain)
        statuses.add(answer.status_code)

    run()
    return statuses


def there(path: str, numbers: dict[str, Any]) -> dict[str, Any]:
    """What the path of an operation names, of things that there are."""
    if path == "/bots/{name}/delete":
        return {"name": "bot-3"}  # the others are asked for afterwards
    if path == "/competitions/{name}/approve":
        return {"name": "gauntlet"}
    known = {
        "ladders": {"name": "ladder-0"},
        "bots": {"name": "bot-0", "rival": "bot-1", "ladder": "ladder-0", "number": 1},
        "tournaments": {"name": "cup"},
        "competitions": {"name": "cup"},
        "tests": {"number": numbers["test"]},
        "gauntlets": {"name": "gauntlet"},
        "tunings": {"number": numbers["tuning"]},
        "matches": {"number": numbers["played"]},
        "match-sets": {"number": numbers["set"]},
        "settings": {"name": "registration"},
        "games": {"number": numbers["trio"], "seat": 1},
        "selections": {"number": numbers["selection"]},
        "analyses": {"code": "known"},
        "hooks": {"number": numbers["hook"], "delivery": numbers["delivery"]},
        "checks": {"number": numbers["check"]},
        "sittings": {"number": numbers["sitting"]},
        "users": {"name": "other"},
        "people": {"name": "other"},
        "teams": {"name": "knights"},
        "books": {"name": "small"},
        "dumps": {"name": DAY},
        "presets": {"name": "kept"},
        "explorer": {"name": "ladder-0"},
        "large-files": {"digest": numbers["digest"]},
        "runtimes": {"name": "scientific"},
    }[path.split("/")[1]]
    return {name: known[name] for name in re.findall(r"{(\w+)}", path)}


# The stricter database; the other is asked in the tests of reading and writing.
@pytest.mark.long
@pytest.mark.parametrize("arena", ["postgresql"], indirect=True)
@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_any_request_is_answered_as_said(
    arena: SimpleNamespace, document: Any, method: str, path: str
) -> None:
    """Status, media type and fields are those of the document, whatever is sent; and of things that
    there are."""
    operation = document[f"/api/v1{path}"][method]
    attempt(operation, arena)
    if "{" in path:
        statuses = attempt(operation, arena, path_parameters=there(path, arena.numbers))
        assert path in ELSEWHERE or statuses != {404}
    if path == "/maintenance":  # which would have all that follows refused
        with arena.database.begin() as session:
            note_maintenance(session, None)


def test_the_document_lists_every_operation(arena: SimpleNamespace) -> None:
    """Each with a summary, an answer, and the scope that it needs."""
    listed = arena.client.get("/api/v1/openapi.json").json
    found = {
        (method.upper(), path.removeprefix("/api/v1"))
        for path, methods in listed["paths"].items()
        for method in methods
    }
    assert found == set(OPERATIONS)
    for path, methods in listed["paths"].items():
        for method, one in methods.items():
            assert one["summary"]
            assert "200" in one["responses"] or "201" in one["responses"]
            assert one["security"] or method == "get"
            # What is read may be what one has already; every change and download is counted.
            counted = method != "get" or path.endswith((".jsonl", ".csv"))
            assert ("304" in one["responses"]) == (method == "get")
            assert ("429" in one["responses"]) == counted


def test_the_page_shows_every_operation(arena: SimpleNamespace) -> None:
    """With a command each, and nothing that the policy forbids."""
    answer = arena.client.get("/api/v1/")
    assert answer.text.count("<code>curl ") == len(OPERATIONS)
    assert "style=" not in answer.text
    assert "script-src 'self'" in answer.headers["Content-Security-Policy"]


def test_the_docs_list_every_operation_with_its_scope(arena: SimpleNamespace) -> None:
    """As the OpenAPI document does."""
    listed = arena.client.get("/api/v1/openapi.json").json
    said = {
        (method, path): scope
        for method, path, scope in re.findall(
            r"^\| `([A-Z]+) (/\S+)` \| (\w*) ?\|$", DOCS.read_text(encoding="utf-8"), re.M
        )
    }
    assert said == {
        (method.upper(), path.removeprefix("/api/v1")): "".join(
            scope for need in one["security"] for scope in need["token"]
        )
        for path, methods in listed["paths"].items()
        for method, one in methods.items()
    }


def test_the_docs_tell_all_that_a_record_holds(arena: SimpleNamespace) -> None:
    """Every key of a game that was played, and of its times; and how its digest is made."""
    path = f"/api/v1/games/{arena.numbers['trio']}"
    record = arena.client.get(f"{path}/record").json
    _, _, text = DOCS.read_text(encoding="utf-8").partition("## A game's record\n")
    rows = re.findall(r"^\| (`.+?`) \| (.+) \|$", text.partition("\n## ")[0], re.M)
    told = {key for keys, _ in rows for key in re.findall(r"`(\w+)`", keys)}
    assert told == record.keys() | {"tags", "pv"}
    (run,) = (words for key, words in rows if key == "`run`")
    # What was waited for is there if somebody waited, and tags are if there was one.
    assert set(re.findall(r"`(\w+)`", run)) == record.pop("run").keys() | {
        "waited_us",
        "speeds",
        "stretch",
    }
    essence = json.dumps(record, sort_keys=True, separators=(",", ":"))
    assert hashlib.sha256(essence.encode()).hexdigest() == arena.client.get(path).json["digest"]


def test_who_asks_at_once_gets_one_document(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is made by the first of them, while the others wait."""
    numbers = count(1)

    def make() -> dict[str, int]:
        time.sleep(0.05)
        return {"number": next(numbers)}

    monkeypatch.setattr(specification, "_document", cache(make))
    with ThreadPoolExecutor(4) as pool:
        answers = [one.result() for one in [pool.submit(specification.document) for _ in range(4)]]
    assert answers == [{"number": 1}] * 4


class Here(Shape):
    """One shape, in whatever module."""

    left: int


There = type("Here", (Shape,), {"__annotations__": {"bot": "str"}, "__module__": "elsewhere"})


@pytest.mark.parametrize(
    "second",
    [There, create_model("Around", inside=(list[There | None], ...)), StrEnum("Here", ["LEFT"])],
    ids=["itself", "inside another", "an enum"],
)
def test_two_shapes_of_one_name_are_refused(second: type) -> None:
    """A document has one of a name, and programs that are made of it would read the other wrong."""
    shapes = Shapes()
    shapes.add(Here)
    shapes.add(create_model("Other", again=(dict[str, Here], ...)))
    with pytest.raises(TypeError, match="both have a shape called Here"):
        shapes.add(second)


def test_an_answer_is_told_as_it_is_given(document: Any) -> None:
    """What `POST /bots/{name}/withdraw` answers is no request to withdraw from a tournament."""
    told = document.raw_schema
    answer = told["paths"]["/api/v1/bots/{name}/withdraw"]["post"]["responses"]["200"]
    schema = answer["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
    told = told["components"]["schemas"][schema]
    assert told["required"] == ["left", "said"]
