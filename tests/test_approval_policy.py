"""Which calls need a person is the host's policy, and an approval is bound to the whole call."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, JsonValue

from offing.engine.approvals import AmountOver, ApprovalPolicy, ApprovalRule, ArgumentIs, Condition
from offing.engine.canonical import digest_of, filled
from offing.engine.errors import ConfigurationError
from offing.namespaces import tool

POUND = AmountOver("amount", Decimal(1000), "GBP", "currency")


def then(policy: ApprovalPolicy, operation: str, *, destructive: bool = False, **arguments: JsonValue) -> str:
    return policy.ruling(operation, arguments, destructive=destructive).then


def holds(condition: Condition, **arguments: JsonValue) -> bool:
    """Whether a rule that denies under this condition holds."""
    policy = ApprovalPolicy((ApprovalRule("*", "deny", (condition,)),))
    return policy.ruling("a__b", arguments, destructive=False).then == "deny"


def test_without_rules_a_destructive_call_needs_approval_and_any_other_runs() -> None:
    policy = ApprovalPolicy()
    assert policy.ruling("bank__pay", {}, destructive=True) == ("ask", "bank__pay cannot be undone")
    assert policy.ruling("bank__pay", {}, destructive=False) == ("allow", "")


def test_the_first_rule_that_fits_holds() -> None:
    policy = ApprovalPolicy(
        (
            ApprovalRule("bank__pay", "ask", (POUND,), "large payments"),
            ApprovalRule("bank__*", "allow"),
            ApprovalRule("*__pay", "deny"),
        )
    )
    large = {"amount": "1000.01", "currency": "GBP"}
    assert policy.ruling("bank__pay", large, destructive=True) == ("ask", "large payments")
    assert then(policy, "bank__pay", destructive=True, amount=1000, currency="GBP") == "allow"
    assert then(policy, "bank__close", destructive=True) == "allow"
    assert policy.ruling("till__pay", {}, destructive=False) == ("deny", "calls of *__pay are held to this")
    assert then(policy, "till__drop", destructive=True) == "ask"


@pytest.mark.parametrize(
    ("arguments", "over"),
    [
        ({"amount": 1000, "currency": "GBP"}, False),
        ({"amount": "1000.00", "currency": "GBP"}, False),
        ({"amount": 1000.5, "currency": "GBP"}, True),
        ({"amount": "-1000.01", "currency": "GBP"}, True),
        ({"amount": 1, "currency": "EUR"}, True),
        ({"amount": 1, "currency": "gbp"}, True),
        ({"amount": 1, "currency": None}, True),
        ({"amount": 1}, True),
        ({"amount": "one", "currency": "GBP"}, True),
        ({"amount": "NaN", "currency": "GBP"}, True),
        ({"amount": True, "currency": "GBP"}, True),
        ({"amount": [1], "currency": "GBP"}, True),
        ({"amount": None, "currency": "GBP"}, True),
        ({"currency": "GBP"}, False),
    ],
)
def test_what_cannot_be_compared_counts_as_more(arguments: dict[str, JsonValue], over: bool) -> None:  # noqa: FBT001
    assert holds(POUND, **arguments) == over


CENTS = st.integers(-200_000, 200_000).map(lambda cents: Decimal(cents) / 100)


@given(st.lists(CENTS, max_size=6))
def test_amounts_are_added_up_whatever_their_sign_so_that_splitting_one_changes_nothing(
    amounts: list[Decimal],
) -> None:
    lines: list[JsonValue] = [{"amount": str(amount)} for amount in amounts]
    over = AmountOver("lines.*.amount", Decimal(1000), "GBP")
    assert holds(over, lines=lines) == (sum(map(abs, amounts)) > 1000)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (ArgumentIs("to.account", ("4711",)), True),
        (ArgumentIs("to.account", like="47*"), True),
        (ArgumentIs("to.account", like="7*"), False),
        (ArgumentIs("to", ("4711",)), False),
        (ArgumentIs("lines.*.kind", ("fee",)), True),
        (ArgumentIs("lines.0.kind", ("fee",)), False),
        (ArgumentIs("lines.1.kind", ("fee",)), True),
        (ArgumentIs("lines.2.kind", ("fee",)), False),
        (ArgumentIs("lines.-1.kind", ("fee",)), False),
        (ArgumentIs("*.account", ("4711",)), True),
        (ArgumentIs("urgent", (True,)), True),
        (ArgumentIs("urgent", (1,)), False),
        (ArgumentIs("urgent.deeper", (True,)), False),
        (ArgumentIs("", ("4711",)), False),
        (ArgumentIs("nothing", (None,)), False),
    ],
)
def test_a_condition_looks_at_the_argument_its_path_names(condition: ArgumentIs, expected: bool) -> None:  # noqa: FBT001
    arguments: dict[str, JsonValue] = {
        "to": {"account": "4711"},
        "lines": [{"kind": "rent"}, {"kind": "fee"}],
        "urgent": True,
    }
    assert holds(condition, **arguments) == expected


def test_all_conditions_of_a_rule_have_to_hold() -> None:
    rule = ApprovalRule("*", "deny", (POUND, ArgumentIs("to", ("A",))))
    policy = ApprovalPolicy((rule,))
    assert then(policy, "x", amount=2000, currency="GBP", to="A") == "deny"
    assert then(policy, "x", amount=2000, currency="GBP", to="B") == "allow"


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: ApprovalPolicy((ApprovalRule("", "ask"),)), "names no tools"),
        (lambda: ApprovalPolicy((ApprovalRule("*", "maybe"),)), "got 'maybe'"),  # type: ignore[arg-type]
        (
            lambda: ApprovalPolicy((ApprovalRule("*", "allow", (POUND,)),)),
            "cannot allow what is over 1000",
        ),
        (lambda: ApprovalPolicy((ApprovalRule("*", "ask", (ArgumentIs("a"),)),)), "values or a pattern"),
        (lambda: ApprovalPolicy(expires_after_s=0), "more than 0; got 0"),
    ],
)
def test_a_policy_that_cannot_be_meant_is_refused(make: Any, told: str) -> None:  # noqa: ANN401
    with pytest.raises(ConfigurationError, match=told):
        make()


# What an approval is bound to.


class Line(BaseModel):
    account: str
    kind: str = "fee"


class Tree(BaseModel):
    name: str = "leaf"
    below: list["Tree"] = []


@tool()
async def post(
    lines: list[Line],
    head: Line | None = None,
    tree: Tree | None = None,
    note: Annotated[str, Field(max_length=9)] = "",
) -> str:
    """Posts."""
    return ""


def test_defaults_are_filled_in_wherever_the_schema_gives_them() -> None:
    given_: Mapping[str, JsonValue] = {
        "lines": [{"account": "1"}, {"account": "2", "kind": "rent"}],
        "tree": {"below": [{"name": "twig", "below": [{}]}]},
    }
    assert filled(given_, post.schema) == {
        "lines": [{"account": "1", "kind": "fee"}, {"account": "2", "kind": "rent"}],
        "head": None,
        "tree": {
            "name": "leaf",
            "below": [{"name": "twig", "below": [{"name": "leaf", "below": []}]}],
        },
        "note": "",
    }
    assert given_["lines"] == [{"account": "1"}, {"account": "2", "kind": "rent"}]


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"$ref": "#/nowhere"},
        {"$ref": "https://example.com/schema"},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}},
        {"properties": "wrong", "anyOf": "wrong", "items": 7},
        {"properties": {"a": True, "b": {"anyOf": [{"type": "null"}, True]}}},
        {"properties": {"a": {"$ref": "#"}, "b": {"items": {"$ref": "#"}}}},
    ],
)
def test_a_schema_of_the_wild_changes_nothing_and_ends(schema: dict[str, JsonValue]) -> None:
    value: dict[str, JsonValue] = {"a": {"a": {"a": 1}}, "b": [[], {"b": []}]}
    assert filled(value, schema) == value


VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(), inside, max_size=3),
    max_leaves=6,
)
ARGUMENTS = st.dictionaries(st.text(), VALUES, max_size=4)


def told(value: Any) -> str:  # noqa: ANN401
    """A JSON value, so that true and 1 differ and the order of keys does not matter."""
    if isinstance(value, dict):
        return repr(sorted((key, told(item)) for key, item in cast("dict[str, Any]", value).items()))
    if isinstance(value, list):
        return f"[{[told(item) for item in cast('list[Any]', value)]}]"
    return repr(value)


@given(ARGUMENTS, ARGUMENTS, st.sampled_from(["a__b", "a__c"]))
def test_two_calls_have_one_digest_if_and_only_if_they_are_the_same(
    one: dict[str, Any], other: dict[str, Any], operation: str
) -> None:
    same = told(one) == told(other) and operation == "a__b"
    assert (digest_of("a__b", one) == digest_of(operation, other)) == same
    backwards = dict(reversed(one.items()))
    assert digest_of("a__b", backwards) == digest_of("a__b", one)
