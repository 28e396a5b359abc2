"""When a failed model call is tried again: one policy over every provider, the SDKs' own retries off.

Pure: what is decided follows from recorded facts. How long the provider asked to wait, and the share of
chance in a wait, are read once, when the call fails, and recorded with it.
"""

import email.utils
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from ..errors import FaultKind

Verdict = Literal["again", "later", "never", "window"]
"""Try again after a wait; the run pauses and can be resumed later; trying again does not help; the
prompt is too long."""

_VERDICTS: Mapping[FaultKind, Verdict] = {
    "transient": "again",
    "rate limited": "again",
    "overloaded": "again",
    "cut": "again",
    "too long": "window",
    "invalid": "never",
    "auth": "never",
    "quota": "never",
}

_SECOND = 1_000_000
_UNITS = {"ms": 1_000, "s": _SECOND, "m": 60 * _SECOND, "h": 3600 * _SECOND, "d": 86_400 * _SECOND}
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_DURATION = re.compile(r"(?:[0-9]+(?:\.[0-9]+)?(?:ms|[smhd]))+")
_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|[smhd])")
_IN_TEXT = re.compile(r'"retryDelay"\s*:\s*"([0-9.]+(?:ms|[smhd]))"')
_LONGEST = 366 * 86_400 * _SECOND
"""Longer waits are read as this one: all of them are beyond every cap."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How patiently a failed model call is tried again."""

    attempts: int = 6
    """Failures in a row until the run pauses; 0 pauses at the first."""
    first_wait_s: float = 0.5
    """Seconds before the second attempt; doubled for each further one."""
    most_wait_s: float = 30.0
    """Seconds that a wait of our own choice has at most."""
    jitter: float = 0.25
    """Share of such a wait that is left to chance, so that many runs do not come back at once."""
    cap_s: float = 120.0
    """Seconds that a provider may ask to wait; beyond, the run pauses instead of waiting."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do about a failed call."""

    verdict: Verdict
    wait_us: int = 0
    """With "again", and with "later" where the provider said how long: microseconds from the failure."""


def decide(
    policy: RetryPolicy, fault: FaultKind, *, failed: int, told_us: int | None, chance: float
) -> Decision:
    """What to do after `failed` failures in a row, this one counted.

    Args:
        policy: How patient to be.
        fault: What went wrong.
        failed: From 1.
        told_us: Microseconds that the provider asked to wait; None when it did not say.
        chance: From 0 to 1, the run's share of luck.
    """
    verdict = _VERDICTS[fault]
    if verdict != "again":
        return Decision(verdict)
    if told_us is not None and told_us > policy.cap_s * _SECOND:
        return Decision("later", told_us)
    if failed > policy.attempts:
        return Decision("later", told_us or 0)
    own = min(policy.first_wait_s * 2 ** min(failed - 1, 60), policy.most_wait_s)
    own *= 1 - policy.jitter * chance
    return Decision("again", max(round(own * _SECOND), told_us or 0))


def told_wait_us(headers: Mapping[str, str], message: str, now_us: int) -> int | None:
    """Microseconds that a provider asked to wait, in whichever form; None when it did not say.

    `retry-after-ms`; `retry-after` in seconds, as a date, or with units as some proxies write it; and
    Google's `retryDelay`, which reaches us inside the error's text alone. A date in the past is 0.
    """
    milliseconds = headers.get("retry-after-ms", "").strip()
    if _NUMBER.fullmatch(milliseconds):
        return _bounded(float(milliseconds) * _UNITS["ms"])
    written = headers.get("retry-after", "").strip()
    if _NUMBER.fullmatch(written):
        return _bounded(float(written) * _SECOND)
    if _DURATION.fullmatch(written):
        return _duration(written)
    if written:
        return _until(written, now_us)
    in_text = _IN_TEXT.search(message)
    return _duration(in_text[1]) if in_text else None


def _duration(written: str) -> int:
    return _bounded(sum(float(count) * _UNITS[unit] for count, unit in _PART.findall(written)))


def _until(date: str, now_us: int) -> int | None:
    try:
        when = email.utils.parsedate_to_datetime(date)
        return _bounded(when.timestamp() * _SECOND - now_us)
    except (ValueError, OverflowError, TypeError):
        return None


def _bounded(wait_us: float) -> int:
    return max(0, round(min(wait_us, _LONGEST)))
