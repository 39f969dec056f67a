"""What the API says when it can't do something: problem documents (RFC 9457), made here alone."""

from __future__ import annotations

from flask import request
from pydantic import BaseModel, Field
from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Response

from engine.translation import translated

PREFIX = "/api/"
MEDIA_TYPE = "application/problem+json"


class Problem(BaseModel):
    """Why a request was refused."""

    type: str = Field(default="about:blank", description="What the status says is all.")
    title: str = Field(description="The status in words.")
    status: int = Field(description="The HTTP status.")
    detail: str = Field(description="What is wrong, and what to do.")


def are_wanted() -> bool:
    """Whether who asks is a program, which reads no pages: at the API, or for a page's data."""
    return request.path.startswith(PREFIX) or request.path.endswith(".json")


def of(error: HTTPException) -> Response:
    """The problem document of an error, with the error's own headers."""
    answer = error.get_response()
    status = answer.status_code
    if status >= 400:
        name = translated(error.name)
        problem = Problem(title=name, status=status, detail=error.description or name)
        answer.set_data(problem.model_dump_json())
        answer.mimetype = MEDIA_TYPE
    return answer
