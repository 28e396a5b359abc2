"""What a server asks a person, and what of an answer it can be told.

Of the versions from 2026 on, a call that needs an answer is over: it is made again with the answer, whenever
that comes. In the older ones the server asks in the middle of a call and waits; nobody can promise that a
person answers while a connection lasts. So the server is told at once that the question was dismissed
(`cancel`), the person is asked, and the call is made again when they have answered: the server asks again,
and is given the answer.
"""

import json
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Literal, cast

from mcp import types
from mcp.client import ClientRequestContext
from pydantic import JsonValue

from ..arguments import misfits
from ..tool import Question

Action = Literal["accept", "decline", "cancel"]

_YES = frozenset({"accept", "yes", "y", "ok", "done", "true"})
_NO = frozenset({"decline", "no", "n", "false"})


@dataclass(frozen=True, slots=True)
class Response:
    """What a person said, as a server takes it."""

    action: Action
    content: dict[str, JsonValue] | None = None
    """The filled-in form; None when there is none, or they declined."""

    def result(self) -> types.ElicitResult:
        """As the SDK has it."""
        return types.ElicitResult.model_validate({"action": self.action, "content": self.content})


@dataclass(frozen=True, slots=True)
class Asked:
    """One thing that a server asks."""

    key: str
    """The server's name for it; empty when it asked in the middle of a call."""
    message: str
    schema: dict[str, JsonValue] | None
    """Of the form that is to be filled in; None when a page is to be opened."""
    url: str = ""
    """Of the page."""
    response: Response | None = None

    def is_same(self, other: "Asked") -> bool:
        """Whether both ask for the same thing."""
        return (self.message, self.schema, self.url) == (other.message, other.schema, other.url)

    @property
    def fields(self) -> Mapping[str, Mapping[str, JsonValue]]:
        """The fields of the form; none for a plain yes or no."""
        properties = (self.schema or {}).get("properties")
        if not isinstance(properties, dict):
            return {}
        return {name: about if isinstance(about, dict) else {} for name, about in properties.items()}


def asked_of(key: str, params: types.ElicitRequestParams) -> Asked:
    """A server's question."""
    if isinstance(params, types.ElicitRequestURLParams):
        return Asked(key, params.message, None, params.url)
    return Asked(key, params.message, params.requested_schema)


class Conversation:
    """What a call at work is asked in its middle."""

    def __init__(self, known: Sequence[Asked]) -> None:
        self.known = known
        """What a person has answered before."""
        self.open: list[Asked] = []
        """What nobody has, and the server was told so."""


class Conversations:
    """The calls at work on one connection."""

    def __init__(self) -> None:
        self._at_work: list[Conversation] = []

    @contextmanager
    def held(self, known: Sequence[Asked]) -> Generator[Conversation]:
        """A call at work, with what a person has answered before."""
        conversation = Conversation(known)
        self._at_work.append(conversation)
        try:
            yield conversation
        finally:
            self._at_work.remove(conversation)

    async def elicited(
        self, context: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult:
        """Answers a server that asks in the middle of a call, at once.

        It does not say which call it asks for: with several at work nobody is asked.
        """
        asked = asked_of("", params)
        for conversation in self._at_work:
            known = answer_to(asked, conversation.known)
            if known is not None:
                return known.result()
        if len(self._at_work) == 1:
            self._at_work[0].open.append(asked)
        return types.ElicitResult(action="cancel")


def answer_to(asked: Asked, known: Sequence[Asked]) -> Response | None:
    """What a person has said to the same question before; None when nobody did."""
    return next((one.response for one in known if one.response is not None and one.is_same(asked)), None)


def question_of(asker: str, asked: Asked, before: str = "") -> Question:
    """What the person is asked; `before` is what they should know first. The state is left to the caller."""
    lines = [*([before] if before else []), f"{asker} asks: {asked.message}"]
    if asked.url:
        lines.append(f"It wants you to open {asked.url}. Answer accept once you have, or decline.")
        return Question("\n".join(lines), ("accept", "decline"))
    lines += [_field(name, about, asked) for name, about in asked.fields.items()]
    options = _options(asked)
    if len(asked.fields) > 1:
        lines.append("Answer with one `name: value` a line, with a JSON object, or with decline.")
    elif not options:
        lines.append("Answer with the value, or with decline.")
    return Question("\n".join(lines), options, asked.schema if asked.fields else None)


def response_to(asked: Asked, text: str) -> Response | str:
    """What the server is told of an answer; what is wrong with it, if it cannot be."""
    said = text.strip()
    word = said.lower()
    if word in {"decline", "cancel"}:
        return Response("decline" if word == "decline" else "cancel")
    if not asked.fields:
        return _plain(word)
    content = _content(asked, said)
    problems = misfits(asked.schema or {}, content)
    return "\n".join(problems) if problems else Response("accept", content)


def _plain(word: str) -> Response | str:
    if word in _YES:
        return Response("accept", {})
    return Response("decline") if word in _NO else "the answer is accept or decline"


def _content(asked: Asked, said: str) -> dict[str, JsonValue]:
    """The form as an answer fills it in."""
    if said.startswith("{"):
        try:
            return cast("dict[str, JsonValue]", json.loads(said))
        except (ValueError, RecursionError):
            pass  # then it is the text that it seems to be
    if len(asked.fields) == 1:
        ((name, about),) = asked.fields.items()
        prefix, _, rest = said.partition(":")
        return {name: _value(rest if prefix.strip() == name else said, about)}
    pairs = (line.partition(":") for line in said.splitlines() if line.strip())
    named = ((name.strip(), value) for name, _, value in pairs)
    return {name: _value(value, asked.fields.get(name, {})) for name, value in named}


def _value(text: str, about: Mapping[str, JsonValue]) -> JsonValue:
    """A written value as the kind that its field has; the text itself where it is none."""
    text = text.strip()
    match about.get("type"):
        case "boolean":
            word = text.lower()
            return True if word in _YES else False if word in _NO else text
        case "integer" | "number":
            return _number(text)
        case "array":
            return [item.strip() for item in text.split(",") if item.strip()]
        case _:
            return text


def _number(text: str) -> JsonValue:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text


def _options(asked: Asked) -> tuple[str, ...]:
    if not asked.fields:
        return ("accept", "decline")
    if len(asked.fields) > 1:
        return ()
    (about,) = asked.fields.values()
    choices = _choices(about)
    if about.get("type") == "boolean":
        choices = ["yes", "no"]
    return (*choices, "decline") if choices else ()


def _choices(about: Mapping[str, JsonValue]) -> list[str]:
    """Values to choose from; none where any will do."""
    listed = about.get("enum")
    if isinstance(listed, list):
        return [str(one) for one in listed]
    titled = about.get("oneOf")
    if not isinstance(titled, list):
        return []
    return [str(one["const"]) for one in titled if isinstance(one, dict) and "const" in one]


def _field(name: str, about: Mapping[str, JsonValue], asked: Asked) -> str:
    required = (asked.schema or {}).get("required")
    is_needed = isinstance(required, list) and name in required
    choices = ", ".join(_choices(about))
    kind = f"one of {choices}" if choices else str(about.get("type", "text"))
    said = about.get("description") or about.get("title") or ""
    return f"- {name} ({kind}{'' if is_needed else ', may be left out'}) {said}".rstrip()


def with_response(asked: Asked, response: Response) -> Asked:
    """The question, answered."""
    return replace(asked, response=response)
