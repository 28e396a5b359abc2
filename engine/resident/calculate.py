"""Arithmetic over records, exact and replayable, so that no figure is worked out in a model's head."""

import ast
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, DecimalException, localcontext
from typing import Annotated

from pydantic import Field

from ...namespaces.functions import tool
from ...namespaces.tool import Effect, Record, ToolContext, ToolOutput
from .desk import desk
from .link_records import unknown_record

_DIGITS = 50
"""Precision of the arithmetic: more than any sum of amounts needs."""
_MOST = 2_000
"""Records of one list."""

_CURRENCY = re.compile("[A-Z]{3}")

Input = str | list[str]


class CalculationError(Exception):
    """An expression that has no value; says why and what would be right."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number, or an amount of money."""

    value: Decimal
    currency: str | None = None
    """None for a plain number."""

    def __str__(self) -> str:
        return f"{self.value:f} {self.currency}" if self.currency else f"{self.value:f}"


Value = Quantity | tuple[Quantity, ...]


@tool(effect=Effect.READ)
async def calculate(
    expression: Annotated[
        str,
        Field(
            min_length=1,
            max_length=1000,
            description="Numbers, names of inputs, + - * / ( ), sum, count, abs, min, max, round(x, n), "
            "convert(x, rate, EUR).",
        ),
    ],
    context: ToolContext,
    inputs: Annotated[
        dict[str, Input],
        Field(description='A record id, or a list of them, per name: {"a": "bank:..."}'),
    ] = {},  # noqa: B006  pydantic copies it
    label: Annotated[str, Field(max_length=200, description="What the figure is.")] = "",
) -> ToolOutput:
    """Works out a figure from records and gives a new record to cite for it."""
    known = desk(context).state.records
    try:
        value = evaluate(expression, {name: _value(given, known) for name, given in inputs.items()})
    except CalculationError as error:
        return ToolOutput(str(error), error=True)
    derivation = json.dumps({"expression": expression, "inputs": inputs}, ensure_ascii=False)
    record = Record(f"calc:{context.call}", value.value, value.currency, text=label, derivation=derivation)
    shown = {"record": record.id, "amount": f"{value.value:f}", "currency": value.currency}
    return ToolOutput(shown, records=(record,))  # type: ignore[arg-type]  # a JSON object of texts


def _value(given: Input, known: Mapping[str, Record]) -> Value:
    if isinstance(given, str):
        return _quantity(given, known)
    if len(given) > _MOST:
        raise CalculationError(f"a list has {len(given)} records: give at most {_MOST}, and add up the parts")
    return tuple(_quantity(one, known) for one in given)


def _quantity(identity: str, known: Mapping[str, Record]) -> Quantity:
    record = known.get(identity)
    if record is None:
        raise CalculationError(unknown_record(identity, known))
    if record.amount is None:
        raise CalculationError(f"record {identity!r} has no amount")
    return Quantity(record.amount, record.currency)


def evaluate(expression: str, names: Mapping[str, Value]) -> Quantity:
    """The value of an expression.

    Raises:
        CalculationError: it is no expression of the allowed kind, adds different currencies, divides
            by zero, or uses a name that is not given.
    """
    expression = expression.strip()
    try:
        tree = ast.parse(expression, mode="eval")
        with localcontext() as decimals:
            decimals.prec = _DIGITS
            result = _one(_Evaluator(expression, names).value(tree.body))
            return Quantity(_bounded(result.value), result.currency)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise CalculationError(f"{expression!r} cannot be read as an expression: {error}") from error
    except DecimalException as error:
        raise CalculationError(f"{expression!r} has no value: {type(error).__name__}") from error


class _Evaluator:
    def __init__(self, expression: str, names: Mapping[str, Value]) -> None:
        self._expression = expression
        self._names = names

    def value(self, node: ast.expr) -> Value:
        if isinstance(node, ast.Constant):
            return self._number(node)
        if isinstance(node, ast.Name):
            return self._name(node.id)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            operand = _one(self.value(node.operand))
            return Quantity(-operand.value, operand.currency) if isinstance(node.op, ast.USub) else operand
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            left, right = _one(self.value(node.left)), _one(self.value(node.right))
            return _OPERATORS[type(node.op)](left, right)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            if node.func.id == "convert":
                return self._convert(node.args)
            return self._function(node.func.id, [self.value(argument) for argument in node.args])
        raise CalculationError(f"{ast.unparse(node)!r} is not allowed in an expression")

    def _number(self, node: ast.Constant) -> Quantity:
        written = ast.get_source_segment(self._expression, node) or ""
        if isinstance(node.value, bool) or not isinstance(node.value, (int, float)):
            raise CalculationError(f"{written!r} is no number; records are given in `inputs`")
        return Quantity(_bounded(Decimal(written)))

    def _name(self, name: str) -> Value:
        if name not in self._names:
            given = ", ".join(sorted(self._names)) or "none"
            raise CalculationError(f"{name!r} is not among the inputs ({given})")
        return self._names[name]

    def _convert(self, arguments: Sequence[ast.expr]) -> Quantity:
        """Money in another currency: the amount times what one unit of it is worth there."""
        code = ast.unparse(arguments[-1]).strip("'\"") if arguments else ""
        if len(arguments) != 3 or not _CURRENCY.fullmatch(code):  # noqa: PLR2004  as the message says
            raise CalculationError("convert takes an amount, a rate and a currency: convert(x, 1.165, EUR)")
        amount, rate = (_one(self.value(argument)) for argument in arguments[:2])
        if amount.currency is None or rate.currency is not None:
            raise CalculationError(f"convert takes money and a plain rate, not {amount} and {rate}")
        return Quantity(amount.value * rate.value, code)

    def _function(self, name: str, arguments: Sequence[Value]) -> Quantity:
        if name not in _FUNCTIONS:
            there_are = ", ".join((*_FUNCTIONS, "convert"))
            raise CalculationError(f"there is no function {name!r}; there are {there_are}")
        return _FUNCTIONS[name](arguments)


