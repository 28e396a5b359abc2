"""What went wrong with a call through litellm, classified for the one retry policy.

litellm has one family of errors for all providers. Its class and status say most; what the provider
said itself may stand in the error's body, in that of an error within it, or in its text alone.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import cast

from ...tracing import Usage
from ..errors import FaultKind, ModelFault

_WORDS: Mapping[str, FaultKind] = {
    "billing_error": "quota",
    "billing_hard_limit_reached": "quota",
    "insufficient_quota": "quota",
    "context_length_exceeded": "too long",
    "request_too_large": "too long",
    "rate_limit_error": "rate limited",
    "rate_limit_exceeded": "rate limited",
    "resource_exhausted": "rate limited",
    "overloaded": "overloaded",
    "overloaded_error": "overloaded",
    "server_is_overloaded": "overloaded",
    "authentication_error": "auth",
    "invalid_api_key": "auth",
    "permission_denied": "auth",
    "permission_error": "auth",
    "unauthenticated": "auth",
    "api_error": "transient",
    "server_error": "transient",
}
"""What providers write in an error's code, type or status."""
_STATUS: Mapping[int, FaultKind] = {
    401: "auth",
    402: "quota",
    403: "auth",
    408: "transient",
    409: "transient",
    413: "too long",
    425: "transient",
    429: "rate limited",
    529: "overloaded",
}
_CLIENT_ERRORS = range(400, 500)
_MISTAKES = (AttributeError, LookupError, TypeError, ValueError)
"""Not litellm's errors nor a connection's: a request that cannot even be sent."""
_SILENCE = 408
_MOST_CAUSES = 8
_SAID = ("code", "type", "status")


def fault_of(error: Exception, *, begun: bool, usage: Usage) -> ModelFault:
    """What went wrong. `begun` is whether something of the reply had arrived."""
    causes = list(_causes(error))
    text = str(error) or type(error).__name__
    kind: FaultKind = _kind(causes, begun=begun)
    if isinstance(error, _MISTAKES):
        kind = "invalid"
    return ModelFault(kind, text[:2000], headers=_headers(causes), usage=usage)


def _kind(causes: list[BaseException], *, begun: bool) -> FaultKind:
    names = {type(cause).__name__ for cause in causes}
    status = getattr(causes[0], "status_code", None)
    words = list(_words(causes))
    if "ContextWindowExceededError" in names or "context_length_exceeded" in words:
        return "too long"
    if "insufficient_quota" in words:
        return "quota"
    known = _STATUS.get(status) if isinstance(status, int) else None
    if known is not None and not _is_stall(names, status, causes):
        return known
    if isinstance(status, int) and status in _CLIENT_ERRORS and "Timeout" not in names:
        return "invalid"
    told: FaultKind | None = next((_WORDS[word] for word in words if word in _WORDS), None)
    return told or _of_the_server(causes, names, begun=begun)


def _of_the_server(causes: list[BaseException], names: set[str], *, begun: bool) -> FaultKind:
    """A broken stream has no words of the provider, whose words otherwise decide."""
    if any("overloaded" in str(cause).lower() for cause in causes):
        return "overloaded"
    broken = "MidStreamFallbackError" in names and not getattr(causes[0], "is_pre_first_chunk", False)
    return "cut" if begun or broken or _is_stall(names, _SILENCE, causes) else "transient"


def _is_stall(names: set[str], status: object, causes: list[BaseException]) -> bool:
    """Silence is litellm's own 408: the provider sent no status, so no headers either."""
    return status == _SILENCE and "Timeout" in names and not _headers(causes, "")


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and those within it, outermost first."""
    left: list[BaseException] = [error]
    seen: list[BaseException] = []
    while left and len(seen) < _MOST_CAUSES:
        this = left.pop(0)
        seen.append(this)
        yield this
        within = (getattr(this, "original_exception", None), this.__cause__, this.__context__)
        left += [one for one in within if isinstance(one, BaseException) and one not in [*seen, *left]]


def _words(causes: Iterable[BaseException]) -> Iterator[str]:
    for cause in causes:
        for said in (getattr(cause, "body", None), _json_in(str(cause))):
            fields = _object(said)
            fields = _object(fields.get("error")) or fields
            yield from (str(fields[key]).lower() for key in _SAID if fields.get(key))


def _json_in(text: str) -> object:
    """The object that begins in a text; None when there is none."""
    begin = text.find("{")
    try:
        return json.JSONDecoder().raw_decode(text, begin)[0] if begin >= 0 else None
    except (ValueError, RecursionError):
        return None


def _object(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else {}


def _headers(causes: Iterable[BaseException], *starts: str) -> Mapping[str, str]:
    """Those that say when to try again, or those that begin in another way."""
    wanted = starts or ("retry-after", "x-should-retry", "x-ratelimit-")
    for cause in causes:
        headers = cast("Mapping[str, str]", getattr(cause, "litellm_response_headers", None) or {})
        named = {str(name).lower(): str(value) for name, value in headers.items()}
        found = {name: value for name, value in named.items() if name.startswith(wanted)}
        if found:
            return found
    return {}
