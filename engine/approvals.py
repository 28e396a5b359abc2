"""Which calls need a person: the host's policy, a pure function of operation and arguments.

Nothing that a model, a tool, a file or a skill says has a part in it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fnmatch import fnmatchcase
from typing import Literal, NamedTuple

from pydantic import JsonValue

from .errors import ConfigurationError

Then = Literal["ask", "allow", "deny"]


@dataclass(frozen=True, slots=True)
class ArgumentIs:
    """A condition: some argument at a path has one of these values."""

    path: str
    """Names and places, with dots between: `to.account`, `lines.0.account`; `*` stands for each:
    `lines.*.account`."""
    one_of: tuple[JsonValue, ...] = ()
    """Values, compared whole."""
    like: str = ""
    """Pattern for a text, such as `DE*`; empty for none."""


@dataclass(frozen=True, slots=True)
class AmountOver:
    """A condition: the amounts at a path come to more than a threshold.

    Their absolute values are added up, so that splitting one changes nothing. What cannot be compared, be
    it no number or in another currency, counts as more.
    """

    path: str
    """As in `ArgumentIs`."""
    amount: Decimal
    currency: str
    """ISO 4217 code of `amount`."""
    currency_path: str = ""
    """Where the arguments name the currency; empty when the tool knows this one only."""


Condition = ArgumentIs | AmountOver


@dataclass(frozen=True, slots=True)
class ApprovalRule:
    """What holds for some calls."""

    tools: str
    """Pattern for operations: `entries__post_entry`, `bank__*`; `*__*` for every tool of every system, `*`
    for resident ones such as `write_file` too."""
    then: Then
    """"ask": a person has to approve. "allow": it runs, also when the tool is destructive. "deny": it is
    refused."""
    when: tuple[Condition, ...] = ()
    """All of these have to hold; none for every call of these tools."""
    why: str = ""
    """In words, for the person who decides or the model that is refused; empty to name the pattern."""


class Ruling(NamedTuple):
    """What holds for one call."""

    then: Then
    why: str


@dataclass(frozen=True, slots=True)
class ApprovalPolicy:
    """The host's rules: the first that fits a call holds.

    Where none fits, a destructive call needs approval and any other runs.

    Raises:
        ConfigurationError: a rule can never hold, or says something that cannot be meant.
    """

    rules: tuple[ApprovalRule, ...] = ()
    expires_after_s: float | None = None
    """Seconds after which a request cannot be approved any more; None for never."""
    approver_differs: bool = False
    """Whether who approves has to be another person than who asked for the work."""

    def __post_init__(self) -> None:
        if self.expires_after_s is not None and self.expires_after_s <= 0:
            raise ConfigurationError(f"expires_after_s has to be more than 0; got {self.expires_after_s!r}")
        for rule in self.rules:
            _check(rule)

    def ruling(self, operation: str, arguments: Mapping[str, JsonValue], *, destructive: bool) -> Ruling:
        """What holds for a call with these arguments, defaults filled in."""
        for rule in self.rules:
            if fnmatchcase(operation, rule.tools) and _holds(rule.when, arguments):
                return Ruling(rule.then, rule.why or f"calls of {rule.tools} are held to this")
        if destructive:
            return Ruling("ask", f"{operation} cannot be undone")
        return Ruling("allow", "")

    def may_ask(self, operation: str, *, destructive: bool) -> bool:
        """Whether some call of an operation needs a person, whatever its arguments."""
        for rule in self.rules:
            if not fnmatchcase(operation, rule.tools):
                continue
            if rule.then == "ask":
                return True
            if not rule.when:
                return False  # it holds for every call, so no later one does
        return destructive


def _check(rule: ApprovalRule) -> None:
    if not rule.tools:
        raise ConfigurationError(f"a rule of approval names no tools: {rule!r}; '*' stands for all")
    if rule.then not in {"ask", "allow", "deny"}:
        raise ConfigurationError(f"a rule of approval says 'ask', 'allow' or 'deny'; got {rule.then!r}")
    for condition in rule.when:
        if isinstance(condition, AmountOver) and rule.then == "allow":
            raise ConfigurationError(
                f"a rule cannot allow what is over {condition.amount} {condition.currency}: what cannot be "
                "compared counts as more. Let one rule ask over the amount, and the next one allow"
            )
        if isinstance(condition, ArgumentIs) and not condition.one_of and not condition.like:
            raise ConfigurationError(f"a condition has to name values or a pattern: {condition!r}")


def _holds(when: Sequence[Condition], arguments: Mapping[str, JsonValue]) -> bool:
    return all(
        _is(one, arguments) if isinstance(one, ArgumentIs) else _is_over(one, arguments) for one in when
    )


def _is(wanted: ArgumentIs, arguments: Mapping[str, JsonValue]) -> bool:
    found = _at(dict(arguments), wanted.path)
    if any(isinstance(value, str) and wanted.like and fnmatchcase(value, wanted.like) for value in found):
        return True
    return any(_same(value, one) for value in found for one in wanted.one_of)


def _same(one: JsonValue, other: JsonValue) -> bool:
    """Equal as JSON has it: true is no 1."""
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def _is_over(wanted: AmountOver, arguments: Mapping[str, JsonValue]) -> bool:
    if wanted.currency_path:
        named = _at(dict(arguments), wanted.currency_path)
        if not named or any(one != wanted.currency for one in named):
            return True
    total = Decimal(0)
    for value in _at(dict(arguments), wanted.path):
        amount = _amount(value)
        if amount is None:
            return True
        total += abs(amount)
    return total > wanted.amount


def _amount(value: JsonValue) -> Decimal | None:
    """The amount that a value says; None when it says none."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        amount = Decimal(str(value))
    except (InvalidOperation, ValueError):  # ValueError: an integer of more digits than are ever printed
        return None
    return amount if amount.is_finite() else None


def _at(value: JsonValue, path: str) -> list[JsonValue]:
    """The values at a path; none where it leads nowhere."""
    found = [value]
    for step in path.split("."):
        found = [inside for one in found for inside in _inside(one, step)]
    return found


def _inside(value: JsonValue, step: str) -> list[JsonValue]:
    if isinstance(value, dict):
        return list(value.values()) if step == "*" else [value[step]] if step in value else []
    if not isinstance(value, list):
        return []
    if step == "*":
        return value
    return [value[int(step)]] if step.isdecimal() and int(step) < len(value) else []
