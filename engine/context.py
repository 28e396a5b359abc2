"""What a call is given beside its arguments."""

import hashlib
from collections.abc import Mapping

from pydantic import SecretStr

from ..namespaces.meta_tools import Call
from ..namespaces.tool import Answer, ToolContext
from .redact import Redactor
from .resident.desk import Desk
from .run import Run
from .scrub import scrub
from .store.facts import Fact
from .store.people import Answered, Questioned


def context_of(run: Run, identity: str, call: Call, also: list[Fact]) -> ToolContext:
    """The context of a call; a resident tool may add to `also` what is recorded with its outcome."""

    async def read(handle: str) -> bytes:
        stored = run.state.artifacts.get(handle)
        if stored is None:
            raise KeyError(f"there is no handle {handle!r} in this session")
        return await run.store.artifacts.get(stored.ref)

    credentials = credentials_of(run, call)
    redact = Redactor.of(credentials)

    def progress(text: str) -> None:
        run.hub.progress(identity, scrub(redact(text)))

    key = hashlib.sha256(f"{run.lease.stream}\n{run.id}\n{identity}".encode()).hexdigest()
    common = (run.id, identity, key, credentials, progress, read)
    if call.owner:
        traceparent = run.means.trail.traceparent(run.id, identity)
        return ToolContext(*common, answer=_answer(run, identity), traceparent=traceparent)
    means = run.means
    return Desk(*common, run.state, means.toolbox, means.workspace, also, means.skills, means.memory)


def _answer(run: Run, identity: str) -> Answer | None:
    """What was said to the question that the call has asked; None when it has asked none."""
    waiting = run.state.current.waiting.get(identity)
    if waiting is None or not isinstance(waiting.asked, Questioned):
        return None
    return Answer(waiting.said.text, waiting.asked.state) if isinstance(waiting.said, Answered) else None


def credentials_of(run: Run, call: Call) -> Mapping[str, SecretStr]:
    """Those of the call's own namespace, and of no other."""
    return run.means.credentials.get(call.owner, {})
