"""Counting what a run takes and what keeps failing, as its facts come."""

import hashlib
import json
from dataclasses import replace
from decimal import Decimal

from ..tracing import Usage
from .models.model import Reply
from .run_state import Failure, RunState
from .store.facts import Settled


def spend(run: RunState, usage: Usage, cost: Decimal | None) -> None:
    """What a model call took."""
    run.usage += usage
    run.cost = None if run.cost is None or cost is None else run.cost + cost
    run.known_cost += cost or 0
    run.unpriced += cost is None


def allow(run: RunState, reply: Reply) -> None:
    """Which calls of a reply its budget covers. A reply that was cut is not executed, and uses nothing up."""
    asked, most = (tuple(run.calls) if reply.stop == "tools" else ()), run.budget.tool_calls
    allowed = len(asked) if most is None else min(len(asked), max(0, most - run.tool_calls))
    run.beyond = frozenset(asked[allowed:])
    run.tool_calls += allowed


def count_failure(run: RunState, settled: Settled) -> None:
    """How often in a row a call failed in the same way; forgotten when it succeeds."""
    call = run.calls[settled.result.call]
    same_call = f"{call.name} {call.malformed or json.dumps(call.arguments, sort_keys=True)}"
    digest = hashlib.sha256(same_call.encode()).hexdigest()
    known = run.failures.pop(digest, None)
    if not settled.result.error:
        return
    error = hashlib.sha256(settled.result.content.encode()).hexdigest()
    failure = Failure(settled.tool, error, 1, call.id)
    if known is not None and known.error == error:
        failure = replace(known, times=known.times + 1)
    run.failures[digest] = failure
    if run.repeated is None or failure.times > run.repeated.times:
        run.repeated = failure
