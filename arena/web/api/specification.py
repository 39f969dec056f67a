"""The API's operations: their access, what they take and answer, and the document about them.

Each view says by `operation` what it answers; what it takes it says by the types of its
parameters `query`, `json` and `form`. From that spectree checks requests and answers, and makes
the OpenAPI document; nothing of it is written by hand.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable
from enum import Enum
from functools import cache, partial, wraps
from threading import Lock
from typing import Any, TypeVar, cast, get_args, get_type_hints

from flask import Request, abort, current_app, request
from pydantic import BaseModel, ValidationError
from spectree import Response, SecurityScheme, SpecTree
from spectree.model_adapter.pydantic_adapter import PydanticModelAdapter
from spectree.models import SecureType, SecuritySchemeData
from werkzeug.exceptions import BadRequest

from arena.models import Scope
from arena.web import text_guard
from arena.web.api.problems import MEDIA_TYPE, Problem
from arena.web.permissions import needs
from engine.translation import gettext

F = TypeVar("F", bound=Callable[..., Any])

JSON, OCTETS = "application/json", "application/octet-stream"


def _refuse(_request: Request, _answer: object, error: Exception | None, *_: object) -> None:
    """Says of a request that is not as the document has it what is wrong with it."""
    if not isinstance(error, ValidationError):
        return
    words = []
    for one in error.errors(include_url=False, include_context=False)[:5]:
        where = ".".join(map(str, one["loc"]))
        words.append(f"{where}: {one['msg']}" if where else one["msg"])
    abort(422, f"{'; '.join(words)}.")


class Shapes:
    """What the document has a schema of, by its name: two of one name would be one there."""

    def __init__(self) -> None:
        self._known: dict[str, type] = {}

    def add(self, shape: Any) -> None:
        """Takes a shape in, with all that are in it.

        Raises:
            TypeError: it has the name of another.
        """
        if not isinstance(shape, type) or get_args(shape):
            for part in get_args(shape):
                self.add(part)
        elif issubclass(shape, BaseModel | Enum):
            known = self._known.get(shape.__name__)
            if known not in (None, shape):
                raise TypeError(
                    f"{known.__module__} and {shape.__module__} both have a shape called "
                    f"{shape.__name__}, and the API's document could have only one: rename one"
                )
            self._known[shape.__name__] = shape
            if known is None and issubclass(shape, BaseModel):
                for one in shape.model_fields.values():
                    self.add(one.annotation)


class _Adapter(PydanticModelAdapter):
    """Makes no schema before the document is asked for: all of them take longer than the pages.

    Tells what is wrong without what was sent: spectree makes JSON of it, and a file is none.
    """

    def __init__(self) -> None:
        super().__init__()
        self._shapes = Shapes()
        self._asked: dict[str, Callable[[], dict[str, Any]]] = {}

    def json_schema(self, model: Any, **how: Any) -> dict[str, Any]:
        self._shapes.add(model)
        self._asked[model.__name__] = partial(super().json_schema, model, **how)
        return {}

    def schemas(self) -> dict[str, dict[str, Any]]:
        """Those that spectree asked for, by the names of their shapes."""
        return {name: make() for name, make in self._asked.items()}

    def validation_errors(self, err: ValidationError) -> Any:
        return err.errors(include_input=False, include_context=False)


def _assure(_request: Request, _answer: object, error: Exception | None, *_: object) -> None:
    """Fails where an answer is not as the document has it: that is our fault."""
    if error is not None:
        raise error


_adapter = _Adapter()
specification = SpecTree(
    "flask",
    title="Arena",
    version="1",
    description="Ladders, tournaments, strength tests and games of game-playing bots.",
    mode="strict",
    before=_refuse,
    after=_assure,
    validation_error_model=Problem,
    model_adapter=cast(Any, _adapter),  # its own protocol takes no narrower error
    naming_strategy=lambda model: model.__name__,
    nested_naming_strategy=lambda _, name: name,
    security_schemes=[
        SecurityScheme(name="token", data=SecuritySchemeData(type=SecureType.HTTP, scheme="bearer"))
    ],
)
MEDIA: dict[str, str] = {}
"""The media types of operations that answer no JSON, by their names."""
BODIES: dict[str, str] = {}
"""The media types of what operations take that is neither JSON nor a form, by their names."""


def operation(
    address: str,
    answer: type[BaseModel] | None,
    *,
    tag: str,
    status: int = 200,
    scope: Scope | None = None,
    of_one: bool = False,
    errors: Iterable[int] = (),
    name: str = "",
    media: str = JSON,
    takes: str = "",
) -> Callable[[F], F]:
    """Marks a view as an operation of the API.

    Args:
        address: its method and its rule, as in ``GET /bots/<name>``.
        answer: what it answers; None for what is no JSON.
        scope: what it takes to call it; None if everybody may.
        of_one: as of `needs`.
        errors: statuses of refusals besides those that follow from what it takes.
        name: what it is called; by default as its function.
        media: the media type of an answer that is no JSON.
        takes: the media type of a body that is neither JSON nor a form, and is read by the view.
    """

    def mark(view: F) -> F:
        given = inspect.signature(view).parameters
        refusals = {*errors}
        if scope:
            refusals |= {401, 403}
        if {"json", "form"} & set(given):
            refusals |= {400, 413, 415}
        if set(given) - {"query", "json", "form"}:
            refusals.add(404)
        called = name or view.__name__
        if media != JSON:
            MEDIA[called] = media
        if takes:
            BODIES[called] = takes
        checked = specification.validate(
            resp=Response(
                **{f"HTTP_{status}": answer},
                **{f"HTTP_{refusal}": Problem for refusal in sorted(refusals)},
            ),
            tags=(tag,),
            security={"token": [str(scope)]} if scope else {},
            operation_id=called,
        )(view)
        if media != JSON:
            checked = _streaming(checked, view)
        checked.__name__, checked.address = called, address
        return cast(F, needs(scope, of_one=of_one)(checked) if scope else checked)

    return mark


def _streaming(checked: Callable[..., Any], view: Callable[..., Any]) -> Callable[..., Any]:
    """An operation whose answer goes out as it is made: spectree would read all of it first."""
    model = get_type_hints(view).get("query")

    @wraps(checked)
    def call(**given: Any) -> Any:
        if model is not None:
            try:
                # As spectree reads it: what is said twice is a list, and refused as such.
                asked = {key: one if one[1:] else one[0] for key, one in request.args.lists()}
                given["query"] = model.model_validate(asked)
            except ValidationError as error:
                _refuse(request, None, error)
        return view(**given)

    return call


def read_body() -> None:
    """Refuses, before an operation is called, a body that can't be read as what it takes."""
    view = current_app.view_functions.get(request.endpoint or "")
    about = view and specification.get_function_metadata(view)
    if about is None:
        return
    if about.json is not None:
        try:
            body = request.get_json()
        except RecursionError:
            abort(400, gettext("The JSON is nested too deeply."))
        except BadRequest:
            abort(
                400,
                gettext(
                    "The body is no JSON: %(wrong)s.", wrong=_what_is_wrong(request.get_data())
                ),
            )
        if not isinstance(body, dict):
            abort(400, gettext("The body is to be a JSON object."))
        text_guard.refuse(body)
    if about.form is not None:
        if request.mimetype != "multipart/form-data":
            abort(415, gettext("Send the fields as multipart/form-data."))
        # What is broken off, or has names that are no UTF-8, would seem to lack every field.
        if not request.form and not request.files:
            abort(
                400, gettext("The body is no whole multipart/form-data, or its names are no UTF-8.")
            )


