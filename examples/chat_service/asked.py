"""What a request may hold: its body read within bounds, and checked before anything is done with it."""

import asyncio
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request

from .bounds import Bounds

Call = Annotated[str, Field(min_length=1, max_length=200)]
"""Name of a call, such as `17.2`."""
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
"""SHA-256 in hexadecimal."""
Words = Annotated[str, Field(min_length=1, max_length=20_000)]


class Shape(BaseModel):
    """An unknown field is an error: a misspelt `approved` must not pass for a decision."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class SentFile(Shape):
    """A file that was sent up before."""

    name: Annotated[str, Field(pattern=r"^[\w][\w. -]{0,99}$")]
    ref: Digest


class Sent(Shape):
    """A message."""

    text: Words
    files: Annotated[tuple[SentFile, ...], Field(max_length=5)] = ()


class Approval(Shape):
    """Lets a call run: just what was shown, so its digest is given back."""

    call: Call
    digest: Digest


class Denial(Shape):
    """Keeps a call from running."""

    call: Call
    reason: Annotated[str, Field(max_length=2_000)] = ""
    """Read by the model."""


class Answer(Shape):
    """Answers a question."""

    call: Call
    text: Words


class Cancel(Shape):
    """Stops a run."""

    reason: Annotated[str, Field(max_length=2_000)] = ""


T = TypeVar("T", bound=Shape)


async def asked(request: Request, shape: type[T], bounds: Bounds) -> T:
    """The request's body.

    Raises:
        HTTPException: it is too long, too slow, or not of that shape.
    """
    body = await body_of(request, bounds.body_bytes, bounds)
    try:
        return shape.model_validate_json(body)
    except ValidationError as error:
        wrong = [f"{'.'.join(map(str, each['loc'])) or 'body'}: {each['msg']}" for each in error.errors()[:5]]
        raise HTTPException(400, "; ".join(wrong)) from None


async def body_of(request: Request, most: int, bounds: Bounds) -> bytes:
    """The bytes of the request, counted as they come: what a header says of their number is no promise.

    Raises:
        HTTPException: they are too many, or too slow.
    """
    try:
        async with asyncio.timeout(bounds.body_s):
            return await _counted(request, most)
    except TimeoutError:
        raise HTTPException(408, f"the body has to be there in {bounds.body_s:g} s") from None


async def _counted(request: Request, most: int) -> bytes:
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > most:
            raise HTTPException(413, f"at most {most:,} bytes", {"connection": "close"})
    return bytes(body)
