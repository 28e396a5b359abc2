"""The objects of a document that calls are made by, each checked by itself.

So one that is wrong costs the operations that use it and no other. What is not used here is left out;
schemas stay as they stand.
"""

from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..errors import NamespaceError
from .document import Object

Place = Literal["path", "query", "header", "cookie"]
Style = Literal["simple", "label", "matrix", "form", "spaceDelimited", "pipeDelimited", "deepObject"]

STYLES: dict[Place, tuple[Style, ...]] = {
    "path": ("simple", "label", "matrix"),
    "query": ("form", "spaceDelimited", "pipeDelimited", "deepObject"),
    "header": ("simple",),
    "cookie": ("form",),
}
"""The styles that each place knows, its default first (OpenAPI 3.1.1, "Style Values")."""


class Part(BaseModel):
    """An object of a document."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Encoding(Part):
    """How one property of a form is written."""

    content_type: str | None = Field(None, alias="contentType")
    style: Style | None = None
    explode: bool | None = None
    allow_reserved: bool | None = Field(None, alias="allowReserved")


class MediaType(Part):
    """What a body, or a parameter with `content`, holds."""

    schema_: object = Field(default=True, alias="schema")
    encoding: dict[str, Encoding] = {}


class Parameter(Part):
    """One parameter of an operation."""

    name: str
    place: Place = Field(alias="in")
    required: bool = False
    description: str | None = None
    style: Style | None = None
    explode: bool | None = None
    allow_reserved: bool = Field(default=False, alias="allowReserved")
    schema_: object = Field(None, alias="schema")
    content: dict[str, MediaType] = {}


class RequestBody(Part):
    """The body of an operation, in one of several types."""

    required: bool = False
    description: str | None = None
    content: dict[str, object]


class Variable(Part):
    """A variable in the URL of a server."""

    default: str
    enum: tuple[str, ...] = ()


class Server(Part):
    """Where a system is."""

    url: str
    variables: dict[str, Variable] = {}


class Scheme(Part):
    """One way to say who is calling."""

    type: str
    name: str = ""
    """Of an API key: how the header, query parameter or cookie is called."""
    place: str = Field("", alias="in")
    scheme: str = ""
    """Of `http`: `basic` or `bearer`."""


P = TypeVar("P", bound=Part)


def part(kind: type[P], node: Object, what: str) -> P:
    """An object of the document as one of these.

    Raises:
        NamespaceError: it is not as the specification has it; `what` names it.
    """
    try:
        return kind.model_validate(node)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(step) for step in first["loc"])
        raise NamespaceError(f"{what}: {where}: {first['msg']}; got {str(first['input'])[:100]!r}") from error


def style_of(style: Style | None, place: Place, what: str) -> Style:
    """The style of a parameter, with its default.

    Raises:
        NamespaceError: the place does not know the style.
    """
    known = STYLES[place]
    if style is None:
        return known[0]
    if style not in known:
        raise NamespaceError(
            f"{what}: a {place} parameter cannot have style {style!r}, but {', '.join(known)}"
        )
    return style
