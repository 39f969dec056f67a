"""The operations that do deeds: each is made of what the deed says of itself."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from inspect import Parameter
from typing import Annotated, Any, get_args

from pydantic import Field, create_model

from arena.all_deeds import DEEDS
from arena.deeds import Deed, Part, look_ahead, perform
from arena.ground.refusals import Refusal, WrongField
from arena.models import Scope
from arena.web.api.answers import answer_of, shape_of
from arena.web.api.shapes import Shape
from arena.web.api.specification import operation
from arena.web.identity import database, signed_in
from arena.web.permissions import demand_token
from arena.web.present import open_in_maintenance

NO_NUL = "^[^\\x00]*$"
"""A text that can be kept; whoever makes requests of the document is told so by this alone."""
Text = Annotated[str, Field(pattern=NO_NUL)]
NEEDED = "^[^\\x00]*[^\\s\\x00][^\\x00]*$"
"""One that says something, too."""


def _body(deed: type[Deed]) -> type[Shape] | None:
    """What a deed asks for besides its address; the limits are told, and held by the deed."""
    asked = [part for part in deed.parts() if not part.in_address]
    if not asked:
        return None
    fields: dict[str, Any] = {part.name: (_type(part), _field(part)) for part in asked}
    words = f"What {deed.called()} asks for."
    return create_model(deed.__name__, __base__=Shape, __doc__=words, **fields)


def _type(part: Part) -> Any:
    """The type of a field; several texts come as a list, a mapping as an object."""
    if part.kind is tuple:
        return list[Text] if part.default is not None else list[Text] | None
    if part.kind is Mapping:
        return dict[Text, Text] if get_args(part.hint)[1] is str else dict[Text, int]
    return part.hint


def _field(part: Part) -> Any:
    its, told = part.limits, dict[str, Any]()
    if part.kind in (int, float):
        told = {"minimum": its.least, "maximum": its.most}
    elif part.kind is str:
        told = {"maxLength": its.most, "pattern": NEEDED if part.needed else NO_NUL}
        told |= {"enum": list(its.choices)} if its.choices else {}
    elif part.kind is tuple:
        told = {"maxItems": its.most, "minItems": 1 if part.needed else None}
    told = {key: value for key, value in told.items() if value is not None}
    default = {} if part.needed else {"default": part.default}
    return Field(description=f"{its.words}.", json_schema_extra=told, **default)


def _view(deed: type[Deed]) -> Callable[..., Any]:
    """The view of a deed, as if it had been written for it."""
    body = _body(deed)

    def view(**given: Any) -> Any:
        said = given.pop("json", None)
        filled = {} if said is None else {key: _value(one) for key, one in dict(said).items()}
        if deed.personal:
            demand_token()
        by, asked = signed_in().by(), deed(**given, **filled)
        try:
            asked = look_ahead(database().read, asked, by)
            with database().begin() as session:
                answer = answer_of(session, deed, perform(session, asked, by))
        except WrongField as error:
            # All that the document says of its fields is true.
            raise Refusal(str(error)) from None
        return (answer, 201) if deed.makes else answer

    takes = [part.name for part in deed.parts() if part.in_address] + ["json"] * (body is not None)
    view.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [Parameter(name, Parameter.KEYWORD_ONLY) for name in takes]
    )
    view.__annotations__ = {} if body is None else {"json": body}
    view.__name__, view.__doc__ = deed.called(), deed.words()
    if deed.in_maintenance:
        open_in_maintenance(view)
    return operation(
        deed.address,
        shape_of(deed.answers),
        tag=deed.subject,
        status=201 if deed.makes else 200,
        scope=Scope.ADMIN if deed.personal else deed.scope,
        of_one=deed.is_of_one(),
        errors=[404, 409],
    )(view)


def _value(one: Any) -> Any:
    return tuple(one) if isinstance(one, list) else one


VIEWS = [_view(deed) for deed in DEEDS]
