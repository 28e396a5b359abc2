"""A run of 40 steps over Claude's real wire that goes wrong in each way a trace has to show."""

import json
from dataclasses import dataclass, field
from decimal import Decimal

from pydantic import SecretStr

from loopback import Answer, HttpError, Loopback, PromptCache, ToolUse, in_order
from loopback import Text as Said
from offing.engine import Engine, Limits, Result
from offing.engine.clock import Outside
from offing.engine.store import Store
from offing.namespaces import Effect, FunctionNamespace, ToolContext, tool
from offing.tracing import Tracing
from offing.tracing.span import Span
from worlds import Claude, outside

STEPS = 40
WRONG, SILENT, OVERLOADED = 31, 12, 5
"""Where a call raises, one only reads like a failure, and the model has to be asked again."""
SECRET = "s3cret-of-the-books"
QUESTION = "Why does September not tie?"


@dataclass
class Kept:
    """A sink that keeps what it takes."""

    spans: list[Span] = field(default_factory=list[Span])
    contexts: list[str] = field(default_factory=list[str])
    """Trace contexts that tools were given."""

    def take(self, span: Span) -> None:
        self.spans.append(span)

    def close(self, wait_s: float) -> None:
        pass


KEPT = Kept()


@tool(effect=Effect.READ)
async def page(number: int, context: ToolContext) -> str:
    """Gives one page of the ledger."""
    KEPT.contexts.append(context.traceparent)
    if number == WRONG:
        raise LookupError(f"no page {number}; the token {SECRET} is valid for pages 1 to 30")
    if number == SILENT:
        return "Error: the page is locked"
    return f"page {number}: 12.50 GBP, asked for with {context.credentials['token'].get_secret_value()}"


BOOKS = FunctionNamespace("books", [page])


def script() -> list[Answer | HttpError]:
    answers: list[Answer | HttpError] = [
        Answer(
            [
                Said(f"I look at page {number}."),
                ToolUse("books__invoke_tool", {"tool": "page", "arguments": {"number": number}}),
            ]
        )
        for number in range(1, STEPS + 1)
    ]
    answers.insert(OVERLOADED - 1, HttpError(529, "overloaded_error", "Overloaded"))
    return answers


async def fail(
    tracing: Tracing,
    session: str = "september",
    clock: Outside | None = None,
    store: Store | None = None,
) -> Result:
    """The run, which is stopped by its limit after 40 iterations."""
    with Loopback(in_order(script()), cache=PromptCache()) as server:
        async with Engine(
            Claude(server),
            [BOOKS],
            limits=Limits(iterations=STEPS),
            store=store,
            tracing=tracing,
            outside=clock or outside(),
        ) as engine:
            opened = engine.session(session, credentials={"books": {"token": SecretStr(SECRET)}})
            return await opened.ask(QUESTION, by="mara")


def said_in(span: Span) -> str:
    """All that a span says, as one text."""
    return json.dumps(
        [span.name, span.error, dict(span.attributes), [m.attributes for m in span.moments]], default=str
    )


def dollars(spans: list[Span]) -> Decimal:
    """What the model calls of a trace cost."""
    costs = [span.attributes["llm.cost.total"] for span in spans if "llm.cost.total" in span.attributes]
    return sum((Decimal(str(each)) for each in costs), Decimal(0))
