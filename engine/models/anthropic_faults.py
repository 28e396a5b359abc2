"""What went wrong with a call of Claude, classified for the one retry policy."""

from collections.abc import Mapping
from types import ModuleType

from ..errors import FaultKind, ModelFault

_STATUS: Mapping[int, FaultKind] = {
    400: "invalid",
    401: "auth",
    402: "quota",
    403: "auth",
    404: "invalid",
    413: "too long",
    422: "invalid",
    429: "rate limited",
    529: "overloaded",
}
_TEXTS: Mapping[str, FaultKind] = {
    "prompt is too long": "too long",
    "credit balance is too low": "quota",
}
"""What only the text of an invalid request tells."""
_CLIENT_ERRORS = range(400, 500)
_TYPES: Mapping[str, FaultKind] = {
    "overloaded_error": "overloaded",
    "rate_limit_error": "rate limited",
    "authentication_error": "auth",
    "permission_error": "auth",
    "billing_error": "quota",
    "request_too_large": "too long",
    "invalid_request_error": "invalid",
    "not_found_error": "invalid",
}


def fault_of(error: Exception, sdk: ModuleType) -> ModelFault:
    """What went wrong, classified (WIRE.md, section 1).

    An error in the middle of a stream has status 200, so its type decides before its status. What is
    none of the SDK's errors is a stream that broke or stalled.
    """
    if not isinstance(error, sdk.APIError):
        return ModelFault("cut", f"the stream broke: {str(error) or type(error).__name__}"[:2000])
    status = getattr(error, "status_code", None)
    kind: FaultKind = _TYPES.get(str(getattr(error, "type", None))) or _by_status(status)
    text = str(error) or type(error).__name__
    response = getattr(error, "response", None)
    headers = {name.lower(): value for name, value in getattr(response, "headers", {}).items()}
    if kind == "invalid":
        kind = _by_text(text)
    return ModelFault(kind, text[:2000], headers=headers)


def _by_text(text: str) -> FaultKind:
    for words, kind in _TEXTS.items():
        if words in text:
            return kind
    return "invalid"


def _by_status(status: object) -> FaultKind:
    """Trying again heals no request that is wrong, and may heal what is wrong with the server."""
    if not isinstance(status, int) or status in {408, 409, 425}:
        return "transient"
    return _STATUS.get(status, "invalid" if status in _CLIENT_ERRORS else "transient")
