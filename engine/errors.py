"""The engine's errors.

OffingError
├── ConfigurationError        what the host gave cannot work: names the value and what would be right
│   └── ModelNotConfigured    a model's key or name is missing: says the exact fix
├── StoreError                the store failed: nothing that was acknowledged is lost, resume the run
│   ├── LeaseLost             another owner has the stream now: this one must not write
│   ├── LeaseHeld             a live owner has the stream: it cannot be taken over
│   ├── JournalUnreadable     a row that this version cannot read: it can be shown, not driven
│   └── NotFound              no such session, run or artifact
├── NotOpen                   nobody waits for what was said: no such request, or the run has ended
├── Interrupted               the session was closed while its run worked: the run can be resumed
├── ModelFault                one model call failed, classified: the loop turns it into a stop
├── PlaybookError             a scripted model and the run do not fit each other
└── AnswerInvalid             the answer is not of the type that was asked for

Only StoreError leaves a running loop, and Interrupted its task; the others come from set-up, or are told
in the run's result.
"""

from collections.abc import Mapping
from typing import Literal

from ..tracing import Usage


class OffingError(Exception):
    """Base of all errors raised by the engine on purpose."""


class ConfigurationError(OffingError):
    """A setting that cannot work."""


class ModelNotConfigured(ConfigurationError):
    """A model that cannot be used as things are, with what to do about it."""


class StoreError(OffingError):
    """The journal or the artifacts cannot be read or written."""


class LeaseLost(StoreError):
    """An append carried a fencing token that is no longer the stream's, or left a gap."""


class LeaseHeld(StoreError):
    """A stream is driven by an owner that is alive."""


class JournalUnreadable(StoreError):
    """A row of an unknown kind, of a newer version, or damaged."""


class NotFound(StoreError):
    """Nothing is stored under that name for this tenant."""


class NotOpen(OffingError):
    """What somebody wants to say to a run cannot be taken in: the message says why, and what is open."""


class Interrupted(OffingError):
    """A run was at work when its session or engine was closed. What it did is kept; resume it."""


FaultKind = Literal["transient", "rate limited", "overloaded", "too long", "invalid", "auth", "quota", "cut"]


class ModelFault(OffingError):
    """A model call that gave no usable reply.

    "transient": connection or server trouble. "rate limited" and "overloaded": later. "cut": the stream
    ended, broke or stalled before the reply was whole. "too long": the prompt exceeds the window.
    "invalid": the request was refused as it is. "auth" and "quota" do not heal by trying again.
    """

    def __init__(
        self,
        kind: FaultKind,
        message: str,
        *,
        headers: Mapping[str, str] | None = None,
        usage: Usage | None = None,
    ) -> None:
        """Takes what went wrong, the response's headers by lower-case name, and what it cost."""
        super().__init__(message)
        self.kind: FaultKind = kind
        self.headers: Mapping[str, str] = headers or {}
        """Those that say when to try again; read by `models/retry.py` alone."""
        self.usage: Usage = usage or Usage()
        """Tokens that the provider reported before the call failed."""


class PlaybookError(OffingError):
    """A script that has no step for what it is asked, or a playbook that takes another path now."""


class AnswerInvalid(OffingError):
    """The answer does not fit the type given as `output`."""
