"""An artifact as facts name it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stored:
    """An artifact and the handle that names it inside its session."""

    handle: str
    """What the model and the user call it: `result/17.2`, `file/september.ofx`."""
    ref: str
    """Its address among the tenant's artifacts: SHA-256 in hexadecimal."""
    size: int
    """Bytes."""
    mime: str