def _bounded(value: Decimal) -> Decimal:
    """Written out, 1e999999999 would fill the memory."""
    if not value:
        return value if abs(value.adjusted()) <= _DIGITS else Decimal()
    if abs(value.adjusted()) > _DIGITS:
        raise CalculationError(f"{value} is out of bounds: use numbers of at most {_DIGITS} digits")
    return value


def _one(value: Value) -> Quantity:
    if isinstance(value, tuple):
        raise CalculationError("a list stands where one value is needed: use sum(x) or count(x)")
    return value


def _all(arguments: Sequence[Value]) -> list[Quantity]:
    flat = [one for value in arguments for one in (value if isinstance(value, tuple) else (value,))]
    for other in flat[1:]:
        _same_currency(flat[0], other, "put together with")
    return flat


def _same_currency(left: Quantity, right: Quantity, verb: str) -> None:
    if left.currency != right.currency:
        raise CalculationError(
            f"{left} cannot be {verb} {right}: the currencies differ; convert one with a rate first"
        )


def _add(left: Quantity, right: Quantity) -> Quantity:
    _same_currency(left, right, "added to")
    return Quantity(left.value + right.value, left.currency)


def _subtract(left: Quantity, right: Quantity) -> Quantity:
    _same_currency(left, right, "set against")
    return Quantity(left.value - right.value, left.currency)


def _multiply(left: Quantity, right: Quantity) -> Quantity:
    if left.currency and right.currency:
        raise CalculationError(f"{left} cannot be multiplied by {right}: both are money")
    return Quantity(left.value * right.value, left.currency or right.currency)


def _divide(left: Quantity, right: Quantity) -> Quantity:
    if right.currency is None:
        return Quantity(left.value / right.value, left.currency)
    _same_currency(left, right, "divided by")
    return Quantity(left.value / right.value)


_OPERATORS: Mapping[type[ast.operator], Callable[[Quantity, Quantity], Quantity]] = {
    ast.Add: _add,
    ast.Sub: _subtract,
    ast.Mult: _multiply,
    ast.Div: _divide,
}


def _sum(arguments: Sequence[Value]) -> Quantity:
    flat = _all(arguments)
    return Quantity(sum((one.value for one in flat), Decimal()), flat[0].currency if flat else None)


def _count(arguments: Sequence[Value]) -> Quantity:
    return Quantity(Decimal(sum(len(v) if isinstance(v, tuple) else 1 for v in arguments)))


def _abs(arguments: Sequence[Value]) -> Quantity:
    (value,) = _exactly("abs", arguments, 1)
    return Quantity(abs(value.value), value.currency)


def _round(arguments: Sequence[Value]) -> Quantity:
    value, places = _exactly("round", arguments, 2)
    step = Decimal(1).scaleb(-int(places.value))
    return Quantity(value.value.quantize(step), value.currency)


def _exactly(name: str, arguments: Sequence[Value], wanted: int) -> list[Quantity]:
    if len(arguments) != wanted:
        raise CalculationError(f"{name} takes {wanted} values, {len(arguments)} are given")
    return [_one(value) for value in arguments]


def _size(quantity: Quantity) -> Decimal:
    return quantity.value


def _extreme(choose: Callable[..., Quantity]) -> Callable[[Sequence[Value]], Quantity]:
    def function(arguments: Sequence[Value]) -> Quantity:
        flat = _all(arguments)
        if not flat:
            raise CalculationError("min and max need at least one value")
        return choose(flat, key=_size)

    return function


_FUNCTIONS: Mapping[str, Callable[[Sequence[Value]], Quantity]] = {
    "sum": _sum,
    "count": _count,
    "abs": _abs,
    "round": _round,
    "min": _extreme(min),
    "max": _extreme(max),
}
