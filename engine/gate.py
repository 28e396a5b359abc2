"""Before a call runs: whether a person has to say something first, and what was said.

What runs after an approval is what was approved, argument by argument. A call is approved once and runs
once: its position in the stream is its name, and another call has another one.
"""

import asyncio
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import assert_never, cast

from pydantic import JsonValue

from ..namespaces.arguments import Arguments
from ..namespaces.meta_tools import GET_SCHEMA, Call, Wrong
from ..namespaces.tool import Question
from .canonical import digest_of, filled
from .context import context_of, credentials_of
from .prompts import prompt
from .redact import Redactor
from .resident.ask_user import ASK_USER, asked_by, is_ask_user
from .run import Run
from .scrub import scrub
from .state import State
from .store.codec import unrecordable
from .store.people import Answered, Decided, Expired, Questioned, Requested
from .waiting import Waiting
from .work import told, was_cancelled

_PREVIEW_S = 10.0
"""Seconds that a tool has to say what a call would do."""
_PREVIEW_CHARS = 4_000
_STATE_CHARS = 200_000
"""Characters of what a question keeps for its tool; more has no place in a journal's row."""

Gated = Call | Wrong | Requested | Questioned
"""A call that may run, why it may not, or what a person is asked first."""


async def gate(run: Run, identity: str, call: Call) -> Gated:
    """What stands between a call that is understood and its running."""
    waiting = run.state.current.waiting.get(identity)
    if waiting is not None:
        return _heard(waiting, call)
    if is_ask_user(call):
        return asked_by(identity, call.arguments)
    says_how = call.operation.endswith(f"__{GET_SCHEMA}")
    if says_how or identity in run.state.current.started:
        return call
    return await _ruled(run, identity, call)


async def _ruled(run: Run, identity: str, call: Call) -> Call | Wrong | Requested:
    """The call as the host's policy has it. One that nobody has to approve runs as it was asked for."""
    whole = _canonical(call)
    ruling = run.means.approvals.ruling(call.operation, whole.arguments, destructive=call.tool.destructive)
    match ruling.then:
        case "allow":
            return call
        case "deny":
            return Wrong(prompt("forbidden", tool=call.operation, why=ruling.why), call.operation)
        case "ask":
            return await _requested(run, identity, whole, ruling.why)
        case _ as never:
            assert_never(never)


def within(state: State, gated: Mapping[str, Gated]) -> dict[str, Gated]:
    """The calls of a batch in order; questions that the run's budget does not cover are not asked."""
    run = state.current
    most, asked = run.budget.questions, run.questions
    kept = dict(gated)
    for identity, one in gated.items():
        asked += isinstance(one, Questioned)
        if isinstance(one, Questioned) and most is not None and asked > most:
            kept[identity] = Wrong(prompt("no_questions"), ASK_USER)
    return kept


def questioned(run: Run, identity: str, call: Call, asks: Question) -> Questioned | str:
    """What a call at work asks a person, as it is recorded; why nobody can be asked, if so."""
    current = run.state.current
    if current.budget.questions is not None and current.questions >= current.budget.questions:
        return prompt("no_questions")
    redact = Redactor.of(credentials_of(run, call))
    state = json.dumps(asks.state, ensure_ascii=False)
    question = Questioned(
        identity,
        _shown(redact(asks.text)),
        tuple(scrub(redact(option)) for option in asks.options),
        asks.schema,
        cast("JsonValue", json.loads(redact(state))),
    )
    problem = "" if len(state) <= _STATE_CHARS else f"it would have to keep {len(state):,} characters"
    problem = problem or unrecordable(question)
    return f"Nobody can be asked: {problem[:1000]}" if problem else question


def _canonical(call: Call) -> Call:
    """The call with the defaults of its schema filled in, unless the schema itself does not take them."""
    arguments = filled(call.arguments, call.tool.schema)
    fit = arguments == call.arguments or not Arguments(call.tool).problems(arguments)
    return Call(call.tool, arguments, call.operation, call.owner) if fit else call


async def _requested(run: Run, identity: str, call: Call, why: str) -> Requested | Wrong:
    policy = run.means.approvals
    now = run.clock.now_us()
    expires = None if policy.expires_after_s is None else now + int(policy.expires_after_s * 1_000_000)
    request = Requested(
        identity,
        call.operation,
        call.arguments,
        digest_of(call.operation, call.arguments),
        await _preview(run, identity, call),
        scrub(why),
        expires,
        run.state.current.began.by if policy.approver_differs else None,
    )
    problem = unrecordable(request)
    if not problem:
        return request
    return Wrong(f"Nobody can be asked to approve it: {problem[:1000]}. Not executed.", call.operation)


async def _preview(run: Run, identity: str, call: Call) -> str:
    """What the call would do: as its tool says, else its arguments. Whatever happens, it is bounded."""
    plain = f"{call.operation}\n{_listed(call.arguments)}"
    if call.tool.preview is None:
        return _shown(plain)
    redact = Redactor.of(credentials_of(run, call))
    try:
        async with asyncio.timeout(_PREVIEW_S):
            said = cast(
                "object", await call.tool.preview(call.arguments, context_of(run, identity, call, []))
            )
        if isinstance(said, str) and said.strip():
            return _shown(redact(said))
        failed = f"it gave {type(said).__name__}, not a text" if not isinstance(said, str) else "it is empty"
    except (Exception, asyncio.CancelledError) as error:
        if was_cancelled():
            raise
        failed = redact(told(error))
    return _shown(f"{plain}\n(The system could not show what this does: {failed})")


def _listed(arguments: Mapping[str, JsonValue]) -> str:
    return "\n".join(
        f"{name}: {json.dumps(value, ensure_ascii=False, default=str)}" for name, value in arguments.items()
    )


def _shown(text: str) -> str:
    text = scrub(text)
    if len(text) <= _PREVIEW_CHARS:
        return text
    return f"{text[:_PREVIEW_CHARS]}\n[... {len(text) - _PREVIEW_CHARS:,} characters are not shown]"


def _heard(waiting: Waiting, call: Call) -> Call | Wrong | Requested | Questioned:
    """The call after somebody has said something; what it waits for, when nobody has."""
    match waiting.said:
        case None:
            return waiting.asked
        case Answered():
            return call
        case Expired():
            return Wrong(prompt("expired", tool=call.operation, until=_until(waiting)), call.operation)
        case Decided() as decided:
            return _decided(waiting, decided, call)
        case _ as never:
            assert_never(never)


def _decided(waiting: Waiting, decided: Decided, call: Call) -> Call | Wrong:
    who = decided.posted.who or "the user"
    if not decided.approved:
        why = f": {decided.reason}" if decided.reason else ", without a reason"
        return Wrong(prompt("denied", tool=call.operation, who=who, why=why), call.operation)
    asked, now = waiting.asked, _canonical(call)
    if not isinstance(asked, Requested) or asked.digest != digest_of(now.operation, now.arguments):
        return Wrong(prompt("unbound", tool=call.operation, who=who), call.operation)
    return Call(call.tool, asked.arguments, call.operation, call.owner)


def _until(waiting: Waiting) -> str:
    at = waiting.asked.expires_at if isinstance(waiting.asked, Requested) else None
    return datetime.fromtimestamp((at or 0) / 1_000_000, tz=UTC).strftime("%Y-%m-%d %H:%M UTC")