def _what_is_wrong(text: bytes) -> str:
    """Why a text is no JSON, and where."""
    try:
        json.loads(text)
    except UnicodeDecodeError:
        return gettext("it is no UTF-8")
    except json.JSONDecodeError as error:
        return str(error)
    except ValueError:
        return gettext("a number in it has too many digits")
    return gettext("it can't be read")


_making = Lock()


def document() -> dict[str, Any]:
    """The OpenAPI document of all operations, made when it is first asked for."""
    # By one alone: what spectree makes is one object, which is changed below.
    with _making:
        return _document()


@cache
def _document() -> dict[str, Any]:
    specification.models.update(_adapter.schemas())
    made: dict[str, Any] = specification.spec
    for path in made["paths"].values():
        for method, one in path.items():
            for status, answer in one["responses"].items():
                content = answer.get("content", {})
                if int(status) >= 400:
                    content[MEDIA_TYPE] = content.pop(JSON)
            if one["operationId"] in MEDIA:
                media = MEDIA[one["operationId"]]
                one["responses"]["200"]["content"] = {media: {"schema": {"type": "string"}}}
            if one["operationId"] in BODIES:
                bytes_ = {"schema": {"type": "string", "format": "binary"}}
                content = {BODIES[one["operationId"]]: bytes_}
                one["requestBody"] = {"content": content, "required": True}
            # What no view says itself: to who reads that nothing is new, to who changes that it
            # is too often, or that the arena is under maintenance.
            if method == "get":
                one["responses"]["304"] = {"description": "Not Modified"}
            else:
                refusal = one["responses"]["422"]
                one["responses"]["429"] = {**refusal, "description": "Too Many Requests"}
                one["responses"]["503"] = {**refusal, "description": "Service Unavailable"}
    return made
