"""The API as a part of the app, made of the operations of the modules beside it."""

from __future__ import annotations

import json as jsons
import re
from collections.abc import Mapping
from inspect import isfunction
from typing import Any
from urllib.parse import urlencode

from flask import Blueprint, current_app, g, jsonify, render_template, request
from werkzeug.wrappers import Response

from arena import naming
from arena.web.api import (
    administration,
    analyses,
    books,
    bots,
    competitions,
    courses,
    deeds,
    directory,
    dumps,
    explorer,
    games,
    gauntlets,
    home,
    ladders,
    large_files,
    match_sets,
    notifications,
    presets,
    repositories,
    runtimes,
    selections,
    sittings,
    strength,
    submissions,
    tournaments,
    tunings,
    workers,
)
from arena.web.api.specification import JSON, OCTETS, document, read_body
from arena.web.identity import keep_to_itself
from arena.web.permissions import access_of

PARTS = (
    competitions,
    ladders,
    courses,
    bots,
    directory,
    submissions,
    repositories,
    large_files,
    games,
    dumps,
    explorer,
    selections,
    analyses,
    tournaments,
    presets,
    strength,
    tunings,
    gauntlets,
    books,
    runtimes,
    sittings,
    notifications,
    workers,
    administration,
    match_sets,
)

api = Blueprint("api", __name__, url_prefix="/api/v1")
api.before_request(read_body)
_FUNCTIONS = (one for part in PARTS for one in vars(part).values() if isfunction(one))
VIEWS: list[Any] = [*(one for one in _FUNCTIONS if hasattr(one, "address")), *deeds.VIEWS]
"""Those of all operations; each says its method and its address."""
for _view in VIEWS:
    _method, _rule = _view.address.split()
    api.add_url_rule(_rule, _view.__name__, _view, methods=[_method])
home.add_to(api)


@api.before_request
def note_names() -> None:
    """Notes what is asked for by a name that it had before."""
    g.renamed = naming.start_noting()


@api.after_request
def tell_names(answer: Response) -> Response:
    """Tells what is called otherwise now: pairs of names, quoted, with = and &."""
    if noted := g.get("renamed"):
        answer.headers["Arena-Renamed"] = urlencode(noted)
    return answer


@api.after_request
def keep_private(answer: Response) -> Response:
    """Lets no cache keep what not everybody may read."""
    view = current_app.view_functions.get(request.endpoint or "")
    if view is not None and access_of(view, request.method) is not None:
        return keep_to_itself(answer)
    return answer


@api.after_request
def name_state(answer: Response) -> Response:
    """Gives what was read a strong ETag; to who has it already only that is said."""
    if request.method in ("GET", "HEAD") and answer.status_code == 200 and not answer.is_streamed:
        answer.add_etag()
        answer.make_conditional(request)
    return answer


@api.get("/openapi.json")
def openapi() -> Response:
    """The OpenAPI document."""
    return jsonify(document())


@api.get("/")
def operations() -> str:
    """A page that lists the operations, each with a command to try it."""
    contents: dict[str, list[tuple[str, str, Any]]] = {}
    for path, methods in document()["paths"].items():
        for method, one in methods.items():
            for tag in one["tags"]:
                contents.setdefault(tag, []).append((method, path, one))
    return render_template(
        "api.html",
        document=document(),
        contents=contents,
        command=_command,
        schema_words=_schema_words,
    )


def _schema_words(schema: Mapping[str, Any]) -> str:
    """A type of the document in words: ``integer or null``."""
    kinds = [schema, *schema.get("anyOf", ())]
    words = [str(kind.get("type") or kind.get("$ref", "").rpartition("/")[2]) for kind in kinds]
    return " or ".join(filter(None, words))


def _command(method: str, path: str, operation: Mapping[str, Any]) -> str:
    """A command that calls an operation; what is in capitals is to be put in."""
    words = ["curl"]
    if operation.get("security"):
        words.append("-H 'Authorization: Bearer $TOKEN'".replace("'", '"'))
    body = operation.get("requestBody", {}).get("content", {})
    if JSON in body:
        words.append(f"--json '{jsons.dumps(_example(body[JSON]['schema']))}'")
    if "multipart/form-data" in body:
        words.append("-F file=@mybot.py -F ladder=LADDER")
    if OCTETS in body:
        words.append(f"-H 'Content-Type: {OCTETS}' --data-binary @PART".replace("'", '"'))
    if method == "patch" or (method == "post" and not body):
        words.append(f"-X {method.upper()}")
    place = re.sub(r"{(\w+)}", lambda found: found[1].upper(), path)
    return " ".join([*words, f"{request.url_root.rstrip('/')}{place}"])


def _example(schema: Mapping[str, Any]) -> dict[str, Any]:
    """What has to be in a body, each with a value of its type."""
    body = document()["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    values = {"integer": 1, "number": 1.0, "boolean": True, "array": [], "object": {}}
    return {
        name: values.get(body["properties"][name].get("type"), name.upper())
        for name in body.get("required", ())
    }
